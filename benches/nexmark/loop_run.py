"""Runs a query without keys and state as a plain loop, in this process; prints a line of JSON per round.

    python loop_run.py QUERY csv FOLDER ROUNDS

A bound: the functions of the program alone, in Python, which no engine that calls them can be quicker than.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from penstock_events import Log
from penstock_queries import QUERIES
from sums import MASK, WEIGHTS


class Loop:
    """Records with a stream's ``map`` and ``filter``, which are Python's own."""

    def __init__(self, records: Iterable[Any]) -> None:
        self.records = records

    def map(self, function: Any, output_type: Any = None) -> Loop:
        return Loop(map(_opened(function, "map"), self.records))

    def filter(self, function: Any) -> Loop:
        return Loop(filter(_opened(function, "filter"), self.records))


def _opened(function: Any, method: str) -> Callable[[Any], Any]:
    if callable(function):
        return function
    function.open(None)
    return getattr(function, method)


class LoopLog(Log):
    """The log of ``csv``, line by line."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def lines(self) -> Any:
        return Loop(self._lines())

    def _lines(self) -> Iterator[str]:
        for path in sorted((self.folder / self.name).iterdir()):
            with open(path, encoding="utf-8") as file:
                yield from (line.rstrip("\n") for line in file)


def main() -> None:
    query, _, folder, rounds = sys.argv[1:]
    for number in range(int(rounds)):
        cpu, wall = time.process_time(), time.time()
        rows = total = 0
        for weight in QUERIES[query](LoopLog(Path(folder))).map(WEIGHTS[query]).records:
            rows += 1
            total += weight
        facts = {"round": number, "cpu": round(time.process_time() - cpu, 3), "wall": round(time.time() - wall, 3)}
        print(json.dumps({**facts, "rows": rows, "checksum": total & MASK}), flush=True)


if __name__ == "__main__":
    main()
