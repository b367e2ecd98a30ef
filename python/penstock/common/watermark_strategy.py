"""WatermarkStrategy: how timestamps and event time are made (``pyflink.common.watermark_strategy``)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Generic, Protocol, TypeVar, cast

from penstock.common import checks
from penstock.common.time import Duration, milliseconds_of

T = TypeVar("T", bound=Any)  # so that a lambda whose record is not known yet takes any
T_contra = TypeVar("T_contra", contravariant=True)


@dataclass(frozen=True)
class Watermark:
    """A promise that no record with this timestamp or a smaller one is to come."""

    timestamp: int  # in milliseconds since the epoch


class WatermarkOutput(Protocol):
    """The output of a generator."""

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


class TimestampAssigner(ABC, Generic[T_contra]):
    """Gives records their event time."""

    @abstractmethod
    def extract_timestamp(self, value: T_contra, record_timestamp: int | None, /) -> int:
        """Event time of ``value`` in milliseconds since the epoch."""


@dataclass(frozen=True)
class WatermarkStrategy(Generic[T_contra]):
    """How watermarks follow from timestamps."""

    kind: str  # ``none``, ``monotonous``, ``bounded`` or ``generator``; or another strategy, to be one like it
    bound_ms: int = 0  # with ``bounded``, how late a record may be
    # a TimestampAssigner or a callable (value, record timestamp) → milliseconds; None keeps what records have
    assigner: TimestampAssigner[T_contra] | Callable[[T_contra, int | None], int] | None = None
    idle_ms: int | None = None  # after how long without records a source no longer holds others back; None: never
    # with ``generator``, a callable that makes a WatermarkGenerator for each subtask
    supplier: Callable[[], WatermarkGenerator[T_contra]] | None = None

    def __post_init__(self) -> None:
        like = self.kind
        if isinstance(like, WatermarkStrategy):  # PyFlink's constructor takes an object of Java's
            for part in fields(self):
                object.__setattr__(self, part.name, getattr(like, part.name))

    @property
    def says_nothing(self) -> bool:
        """Whether records keep the timestamps that they have, and there are neither watermarks nor idleness."""
        return self.kind == "none" and self.assigner is None and self.idle_ms is None

    @property
    def signature(self) -> str:
        """The parts that its generators need to resume, as a text; a user's generator is not looked into."""
        return f"{self.kind} {self.bound_ms} {self.idle_ms}"

    def as_given(self) -> WatermarkStrategy[T_contra]:
        """The strategy for an operator that keeps it: this one, as nothing changes it any more."""
        return self

    def generator(self) -> WatermarkGenerator[T_contra]:
        """A new generator, for one subtask."""
        if self.supplier is not None:
            return self.supplier()
        return NoWatermarks() if self.kind == "none" else BoundedOutOfOrderness(self.bound_ms)

    @classmethod
    def no_watermarks(cls) -> WatermarkStrategy[object]:
        """Event time never advances before the end."""
        return cast("type[WatermarkStrategy[object]]", cls)("none")

    @classmethod
    def for_monotonous_timestamps(cls) -> WatermarkStrategy[object]:
        """Timestamps only grow."""
        return cast("type[WatermarkStrategy[object]]", cls)("monotonous")

    @classmethod
    def for_bounded_out_of_orderness(cls, max_out_of_orderness: Duration) -> WatermarkStrategy[object]:
        """Records come at most so much late."""
        bound = milliseconds_of(max_out_of_orderness, "for_bounded_out_of_orderness", "bound")
        if bound < 0:
            checks.illegal_argument(
                f"for_bounded_out_of_orderness({bound} ms): the bound is how late a record may come and cannot be "
                "negative. Give 0 or more."
            )
        return cast("type[WatermarkStrategy[object]]", cls)("bounded", bound)

    @classmethod
    def for_generator(cls, generator_supplier: Callable[[], WatermarkGenerator[T]]) -> WatermarkStrategy[T]:
        """Watermarks of a WatermarkGenerator that the callable, its class say, makes for each subtask."""
        if not callable(generator_supplier):
            checks.refuse(
                f"for_generator() was given {checks.shown(generator_supplier)}. Give a callable that makes a "
                "WatermarkGenerator, such as its class."
            )
        return cast("type[WatermarkStrategy[T]]", cls)("generator", supplier=generator_supplier)

    def with_timestamp_assigner(
        self, timestamp_assigner: TimestampAssigner[T] | Callable[[T, int | None], int]
    ) -> WatermarkStrategy[T]:
        """A strategy that takes timestamps from the records, and watermarks as this one does."""
        checks.function(timestamp_assigner, "with_timestamp_assigner", "extract_timestamp")
        return cast("WatermarkStrategy[T]", replace(self, assigner=timestamp_assigner))

    def with_idleness(self, idle_timeout: Duration) -> WatermarkStrategy[T_contra]:
        """A strategy that leaves sources out of account when they have been silent for a while."""
        idle = milliseconds_of(idle_timeout, "with_idleness", "timeout")
        if idle <= 0:
            checks.illegal_argument(
                f"with_idleness({idle} ms): the timeout must be positive. Leave the call out for none."
            )
        return replace(self, idle_ms=idle)

    def with_watermark_alignment(
        self, watermark_group: str, max_allowed_watermark_drift: Duration, update_interval: Duration | None = None
    ) -> WatermarkStrategy[T_contra]:
        """The same strategy: Flink holds back sources that are ahead of others, which changes no result."""
        call = "with_watermark_alignment"
        checks.text(watermark_group, call, "watermark_group")
        milliseconds_of(max_allowed_watermark_drift, call, "max_allowed_watermark_drift")
        if update_interval is not None:
            milliseconds_of(update_interval, call, "update_interval")
        return self
