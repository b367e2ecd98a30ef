"""The ends of streams: DataStreamSink, and CloseableIterator over the records of a stream on the driver."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from operator import length_hint
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from penstock.common import checks
from penstock.datastream.program import missing_methods
from penstock.datastream.program.transformations import SinkTransformation
from penstock.datastream.streams.setters import CommonSetters

if TYPE_CHECKING:
    from typing_extensions import Self

T = TypeVar("T", covariant=True)
R = TypeVar("R")


class DataStreamSink(missing_methods.Advised, CommonSetters, Generic[T]):
    """The end of a stream of records of type ``T``; ``transformation`` is its node."""

    __slots__ = ("transformation",)

    def __init__(self, transformation: SinkTransformation) -> None:
        self.transformation: SinkTransformation = transformation

    def __repr__(self) -> str:
        return f"<DataStreamSink of {self.transformation!r}>"

    @classmethod
    def _missing(cls, name: str) -> AttributeError:
        from penstock.datastream.streams.keyed_stream import KeyedStream

        hint = f"A sink is the end of a stream. Keep the stream before it in a variable, and call {name}() on that."
        return missing_methods.missing(cls, name, missing_methods.SINK, hint=hint if hasattr(KeyedStream, name) else "")

    def set_parallelism(self, parallelism: int) -> Self:
        """Number of subtasks: at least 1, or −1 for the environment's at execution."""
        self.transformation.parallelism = checks.parallelism(parallelism, "set_parallelism", self.transformation.name)
        return self


class CloseableIterator(Iterator[R]):
    """The records, one by one; a context manager, which drops those not read: ``with stream.execute_and_collect() as
    records: …``. Those of a job that has no end come as its steps are committed; the iterator waits for the next ones.
    If the iterator of ``records`` has a ``close``, that is called when this is closed."""

    __slots__ = ("_close", "_records")

    def __init__(self, records: Iterable[R]) -> None:
        self._records = iter(records)
        self._close: Callable[[], Any] | None = getattr(self._records, "close", None)

    def __next__(self) -> R:
        return next(self._records)

    def next(self) -> R:
        """The next record, as ``next(records)``."""
        return next(self._records)

    def __repr__(self) -> str:
        return f"<CloseableIterator with {length_hint(self._records)} records to read>"

    def close(self) -> None:
        """Drop the records that were not read. An unbounded job is cancelled."""
        self._records = iter(())
        close, self._close = self._close, None
        if close is not None:
            close()

    def __enter__(self) -> CloseableIterator[R]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
