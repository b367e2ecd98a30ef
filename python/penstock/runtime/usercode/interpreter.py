"""How tasks run the chains of their operators: how deep calls may go, how often Python looks for cycles, and how
many records are processed between two looks at what waits. In the list form a chain of n operators is up to 6n
Python calls deep, so :func:`deep` raises the recursion limit; before Python 3.11 such calls take C stack too, from a
thread with more of it."""

from __future__ import annotations

import contextlib
import gc
import sys
import threading
from collections.abc import Iterator
from typing import TypeVar

from penstock.runtime.usercode.turns import Turns

COLUMNS_STRIDE = 4_096
STRIDE = 512  # records between two looks at the rows that wait, while few do

T = TypeVar("T")

_PROCESS = threading.Lock()  # held while what all threads share is changed: jobs may run in several threads
_GC_THRESHOLD = 50_000
_FRAMES_PER_OPERATOR = 7
_STACK_PER_OPERATOR = 8 << 10
_SHALLOW = 200  # chains up to this length fit the default limit beside what user functions need


def next_stride(stride: int, backlog: bool, *, broad: bool = False) -> int:
    """How many records to process before the next look: one where rows pile up, else twice as many as before, up to
    512. In a ``broad`` place, where few records cost as much as many, as native code runs or nothing leaves: an eighth
    of before, or twice as many up to 4,096."""
    if broad:
        return max(1, stride // 8) if backlog else min(2 * stride, COLUMNS_STRIDE)
    return 1 if backlog else min(2 * stride, STRIDE)


_thresholds: list[tuple[int, int, int]] = []
"""Those of Python's collector as they were, once for each block that is in :func:`fewer_collections`."""


@contextlib.contextmanager
def fewer_collections() -> Iterator[None]:
    """Let Python look for cycles less often: a task makes records by the million, and they have none. Saves about 10
    %."""
    with _PROCESS:
        before = gc.get_threshold()
        _thresholds.append(_thresholds[0] if _thresholds else before)
        if before[0] > 0:
            gc.set_threshold(max(before[0], _GC_THRESHOLD), *before[1:])
    try:
        yield
    finally:
        with _PROCESS:
            before = _thresholds.pop()
            if not _thresholds:
                gc.set_threshold(*before)


def deep(operators: int, rows: Iterator[T]) -> Iterator[T]:
    """The rows of a task whose chain has that many operators, made where calls may be that deep."""
    return rows if operators <= _SHALLOW else _deep(operators, rows)


def _deep(operators: int, rows: Iterator[T]) -> Iterator[T]:
    more = _FRAMES_PER_OPERATOR * operators
    _raise_recursion_limit(more)
    try:
        yield from rows if sys.version_info >= (3, 11) else _in_large_stack(operators, rows)
    finally:
        _raise_recursion_limit(-more)


def _raise_recursion_limit(by: int) -> None:
    with _PROCESS:
        sys.setrecursionlimit(sys.getrecursionlimit() + by)


def _in_large_stack(operators: int, rows: Iterator[T]) -> Iterator[T]:
    ready: list[T] = []

    def body() -> None:
        for row in rows:
            ready.append(row)
            turns.pause()

    turns = Turns(body, (16 << 20) + _STACK_PER_OPERATOR * operators)
    try:
        while turns.give(None):
            yield ready.pop()
    finally:
        turns.cancel()
    if turns.error is not None:
        raise turns.error
