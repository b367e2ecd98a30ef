"""Programs whose plans are looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from penstock.cli.program import PlanCaptured, PlanOnlyExecutor
from penstock.common import Time, Types
from penstock.common.functions.state_ttl import StateTtlConfig
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.functions import KeyedProcessFunction
from penstock.datastream.state import MapStateDescriptor, ValueStateDescriptor
from penstock.plan import Pipeline

PAIR = Types.TUPLE([Types.STRING(), Types.LONG()])


class Counting(KeyedProcessFunction):
    """Asks for two states when it is opened, and has timers."""

    def open(self, runtime_context: Any) -> None:
        descriptor = ValueStateDescriptor("count", Types.LONG())
        descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.seconds(5)).build())
        self.count = runtime_context.get_state(descriptor)
        self.seen = runtime_context.get_map_state(MapStateDescriptor("seen", Types.STRING(), Types.LONG()))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield value

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        yield timestamp


class Connecting(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        raise ConnectionError("no database")

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield value


def planned(program: Callable[[StreamExecutionEnvironment], object]) -> Pipeline:
    """What a program would hand to its executor; nothing runs."""
    planner: Any = PlanOnlyExecutor()
    env = StreamExecutionEnvironment.get_execution_environment(executor=planner)
    program(env)
    try:
        env.execute("counts")
    except PlanCaptured:
        return planner.pipeline
    raise AssertionError("the plan was not captured")


def pairs(env: StreamExecutionEnvironment) -> Any:
    """A keyed stream of words and numbers."""
    return env.from_collection([("a", 1)], type_info=PAIR).key_by(lambda pair: pair[0], key_type=Types.STRING())
