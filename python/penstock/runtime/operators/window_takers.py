"""Which loop takes the records of a window operator, many at a time."""

from __future__ import annotations

from typing import Any

from penstock.runtime.chain.operator import Take
from penstock.runtime.operators.window_batches import Batches, Parts
from penstock.runtime.operators.window_panes import Panes
from penstock.runtime.operators.window_sessions import Sessions
from penstock.runtime.state.native_handles import use_native_timers
from penstock.runtime.state.operator_time import OperatorTime
from penstock.runtime.windows.assigners import (
    EventTimeSessionWindows,
    ProcessingTimeSessionWindows,
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from penstock.runtime.windows.triggers import EventTimeTrigger, ProcessingTimeTrigger

_SESSIONS = EventTimeSessionWindows, ProcessingTimeSessionWindows
_TUMBLING = TumblingEventTimeWindows, TumblingProcessingTimeWindows
_SLIDING = SlidingEventTimeWindows, SlidingProcessingTimeWindows


def taker(parts: Parts) -> Take | None:
    """The loop for an operator, which from now on fires its timers together too; None if there is none."""
    time, assigner = parts.live.context.time, parts.assigner
    kind: Any = type(assigner)
    if type(time) is not OperatorTime or not parts.state.holds_dicts:
        return None
    own_trigger = EventTimeTrigger if assigner.event_time else ProcessingTimeTrigger
    asks = type(parts.trigger) is not own_trigger
    if not asks and parts.state.functions is not None:
        use_native_timers(parts.state, parts.state.functions)
    batches: Batches
    if kind in _SESSIONS and not asks and (assigner.event_time or assigner != ProcessingTimeSessionWindows(1)):
        batches = Sessions(parts)
    elif kind in _TUMBLING or kind in _SLIDING:
        batches = Panes(parts, asks)
    else:
        return None
    if not asks:
        time.use_many(batches.fire)
        parts.live.gathers = assigner.is_event_time()
    return batches.take
