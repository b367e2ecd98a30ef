"""Running pushing code step by step, and running deep chains.

A user source *pushes* records from inside its ``run``; a task *is pulled* for rows. :func:`in_steps` runs the pushing
code in a
thread of its own that moves only while its consumer waits: at any moment exactly one of the two runs, so nothing needs
a lock and nothing depends on timing.

In a chain each operator calls the next one: in the list form a chain of n operators is up to 6n Python calls deep.
:func:`deep` raises the recursion limit by what a task needs. Since Python 3.11 such calls take no C stack; before, a
deep chain also runs in a thread with a larger stack.
"""

from __future__ import annotations

import contextlib
import gc
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TypeVar

STRIDE = 512
"""Records between two looks at the rows that wait, while few do."""

T = TypeVar("T")
Pause = Callable[[], None]

_PROCESS = threading.Lock()
"""Held while what all threads share is changed: jobs may run in several threads."""
_GC_THRESHOLD = 50_000
_FRAMES_PER_OPERATOR = 7
_STACK_PER_OPERATOR = 8 << 10
_SHALLOW = 200
"""Chains up to this length fit the default limit beside what user functions need."""


class SourceCancelled(BaseException):
    """Raised inside a source function whose consumer has gone away."""


class _Steps:
    """A thread and its consumer, taking turns."""

    def __init__(self, body: Callable[[Pause], None]) -> None:
        self._body = body
        self._resume = threading.Semaphore(0)
        self._paused = threading.Semaphore(0)
        self._cancelled = False
        self.error: BaseException | None = None
        self.done = False
        self.thread = threading.Thread(target=self._main, name="penstock-source", daemon=True)

    def _main(self) -> None:
        self._resume.acquire()
        try:
            if not self._cancelled:
                self._body(self._pause)
        except SourceCancelled:
            pass
        except BaseException as error:
            self.error = error
        finally:
            self.done = True
            self._paused.release()

    def _pause(self) -> None:
        self._paused.release()
        self._resume.acquire()
        if self._cancelled:
            raise SourceCancelled

    def step(self) -> None:
        """Let the thread run until it pauses or ends."""
        self._resume.release()
        self._paused.acquire()

    def cancel(self) -> None:
        """End the thread, if it lets itself be ended."""
        if not self.done:
            self._cancelled = True
            self._resume.release()
            self.thread.join(timeout=1.0)


def in_steps(body: Callable[[Pause], None], stack_size: int = 0) -> Iterator[None]:
    """Run ``body(pause)`` in a thread; yields whenever it calls ``pause()``. What it raises is raised here.

    Args:
        body: the pushing code.
        stack_size: of the thread in bytes, 0 for the default.
    """
    steps = _Steps(body)
    with _PROCESS:
        before = threading.stack_size(stack_size)
        try:
            steps.thread.start()
        finally:
            threading.stack_size(before)
    try:
        while True:
            steps.step()
            if steps.done:
                break
            yield
    finally:
        steps.cancel()
    if steps.error is not None:
        raise steps.error


def next_stride(stride: int, backlog: bool) -> int:
    """How many records to process before the next look: one where rows pile up, else twice as many as before, up to
    512."""
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
    if operators <= _SHALLOW:
        return rows
    return _deep(operators, rows)


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
    made: list[T] = []

    def body(pause: Pause) -> None:
        for row in rows:
            made.append(row)
            pause()

    for _ in in_steps(body, (16 << 20) + _STACK_PER_OPERATOR * operators):
        yield made.pop()
