"""What sinks of connectors derive from, apart from them: a program without a connector loads none."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from penstock.common.typeinfo import TypeInformation
from penstock.runtime.io.sinks import BuiltinSink

__all__ = ["AddedSink", "Sink"]

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


class AddedSink(ABC):
    """A connector's sink for ``add_sink``, as they were before Flink 1.12."""

    @abstractmethod
    def runtime(self) -> BuiltinSink:
        """What tasks run."""
