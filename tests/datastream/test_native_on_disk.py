"""Programs give the same whether native code has their state or Python, in memory or on disk; and go on from one to the
other, with more or fewer subtasks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from penstock.common import Duration, Time, Types, WatermarkStrategy
from penstock.datastream import (
    KeyedProcessFunction,
    ListStateDescriptor,
    MapStateDescriptor,
    ProcessJoinFunction,
    ProcessWindowFunction,
    StreamExecutionEnvironment,
    TimeCharacteristic,
    ValueStateDescriptor,
)
from penstock.datastream.window import (
    ContinuousEventTimeTrigger,
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)
from penstock.runtime import native
from penstock.runtime.operators.native_counts import NativeCounts
from penstock.runtime.operators.native_join import NativeJoin
from penstock.runtime.operators.native_process_on_disk import NativeProcessOnDisk
from penstock.runtime.operators.native_triggers import NativeTriggers
from penstock.runtime.operators.native_windows import NativeWindows
from penstock.runtime.state.disk.cached import CachedTable
from tests.job.steps.evolving import environment, fed
from tests.running import collected

pytestmark = pytest.mark.skipif(native.functions() is None, reason="there is no native module")

LONG, TEXT = Types.LONG(), Types.STRING()
RECORD = Types.TUPLE([TEXT, LONG, LONG])
"""Key, number and time."""
KEYS = 700


class Run(NamedTuple):
    """How a job goes on."""

    native: str
    backend: str
    parallelism: int = 2
    memory: str = "1 kb"


IN_MEMORY = Run("off", "memory")
RUNS = {
    "on disk": [Run("auto", "disk"), Run("auto", "disk"), Run("auto", "disk")],
    "in turn": [Run("auto", "disk"), Run("off", "disk"), Run("auto", "memory")],
    "the other way": [Run("off", "memory"), Run("auto", "disk"), Run("off", "disk")],
    "scaled": [Run("auto", "disk", 1), Run("auto", "disk", 3, "200 kb"), Run("auto", "disk", 2)],
}


class Sessions(KeyedProcessFunction):
    """Counts the records of a key until none has come for a while."""

    def open(self, runtime_context: Any) -> None:
        self.last = runtime_context.get_state(ValueStateDescriptor("last", LONG))
        self.numbers = runtime_context.get_list_state(ListStateDescriptor("numbers", LONG))
        self.remainders = runtime_context.get_map_state(MapStateDescriptor("remainders", LONG, LONG))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        timers = ctx.timer_service()
        last = self.last.value()
        if last is not None:
            timers.delete_event_time_timer(last + 40)
        timers.register_event_time_timer(ctx.timestamp() + 40)
        self.last.update(ctx.timestamp())
        self.numbers.add(value[1])
        self.remainders.put(value[1] % 3, (self.remainders.get(value[1] % 3) or 0) + 1)
        yield value[0], value[1], len(list(self.numbers.get()))

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        yield ctx.get_current_key(), -timestamp, sum(self.numbers.get()) + 1000 * sum(self.remainders.values())
        self.last.clear()
        self.numbers.clear()
        self.remainders.clear()


def record(number: int) -> tuple[str, int, int]:
    """Some keys come often, and most a few times."""
    key = number % 50 if number % 3 else number * 31 % KEYS
    return f"key {key}", (1 << 70 if number % 997 == 3 else number % 11), number // 20


def summed(env: StreamExecutionEnvironment, records: Any) -> Any:
    keyed = records.key_by(lambda value: value[0], TEXT)
    return keyed.sum(1).uid("sums"), keyed.reduce(lambda a, b: (a[0], a[1] + b[1] * 2, b[2])).uid("reductions")


def sessions(env: StreamExecutionEnvironment, records: Any) -> Any:
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: value[2])
    timed = records.assign_timestamps_and_watermarks(strategy).set_parallelism(1)
    return (timed.key_by(lambda value: value[0], TEXT).process(Sessions(), RECORD).uid("sessions"),)


class Joined(ProcessJoinFunction):
    """Both numbers of a pair, and its time."""

    def process_element(self, left: Any, right: Any, ctx: Any) -> Iterator[Any]:
        yield left[0], left[1] - right[1], ctx.get_timestamp()


class Seen(ProcessWindowFunction):
    """The numbers in a window, in Python."""

    def process(self, key: Any, context: Any, elements: Any) -> Iterator[Any]:
        print(end="")  # an effect, so that it is not compiled
        yield f"{key}: {[value[1] for value in elements]}", context.window().start, context.window().end


def disordered(records: Any) -> Any:
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(5))
    strategy = strategy.with_timestamp_assigner(lambda value, _: value[2] - value[1] % 4)
    return records.assign_timestamps_and_watermarks(strategy).set_parallelism(1).key_by(lambda value: value[0], TEXT)


def panes(env: StreamExecutionEnvironment, records: Any) -> Any:
    timed = disordered(records)
    tumbling = timed.window(TumblingEventTimeWindows.of(Time.milliseconds(40))).sum(1).uid("sums")
    sliding = timed.window(SlidingEventTimeWindows.of(Time.milliseconds(30), Time.milliseconds(10)))
    return tumbling, sliding.process(Seen(), RECORD).uid("seen")


def merged(env: StreamExecutionEnvironment, records: Any) -> Any:
    windows = disordered(records).window(EventTimeSessionWindows.with_gap(Time.milliseconds(4)))
    return (windows.allowed_lateness(3).reduce(lambda a, b: (a[0], a[1] + b[1], max(a[2], b[2]))).uid("sessions"),)


def counted(env: StreamExecutionEnvironment, records: Any) -> Any:
    keyed = records.key_by(lambda value: value[0], TEXT)
    return (keyed.count_window(3).reduce(lambda a, b: (a[0], a[1] + b[1], b[2])).uid("counted"),)


def triggered(env: StreamExecutionEnvironment, records: Any) -> Any:
    windows = disordered(records).window(TumblingEventTimeWindows.of(Time.milliseconds(50)))
    return (windows.trigger(ContinuousEventTimeTrigger.of(Time.milliseconds(15))).max_by(1).uid("triggered"),)


def joined(env: StreamExecutionEnvironment, records: Any) -> Any:
    env.set_stream_time_characteristic(TimeCharacteristic.EventTime)
    left, right = (records.filter(lambda value, side=side: value[2] % 2 == side).set_parallelism(1) for side in (0, 1))
    pairs = disordered(left).interval_join(disordered(right)).between(Time.milliseconds(-6), Time.milliseconds(9))
    return (pairs.process(Joined(), RECORD).uid("joined"),)


def results(folder: Path, program: Any, runs: list[Run]) -> list[list[Any]]:
    """The results of a job that goes on with more records each time."""
    all_results = []
    for turn, run in enumerate(runs, 1):
        settings: dict[str, Any] = {"penstock__state__backend": run.backend, "penstock__state__memory": run.memory}
        env = environment(folder, run.parallelism, penstock__native=run.native, penstock__step__records=900, **settings)
        records = fed(env, folder, [record(number) for number in range(3_000 * turn)], RECORD).uid("records")
        records = records.filter(lambda value: value[1] < 1 << 60 or value[2] % 2 == 0).set_parallelism(1)
        streams = program(env, records)
        whole = streams[0] if len(streams) == 1 else streams[0].union(*streams[1:])
        all_results.append(sorted(collected(whole.map(repr, TEXT))))
    return all_results


WHOLE = {
    "roomy": [Run("auto", "disk", memory="8 mb")] * 3,
    "tight": [Run("auto", "disk", memory="60 kb")] * 3,
    "in turn": [Run("auto", "disk", memory="8 mb"), Run("off", "disk"), Run("auto", "memory")],
    "the other way": [Run("off", "memory"), Run("auto", "disk", memory="8 mb"), Run("off", "disk")],
    "scaled": [Run("auto", "disk", 1, "8 mb"), Run("auto", "disk", 3, "200 kb"), Run("auto", "disk", 2, "8 mb")],
}
"""For operators that native code has as a whole."""
PROGRAMS: dict[Any, tuple[Any, str, dict[str, list[Run]]]] = {
    summed: (CachedTable, "run", RUNS),
    sessions: (NativeProcessOnDisk, "run_input", RUNS),
    panes: (NativeWindows, "run", WHOLE),
    merged: (NativeWindows, "run", WHOLE),
    counted: (NativeCounts, "run", WHOLE),
    triggered: (NativeTriggers, "run", WHOLE),
    joined: (NativeJoin, "run_input", WHOLE),
}


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_jobs_go_on(program: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, name, all_runs = PROGRAMS[program]
    taken, take = list[int](), getattr(kind, name)

    def noted(self: Any, *arguments: Any) -> Any:
        done = take(self, *arguments)
        taken.append(done[2] - arguments[-2])
        return done

    monkeypatch.setattr(kind, name, noted)
    expected = results(tmp_path / "expected" / "job", program, [IN_MEMORY] * 3)
    assert not taken
    assert all(expected)
    for title, runs in all_runs.items():
        taken.clear()
        assert results(tmp_path / title / "job", program, runs) == expected
        assert sum(taken) > (100 if title == "tight" else 1_000), title


@pytest.mark.parametrize(("memory", "fits"), [("8 mb", True), ("40 kb", False)])
def test_windows_leave_native_code_before_they_take_too_much(
    memory: str, fits: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left, flush = list[bool](), NativeWindows.flush
    monkeypatch.setattr(NativeWindows, "flush", lambda self: (left.append(self.here), flush(self)))
    runs = [Run("auto", "disk", memory=memory)]
    values = results(tmp_path / "job", merged, runs)
    assert values == results(tmp_path / "other" / "job", merged, [IN_MEMORY])
    assert any(left) != fits
