"""State, timers and contexts of functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from typing_extensions import assert_type

from penstock.common import Duration, OutputTag, Time, TimeDomain, Types
from penstock.datastream import (
    AggregateFunction,
    AggregatingState,
    AggregatingStateDescriptor,
    BroadcastProcessFunction,
    BroadcastState,
    KeyedBroadcastProcessFunction,
    KeyedProcessFunction,
    ListState,
    ListStateDescriptor,
    MapState,
    MapStateDescriptor,
    ReadOnlyBroadcastState,
    ReducingState,
    ReducingStateDescriptor,
    RuntimeContext,
    StateTtlConfig,
    TimerService,
    ValueState,
    ValueStateDescriptor,
)
from penstock.metrics import Counter

Visit = tuple[str, int]
RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())
ABSENT = OutputTag("absent", Types.STRING())


class Mean(AggregateFunction[int, tuple[int, int], float]):
    def create_accumulator(self) -> tuple[int, int]:
        return 0, 0

    def add(self, value: int, accumulator: tuple[int, int]) -> tuple[int, int]:
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator: tuple[int, int]) -> float:
        return accumulator[0] / accumulator[1]


class Absent(KeyedProcessFunction[str, Visit, str]):
    alarm: ValueState[int]
    visits: ListState[int]
    counter: Counter

    def open(self, runtime_context: RuntimeContext) -> None:
        self.alarm = runtime_context.get_state(ValueStateDescriptor("alarm", Types.LONG()))
        self.visits = runtime_context.get_list_state(ListStateDescriptor("visits", Types.INT()))
        self.counter = runtime_context.get_metrics_group().counter("visits")
        assert_type(
            runtime_context.get_map_state(MapStateDescriptor("map", Types.STRING(), Types.INT())), MapState[str, int]
        )
        largest = runtime_context.get_reducing_state(ReducingStateDescriptor("largest", max, Types.INT()))
        assert_type(largest, ReducingState[int])
        assert_type(largest.get(), int | None)
        mean = runtime_context.get_aggregating_state(AggregatingStateDescriptor("mean", Mean()))
        assert_type(mean, AggregatingState[int, float])
        assert_type(mean.get(), float | None)

    def process_element(self, visit: Visit, ctx: KeyedProcessFunction.Context[str]) -> Iterator[str]:
        assert_type(ctx.get_current_key(), str)
        assert_type(ctx.timer_service(), TimerService)
        alarm = self.alarm.value()
        assert_type(alarm, int | None)
        if alarm is not None:
            ctx.timer_service().delete_event_time_timer(alarm)
        self.alarm.update(visit[1] + 3_000)
        self.visits.add(visit[1])
        assert_type(self.visits.get(), Iterator[int])
        ctx.timer_service().register_event_time_timer(visit[1] + 3_000)
        yield visit[0]

    def on_timer(
        self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext[str]
    ) -> Iterator[str | tuple[OutputTag[str], str]]:
        assert_type(ctx.time_domain(), TimeDomain)
        assert_type(ctx.timestamp(), int)
        yield ABSENT, f"{ctx.get_current_key()} was absent at {timestamp}"


class Rules(BroadcastProcessFunction[Visit, Visit, str]):
    def process_element(self, visit: Visit, ctx: BroadcastProcessFunction.ReadOnlyContext) -> Iterable[str]:
        assert_type(ctx.get_broadcast_state(RULES), ReadOnlyBroadcastState[str, int])
        assert_type(ctx.get_broadcast_state(RULES).get("a"), int | None)
        return []

    def process_broadcast_element(self, rule: Visit, ctx: BroadcastProcessFunction.Context) -> Iterable[str]:
        state = ctx.get_broadcast_state(RULES)
        assert_type(state, BroadcastState[str, int])
        state.put(*rule)
        return []


class KeyedRules(KeyedBroadcastProcessFunction[str, Visit, Visit, str]):
    def process_element(
        self, visit: Visit, ctx: KeyedBroadcastProcessFunction.ReadOnlyContext[str]
    ) -> Iterable[str] | None:
        ctx.timer_service().register_event_time_timer(visit[1])
        return [ctx.get_current_key()]

    def process_broadcast_element(self, rule: Visit, ctx: KeyedBroadcastProcessFunction.Context[str]) -> None:
        def reset(key: str, state: ValueState[int]) -> None:
            state.update(len(key))

        ctx.apply_to_keyed_state(ValueStateDescriptor("seen", Types.INT()), reset)


def with_time_to_live() -> ListStateDescriptor[int]:
    builder = StateTtlConfig.new_builder(Time.hours(1)).update_ttl_on_read_and_write().never_return_expired()
    config = (
        builder.cleanup_incrementally(10, False).cleanup_in_rocksdb_compact_filter(1000, Duration.of_days(1)).build()
    )
    assert_type(config, StateTtlConfig)
    assert_type(config.get_ttl(), Time)
    assert_type(config.get_update_type(), StateTtlConfig.UpdateType)
    incremental = config.get_cleanup_strategies().get_incremental_cleanup_strategy()
    assert_type(incremental, StateTtlConfig.CleanupStrategies.IncrementalCleanupStrategy | None)
    descriptor = ListStateDescriptor("last", Types.INT())
    descriptor.enable_time_to_live(config)
    return descriptor


def read_map(state: MapState[str, int]) -> dict[str, int]:
    if "a" in state and not state.is_empty():
        assert_type(state["a"], int)
    assert_type(list(state), list[str])
    state["b"] = 1
    del state["b"]
    assert_type(state.get_internal_state(), MapState[str, int])
    return dict(state.items())
