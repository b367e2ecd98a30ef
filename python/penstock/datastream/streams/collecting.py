"""execute_and_collect: run a program and bring one stream's records to the driver."""
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Iterator
from operator import length_hint
from typing import TYPE_CHECKING, TypeVar

from penstock.common import checks
from penstock.runtime.io import sinks

if TYPE_CHECKING:
    from penstock.datastream.streams.data_stream import DataStream

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

    def __repr__(self) -> str:
        return f"<CloseableIterator with {length_hint(self._records)} records to read>"

    def close(self) -> None:
        """Forget the records that were not read; reading on finds none."""
        self._records = iter(())

    def __enter__(self) -> CloseableIterator[T]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def execute_and_collect(
    stream: DataStream[T], job_name: str | None, limit: int | None
) -> CloseableIterator[T] | list[T]:
    """See :meth:`DataStream.execute_and_collect`. Memory on the driver: all records of the stream."""
    if limit is not None and checks.integer(limit, "execute_and_collect", "limit") < 1:
        checks.illegal_argument(
            f"execute_and_collect(limit={limit}): a limit is at least 1. Leave it out for all records."
        )
    program = stream.get_execution_environment()
    sink_id = f"collect-{program.next_collect_number()}"
    stream._sink("Data stream collect sink", sinks.CollectSink(sink_id), parallelism=1)
    records = list(program.execute(job_name).collected.get(sink_id, ()))
    return CloseableIterator(records) if limit is None else records[:limit]
