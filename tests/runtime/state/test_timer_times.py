"""The times that timers are registered for: whole milliseconds that fit into Java's long."""

from __future__ import annotations

import pytest

from penstock.common import Types
from penstock.datastream import KeyedProcessFunction
from penstock.datastream.window import CountTumblingWindowAssigner, Trigger, TriggerResult
from penstock.errors import InvalidProgramError, JobExecutionError
from penstock.savepoints import KeyedStateBootstrapFunction, SavepointWriter
from tests.running import collected, environment

CALLS = [f"{verb}_{domain}_time_timer" for verb in ("register", "delete") for domain in ("event", "processing")]
WRONG = [5.5, 5.0, "5", None, True, float("nan"), 1 << 63]


def keyed():
    return environment().from_collection([1, 2], Types.LONG()).key_by(lambda number: 0, Types.LONG())


class Calling(KeyedProcessFunction):
    def __init__(self, call, time):
        self.call, self.time = call, time

    def process_element(self, value, ctx):
        getattr(ctx.timer_service(), self.call)(self.time)
        yield "called"

    def on_timer(self, timestamp, ctx):
        yield f"{timestamp!r}"


class CallingTrigger(Trigger):
    def __init__(self, call, time):
        self.call, self.time = call, time

    def on_element(self, element, timestamp, window, ctx):
        getattr(ctx, self.call)(self.time)
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_merge(self, window, ctx):
        pass

    def clear(self, window, ctx):
        pass


@pytest.mark.parametrize("time", WRONG, ids=repr)
@pytest.mark.parametrize("call", CALLS)
def test_a_time_that_is_no_whole_number_is_refused(call, time):
    with pytest.raises(JobExecutionError, match=rf"{call}\(\) was given .* as a time in milliseconds, which"):
        collected(keyed().process(Calling(call, time), Types.STRING()))


@pytest.mark.parametrize("call", CALLS)
def test_in_triggers_too(call):
    windows = keyed().window(CountTumblingWindowAssigner.of(2)).trigger(CallingTrigger(call, 5.5))
    with pytest.raises(
        JobExecutionError, match=rf"{call}\(\) was given 5.5 as a time in milliseconds, which is a float"
    ):
        collected(windows.reduce(max))


@pytest.mark.parametrize("call", [call for call in CALLS if call.startswith("register")])
def test_and_in_savepoints_that_are_made(call):
    class Filling(KeyedStateBootstrapFunction):
        def process_element(self, value, ctx):
            getattr(ctx.timer_service(), call)(5.5)

    with pytest.raises(InvalidProgramError, match=rf"{call}\(\) was given 5.5"):
        SavepointWriter().with_keyed_state("uid", ["a"], lambda row: row, Types.STRING(), Filling())


def test_numbers_of_numpy_are_whole_numbers():
    numpy = pytest.importorskip("numpy")
    results = collected(keyed().process(Calling(CALLS[0], numpy.int64(5)), Types.STRING()))
    assert results == ["called", "called", "5"]
    with pytest.raises(JobExecutionError, match=r"was given np\.float64"):
        collected(keyed().process(Calling(CALLS[0], numpy.float64(5)), Types.STRING()))
