"""Key groups that do not fit: what a run refuses, and that every command says it before."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.cli.program import PlanOnlyExecutor
from penstock.common import Configuration, Types, WatermarkStrategy
from penstock.datastream import DataStreamUtils, KeyedProcessFunction, StreamExecutionEnvironment, ValueStateDescriptor
from penstock.errors import InvalidProgramError
from penstock.job.restore.refusals import ILLEGAL_STATE
from tests.datastream.guarding import KEPT, REFUSED, asked, pipeline_of
from tests.generator import sinks
from tests.generator.programs import Feed


class Numbered(KeyedProcessFunction):
    """The number of each record of its key."""

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value, ctx):
        number = (self.count.value() or 0) + 1
        self.count.update(number)
        yield value


def two_in_a_chain(
    folder: str, first: int | None, second: int | None, parallelism: int, executor: Any = "local"
) -> Any:
    """Two keyed operators that run in one task, with a max parallelism each."""
    settings = {"execution.checkpointing.dir": folder, "penstock.step.available-now": "true"}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings), executor=executor)
    env.set_parallelism(parallelism)
    numbers = env.from_source(Feed(7, 20, False), WatermarkStrategy.no_watermarks(), "numbers", Types.INT())
    keyed = numbers.uid("numbers").key_by(lambda value: value, Types.INT())
    one = keyed.process(Numbered(), Types.INT()).uid("one").name("one")
    again = DataStreamUtils.reinterpret_as_keyed_stream(one, lambda value: value, Types.INT())
    other = again.process(Numbered(), Types.INT()).uid("other").name("other")
    for stream, most in ((one, first), (other, second)):
        if most is not None:
            stream.set_max_parallelism(most)
    sinks.collect(other, "out", None)
    return env


def plan_of(folder: str, *sizes: Any) -> Any:
    planner = PlanOnlyExecutor()
    return pipeline_of(two_in_a_chain(folder, *sizes, executor=planner), planner)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ((64, 64, 2), (64, 64, 3), ""),
        ((64, None, 2), (None, 64, 3), ""),
        ((64, None, 2), (None, None, 3), ""),
        ((128, 64, 2), (128, 64, 2), "'one -> other"),
        ((128, 64, 2), (None, 64, 3), "different numbers of key groups"),
        ((64, 64, 2), (64, 32, 2), "Set its max parallelism to 64"),
        ((4, 4, 2), (None, None, 5), "a parallelism of 4 or less"),
    ],
)
def test_a_chain_has_one_number_of_key_groups(tmp_path, before: Any, after: Any, message: str) -> None:
    """By which its records come to its subtasks: with another one, keys would not be found (FLINK-40113)."""
    folder = str(tmp_path / "job")
    two_in_a_chain(folder, *before).execute("sizes")
    answers = asked(plan_of(folder, *before), folder, plan_of(folder, *after))
    assert {answer.outcome for name, answer in answers.items() if name != "lock"} == {REFUSED if message else KEPT}
    if not message:
        two_in_a_chain(folder, *after).execute("sizes")
        return
    with pytest.raises(InvalidProgramError, match=message) as refused:
        two_in_a_chain(folder, *after).execute("sizes")
    assert refused.value.flink_class == ILLEGAL_STATE
