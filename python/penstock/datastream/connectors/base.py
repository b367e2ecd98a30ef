"""What connectors share, under PyFlink's path."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from typing import Any

from penstock.datastream.sinks import Sink
from penstock.runtime.io.splits import Source

__all__ = ["DeliveryGuarantee", "Sink", "Source", "StreamTransformer", "SupportsPreprocessing"]


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
