"""Tasks that run each step in another worker, as on a cluster: whoever continues has all of the state."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from penstock import local
from penstock.common import Configuration, Time, TimestampAssigner, Types, WatermarkStrategy
from penstock.datastream import KeyedProcessFunction, StreamExecutionEnvironment, ValueStateDescriptor
from penstock.datastream.window import EventTimeSessionWindows, TumblingEventTimeWindows
from penstock.job.deployment import Deployment
from penstock.runtime.buffers.row import Row
from penstock.runtime.buffers.spill import Rows, Store
from penstock.runtime.exchange.gate import DRIVER
from penstock.runtime.task.task import Task
from penstock.runtime.task.worker_tasks import LivingTasks
from tests.running import collected
from tests.sparks.sums import Numbers

WORKERS, STEPS, EACH, KEYS = 3, 24, 50, 7
REPAIRED: list[int] = []


def key_of(number: int) -> int:
    """A key that has no record in most of the steps, so that its subtask may have nothing to write."""
    return number // EACH % KEYS


class Workers:
    """Runs the steps of a job in several workers by turns, each of which keeps its tasks."""

    keeps_tasks = False

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment
        self._workers = [LivingTasks() for _ in range(WORKERS)]

    def step(self, version: int, assignments: Mapping[tuple[int, int], Any], watch: object) -> Rows:
        for_driver, waiting = Rows(Store()), defaultdict[tuple[int, int], list[Row]](list)
        for level in range(len(self._deployment.levels)):
            for slot in range(self._deployment.slots(level)):
                vertex, subtask = self._deployment.slot(level, slot)
                worker = self._workers[(version + subtask) % WORKERS]
                name, assignment = ("job", vertex.index, subtask), assignments[vertex.index, subtask]
                task = worker.take(name, assignment, partial(Task, vertex, subtask, 0, self._deployment.job))
                task.begin(assignment)
                for row in (*task.receive(waiting.pop((level, slot), ())), *task.finish()):
                    (for_driver.append if row.level == DRIVER else waiting[row.level, row.slot].append)(row)
                worker.put(name, task)
        return for_driver

    def write_tables(self) -> None:
        """There are none."""

    def cancel(self) -> None:
        """Nobody does."""

    def forget(self, attempt: int) -> None:
        raise AssertionError("a step has failed")

    def close(self) -> None:
        REPAIRED.append(sum(worker.repaired for worker in self._workers))


class Sum(KeyedProcessFunction):
    def open(self, context: Any) -> None:
        self.sum = context.get_state(ValueStateDescriptor("sum", Types.LONG()))

    def process_element(self, value: Any, ctx: Any) -> Any:
        self.sum.update((self.sum.value() or 0) + value[1])
        yield value[0], self.sum.value()


def reduced(pairs: Any) -> Any:
    return pairs.reduce(lambda one, other: (one[0], one[1] + other[1]))


def processed(pairs: Any) -> Any:
    return pairs.process(Sum(), Types.TUPLE([Types.LONG(), Types.LONG()]))


def summed(pairs: Any) -> Any:
    return pairs.sum(1)


def counted(pairs: Any) -> Any:
    return reduced(pairs.count_window(120))


def windowed(pairs: Any) -> Any:
    return reduced(pairs.window(TumblingEventTimeWindows.of(Time.milliseconds(800))))


def in_sessions(pairs: Any) -> Any:
    return reduced(pairs.window(EventTimeSessionWindows.with_gap(Time.milliseconds(250))))


class Times(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: Any) -> int:
        return value


def run(folder: Path, program: Any, settings: dict[str, str]) -> list[Any]:
    texts = {
        "execution.checkpointing.dir": str(folder),
        "penstock.step.available-now": "true",
        "penstock.step.records": str(EACH),
        **settings,
    }
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(texts), executor="local")
    timed = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Times())
    numbers = env.set_parallelism(2).from_source(Numbers(STEPS * EACH), timed, "numbers", Types.LONG())
    numbers.set_parallelism(1)
    pairs = numbers.map(lambda number: (key_of(number), number), Types.TUPLE([Types.LONG(), Types.LONG()]))
    return sorted(collected(program(pairs.key_by(lambda pair: pair[0], Types.LONG()))))


@pytest.mark.parametrize("native", ["auto", "off"])
@pytest.mark.parametrize("backend", ["memory", "disk"])
@pytest.mark.parametrize("program", [reduced, summed, processed, counted, windowed, in_sessions])
def test_results_are_the_same_wherever_a_task_runs(monkeypatch, tmp_path, native, backend, program):
    settings = {"penstock.native": native, "penstock.state.backend": backend}
    expected = run(tmp_path / "one", program, settings)
    monkeypatch.setattr(local, "LocalSteps", Workers)
    REPAIRED.clear()
    assert run(tmp_path / "many", program, settings) == expected
    assert len(expected) >= KEYS
    assert REPAIRED[0] > WORKERS
