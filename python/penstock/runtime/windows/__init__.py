"""Windows: which ones an element belongs to, when they fire, what stays in them, and what is applied to them.

Everything here is plain frozen data that travels with a program; what runs is :mod:`penstock.runtime.operators.window`.
Users find assigners and triggers in :mod:`penstock.datastream.window`, evictors in :mod:`penstock.datastream.evictor`.
"""

from __future__ import annotations

from penstock.runtime.windows.assigners import (
    AssignerContext,
    DynamicEventTimeSessionWindows,
    DynamicProcessingTimeSessionWindows,
    EventTimeSessionWindows,
    GlobalWindows,
    ProcessingTimeSessionWindows,
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
    WindowAssigner,
)
from penstock.runtime.windows.evictors import CountEvictor, DeltaEvictor, Evictor, TimeEvictor
from penstock.runtime.windows.functions import (
    AggregateWindow,
    ApplyWindow,
    CoGroupWindow,
    FoldWindow,
    ProcessWindow,
    ReduceWindow,
    Tagged,
    TaggedKey,
    WindowFunction,
)
from penstock.runtime.windows.time_window import GlobalWindow, TimeWindow, Window
from penstock.runtime.windows.trigger import Trigger, TriggerContext, TriggerResult
from penstock.runtime.windows.triggers import (
    ContinuousEventTimeTrigger,
    ContinuousProcessingTimeTrigger,
    CountTrigger,
    DeltaTrigger,
    EventTimeTrigger,
    NeverTrigger,
    ProcessingTimeTrigger,
    PurgingTrigger,
)

__all__ = [
    "AggregateWindow",
    "ApplyWindow",
    "AssignerContext",
    "CoGroupWindow",
    "ContinuousEventTimeTrigger",
    "ContinuousProcessingTimeTrigger",
    "CountEvictor",
    "CountTrigger",
    "DeltaEvictor",
    "DeltaTrigger",
    "DynamicEventTimeSessionWindows",
    "DynamicProcessingTimeSessionWindows",
    "EventTimeSessionWindows",
    "EventTimeTrigger",
    "Evictor",
    "FoldWindow",
    "GlobalWindow",
    "GlobalWindows",
    "NeverTrigger",
    "ProcessWindow",
    "ProcessingTimeSessionWindows",
    "ProcessingTimeTrigger",
    "PurgingTrigger",
    "ReduceWindow",
    "SlidingEventTimeWindows",
    "SlidingProcessingTimeWindows",
    "Tagged",
    "TaggedKey",
    "TimeEvictor",
    "TimeWindow",
    "Trigger",
    "TriggerContext",
    "TriggerResult",
    "TumblingEventTimeWindows",
    "TumblingProcessingTimeWindows",
    "Window",
    "WindowAssigner",
    "WindowFunction",
]
