"""A method of a trigger that returns no TriggerResult: the error names it, the value, and what to return."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from penstock.common import Configuration, Time, WatermarkStrategy
from penstock.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from penstock.datastream.window import (
    EventTimeSessionWindows,
    GlobalWindows,
    PurgingTrigger,
    SlidingEventTimeWindows,
    Trigger,
    TriggerResult,
    TumblingEventTimeWindows,
)
from penstock.errors import InvalidProgramError, JobExecutionError
from tests.running import collected


class Answers(Trigger):
    """Answers with one value to a record, and with another one to a timer."""

    def __init__(self, to_record: Any = TriggerResult.CONTINUE, to_timer: Any = TriggerResult.FIRE) -> None:
        self.to_record, self.to_timer = to_record, to_timer

    def can_merge(self) -> bool:
        return True

    def on_merge(self, window: Any, ctx: Any) -> None:
        ctx.register_event_time_timer(window.max_timestamp())

    def on_element(self, element: Any, timestamp: Any, window: Any, ctx: Any) -> Any:
        ctx.register_event_time_timer(5)
        return self.to_record

    def on_event_time(self, time: int, window: Any, ctx: Any) -> Any:
        return self.to_timer

    def on_processing_time(self, time: int, window: Any, ctx: Any) -> Any:
        return TriggerResult.CONTINUE

    def clear(self, window: Any, ctx: Any) -> None:
        pass


class Inherits(Answers):
    pass


class Sizes(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Any) -> Iterator[Any]:
        yield len(list(elements))


class Wrong(ProcessWindowFunction):
    def __init__(self, value: Any) -> None:
        self.value = value

    def process(self, key: Any, context: Any, elements: Any) -> Iterator[Any]:
        yield len(self.value) if isinstance(self.value, int) else self.value.fire


WINDOWS = {
    "tumbling": TumblingEventTimeWindows.of(Time.seconds(1)),
    "sliding": SlidingEventTimeWindows.of(Time.seconds(2), Time.seconds(1)),
    "sessions": EventTimeSessionWindows.with_gap(Time.milliseconds(7)),
    "global": GlobalWindows.create(),
}


def outcome(windows: Any, trigger: Any, function: Any = None, native: str = "off") -> Any:
    settings = Configuration().set_string("penstock.native", native)
    env = StreamExecutionEnvironment.get_execution_environment(settings, executor="local").set_parallelism(1)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: value[1])
    records = env.from_collection([("a", time) for time in range(20)]).assign_timestamps_and_watermarks(strategy)
    windowed = records.key_by(lambda value: value[0]).window(windows)
    if trigger is not None:
        windowed = windowed.trigger(trigger)
    return collected(windowed.process(function or Sizes()))


def cause_of(*arguments: Any) -> Any:
    with pytest.raises(JobExecutionError) as caught:
        outcome(*arguments)
    return caught.value.__cause__


@pytest.mark.parametrize("purging", [False, True])
@pytest.mark.parametrize(
    ("trigger", "method", "shown"),
    [
        (Inherits("FIRE"), "Inherits.on_element", "'FIRE' (str)"),
        (Answers(None), "Answers.on_element", "None (NoneType)"),
        (Answers(to_timer=(True, False)), "Answers.on_event_time", "(True, False) (tuple)"),
    ],
)
@pytest.mark.parametrize("windows", WINDOWS)
def test_the_error_names_the_method_and_the_value(
    windows: str, trigger: Any, method: str, shown: str, purging: bool
) -> None:
    error = cause_of(WINDOWS[windows], PurgingTrigger.of(trigger) if purging else trigger, None, "auto")
    assert isinstance(error, InvalidProgramError)
    place = re.escape(f"The trigger's method {method} ({__file__}:")
    assert re.match(rf"{place}\d+\) returned {re.escape(shown)}, where a TriggerResult is due\. Return ", str(error))


def test_one_that_is_like_a_result_will_do() -> None:
    class Like:
        fire, purge = True, False

    assert outcome(WINDOWS["global"], Answers(Like()))[:20] == [*range(1, 21)]


@pytest.mark.parametrize(("value", "error"), [(5, TypeError), ("text", AttributeError)])
@pytest.mark.parametrize("trigger", [None, Answers(TriggerResult.FIRE)])
def test_errors_of_functions_are_theirs(trigger: Any, value: Any, error: type[Exception]) -> None:
    cause = cause_of(WINDOWS["tumbling"], trigger, Wrong(value))
    assert type(cause) is error
    assert cause.__cause__ is not cause
