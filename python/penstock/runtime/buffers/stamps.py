"""The timestamps of a buffer's records: runs of equal ones, ``(index of the first, timestamp)``, where runs are long;
else an array of 64-bit integers, which costs 8 bytes per record and no Python code per record."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, groupby, pairwise, repeat
from operator import ne
from typing import Union

Stamps = Union[list[tuple[int, "int | None"]], "array[int]"]
_LONG = 8  # mean length from which runs are used


def pack(times: list[int | None]) -> Stamps:
    """Encode timestamps. O(records)."""
    most, start = len(times) // _LONG, 0
    runs: list[tuple[int, int | None]] = []
    head = times[: 2 * most + 1]
    if sum(map(ne, head, head[1:])) >= most:  # the usual case of too many runs, without Python code per record
        with suppress(TypeError, OverflowError):  # None, or beyond 64 bits
            return array("q", times)  # type: ignore[arg-type]
    for time, group in groupby(times):
        if len(runs) == most:
            try:
                return array("q", times)  # type: ignore[arg-type]
            except (TypeError, OverflowError):  # None, or beyond 64 bits
                most = len(times)
        runs.append((start, time))
        start += sum(1 for _ in group)
    return runs


def timestamps(stamps: Stamps, count: int) -> Iterator[int | None]:
    """The timestamp of each of ``count`` records."""
    if not isinstance(stamps, list):
        return iter(stamps)
    starts = [0, *(start for start, _ in stamps), count]
    times = [None, *(time for _, time in stamps)]
    return chain.from_iterable(
        repeat(time, end - start) for time, (start, end) in zip(times, pairwise(starts), strict=True)
    )
