"""Programs with triggers and evictors, in steps: their state goes from native code to Python and back, and to other
parallelisms."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from penstock.common import Configuration, Time, Types, WatermarkStrategy
from penstock.datastream import AggregateFunction, StreamExecutionEnvironment
from penstock.datastream.evictor import CountEvictor, DeltaEvictor, TimeEvictor
from penstock.datastream.window import (
    ContinuousEventTimeTrigger,
    CountTrigger,
    DeltaTrigger,
    EventTimeSessionWindows,
    EventTimeTrigger,
    GlobalWindows,
    PurgingTrigger,
    SlidingEventTimeWindows,
    Trigger,
    TriggerResult,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from penstock.runtime.operators.native_counts import NativeCounts
from penstock.runtime.operators.native_triggers import NativeTriggers
from tests.job.steps.evolving import environment, fed
from tests.running import collected
from tests.runtime.windows.test_native_triggers import ByClockOrAtEnd, Changing, CountsItself, EarlyAndLate

RECORD = Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG()])
"""Key, value and time."""


class OnceAndAtEnd(Trigger):
    """Fires some time after the start of a window, for values that are large, and at its end."""

    def can_merge(self):
        return True

    def on_element(self, value, timestamp, window, context):
        if window.max_timestamp() <= context.get_current_watermark():
            return TriggerResult.FIRE
        context.register_event_time_timer(window.max_timestamp())
        context.register_event_time_timer(min(window.start + 7, window.max_timestamp()))
        return TriggerResult.FIRE if value[1] > 17 else TriggerResult.CONTINUE

    def on_event_time(self, time, window, context):
        return TriggerResult.FIRE

    def on_merge(self, window, context):
        if window.max_timestamp() > context.get_current_watermark():
            context.register_event_time_timer(window.max_timestamp())

    def clear(self, window, context):
        context.delete_event_time_timer(window.max_timestamp())
        context.delete_event_time_timer(min(window.start + 7, window.max_timestamp()))


class Tally(AggregateFunction):
    """How often each value came, how many there are, and their sum, in an accumulator that is changed in place."""

    def create_accumulator(self):
        return {"counts": {}, "seen": set(), "values": []}

    def add(self, value, accumulator):
        counts = accumulator["counts"]
        counts[value[1]] = counts.get(value[1], 0) + 1
        accumulator["seen"].add(value[0])
        accumulator["values"].append(value[1])
        return accumulator

    def get_result(self, accumulator):
        counts, values = accumulator["counts"], accumulator["values"]
        return len(accumulator["seen"]), sum(values), max(counts.values()), str(counts)

    def merge(self, a, b):
        for number, count in b["counts"].items():
            a["counts"][number] = a["counts"].get(number, 0) + count
        a["seen"] |= b["seen"]
        a["values"].extend(b["values"])
        return a


def difference(one, other):
    return abs(other[1] - one[1])


TUMBLING = TumblingEventTimeWindows.of(Time.milliseconds(50))
SLIDING = SlidingEventTimeWindows.of(Time.milliseconds(60), Time.milliseconds(25))
SESSIONS = EventTimeSessionWindows.with_gap(Time.milliseconds(8))
GLOBAL = GlobalWindows.create()
CASES = {
    "count": (TUMBLING, CountTrigger.of(4), None),
    "count in sessions": (SESSIONS, PurgingTrigger.of(CountTrigger.of(3)), None),
    "every": (SLIDING, ContinuousEventTimeTrigger.of(Time.milliseconds(15)), None),
    "every in sessions": (SESSIONS, ContinuousEventTimeTrigger.of(Time.milliseconds(10)), None),
    "every, for ever": (GLOBAL, ContinuousEventTimeTrigger.of(Time.milliseconds(40)), None),
    "delta": (GLOBAL, DeltaTrigger.of(3, difference), None),
    "own": (SLIDING, OnceAndAtEnd(), None),
    "own in sessions": (SESSIONS, OnceAndAtEnd(), None),
    "purged at the end": (TUMBLING, PurgingTrigger.of(EventTimeTrigger.create()), None),
    "counted": (TUMBLING, CountTrigger.of(2), CountEvictor.of(3)),
    "timed": (SLIDING, EventTimeTrigger.create(), TimeEvictor.of(Time.milliseconds(12), True)),
    "compared": (GLOBAL, CountTrigger.of(3), DeltaEvictor.of(4, difference)),
    "with state": (SLIDING, CountsItself(4), None),
    "with state in sessions": (SESSIONS, CountsItself(3), None),
    "with state, for ever": (GLOBAL, Changing(), None),
    "with several states": (SESSIONS, EarlyAndLate(), None),
    "in place": (SLIDING, ContinuousEventTimeTrigger.of(Time.milliseconds(15)), None),
    "in place in sessions": (SESSIONS, CountTrigger.of(3), None),
    "in place, for ever": (GLOBAL, CountTrigger.of(4), None),
}


def watch(folder: Path, records: list[Any], native: str, parallelism: int, case: str) -> list[Any]:
    """One step of a job, which goes on where the last one ended."""
    assigner, trigger, evictor = CASES[case]
    env = environment(folder, parallelism, penstock__native=native)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: value[2])
    timed = fed(env, folder, records, RECORD).assign_timestamps_and_watermarks(strategy)
    windows = timed.key_by(lambda value: value[0]).window(assigner).trigger(trigger)
    windows = windows if evictor is None else windows.evictor(evictor)
    if assigner is not GLOBAL:
        windows = windows.allowed_lateness(20)
    if case.startswith("in place"):
        return sorted(collected(windows.aggregate(Tally()).uid("windows")))
    return sorted(collected(windows.reduce(lambda a, b: (a[0], a[1] + b[1], max(a[2], b[2]))).uid("windows")))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_state_goes_from_python_to_native_code_and_back(case, tmp_path, monkeypatch):
    taken = list[int]()
    for stage in (NativeTriggers, NativeCounts):
        run = stage.run
        monkeypatch.setattr(stage, "run", lambda *parts, run=run: taken.append(len(parts)) or run(*parts))
    random = Random(case)
    records = [(random.choice("abcdefgh"), random.randrange(20), time + random.randrange(12)) for time in range(400)]
    expected, got = list[Any](), list[Any]()
    for number, (native, parallelism) in enumerate([("auto", 2), ("off", 2), ("auto", 3), ("auto", 1), ("off", 2)], 1):
        some = records[: 80 * number]
        expected.append(watch(tmp_path / "in python" / "job", some, "off", parallelism, case))
        got.append(watch(tmp_path / "in both" / "job", some, native, parallelism, case))
    assert got == expected
    assert sum(map(len, got)) > 20
    assert taken


def test_a_trigger_by_the_clock_fires_at_the_end_of_the_input():
    results = []
    for native in ("auto", "off"):
        env = StreamExecutionEnvironment.get_execution_environment(
            Configuration().set_string("penstock.native", native), executor="local"
        )
        records = env.from_collection([(f"k{n % 7}", n, n) for n in range(2_000)], type_info=RECORD)
        windows = records.key_by(lambda value: value[0]).window(TumblingProcessingTimeWindows.of(Time.days(9)))
        sums = windows.trigger(ByClockOrAtEnd()).reduce(lambda a, b: (a[0], a[1] + b[1], b[2]))
        results.append(sorted(sums.execute_and_collect()))
    assert results[0] == results[1] == [(f"k{n}", sum(range(n, 2_000, 7)), range(n, 2_000, 7)[-1]) for n in range(7)]
