"""Watermarks, and what generates them. Source of the names: ``org.apache.flink.api.common.eventtime`` (Flink 1.11)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

T_contra = TypeVar("T_contra", contravariant=True)


@dataclass(frozen=True)
class Watermark:
    """A promise that no record with this timestamp or a smaller one is to come."""

    timestamp: int  # in milliseconds since the epoch


class WatermarkOutput(Protocol):
    """What a generator emits to."""

    def emit_watermark(self, watermark: Watermark | int) -> None:
        """Emit a watermark; one that is not larger than the last is left out."""

    def mark_idle(self) -> None:
        """Hold nobody's watermark back until the next one."""


class WatermarkGenerator(ABC, Generic[T_contra]):
    """Makes watermarks out of records: after some of them (punctuated), or now and then (periodic)."""

    @abstractmethod
    def on_event(self, event: T_contra, event_timestamp: int | None, output: WatermarkOutput, /) -> None:
        """Called after each record with its timestamp in milliseconds, None without one. A watermark goes to
        ``output``."""

    def on_periodic_emit(self, output: WatermarkOutput, /) -> None:
        """Called now and then, and after the last record."""


class BoundedOutOfOrderness(WatermarkGenerator[object]):
    """Emits, now and then, the largest timestamp so far less a bound and 1 ms."""

    def __init__(self, bound_ms: int = 0) -> None:
        self._bound = bound_ms + 1
        self._largest: int | None = None

    def on_event(self, event: object, event_timestamp: int | None, output: WatermarkOutput, /) -> None:
        """Note the timestamp."""
        if event_timestamp is not None and (self._largest is None or event_timestamp > self._largest):
            self._largest = event_timestamp

    def on_periodic_emit(self, output: WatermarkOutput, /) -> None:
        """Emit, once there was a timestamp."""
        if self._largest is not None:
            output.emit_watermark(self._largest - self._bound)


class NoWatermarks(WatermarkGenerator[object]):
    """Emits nothing."""

    def on_event(self, event: object, event_timestamp: int | None, output: WatermarkOutput, /) -> None:
        """Nothing."""
