"""Programs give the same whether native code has their state or Python, in memory or on disk; and go on from one to the
other, with more or fewer subtasks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from penstock.common import Types, WatermarkStrategy
from penstock.datastream import (
    KeyedProcessFunction,
    ListStateDescriptor,
    MapStateDescriptor,
    StreamExecutionEnvironment,
    ValueStateDescriptor,
)
from penstock.runtime import native
from penstock.runtime.operators.native_process_on_disk import NativeProcessOnDisk
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


@pytest.mark.slow
@pytest.mark.parametrize("program", [summed, sessions])
def test_jobs_go_on(program: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind: Any = CachedTable if program is summed else NativeProcessOnDisk
    name = "run" if program is summed else "run_input"
    taken, take = list[int](), getattr(kind, name)

    def noted(self: Any, *arguments: Any) -> Any:
        done = take(self, *arguments)
        taken.append(done[2] - arguments[-2])
        return done

    monkeypatch.setattr(kind, name, noted)
    expected = results(tmp_path / "expected" / "job", program, [IN_MEMORY] * 3)
    assert not taken
    assert all(len(some) > 2_500 for some in expected)
    for title, runs in RUNS.items():
        taken.clear()
        assert results(tmp_path / title / "job", program, runs) == expected
        assert sum(taken) > 1_000, title
