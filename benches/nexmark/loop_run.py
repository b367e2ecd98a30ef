"""Runs a query as a plain loop, in this process; prints a line of JSON per round.

    python loop_run.py QUERY csv FOLDER ROUNDS

A bound: the functions of the program alone, one after the other in one loop, which an engine that calls them is hardly
quicker than. A query with tumbling windows has a dict of accumulators beside them, and shows them at the end.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from penstock_events import Log
from penstock_queries import QUERIES
from sums import MASK, WEIGHTS


class Loop:
    """Records with a stream's methods. Each is a line of a loop over the records, in which a ``record`` may have a
    ``time`` and a ``key``, and calls a function."""

    def __init__(self, records: Iterable[Any], lines: Sequence[str] = (), functions: Sequence[Any] = ()) -> None:
        self.records, self.lines, self.functions = records, lines, functions
        self.size = 0

    def map(self, function: Any, output_type: Any = None) -> Loop:
        return self._and("record = {}(record)", function, "map")

    def filter(self, function: Any) -> Loop:
        return self._and("if not {}(record): continue", function, "filter")

    def flat_map(self, function: Any, output_type: Any = None) -> Loop:
        return Loop(chain.from_iterable(map(function, self.run("yield record"))))

    def assign_timestamps_and_watermarks(self, strategy: Any) -> Loop:
        return self._and("time = {}(record, None)", strategy.assigner, "extract_timestamp")

    def key_by(self, selector: Any, key_type: Any = None) -> Loop:
        return self._and("key = {}(record)", selector, "get_key")

    def window(self, assigner: Any) -> Loop:
        """Tumbling windows, with a dict of their accumulators; by the clock there is but one."""
        self.size = assigner.size
        return self

    window_all = window

    def trigger(self, trigger: Any) -> Loop:
        return self

    def aggregate(self, aggregate: Any, function: Any = None, *types: Any) -> Loop:
        held: dict[Any, Any] = {}
        names = {"held": held, "size": self.size, "start": aggregate.create_accumulator, "add": aggregate.add}
        place, first = "place = key, time - time % size", "if place not in held: held[place] = start()"
        self.run(place, first, "held[place] = add(record, held[place])", **names)
        return Loop(self._shown(held, aggregate, function))

    def _shown(self, held: dict[Any, Any], aggregate: Any, function: Any) -> Iterator[Any]:
        for (key, start), accumulator in held.items():
            elements = [aggregate.get_result(accumulator)]
            context = Shown(start, start + self.size)
            yield from elements if function is None else function.process(key, context, elements)

    def run(self, *lines: str, **names: Any) -> Any:
        """Run the loop, with more lines at its end, and names in them."""
        whole = ["def run(records, key=None, time=0, rows=0, total=0):", " for record in records:"]
        whole += [*(f"  {line}" for line in (*self.lines, *lines)), " return rows, total"]
        names |= {f"f{number}": function for number, function in enumerate(self.functions)}
        body = "\n".join(f" {line}" for line in whole)
        exec(f"def make({', '.join(names)}):\n{body}\n return run", namespace := {})
        return namespace["make"](**names)(self.records)

    def _and(self, line: str, function: Any, method: str) -> Loop:
        line = line.format(f"f{len(self.functions)}")
        return Loop(self.records, [*self.lines, line], [*self.functions, _opened(function, method)])


@dataclass(frozen=True)
class Shown:
    """A window, as its own context."""

    start: int
    end: int

    def window(self) -> Shown:
        return self


def _opened(function: Any, method: str) -> Callable[..., Any]:
    if callable(function):
        return function
    if hasattr(function, "open"):
        function.open(None)
    return getattr(function, method)


class LoopLog(Log):
    """The log of ``csv``, line by line."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def lines(self) -> Any:
        texts = (path.read_text() for path in sorted((self.folder / self.name).iterdir()))
        return Loop(chain.from_iterable(text.split("\n")[:-1] for text in texts))


def main() -> None:
    query, _, folder, rounds = sys.argv[1:]
    for number in range(int(rounds)):
        cpu, wall = time.process_time(), time.time()
        weights = QUERIES[query](LoopLog(Path(folder))).map(WEIGHTS[query])
        rows, total = weights.run("rows += 1", "total += record")
        facts = {"round": number, "cpu": round(time.process_time() - cpu, 3), "wall": round(time.time() - wall, 3)}
        print(json.dumps({**facts, "rows": rows, "checksum": total & MASK}), flush=True)


if __name__ == "__main__":
    main()
