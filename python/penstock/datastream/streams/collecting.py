"""CloseableIterator: the records of one stream on the driver."""

from __future__ import annotations

from collections.abc import Iterator
from operator import length_hint
from typing import TypeVar

T = TypeVar("T")


class CloseableIterator(Iterator[T]):
    """The records, one by one; a context manager that lets go of those not read.

    ``with stream.execute_and_collect() as records: …``
    """

    __slots__ = ("_records",)

    def __init__(self, records: list[T]) -> None:
        self._records = iter(records)

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
        """Forget the records that were not read; reading on finds none."""
        self._records = iter(())

    def __enter__(self) -> CloseableIterator[T]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
