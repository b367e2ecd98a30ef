"""CloseableIterator: the records of one stream on the driver."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from operator import length_hint
from typing import Any, TypeVar

T = TypeVar("T")


class CloseableIterator(Iterator[T]):
    """The records, one by one; a context manager that lets go of those not read.

    Those of a job that has no end come as its steps are committed; the iterator waits for the next ones.

    Args:
        records: the records; if it iterates by an object with ``close``, that is called when this is closed.

    ``with stream.execute_and_collect() as records: …``
    """

    __slots__ = ("_close", "_records")

    def __init__(self, records: Iterable[T]) -> None:
        self._records = iter(records)
        self._close: Callable[[], Any] | None = getattr(self._records, "close", None)

    def __next__(self) -> T:
        return next(self._records)

    def next(self) -> T:
        """The next record; ``next(records)`` does the same.

        Raises:
            StopIteration: there is none.
        """
        return next(self._records)

    def __repr__(self) -> str:
        return f"<CloseableIterator with {length_hint(self._records)} records to read>"

    def close(self) -> None:
        """Forget the records that were not read; reading on finds none. A job that has no end is cancelled."""
        self._records = iter(())
        close, self._close = self._close, None
        if close is not None:
            close()

    def __enter__(self) -> CloseableIterator[T]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
