"""The records of a stream of an unbounded program, handed to an iterator once the manifest of their step is written. A
driver that dies between the two loses what the step has collected."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any


class Collected(Iterator[Any]):
    """The records of one stream, as steps bring them; iterating waits for the next, closing cancels the job.
    Thread-safe: the loop of steps calls :meth:`put` after each manifest, and :meth:`end`; another thread iterates."""

    def __init__(self, cancel: Callable[[], object], most: int = 100_000) -> None:
        # the steps wait while more records do: a program must not fill the driver's memory
        self._cancel, self._most = cancel, most
        self._records: deque[Any] = deque()
        self._changed = threading.Condition()
        self._ended = self._closed = False
        self._error: BaseException | None = None

    def put(self, records: Sequence[Any]) -> None:
        """The records of a committed step. Waits for room, or until nobody wants them, or :meth:`end` is called."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._ended or len(self._records) < self._most)
            if not self._closed:
                self._records.extend(records)
                self._changed.notify_all()

    def end(self, error: BaseException | None = None) -> None:
        """No more records come."""
        with self._changed:
            self._ended, self._error = True, error
            self._changed.notify_all()

    def __next__(self) -> Any:
        with self._changed:
            self._changed.wait_for(lambda: self._records or self._ended or self._closed)
            if self._records:
                record = self._records.popleft()
                if len(self._records) < self._most:
                    self._changed.notify_all()
                return record
            error, self._error = self._error, None
        if error is not None and not self._closed:
            raise error
        raise StopIteration

    def __length_hint__(self) -> int:
        """Records that are there."""
        return len(self._records)

    def close(self) -> None:
        """Cancel the job, unless it is over, and forget the records that were not read."""
        with self._changed:
            running = not (self._ended or self._closed)
            self._closed = True
            self._records.clear()
            self._changed.notify_all()
        if running:
            self._cancel()
