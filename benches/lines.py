"""The input of the programs that never end: files of lines, made once, always the same."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from results import RAW

FILES = 2  # of a batch: one for each reader, in every engine
EPOCH = 1_760_000_000  # seconds: files are told apart, and ordered, by their times
SETS, AHEAD = 6, 6  # sets of keys that take turns; windows that the clock jumps at a round's end


@dataclass(frozen=True)
class Rounds:
    """Of each round its batches, of each batch its files."""

    paths: list[list[list[str]]]

    def lines(self) -> Iterator[list[str]]:
        """All lines of each round."""
        for batches in self.paths:
            files = chain.from_iterable(batches)
            yield [line for path in files for line in Path(path).read_text().splitlines()]

    def records(self) -> list[int]:
        """How many lines each round has."""
        return [len(lines) for lines in self.lines()]


def keyed(keys: int, batch: int, warm: int, rounds: int, batches: int) -> Rounds:
    """Lines ``key,number``: every key once, then keys drawn at random.

    A key has the same number in all its lines, so that its running sums do not depend on the order of the files.

    Args:
        keys: how many there are.
        batch: lines of a batch.
        warm: batches of the first round, after the one that has every key.
        rounds: further rounds.
        batches: of each.
    """
    name = f"keyed-{keys}-{batch}"
    drawn = random.Random(7)
    sizes = [1 + warm, *rounds * [batches]]

    def texts() -> Iterator[list[str]]:
        yield [f"k{key},{1 + key % 9}\n" for key in range(keys)]
        while True:
            yield [f"k{key},{1 + key % 9}\n" for key in drawn.choices(range(keys), k=batch)]

    return _written(RAW / f"{name}", texts(), sizes)


def timed(keys: int, records: int, window: int, warm: int, rounds: int, batches: int) -> Rounds:
    """Lines ``key,time``: a batch is a window of event time, in the order of time, with so many records of each of its
    keys. The sets of keys take turns, so that a key's timer has fired when it comes again; a round ends with a batch of
    two lines so much later that all timers of the round fire, but those of the two."""
    drawn = random.Random(11)
    sizes = [warm + 1, *rounds * [batches + 1]]

    def texts() -> Iterator[list[str]]:
        now = EPOCH * 1000
        for number, size in enumerate(sizes):
            for batch in range(size - 1):
                times = sorted(now + drawn.randrange(window) for _ in range(keys * records))
                names = records * list(range(keys))
                drawn.shuffle(names)
                yield [f"s{batch % SETS}k{key},{time}\n" for key, time in zip(names, times, strict=True)]
                now += window
            now += AHEAD * window
            yield [f"end{number}-{file},{now}\n" for file in range(FILES)]
            now += AHEAD * window

    return _written(RAW / f"timed-{keys}-{records}-{warm}-{rounds}-{batches}", texts(), sizes)


def _written(folder: Path, texts: Iterator[list[str]], sizes: list[int]) -> Rounds:
    folder.mkdir(parents=True, exist_ok=True)
    number, paths = 0, []
    for size in sizes:
        batches = []
        for _ in range(size):
            lines = next(texts)
            batches.append([_file(folder, number, file, lines[file::FILES]) for file in range(FILES)])
            number += 1
        paths.append(batches)
    return Rounds(paths)


def _file(folder: Path, batch: int, file: int, lines: list[str]) -> str:
    path = folder / f"b{batch:04}-{file}"
    if not path.exists():
        making = path.with_suffix(".part")
        making.write_text("".join(lines))
        os.utime(making, (EPOCH + FILES * batch + file,) * 2)
        making.rename(path)
    return str(path)
