"""What connectors share, under PyFlink's path."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from penstock.runtime.io.sinks import BuiltinSink
from penstock.runtime.io.splits import Source

__all__ = ["Sink", "Source"]

T = TypeVar("T", contravariant=True)


class Sink(ABC, Generic[T]):
    """What ``sink_to`` writes to: a sink of :mod:`penstock.datastream.connectors`. A sink of your own is a
    ``SinkFunction`` for ``add_sink``."""

    @abstractmethod
    def runtime(self) -> BuiltinSink:
        """What tasks run."""
