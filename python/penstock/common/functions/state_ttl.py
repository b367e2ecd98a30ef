"""StateTtlConfig: how long the values of a state live, by the clock, since they were last written or, if so configured,
read. *Value* means what has a time of its own: a value, a reduction or an aggregation as a whole, each element of a
list, each entry of a map. Source of the names: ``pyflink.datastream.state``; of the semantics: ``StateTtlConfig``
(Flink 1.11)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from penstock.common import checks
from penstock.common.time import Duration, Span, Time, milliseconds_of

_MONTH = Duration.of_days(30)


@dataclass(frozen=True)
class StateTtlConfig:
    """How long the values of a state live. :meth:`new_builder` makes it for a descriptor's ``enable_time_to_live``."""

    class UpdateType(Enum):
        """The accesses that make a value live on for the whole time again."""

        Disabled = 0
        """Values live for ever, as without a StateTtlConfig."""
        OnCreateAndWrite = 1
        """Writing it."""
        OnReadAndWrite = 2
        """Writing and reading it."""

    class StateVisibility(Enum):
        """Whether a value that is over can still be seen."""

        ReturnExpiredIfNotCleanedUp = 0
        """It is seen until it is removed; reading it removes it."""
        NeverReturnExpired = 1
        """It is as if it were not there."""

    class TtlTimeCharacteristic(Enum):
        """Which time counts."""

        ProcessingTime = 0
        """The clock of the task, which timers of processing time go by too."""

    class CleanupStrategies:
        """The ways to remove expired values, beside reading them."""

        class Strategies(Enum):
            """Those that there are."""

            FULL_STATE_SCAN_SNAPSHOT = 0
            INCREMENTAL_CLEANUP = 1
            ROCKSDB_COMPACTION_FILTER = 2

        class CleanupStrategy:
            """Base of the strategies."""

            __slots__ = ()

        class EmptyCleanupStrategy(CleanupStrategy):
            """One with nothing to choose."""

            __slots__ = ()

        class IncrementalCleanupStrategy(CleanupStrategy):
            """Each access to the state looks at a few more of its values; see ``cleanup_incrementally``."""

            __slots__ = ("_cleanup_size", "_every_record")

            def __init__(self, cleanup_size: int, run_cleanup_for_every_record: bool) -> None:
                call = "cleanup_incrementally"
                self._cleanup_size: int = checks.positive(cleanup_size, call, "cleanup_size")
                self._every_record: bool = checks.boolean(
                    run_cleanup_for_every_record, call, "run_cleanup_for_every_record"
                )

            def get_cleanup_size(self) -> int:
                """How many values each access looks at."""
                return self._cleanup_size

            def run_cleanup_for_every_record(self) -> bool:
                """Whether it was asked for at each record too."""
                return self._every_record

        class RocksdbCompactFilterCleanupStrategy(CleanupStrategy):
            """The clean-up when RocksDB compacts its files; state here is not in RocksDB."""

            __slots__ = ("_compaction_time", "_num_entries")

            def __init__(self, query_time_after_num_entries: int, periodic_compaction_time: Duration = _MONTH) -> None:
                call = "cleanup_in_rocksdb_compact_filter"
                self._num_entries: int = checks.integer(
                    query_time_after_num_entries, call, "query_time_after_num_entries"
                )
                length = milliseconds_of(periodic_compaction_time, call, "periodic_compaction_time")
                self._compaction_time: Duration = Duration.of_millis(length)

            def get_query_time_after_num_entries(self) -> int:
                """After how many entries the clock is asked."""
                return self._num_entries

            def get_periodic_compaction_time(self) -> Duration:
                """After what time files are compacted anyway."""
                return self._compaction_time

        EMPTY_STRATEGY: ClassVar[EmptyCleanupStrategy] = EmptyCleanupStrategy()

        __slots__ = ("_in_background", "_strategies")

        def __init__(
            self, strategies: Mapping[Strategies, CleanupStrategy], is_cleanup_in_background: bool = True
        ) -> None:
            self._strategies = dict(strategies)
            self._in_background = is_cleanup_in_background

        def is_cleanup_in_background(self) -> bool:
            """Whether strategies that were not asked for do what they do by default."""
            return self._in_background

        def in_full_snapshot(self) -> bool:
            """Whether values that are over are left out of snapshots."""
            return self.Strategies.FULL_STATE_SCAN_SNAPSHOT in self._strategies

        def get_incremental_cleanup_strategy(self) -> IncrementalCleanupStrategy | None:
            """The clean-up by each access: of five more values by default; None: of its own value only."""
            strategy = self._strategies.get(self.Strategies.INCREMENTAL_CLEANUP)
            if isinstance(strategy, self.IncrementalCleanupStrategy):
                return strategy
            return self.IncrementalCleanupStrategy(5, False) if self._in_background else None

        def get_rocksdb_compact_filter_cleanup_strategy(self) -> RocksdbCompactFilterCleanupStrategy | None:
            """The clean-up that RocksDB would do."""
            strategy = self._strategies.get(self.Strategies.ROCKSDB_COMPACTION_FILTER)
            if isinstance(strategy, self.RocksdbCompactFilterCleanupStrategy):
                return strategy
            return self.RocksdbCompactFilterCleanupStrategy(1000) if self._in_background else None

    class Builder:
        """Makes a StateTtlConfig. By default writing makes a value live on, and an expired value cannot be seen."""

        __slots__ = ("_characteristic", "_in_background", "_strategies", "_ttl", "_update_type", "_visibility")

        def __init__(self, ttl: Span) -> None:
            self._ttl = _lifetime(ttl, "StateTtlConfig.new_builder")
            self._update_type = StateTtlConfig.UpdateType.OnCreateAndWrite
            self._visibility = StateTtlConfig.StateVisibility.NeverReturnExpired
            self._characteristic = StateTtlConfig.TtlTimeCharacteristic.ProcessingTime
            self._strategies: dict[_Strategies, _Cleanup.CleanupStrategy] = {}
            self._in_background = True

        def set_ttl(self, ttl: Span) -> StateTtlConfig.Builder:
            """How long values live, more than 0; a number is milliseconds."""
            self._ttl = _lifetime(ttl, "set_ttl")
            return self

        def set_update_type(self, update_type: StateTtlConfig.UpdateType) -> StateTtlConfig.Builder:
            """The accesses that make a value live on for the whole time again."""
            self._update_type = checks.member(update_type, "set_update_type", StateTtlConfig.UpdateType)
            return self

        def update_ttl_on_create_and_write(self) -> StateTtlConfig.Builder:
            """Writing a value makes it live on."""
            return self.set_update_type(StateTtlConfig.UpdateType.OnCreateAndWrite)

        def update_ttl_on_read_and_write(self) -> StateTtlConfig.Builder:
            """Writing and reading a value make it live on."""
            return self.set_update_type(StateTtlConfig.UpdateType.OnReadAndWrite)

        def set_state_visibility(self, state_visibility: StateTtlConfig.StateVisibility) -> StateTtlConfig.Builder:
            """Whether a value that is over can still be seen."""
            self._visibility = checks.member(state_visibility, "set_state_visibility", StateTtlConfig.StateVisibility)
            return self

        def return_expired_if_not_cleaned_up(self) -> StateTtlConfig.Builder:
            """A value that is over can be seen until it is removed, which reading it does."""
            return self.set_state_visibility(StateTtlConfig.StateVisibility.ReturnExpiredIfNotCleanedUp)

        def never_return_expired(self) -> StateTtlConfig.Builder:
            """A value that is over is as if it were not there."""
            return self.set_state_visibility(StateTtlConfig.StateVisibility.NeverReturnExpired)

        def set_ttl_time_characteristic(
            self, ttl_time_characteristic: StateTtlConfig.TtlTimeCharacteristic
        ) -> StateTtlConfig.Builder:
            """Which time counts: there is that of the clock only, as in Flink."""
            self._characteristic = checks.member(
                ttl_time_characteristic, "set_ttl_time_characteristic", StateTtlConfig.TtlTimeCharacteristic
            )
            return self

        def use_processing_time(self) -> StateTtlConfig.Builder:
            """The time of the clock counts."""
            return self.set_ttl_time_characteristic(StateTtlConfig.TtlTimeCharacteristic.ProcessingTime)

        def cleanup_full_snapshot(self) -> StateTtlConfig.Builder:
            """Leave values that are over out of snapshots of the state. What is in memory stays there."""
            self._strategies[_Strategies.FULL_STATE_SCAN_SNAPSHOT] = _Cleanup.EMPTY_STRATEGY
            return self

        def cleanup_incrementally(
            self, cleanup_size: int, run_cleanup_for_every_record: bool
        ) -> StateTtlConfig.Builder:
            """Let each access to the state look at a few more of its values, of any keys, and remove expired ones, in
            order of arrival, again and again. A list or a map counts by its length. Without this call they are five.

            Args:
                cleanup_size: how many values each access looks at, at least 1.
                run_cleanup_for_every_record: has no effect: records that leave the state alone cost nothing here.
            """
            key, kind = _Strategies.INCREMENTAL_CLEANUP, _Cleanup.IncrementalCleanupStrategy
            self._strategies[key] = kind(cleanup_size, run_cleanup_for_every_record)
            return self

        def cleanup_in_rocksdb_compact_filter(
            self, query_time_after_num_entries: int, periodic_compaction_time: Duration = _MONTH
        ) -> StateTtlConfig.Builder:
            """Kept without effect, as with Flink's state in memory; see :meth:`cleanup_incrementally`."""
            key, kind = _Strategies.ROCKSDB_COMPACTION_FILTER, _Cleanup.RocksdbCompactFilterCleanupStrategy
            self._strategies[key] = kind(query_time_after_num_entries, periodic_compaction_time)
            return self

        def disable_cleanup_in_background(self) -> StateTtlConfig.Builder:
            """Leave the strategies alone that were not asked for: a value that is not read is not removed."""
            self._in_background = False
            return self

        def build(self) -> StateTtlConfig:
            """The configuration."""
            cleanup = StateTtlConfig.CleanupStrategies(self._strategies, self._in_background)
            return StateTtlConfig(self._update_type, self._visibility, self._characteristic, self._ttl, cleanup)

    update_type: UpdateType
    state_visibility: StateVisibility
    ttl_time_characteristic: TtlTimeCharacteristic
    ttl: Time
    cleanup_strategies: CleanupStrategies

    def __repr__(self) -> str:
        words = self.update_type.name, self.state_visibility.name, self.ttl_time_characteristic.name
        return f"<StateTtlConfig of {self.ttl.to_milliseconds()} ms: {', '.join(words)}>"

    @staticmethod
    def new_builder(ttl: Span) -> StateTtlConfig.Builder:
        """A builder for values that live so long, more than 0; a number is milliseconds."""
        return StateTtlConfig.Builder(ttl)

    def is_enabled(self) -> bool:
        """Whether values are ever over."""
        return self.update_type is not StateTtlConfig.UpdateType.Disabled

    def get_update_type(self) -> UpdateType:
        """The accesses that make a value live on."""
        return self.update_type

    def get_state_visibility(self) -> StateVisibility:
        """Whether a value that is over can still be seen."""
        return self.state_visibility

    def get_ttl_time_characteristic(self) -> TtlTimeCharacteristic:
        """Which time counts."""
        return self.ttl_time_characteristic

    def get_ttl(self) -> Time:
        """How long values live."""
        return self.ttl

    def get_cleanup_strategies(self) -> CleanupStrategies:
        """The ways to remove expired values, beside reading them."""
        return self.cleanup_strategies


_Cleanup = StateTtlConfig.CleanupStrategies
_Strategies = StateTtlConfig.CleanupStrategies.Strategies


def _lifetime(ttl: Span, call: str) -> Time:
    return Time(checks.positive(milliseconds_of(ttl, call, "time to live"), call, "time to live in milliseconds"))
