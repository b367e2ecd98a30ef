"""State with a time to live in programs; :mod:`tests.runtime.state.test_ttl` has what each state does."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import pytest

from penstock.common import Configuration, Duration, Time, Types
from penstock.datastream import (
    KeyedProcessFunction,
    RuntimeContext,
    StateTtlConfig,
    StreamExecutionEnvironment,
    ValueStateDescriptor,
)
from penstock.testing import ProcessFunctionTestHarnesses
from tests.datastream import forgetful

Cleanup = StateTtlConfig.CleanupStrategies


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
@pytest.mark.parametrize("form", ["fused", "listed"])
@pytest.mark.parametrize("p", [1, 2])
def test_states_end_by_the_clock(mode: str, form: str, p: int) -> None:
    settings = Configuration.from_dict({"execution.runtime-mode": mode, "penstock.runtime.form": form})
    env = StreamExecutionEnvironment.get_execution_environment(settings, executor="local")
    env.set_parallelism(p)
    assert forgetful.results_of(env) == sorted(forgetful.EXPECTED[mode])


def test_the_builder_says_what_was_said() -> None:
    config = StateTtlConfig.new_builder(Duration.of_seconds(5)).build()
    assert config.is_enabled()
    assert config.get_ttl() == Time.seconds(5)
    assert config.get_update_type() is StateTtlConfig.UpdateType.OnCreateAndWrite
    assert config.get_state_visibility() is StateTtlConfig.StateVisibility.NeverReturnExpired
    assert config.get_ttl_time_characteristic() is StateTtlConfig.TtlTimeCharacteristic.ProcessingTime
    builder = StateTtlConfig.new_builder(1).set_ttl(Time.hours(1)).update_ttl_on_read_and_write()
    other = builder.return_expired_if_not_cleaned_up().use_processing_time().build()
    assert other.get_ttl() == Time.hours(1)
    assert other.get_update_type() is StateTtlConfig.UpdateType.OnReadAndWrite
    assert other.get_state_visibility() is StateTtlConfig.StateVisibility.ReturnExpiredIfNotCleanedUp
    assert repr(other) == "<StateTtlConfig of 3600000 ms: OnReadAndWrite, ReturnExpiredIfNotCleanedUp, ProcessingTime>"
    back = builder.update_ttl_on_create_and_write().never_return_expired().build()
    assert back.get_update_type() is StateTtlConfig.UpdateType.OnCreateAndWrite
    assert back.get_state_visibility() is StateTtlConfig.StateVisibility.NeverReturnExpired
    assert not builder.set_update_type(StateTtlConfig.UpdateType.Disabled).build().is_enabled()


def test_the_cleanup_strategies_are_those_of_flink() -> None:
    cleanup = StateTtlConfig.new_builder(1).build().get_cleanup_strategies()
    incremental, rocksdb = (
        cleanup.get_incremental_cleanup_strategy(),
        cleanup.get_rocksdb_compact_filter_cleanup_strategy(),
    )
    assert cleanup.is_cleanup_in_background()
    assert not cleanup.in_full_snapshot()
    assert incremental is not None
    assert (incremental.get_cleanup_size(), incremental.run_cleanup_for_every_record()) == (5, False)
    assert rocksdb is not None
    assert rocksdb.get_query_time_after_num_entries() == 1000
    assert rocksdb.get_periodic_compaction_time() == Duration.of_days(30)
    quiet = StateTtlConfig.new_builder(1).disable_cleanup_in_background().build().get_cleanup_strategies()
    assert not quiet.is_cleanup_in_background()
    assert quiet.get_incremental_cleanup_strategy() is quiet.get_rocksdb_compact_filter_cleanup_strategy() is None
    builder = StateTtlConfig.new_builder(1).disable_cleanup_in_background().cleanup_full_snapshot()
    builder.cleanup_incrementally(7, True).cleanup_in_rocksdb_compact_filter(9, Duration.of_hours(2))
    asked = builder.build().get_cleanup_strategies()
    incremental, rocksdb = asked.get_incremental_cleanup_strategy(), asked.get_rocksdb_compact_filter_cleanup_strategy()
    assert asked.in_full_snapshot()
    assert incremental is not None
    assert (incremental.get_cleanup_size(), incremental.run_cleanup_for_every_record()) == (7, True)
    assert rocksdb is not None
    assert rocksdb.get_periodic_compaction_time() == Duration.of_hours(2)


def test_what_was_built_does_not_change_with_the_builder() -> None:
    builder = StateTtlConfig.new_builder(1)
    before = builder.build()
    builder.cleanup_full_snapshot()
    assert not before.get_cleanup_strategies().in_full_snapshot()


def test_a_descriptor_travels_with_its_time_to_live() -> None:
    descriptor = ValueStateDescriptor("last")
    descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.seconds(5)).cleanup_incrementally(3, False).build())
    copy = pickle.loads(pickle.dumps(descriptor))
    assert copy == descriptor == ValueStateDescriptor("last")
    assert copy.ttl_config.get_ttl() == Time.seconds(5)
    assert copy.ttl_config.get_cleanup_strategies().get_incremental_cleanup_strategy().get_cleanup_size() == 3


class Again(KeyedProcessFunction[str, str, bool]):
    """Whether it has seen a key in the last five seconds."""

    def open(self, runtime_context: RuntimeContext) -> None:
        descriptor = ValueStateDescriptor("seen", Types.BOOLEAN())
        descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.seconds(5)).build())
        self.seen = runtime_context.get_state(descriptor)

    def process_element(self, value: str, ctx: KeyedProcessFunction.Context[str]) -> Iterator[bool]:
        yield self.seen.value() is not None
        self.seen.update(True)


def test_a_harness_moves_the_clock_of_states() -> None:
    with ProcessFunctionTestHarnesses.for_keyed_process_function(Again(), str, Types.STRING()) as harness:
        for time in (0, 4_999, 9_998, 14_998):
            harness.set_processing_time(time)
            harness.process_element("a", None)
        assert harness.extract_output_values() == [False, True, True, False]
