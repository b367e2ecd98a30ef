"""Every program that Flink ran, on Spark, against what Flink gave: ``python -m tests.spark.runs [OPTION…] [NAME…]``."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.datastream import feeding, pool, restoring
from tests.datastream.compare_runs import differences
from tests.datastream.deliberate_differences import OF_ATTEMPTS, PROGRAMS, RESTORED
from tests.datastream.run_scripts import result_of
from tests.datastream.test_restored_scripts import comparable, said_by_nobody
from tests.datastream.test_run_scripts import records
from tests.matrix.sensitive import REFUSED_ON_SPARK

AT_A_TIME = 4
MASTER = "local[2]"
"""A task that fails is not tried again: what it has written down would be there once more, and each try costs."""


def outcome(name: str, session: Any, native: str | None) -> tuple[str, list[str]]:
    """How a program compares: ``equal``, ``differs`` with sentences, ``refused`` with what is refused."""
    from penstock.spark import SparkExecutor

    record = records()[name]
    settings = feeding.native_settings(native)
    result = result_of(record["script"], SparkExecutor(session, progress=False), settings=settings)
    if "unsupported" in result:
        return "refused", [result["unsupported"]]
    sentences = list(differences(result, record["result"]))
    return ("differs", sentences) if sentences else ("equal", [])


def unmeant(name: str, outcome: tuple[str, list[str]], local_refuses: bool) -> bool:
    """Whether an outcome is none of those that are known and explained."""
    refused = name in REFUSED_ON_SPARK or local_refuses
    meant = {"equal": name not in PROGRAMS and not refused, "differs": name in PROGRAMS, "refused": refused}
    return not meant[outcome[0]]


def run(names: list[str], session: Any, native: str | None = None) -> int:
    """Run programs, and say what came out; how many outcomes are not meant."""
    started = time.monotonic()
    with ThreadPoolExecutor(AT_A_TIME) as threads:
        outcomes = dict(zip(names, threads.map(lambda name: outcome(name, session, native), names), strict=True))
    wrong = 0
    for name, (kind, sentences) in outcomes.items():
        here = kind == "refused" and "unsupported" in result_of(records()[name]["script"])
        if unmeant(name, (kind, sentences), here):
            wrong += 1
            print(f"NOT MEANT: {name} {kind}: {' '.join(sentences)[:2000]}")
        elif kind == "refused":
            print(f"{name} is refused{' everywhere' if here else ''}: {sentences[0]}")
    kinds = Counter(kind for kind, _ in outcomes.values())
    meant = sum(kind == "differs" for name, (kind, _) in outcomes.items() if name in PROGRAMS)
    print(
        f"{len(names)} programs on Spark in {time.monotonic() - started:.0f} s: {kinds['equal']} equal Flink, {meant} "
        f"differ on purpose, {kinds['refused']} are refused, {wrong} outcomes are not meant."
    )
    return wrong


MAY_DIFFER = (*OF_ATTEMPTS, "objects_mutated_after_emit_reuse")
"""Fed in steps. The last one keeps a record in a field of a function; a task may run its next step in another worker,
and fields that are not in state are lost then, as they are in Flink after a failure."""


def fed(names: list[str], chosen: argparse.Namespace) -> int:
    """Run programs in steps, and say what came out; how many outcomes are not meant."""
    started, kinds, wrong = time.monotonic(), Counter[str](), 0
    may_differ = MAY_DIFFER if chosen.restore is None else (*MAY_DIFFER, *RESTORED)
    lines = (json.dumps(records()[name]["script"]) for name in names)
    for name, result in zip(names, pool.results(lines, chosen), strict=True):
        odd = result.get("defect", result.get("unsupported"))
        sentences = [odd] if odd is not None else _differences(result, records()[name]["result"])
        kind = "equal" if not sentences else "differ on purpose" if odd is None and name in PROGRAMS else "wrong"
        kind = "may differ, and do" if kind == "wrong" and odd is None and name in may_differ else kind
        kinds[kind] += 1
        if kind == "wrong" or (kind == "equal" and name in PROGRAMS):
            wrong += 1
            print(f"NOT MEANT: {name} {kind}: {' '.join(sentences)[:2000]}", flush=True)
    counted = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    print(f"{len(names)} programs in steps on Spark in {time.monotonic() - started:.0f} s: {counted}.")
    return wrong


def _differences(result: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    """What differs; of a program that went on with other subtasks, but for which one did what."""
    if said_by_nobody(result):
        result, expected = comparable(result), comparable(expected)
    return list(differences(result, expected))


def main() -> int:
    """The command; how many outcomes are not meant."""
    from penstock.spark.session import open_session

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    parser = argparse.ArgumentParser(prog="python -m tests.spark.runs")
    feeding.add_arguments(parser)
    restoring.add_arguments(parser)
    parser.add_argument("--connect", action="store_true", help="over Spark Connect, as serverless platforms have it")
    parser.add_argument("names", nargs="*")
    chosen = parser.parse_args(namespace=argparse.Namespace(spark=True, jobs=None, timeout=pool.PATIENCE))
    names, chosen.server = chosen.names or list(records()), None
    with contextlib.ExitStack() as stack:
        if chosen.connect:
            from tests.spark.connect_server import server, strict

            os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
            chosen.server = stack.enter_context(server(Path(tempfile.mkdtemp(), "log")))
            stack.enter_context(strict())
        if chosen.feed is not None:
            return fed(names, chosen)
        return run(names, open_session(chosen.server or MASTER, {}), chosen.native)


if __name__ == "__main__":
    sys.exit(bool(main()))
