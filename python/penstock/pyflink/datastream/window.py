"""The names of PyFlink's ``pyflink.datastream.window``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.contexts import RuntimeContext
from penstock.common.output_tag import OutputTag
from penstock.common.serializer import TypeSerializer
from penstock.common.state import ReducingState, State
from penstock.common.state_descriptor import (
    ReducingStateDescriptor,
    StateDescriptor,
    ValueStateDescriptor,
)
from penstock.common.time import Time
from penstock.common.typeinfo import Types
from penstock.datastream.functions import ReduceFunction
from penstock.datastream.window import (
    ContinuousEventTimeTrigger,
    ContinuousProcessingTimeTrigger,
    CountSlidingWindowAssigner,
    CountTrigger,
    CountTumblingWindowAssigner,
    CountWindow,
    CountWindowSerializer,
    DynamicEventTimeSessionWindows,
    DynamicProcessingTimeSessionWindows,
    EventTimeSessionWindows,
    EventTimeTrigger,
    GlobalWindow,
    GlobalWindows,
    GlobalWindowSerializer,
    MergingWindowAssigner,
    NeverTrigger,
    ProcessingTimeSessionWindows,
    ProcessingTimeTrigger,
    PurgingTrigger,
    SessionWindowTimeGapExtractor,
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    TimeWindow,
    TimeWindowSerializer,
    Trigger,
    TriggerResult,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
    Window,
    WindowAssigner,
)
from penstock.metrics.group import MetricGroup
from penstock.pyflink.deviating import MAX_LONG_VALUE, MIN_LONG_VALUE
from penstock.pyflink.missing import (
    InternalWindowFunction,
    Min,
    WindowOperationDescriptor,
    long_to_int_with_bit_mixing,
    mod_inverse,
)
from penstock.pyflink.variables import IN, KEY, OUT, W2, T, W

__all__ = [
    "IN",
    "KEY",
    "MAX_LONG_VALUE",
    "MIN_LONG_VALUE",
    "OUT",
    "W2",
    "ContinuousEventTimeTrigger",
    "ContinuousProcessingTimeTrigger",
    "CountSlidingWindowAssigner",
    "CountTrigger",
    "CountTumblingWindowAssigner",
    "CountWindow",
    "CountWindowSerializer",
    "DynamicEventTimeSessionWindows",
    "DynamicProcessingTimeSessionWindows",
    "EventTimeSessionWindows",
    "EventTimeTrigger",
    "GlobalWindow",
    "GlobalWindowSerializer",
    "GlobalWindows",
    "InternalWindowFunction",
    "MergingWindowAssigner",
    "MetricGroup",
    "Min",
    "NeverTrigger",
    "OutputTag",
    "ProcessingTimeSessionWindows",
    "ProcessingTimeTrigger",
    "PurgingTrigger",
    "ReduceFunction",
    "ReducingState",
    "ReducingStateDescriptor",
    "RuntimeContext",
    "SessionWindowTimeGapExtractor",
    "SlidingEventTimeWindows",
    "SlidingProcessingTimeWindows",
    "State",
    "StateDescriptor",
    "T",
    "Time",
    "TimeWindow",
    "TimeWindowSerializer",
    "Trigger",
    "TriggerResult",
    "TumblingEventTimeWindows",
    "TumblingProcessingTimeWindows",
    "TypeSerializer",
    "Types",
    "ValueStateDescriptor",
    "W",
    "Window",
    "WindowAssigner",
    "WindowOperationDescriptor",
    "long_to_int_with_bit_mixing",
    "mod_inverse",
]
