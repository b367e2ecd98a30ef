"""Classes that several connectors share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from typing import Any

from penstock.datastream.sinks import Sink
from penstock.runtime.io.splits import Source

__all__ = ["DeliveryGuarantee", "Sink", "Source", "StreamTransformer", "SupportsPreprocessing"]


class DeliveryGuarantee(Enum):
    """How often a sink delivers each record when something fails."""

    EXACTLY_ONCE = 0
    """Exactly once."""
    AT_LEAST_ONCE = 1
    """At least once."""
    NONE = 2
    """No guarantee: the sink does not wait for acknowledgements."""


class StreamTransformer(ABC):
    """Transforms a stream before a sink writes it (PyFlink: ``StreamTransformer``)."""

    @abstractmethod
    def apply(self, ds: Any) -> Any:
        """The stream to write, of the one that is given to ``sink_to``."""


class SupportsPreprocessing(ABC):
    """A sink that may transform a stream before it writes it."""

    @abstractmethod
    def get_transformer(self) -> StreamTransformer | None:
        """The transformer, or None."""
