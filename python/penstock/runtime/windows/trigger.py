"""What a trigger is, what it answers, and what it is given. The triggers of Flink are in
:mod:`penstock.runtime.windows.triggers`.

Source of the semantics: ``org.apache.flink.streaming.api.windowing.triggers.Trigger`` (Flink 1.11).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, Generic, Protocol, TypeVar

from penstock.common.checks import moment
from penstock.common.functions.state_descriptor import StateDescriptor
from penstock.errors import InvalidProgramError
from penstock.metrics.group import MetricGroup, Metrics
from penstock.runtime.state.handles import MergingState, merge_tables
from penstock.runtime.state.keyed import KeyedState, Table
from penstock.runtime.state.store import TRIGGERS, handle_of
from penstock.runtime.state.timers import OperatorTime

T = TypeVar("T", contravariant=True)
W = TypeVar("W", contravariant=True)
S = TypeVar("S")


class TriggerResult(Enum):
    """What to do with a window now: (fire, purge)."""

    CONTINUE = (False, False)
    FIRE = (True, False)
    PURGE = (False, True)
    FIRE_AND_PURGE = (True, True)

    def __init__(self, fire: bool, purge: bool) -> None:
        self.fire, self.purge = fire, purge

    def is_fire(self) -> bool:
        return self.fire

    def is_purge(self) -> bool:
        return self.purge


CONTINUE, FIRE, FIRE_AND_PURGE = TriggerResult.CONTINUE, TriggerResult.FIRE, TriggerResult.FIRE_AND_PURGE


class DeltaFunction(Protocol[T]):
    """An object that says how much two elements differ (Flink: ``DeltaFunction``)."""

    def get_delta(self, old: T, new: T, /) -> float:
        """The difference."""
        ...


class TriggerContext:
    """A trigger's access to time and to the state of the current key and window. While windows merge, ``merged`` are
    those that become ``window``; ``stays`` says whether a window is still there when event time has come to its end."""

    __slots__ = ("_tables", "keyed", "merged", "metrics", "stays", "time", "window")

    def __init__(self, keyed: KeyedState, time: OperatorTime, metrics: Metrics, stays: Callable[[Any], bool]) -> None:
        self.keyed, self.time, self.metrics, self.stays = keyed, time, metrics, stays
        self.window: Any = None
        self.merged: Sequence[Any] = ()
        self._tables: dict[str, Table] = {}

    def enter(self, window: Any) -> None:
        self.window = window
        self._tables.clear()

    def table(self, name: str) -> Table:
        """The trigger's state of that name, by canonical key, for the current window."""
        table = self._tables.get(name)
        if table is None:
            table = self._tables[name] = self.keyed.table(f"{TRIGGERS}{name}", self.window)
        return table

    def drop(self, name: str) -> Any:
        """Forget the current key's part of :meth:`table`; returns it."""
        self._tables.pop(name, None)
        return self.keyed.drop(f"{TRIGGERS}{name}", self.window)

    def merge(self, name: str, merge: Callable[[Any, Any], Any]) -> None:
        """Merge the state of the windows that become the current one."""
        self._tables.pop(name, None)
        merge_tables(self.keyed, f"{TRIGGERS}{name}", self.window, self.merged, merge)

    def get_metric_group(self) -> MetricGroup:
        return MetricGroup(self.metrics)

    def get_current_watermark(self) -> int:
        return self.time.watermark

    def get_current_processing_time(self) -> int:
        """Milliseconds since the epoch."""
        return self.time.clock.now()

    def register_event_time_timer(self, time: int) -> None:
        """Have ``on_event_time`` called for this key and window when the watermark reaches a time."""
        self.time.register_event_time(moment(time, "register_event_time_timer"), self.window)

    def register_processing_time_timer(self, time: int) -> None:
        """Have ``on_processing_time`` called for this key and window when the clock reaches a time."""
        self.time.register_processing_time(moment(time, "register_processing_time_timer"), self.window)

    def delete_event_time_timer(self, time: int) -> None:
        self.time.delete_event_time(moment(time, "delete_event_time_timer"), self.window)

    def delete_processing_time_timer(self, time: int) -> None:
        self.time.delete_processing_time(moment(time, "delete_processing_time_timer"), self.window)

    def get_partitioned_state(self, state_descriptor: StateDescriptor[S]) -> S:
        """State of this key and window: a value, a list, a map, a reduction or an aggregation by the descriptor."""
        return handle_of(self.keyed, state_descriptor, self.window)

    def merge_partitioned_state(self, state_descriptor: StateDescriptor[Any]) -> None:
        """In ``on_merge``: merge the state of the windows that become this one; InvalidProgramError for values and
        maps."""
        state = self.get_partitioned_state(state_descriptor)
        if not isinstance(state, MergingState):
            raise InvalidProgramError(
                f"merge_partitioned_state() was given the {type(state_descriptor).__name__} "
                f"{state_descriptor.name!r}: such states cannot be merged. Use a list, a reducing or an aggregating "
                "state, or forget the state in on_merge().",
                flink_class="java.lang.RuntimeException",
            )
        state.merge_namespaces(self.window, self.merged)


class Trigger(Generic[T, W]):
    """Decides when a window fires: it is asked after each element and at each of its timers.

    A trigger of one's own overrides ``on_element``, ``on_event_time``, ``on_processing_time`` and ``clear`` (and
    ``can_merge`` and ``on_merge`` for sessions). Its context has PyFlink's methods: timers, watermark, and
    ``get_partitioned_state``.
    """

    TriggerContext = TriggerContext
    OnMergeContext = TriggerContext

    def can_merge(self) -> bool:
        """Whether it works on session windows."""
        return False

    def needs_an_end(self) -> bool:
        """Whether it waits for the end of the window, so that it cannot work on the global one."""
        return False

    def on_element(self, value: T, timestamp: int | None, window: W, context: TriggerContext, /) -> TriggerResult:
        """Called after each element was added to the window."""
        raise NotImplementedError

    def on_event_time(self, time: int, window: W, context: TriggerContext, /) -> TriggerResult:
        """Called when the watermark reaches a timer."""
        return CONTINUE

    def on_processing_time(self, time: int, window: W, context: TriggerContext, /) -> TriggerResult:
        """Called when the clock reaches a timer."""
        return CONTINUE

    def on_merge(self, window: W, context: TriggerContext, /) -> None:
        """Called when windows have become ``window``."""

    def clear(self, window: W, context: TriggerContext, /) -> None:
        """Forget the state of the current key in a window that is over."""

    def arguments(self) -> tuple[object, ...]:
        return ()

    def __str__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(str, self.arguments()))})"
