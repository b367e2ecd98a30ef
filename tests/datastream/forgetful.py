"""A program whose state has a time to live: every kind of state, some that lives and some that does not."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from penstock.common import Time, Types
from penstock.datastream import (
    AggregateFunction,
    AggregatingStateDescriptor,
    KeyedProcessFunction,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    RuntimeContext,
    StateDescriptor,
    StateTtlConfig,
    StreamExecutionEnvironment,
    ValueStateDescriptor,
)

KEYS = "abcabcabc"
PAUSE = 0.03
SHORT, LONG = Time.milliseconds(5), Time.hours(1)
EXPECTED = {
    "STREAMING": sorted((key, "long", seen) for key in "abc" for seen in range(3)) + [(k, "short", 0) for k in KEYS],
    "BATCH": sorted((key, ttl, seen) for key in "abc" for seen in range(3) for ttl in ("long", "short")),
}
"""(key, time to live, how much of each state is there) for each record; in BATCH mode there is no time to live."""


class Count(AggregateFunction[str, int, int]):
    def create_accumulator(self) -> int:
        return 0

    def add(self, value: str, accumulator: int) -> int:
        return accumulator + 1

    def get_result(self, accumulator: int) -> int:
        return accumulator

    def merge(self, acc_a: int, acc_b: int) -> int:
        return acc_a + acc_b


class Forgetful(KeyedProcessFunction[str, str, Any]):
    """Keeps how often it has seen a key in a state of each kind, for a short time or a long one."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.states = {name: states(runtime_context, name, ttl) for name, ttl in (("short", SHORT), ("long", LONG))}

    def process_element(self, value: str, ctx: Any) -> Iterator[Any]:
        time.sleep(PAUSE)
        for name, (last, every, sums, count, parts) in self.states.items():
            seen = {last.value() or 0, len(list(every.get())), sums.get() or 0, count.get() or 0, len(parts.keys())}
            yield value, name, seen.pop() if len(seen) == 1 else seen
            last.update((last.value() or 0) + 1)
            every.add(value)
            sums.add(1)
            count.add(value)
            parts.put(len(parts.keys()), value)


def states(context: RuntimeContext, name: str, ttl: Time) -> Any:
    descriptors: list[StateDescriptor[Any]] = [
        ValueStateDescriptor(f"value {name}", Types.INT()),
        ListStateDescriptor(f"list {name}", Types.STRING()),
        ReducingStateDescriptor(f"sum {name}", lambda one, other: one + other, Types.INT()),
        AggregatingStateDescriptor(f"count {name}", Count(), Types.INT()),
        MapStateDescriptor(f"map {name}", Types.INT(), Types.STRING()),
    ]
    for descriptor in descriptors:
        descriptor.enable_time_to_live(StateTtlConfig.new_builder(ttl).build())
    value, elements, sums, count, parts = descriptors
    return (
        context.get_state(value),
        context.get_list_state(elements),
        context.get_reducing_state(sums),
        context.get_aggregating_state(count),
        context.get_map_state(parts),
    )


def results_of(env: StreamExecutionEnvironment) -> list[Any]:
    keys = env.from_collection(list(KEYS), Types.STRING()).key_by(lambda key: key, Types.STRING())
    with keys.process(Forgetful()).execute_and_collect("forgetful") as results:
        return sorted(results)
