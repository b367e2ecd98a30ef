"""Runs queries on PyFlink, in a cluster inside this process's JVM; PyFlink's Python runs it.

    python pyflink_run.py JAR time QUERY FORMAT FOLDER ROUNDS TINY
    python pyflink_run.py JAR lines FORMAT FOLDER OUT QUERY...

``time`` prints a line of JSON per round, ``lines`` writes the results of each query into a file of the folder OUT. JAR
has the programs in Java, for their split assigner. CPU seconds are those of this process and all its descendants: JVM
and Python workers, which start with each job. So each round also runs the query on the few events of the folder TINY,
and takes away what that took. The starting of the JVM is done by then. Nothing is printed for a format that it does
not read.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "running"))

import on_pyflink
import tree
from pyflink.common import Types
from pyflink.datastream import FilterFunction
from pyflink_events import FORMATS
from pyflink_queries import QUERIES
from sums import WEIGHTS, Sum, collected, line

PARALLELISM = 2
SETTINGS = {  # as in the other benches
    "python.execution-mode": "process",
    "python.state.cache-size": "100000",  # what is not in the cache costs a call to the JVM
    "python.fn-execution.bundle.size": "100000",  # session windows take twice as long by the default of 1,000
    "pipeline.object-reuse": "true",
}


class Swallow(FilterFunction):
    """The sink, in the chain of the weights: it lets nothing through."""

    def __init__(self, folder: str) -> None:
        self.sink = Sum(folder)

    def filter(self, value: int) -> bool:
        self.sink.invoke(value)
        return False

    def close(self) -> None:
        self.sink.close()


def main() -> None:
    tree.adopt()
    jar, what, *arguments = sys.argv[1:]
    if what == "time":
        query, form, folder, rounds, tiny = arguments
        environment(jar)
        for number in range(int(rounds) if form in FORMATS else 0):
            starting, _ = timed(jar, query, form, Path(tiny))
            spent, (rows, checksum) = timed(jar, query, form, Path(folder))
            cpu, wall = (round(all_of_it - first, 3) for all_of_it, first in zip(spent, starting, strict=True))
            facts = {"round": number, "cpu": cpu, "wall": wall, "rows": rows, "checksum": checksum}
            print(json.dumps(facts), flush=True)
    else:
        form, folder, out, *queries = arguments
        for query in queries:
            results = lines(environment(jar), query, form, Path(folder))
            Path(out, f"{query}.txt").write_text("".join(f"{result}\n" for result in results))
    tree.end()


def timed(jar: str, query: str, format: str, folder: Path) -> tuple[tuple[float, float], tuple[int, int]]:
    """CPU and wall seconds of a job, and number and checksum of its results."""
    before, started = sum(tree.cpu().values()), time.time()
    results = summed(environment(jar), query, format, folder)
    wall, cpu = time.time() - started, sum(tree.cpu().values()) - before
    return (cpu, wall), results


def environment(jar: str) -> Any:
    """An environment at parallelism 2, with the classes of the programs in Java."""
    env = on_pyflink.environment(PARALLELISM, SETTINGS)
    env.add_jars(Path(jar).as_uri())
    return env


def summed(env: Any, query: str, format: str, folder: Path) -> tuple[int, int]:
    """Number and checksum of the results of a query."""
    with tempfile.TemporaryDirectory() as out:
        results = QUERIES[query](FORMATS[format](env, folder))
        results.map(WEIGHTS[query], Types.LONG()).filter(Swallow(out)).print()
        env.execute(query)
        return collected(out)


def lines(env: Any, query: str, format: str, folder: Path) -> list[str]:
    """The results of a query, as texts."""
    results = QUERIES[query](FORMATS[format](env, folder))
    with results.map(line, Types.STRING()).execute_and_collect(query) as texts:
        return list(texts)


if __name__ == "__main__":
    main()
