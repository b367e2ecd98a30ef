"""Runs queries on Penstock, in this process.

    python penstock_run.py time EXECUTOR QUERY FORMAT FOLDER ROUNDS
    python penstock_run.py lines EXECUTOR FORMAT FOLDER OUT QUERY...

``time`` prints a line of JSON per round, ``lines`` writes the results of each query into a file of the folder OUT.
EXECUTOR is ``local`` or ``spark``. CPU seconds are those of this process and all its descendants: driver, JVM and
Python workers. The starting of Spark is done by then. ``SETTINGS`` has settings of Penstock as JSON.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "running"))

import tree
from penstock_events import FORMATS
from penstock_queries import QUERIES
from sums import WEIGHTS, Sum, collected, line

from penstock.common import Configuration, Types
from penstock.datastream import StreamExecutionEnvironment

PARALLELISM = 2


def main() -> None:
    tree.adopt()
    what, executor, *arguments = sys.argv[1:]
    if executor == "spark":
        env = environment(executor)
        env.from_collection([1], Types.LONG()).add_sink(nothing)
        env.execute("start Spark")
    if what == "time":
        query, form, folder, rounds = arguments
        for number in range(int(rounds)):
            timed(number, executor, query, form, Path(folder))
    else:
        form, folder, out, *queries = arguments
        for query in queries:
            results = lines(environment(executor), query, form, Path(folder))
            Path(out, f"{query}.txt").write_text("".join(f"{result}\n" for result in results))
    tree.end()


def timed(number: int, executor: str, query: str, format: str, folder: Path) -> None:
    """Run a round, and print what it took."""
    before, started = tree.cpu(), time.time()
    rows, checksum = summed(environment(executor), query, format, folder)
    wall, after = time.time() - started, tree.cpu()
    spent = {kind: after[kind] - before[kind] for kind in after}
    facts = {"round": number, "cpu": round(sum(spent.values()), 3), "wall": round(wall, 3)}
    facts.update(rows=rows, checksum=checksum, spark=round(spent[tree.JVM], 3))
    print(json.dumps(facts), flush=True)


def nothing(value: object) -> None:
    """Take a record."""


def environment(executor: str) -> Any:
    """An environment at parallelism 2; ``local`` or ``spark``, on two cores of this machine."""
    where = {"executor": "local"} if executor == "local" else {"master": f"local[{PARALLELISM}]"}
    settings = Configuration(json.loads(os.environ.get("SETTINGS", "{}")))
    return StreamExecutionEnvironment.get_execution_environment(settings, **where).set_parallelism(PARALLELISM)


def summed(env: Any, query: str, format: str, folder: Path) -> tuple[int, int]:
    """Number and checksum of the results of a query."""
    with tempfile.TemporaryDirectory() as out:
        results = QUERIES[query](FORMATS[format](env, folder))
        results.map(WEIGHTS[query], Types.LONG()).add_sink(Sum(out))
        env.execute(query)
        return collected(out)


def lines(env: Any, query: str, format: str, folder: Path) -> list[str]:
    """The results of a query, as texts."""
    results = QUERIES[query](FORMATS[format](env, folder))
    with results.map(line, Types.STRING()).execute_and_collect(query) as texts:
        return list(texts)


if __name__ == "__main__":
    main()
