"""Unbounded topics: before each step the driver determines the partitions and their current ends.

The starting offset of a partition is fixed when it is discovered, and is final with the first manifest. Partitions that
exist when the job starts begin where the program says, later ones with their first record.

A position is behind the end of its partition if the topic was deleted and created again, and before the first record if
records were removed before they were read. Records are lost in both cases, so it is an error unless the program states
a reset strategy; Flink applies it stated or not. Kafka's client checks offsets only when it fetches. Source of the
semantics: ``KafkaSourceEnumerator`` (Flink's Kafka connector 3.3)."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

from penstock.connectors.kafka import client
from penstock.connectors.kafka.cluster import Cluster, Offsets, open_cluster, resolved
from penstock.connectors.kafka.offsets import (
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaTopicPartition,
    Subscription,
)
from penstock.connectors.kafka.reader import first_offsets, partition_of
from penstock.errors import ConfigurationError, InvalidProgramError
from penstock.runtime.io.splits import Split

DISCOVERY = "partition.discovery.interval.ms"
COMMITS = "commit.offsets.on.checkpoint"
_DISCOVERY = 300_000


class PartitionTracker:
    """The partitions of an unbounded source, on the driver. A position is an offset, or, if the program sets stopping
    offsets, the pair of both, so that a restart stops where the first run would have."""

    def __init__(
        self,
        properties: Mapping[str, str],
        subscription: Subscription,
        starting: KafkaOffsetsInitializer,
        stopping: KafkaOffsetsInitializer | None,
        positions: Mapping[str, Any] | None = None,
    ) -> None:
        self._properties, self._subscription = properties, subscription
        self._starting, self._stopping = starting, stopping
        self._interval = discovery_interval(properties)
        self._commits = commits(properties)
        self._lock = threading.Lock()
        self._discovered_at: float | None = None
        self._starts: Offsets = {}
        self._stops: Offsets = {}
        self._ends: Offsets = {}
        self._moved: dict[str, tuple[int, int]] = {}  # by id: a lost position, and where reading resumes
        self._begun = positions is not None
        for split_id, position in (positions or {}).items():
            partition = partition_of(split_id)
            self._starts[partition] = offset_of(position)
            stop = stop_of(position)
            if stop is not None and stopping is not None:  # else the program removed the end
                self._stops[partition] = stop

    def splits(self, positions: Mapping[str, Any] | None = None) -> list[Split]:
        """All partitions, each from its first position to its current end."""
        with self._lock, open_cluster(self._properties) as cluster:
            now = time.monotonic()
            due = self._due(now)
            new = self._new(cluster) if due else []
            partitions = [*self._starts, *new]
            ends = self._ends = cluster.ends(partitions)
            without_stop = [p for p in self._starts if p not in self._stops] if self._discovered_at is None else []
            if self._stopping is not None and without_stop:  # the program had no end before
                self._stops.update(resolved(self._stopping, without_stop, cluster))
            if new:
                starting = KafkaOffsetsInitializer.earliest() if self._begun else self._starting
                starts = first_offsets(cluster, new, starting, ends)
                stops = {} if self._stopping is None else resolved(self._stopping, new, cluster)
                self._starts.update(starts)
                self._stops.update(stops)
            self._check(cluster, positions or {}, first=self._discovered_at is None)
            self._begun = True
            self._discovered_at = now if due else self._discovered_at
            return [self._split(partition, ends[partition]) for partition in partitions]

    def _check(self, cluster: Cluster, positions: Mapping[str, Any], *, first: bool) -> None:
        at = {
            partition_of(split_id): offset_of(self.moved(split_id, position))
            for split_id, position in positions.items()
        }
        at = {partition: offset for partition, offset in at.items() if partition in self._starts}
        behind = behind_ends(self._properties, at, self._ends)
        beginnings = cluster.beginnings(list(at)) if first and at else {}
        before = {partition: offset for partition, offset in beginnings.items() if at[partition] < offset}
        for partition, offset in reset(self._starting, at, behind, before, cluster).items():
            self._moved[str(partition)] = at[partition], offset
            self._starts[partition] = offset

    def moved(self, split_id: str, position: Any) -> Any:
        """The position, or where it was reset to if its partition does not have it any more."""
        old, new = self._moved.get(split_id, (None, 0))
        if offset_of(position) != old:
            return position
        stop = stop_of(position)
        return new if stop is None else [new, stop]

    def committed(self, positions: Mapping[str, Any]) -> None:
        """Commit the offsets of the consumer group, for tools that show its lag."""
        if self._commits and positions:
            offsets = {partition_of(split_id): offset_of(position) for split_id, position in positions.items()}
            with self._lock, open_cluster(self._properties) as cluster:
                cluster.commit_offsets(offsets)

    def ended(self) -> bool:
        """Whether discovery is off and each partition has reached its stopping offset."""
        if self._stopping is None or self._interval is not None or not self._begun:
            return False
        return all(self._ends[partition] >= self._stops[partition] for partition in self._starts)

    def _due(self, now: float) -> bool:
        if self._discovered_at is None:
            return True
        return self._interval is not None and now >= self._discovered_at + self._interval

    def _new(self, cluster: Cluster) -> list[KafkaTopicPartition]:
        try:
            partitions = cluster.partitions(self._subscription)
        except ConfigurationError as error:
            if not self._starts or error.flink_class != client.MISSING:
                raise
            client.LOGGER.warning("%s Reading of its known partitions continues.", error)
            partitions = ()
        return [partition for partition in partitions if partition not in self._starts]

    def _split(self, partition: KafkaTopicPartition, end: int) -> Split:
        start = self._starts[partition]
        if partition not in self._stops:
            return Split(str(partition), start, max(end, start))
        stop = self._stops[partition]
        return Split(str(partition), [start, stop], [max(min(end, stop), start), stop])


def with_stop(split: Split) -> Split:
    """A split of a bounded source whose positions include its end, which is fixed when the job first starts."""
    start, stop = split.start, split.end
    return Split(split.id, [start, stop], [stop, stop], split.weight)


def unread(positions: Mapping[str, Any]) -> list[Split] | None:
    """The unread rest of splits whose positions include their ends; None if the source was unbounded before."""
    splits: list[Split] = []
    for split_id, position in positions.items():
        start, stop = offset_of(position), stop_of(position)
        if stop is None:
            return None
        splits.append(Split(split_id, [start, stop], [stop, stop], stop - start))
    return splits


def to_the_end(splits: Sequence[Split]) -> list[Split]:
    """Splits of a source that was unbounded before, up to its new end, which may be in the future."""
    result: list[Split] = []
    for split in splits:
        start, stop = split.start
        result.append(Split(split.id, [start, max(start, stop)], [max(start, stop)] * 2, max(0, stop - start)))
    return result


def from_position(split: Split, positions: Mapping[str, Any]) -> Split:
    """A split from the position that was read to."""
    position = positions.get(split.id, split.start)
    return replace(split, start=offset_of(position) if stop_of(split.end) is None else position)


def check_none_finished(splits: Sequence[Split], over: Set[str]) -> None:
    """Refuse positions of partitions that a bounded run has finished: an unbounded run does not know where that was."""
    finished = next((split.id for split in splits if split.id in over), None)
    if finished is not None:
        raise InvalidProgramError(
            f"The partition {finished} was read to the end that set_bounded() gave the source, but the source has no "
            "end any more, and the offset of that end is not kept. To read newer records, give the source another "
            "uid(), and set where to begin by set_starting_offsets()."
        )


def limited(split: Split, records: int) -> Split:
    """A split cut to a number of offsets; some may have no record."""
    start, end = offset_of(split.start), offset_of(split.end)
    if end - start <= records:
        return split
    stop = stop_of(split.end)
    cut: Any = start + records if stop is None else [start + records, stop]
    return Split(split.id, split.start, cut, min(split.weight, records))


def offset_of(position: Any) -> int:
    """The offset of a position."""
    return position[0] if isinstance(position, list | tuple) else position  # pyright: ignore[reportUnknownVariableType]


def stop_of(position: Any) -> int | None:
    """The stopping offset of a position, or None."""
    return position[1] if isinstance(position, list | tuple) else None  # pyright: ignore[reportUnknownVariableType]


def discovery_interval(properties: Mapping[str, str]) -> float | None:
    """Seconds between two discoveries of partitions; None for only one."""
    text = properties.get(DISCOVERY, str(_DISCOVERY)).strip()
    if not text.removeprefix("-").isdigit():
        raise ConfigurationError(
            f"Kafka's property {DISCOVERY!r} is {text!r}; it takes milliseconds, or -1 for never. Give '60000', say."
        )
    return int(text) / 1000 if int(text) > 0 else None


def commits(properties: Mapping[str, str]) -> bool:
    """Whether offsets are committed for the group."""
    text = properties.get(COMMITS, str("group.id" in properties)).strip().lower()
    if text not in ("true", "false"):
        raise ConfigurationError(f"Kafka's property {COMMITS!r} is {text!r}. Give 'true' or 'false'.")
    if text == "true" and "group.id" not in properties:
        raise ConfigurationError(
            f"Kafka's property {COMMITS!r} is 'true', but offsets are committed for a consumer group, and none is "
            "set. Call set_group_id('mine')."
        )
    return text == "true"


def plain(split: Split) -> Split:
    """The split with offsets as positions."""
    return Split(split.id, offset_of(split.start), offset_of(split.end), split.weight)


OUT_OF_RANGE = "org.apache.kafka.clients.consumer.OffsetOutOfRangeException"


def behind_ends(properties: Mapping[str, str], positions: Offsets, ends: Offsets) -> Offsets:
    """The partitions that end before their positions, with their ends. No request if there is none."""
    beyond = [partition for partition, position in positions.items() if position > ends[partition]]
    if not beyond:
        return {}
    if properties.get("isolation.level") == "read_committed":  # these ends are before the first open transaction
        with open_cluster({**properties, "isolation.level": "read_uncommitted"}) as cluster:
            last = cluster.ends(beyond)
    else:
        last = {partition: ends[partition] for partition in beyond}
    return {partition: end for partition, end in last.items() if positions[partition] > end}


def reset(
    starting: KafkaOffsetsInitializer, positions: Offsets, behind: Offsets, before: Offsets, cluster: Cluster
) -> Offsets:
    """Where reading resumes in partitions that lost their positions. One request per kind of offset."""
    lost = list({**behind, **before})
    if not lost:
        return {}
    causes = "; ".join([_cause(partition, positions[partition], behind, before) for partition in lost[:5]])
    if not starting.stated:
        raise ConfigurationError(
            f"Reading of {len(lost)} Kafka partition{'s' * (len(lost) > 1)} cannot continue: {causes}. State where, "
            "for one run: set_starting_offsets(KafkaOffsetsInitializer.offsets({}, KafkaOffsetResetStrategy.EARLIEST)) "
            "reads from the first record, LATEST only new ones. Or give the source another uid(), to begin again.",
            flink_class=OUT_OF_RANGE,
        )
    client.LOGGER.warning("%s. Reading continues by the reset strategy %s.", causes, starting.reset.name)
    ask = cluster.beginnings if starting.reset is KafkaOffsetResetStrategy.EARLIEST else cluster.ends
    return ask(lost)


def check_there(properties: Mapping[str, str], stops: Offsets) -> None:
    """Check that partitions still reach the ends that the first run of a bounded source fixed. One or two requests."""
    with open_cluster(properties) as cluster:
        ends = cluster.ends(list(stops))
    for partition, end in behind_ends(properties, stops, ends).items():
        raise ConfigurationError(
            f"Reading of {partition} should end at the offset {stops[partition]}, as an earlier run determined, but "
            f"its records end at {end} now: the topic was deleted and created again, or has lost records. Give the "
            "source another uid() to read the existing records.",
            flink_class=OUT_OF_RANGE,
        )


def _cause(partition: KafkaTopicPartition, position: int, behind: Offsets, before: Offsets) -> str:
    if partition in behind:
        why = f"the topic {partition.topic!r} was deleted and created again, or has lost records"
        now = f"ends at {behind[partition]} now: {why}"
    else:
        now = f"begins at {before[partition]} now: records were removed before they were read, by retention, say"
    return f"{partition} was read up to the offset {position}, and {now}"
