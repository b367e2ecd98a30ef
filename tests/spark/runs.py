"""Every program that Flink ran, on Spark, against what Flink gave: ``python -m tests.spark.runs [NAME…]``.

One session, and several programs in it at a time, since one alone leaves the cores idle while the driver plans and
commits. Says what differs, what is refused and why, and how many are equal. Exit code 1: something else differs than
what is meant to (``tests/datastream/deliberate_differences.py``), or something else is refused
(``tests/matrix/sensitive.py``).
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.datastream.compare_runs import differences
from tests.datastream.deliberate_differences import PROGRAMS
from tests.datastream.run_scripts import result_of
from tests.datastream.test_run_scripts import records
from tests.matrix.sensitive import REFUSED_ON_SPARK

AT_A_TIME = 4
MASTER = "local[2]"
"""A task that fails is not tried again: what it has written down would be there once more, and each try costs."""


def outcome(name: str, session: Any) -> tuple[str, list[str]]:
    """How a program compares: ``equal``, ``differs`` with sentences, ``refused`` with what is refused."""
    from penstock.spark import SparkExecutor

    record = records()[name]
    result = result_of(record["script"], SparkExecutor(session, progress=False))
    if "unsupported" in result:
        return "refused", [result["unsupported"]]
    found = list(differences(result, record["result"]))
    return ("differs", found) if found else ("equal", [])


def unmeant(name: str, outcome: tuple[str, list[str]], local_refuses: bool) -> bool:
    """Whether an outcome is none of those that are known and explained."""
    refused = name in REFUSED_ON_SPARK or local_refuses
    meant = {"equal": name not in PROGRAMS and not refused, "differs": name in PROGRAMS, "refused": refused}
    return not meant[outcome[0]]


def run(names: list[str], session: Any) -> int:
    """Run programs, and say what came out; how many outcomes are not meant."""
    started = time.monotonic()
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        found = dict(zip(names, pool.map(lambda name: outcome(name, session), names), strict=True))
    wrong = 0
    for name, (kind, said) in found.items():
        here = kind == "refused" and "unsupported" in result_of(records()[name]["script"])
        if unmeant(name, (kind, said), here):
            wrong += 1
            print(f"NOT MEANT: {name} {kind}: {' '.join(said)[:2000]}")
        elif kind == "refused":
            print(f"{name} is refused{' everywhere' if here else ''}: {said[0]}")
    kinds = Counter(kind for kind, _ in found.values())
    meant = sum(kind == "differs" for name, (kind, _) in found.items() if name in PROGRAMS)
    print(
        f"{len(names)} programs on Spark in {time.monotonic() - started:.0f} s: {kinds['equal']} equal Flink, {meant} "
        f"differ on purpose, {kinds['refused']} are refused, {wrong} outcomes are not meant."
    )
    return wrong


if __name__ == "__main__":
    from penstock.spark.session import open_session

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    sys.exit(bool(run(sys.argv[1:] or list(records()), open_session(MASTER, {}))))
