"""Windows: which ones an element belongs to, when they fire, what stays in them, and what is applied to them.

Everything here is plain frozen data that travels with a program; what runs is :mod:`penstock.runtime.operators.window`.
"""

from __future__ import annotations

from penstock.runtime.windows.assigners import (
    AssignerContext,
    DynamicSessionWindows,
    GlobalWindows,
    SessionWindows,
    SlidingWindows,
    TumblingWindows,
    UserWindows,
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
from penstock.runtime.windows.time_window import GlobalWindow, TimeWindow
from penstock.runtime.windows.triggers import (
    ContinuousEventTimeTrigger,
    ContinuousProcessingTimeTrigger,
    CountTrigger,
    DeltaTrigger,
    EventTimeTrigger,
    NeverTrigger,
    ProcessingTimeTrigger,
    PurgingTrigger,
    Trigger,
    TriggerContext,
    TriggerResult,
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
    "DynamicSessionWindows",
    "EventTimeTrigger",
    "Evictor",
    "FoldWindow",
    "GlobalWindow",
    "GlobalWindows",
    "NeverTrigger",
    "ProcessWindow",
    "ProcessingTimeTrigger",
    "PurgingTrigger",
    "ReduceWindow",
    "SessionWindows",
    "SlidingWindows",
    "Tagged",
    "TaggedKey",
    "TimeEvictor",
    "TimeWindow",
    "Trigger",
    "TriggerContext",
    "TriggerResult",
    "TumblingWindows",
    "UserWindows",
    "WindowAssigner",
    "WindowFunction",
]
