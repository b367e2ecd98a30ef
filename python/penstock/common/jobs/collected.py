"""The records of a stream of a program that goes on, handed to who iterates over them once the manifest of their step
stands.

That happens once for each step while the driver lives. A driver that dies between a manifest and this loses what the
step has collected: it counts, and is not repeated.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

_WAITING = 100_000
"""Records that wait for who iterates before the steps do: a program must not fill the driver's memory."""


class Collected(Iterator[Any]):
    """The records of one stream of a program that goes on, as steps bring them; iterating waits for the next.

    The loop of steps calls :meth:`put` after each manifest, and :meth:`end`; another thread iterates. Closing it
    cancels the job. Thread-safe.

    Args:
        cancel: ends the job; called once, by :meth:`close`, if the job has not ended.
        most: records that may wait; :meth:`put` waits while there are more.
    """

    def __init__(self, cancel: Callable[[], object], most: int = _WAITING) -> None:
        self._cancel, self._most = cancel, most
        self._records: deque[Any] = deque()
        self._changed = threading.Condition()
        self._ended = self._closed = False
        self._error: BaseException | None = None

    def put(self, records: Sequence[Any]) -> None:
        """The records of a step that counts. Waits until there is room, or nobody wants them any more, or
        :meth:`end` is called, as by who cancels the job."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._ended or len(self._records) < self._most)
            if not self._closed:
                self._records.extend(records)
                self._changed.notify_all()

    def end(self, error: BaseException | None = None) -> None:
        """No more records come.

        Args:
            error: why, if not because the program is over; raised behind the last record.
        """
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
