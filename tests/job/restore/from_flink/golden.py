"""Programs of Penstock for the golden savepoints of Flink, which take all keyed and broadcast state in them."""

from __future__ import annotations

from typing import Any

from penstock.common import Types
from penstock.datastream import (
    BroadcastProcessFunction,
    KeyedProcessFunction,
    MapStateDescriptor,
    StreamExecutionEnvironment,
)
from penstock.flink.savepoint import FlinkSavepoint
from penstock.plan import Pipeline
from tests.analysis.programs import planned


class Nothing(KeyedProcessFunction[Any, Any, Any]):
    """A function that asks for no state."""

    def process_element(self, value: Any, ctx: Any) -> None:
        """Do nothing."""


class NothingBroadcast(BroadcastProcessFunction[Any, Any, Any]):
    """A function that asks for no state."""

    def process_element(self, value: Any, ctx: Any) -> None:
        """Do nothing."""

    def process_broadcast_element(self, value: Any, ctx: Any) -> None:
        """Do nothing."""


def program_for(savepoint: FlinkSavepoint, *, without: frozenset[str] = frozenset()) -> Pipeline:
    """A program with an operator under each ID of a savepoint, except those ``without`` which it is planned."""

    def build(env: StreamExecutionEnvironment) -> None:
        numbers = env.from_collection([1], Types.INT())
        for operator in savepoint.operators:
            if operator.operator_id in without or not operator.has_state:
                continue
            headers = list(savepoint.states(operator).values())
            if any(state.type == "BROADCAST" for state in headers):
                rules = MapStateDescriptor("anything", Types.STRING(), Types.STRING())
                stream = numbers.connect(numbers.broadcast(rules)).process(NothingBroadcast())
            else:
                stream = numbers.key_by(lambda number: number).process(Nothing())
            stream.set_uid_hash(operator.operator_id).set_parallelism(operator.parallelism)
            stream.set_max_parallelism(operator.max_parallelism)
        numbers.print()

    return planned(build)
