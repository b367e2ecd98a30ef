"""What connectors share, under PyFlink's path."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from typing import Any, Generic, TypeVar

from penstock.common.typeinfo import TypeInformation
from penstock.runtime.io.sinks import BuiltinSink
from penstock.runtime.io.splits import Source

__all__ = ["DeliveryGuarantee", "Sink", "Source", "StreamTransformer", "SupportsPreprocessing"]

T = TypeVar("T", contravariant=True)


class Sink(ABC, Generic[T]):
    """What ``sink_to`` writes to: a sink of :mod:`penstock.datastream.connectors`. A sink of your own is a
    ``SinkFunction`` for ``add_sink``."""

    def check(self, record_type: TypeInformation[object] | None) -> None:
        """Refuse records of a type that it cannot write.

        Args:
            record_type: of the stream, None for undeclared.
        """

    @abstractmethod
    def runtime(self) -> BuiltinSink:
        """What tasks run."""


class DeliveryGuarantee(Enum):
    """How often a record arrives where a sink writes to, whatever fails on the way."""

    EXACTLY_ONCE = 0
    """Once."""
    AT_LEAST_ONCE = 1
    """Once or several times."""
    NONE = 2
    """Perhaps; the sink does not wait for the answer of what it writes to."""


class StreamTransformer(ABC):
    """What a sink does to a stream before it writes it (PyFlink: ``StreamTransformer``)."""

    @abstractmethod
    def apply(self, ds: Any) -> Any:
        """The stream that is written.

        Args:
            ds: the stream that is given to ``sink_to``.
        """


class SupportsPreprocessing(ABC):
    """A sink that may do something to a stream before it writes it."""

    @abstractmethod
    def get_transformer(self) -> StreamTransformer | None:
        """What it does, None for nothing."""
