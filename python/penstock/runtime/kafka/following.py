"""Topics without an end, as the driver follows them: before each step it says which partitions there are and where they
end now.

Where the reading of a partition begins is fixed when it is seen first, and with the first manifest for good:
partitions that are there when the job starts begin as the program says, and those that come later with their first
record. Metadata are asked for as often as partitions are to be discovered, ends before each step, by a consumer that is
assigned nothing.

Source of the semantics: ``KafkaSourceEnumerator`` (Flink's Kafka connector 3.3).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

from penstock.errors import ConfigurationError, InvalidProgramError
from penstock.runtime.io.splits import Split
from penstock.runtime.kafka import client
from penstock.runtime.kafka.cluster import Cluster, Offsets, asking
from penstock.runtime.kafka.offsets import KafkaOffsetsInitializer, KafkaTopicPartition, resolved
from penstock.runtime.kafka.reading import first_offsets, partition_of
from penstock.runtime.kafka.subscription import Subscription

DISCOVERY = "partition.discovery.interval.ms"
COMMITS = "commit.offsets.on.checkpoint"
_DISCOVERY = 300_000


class Following:
    """The partitions of a source that never ends. Lives on the driver, as long as a job.

    A position is an offset; where the program says at which offset reading stops, it is the offset and that one, so
    that a restart stops where the first run would have.

    Args:
        properties: of the source.
        subscription: what is read.
        starting: where reading begins.
        stopping: where it ends; None for never.
        positions: where the job goes on; None where it begins.
    """

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
        self._looked_at: float | None = None
        self._starts: Offsets = {}
        self._stops: Offsets = {}
        self._ends: Offsets = {}
        self._begun = positions is not None
        for split_id, position in (positions or {}).items():
            partition = partition_of(split_id)
            self._starts[partition] = offset_of(position)
            stop = stop_of(position)
            if stop is not None and stopping is not None:  # else it has an end no longer
                self._stops[partition] = stop

    def splits(self) -> list[Split]:
        """All partitions, each from its first position to where it ends now.

        Raises:
            ConfigurationError: no broker answers; a topic or offset is not there.
        """
        with self._lock, asking(self._properties) as cluster:
            now = time.monotonic()
            due = self._due(now)
            new = self._new(cluster) if due else []
            partitions = [*self._starts, *new]
            ends = self._ends = cluster.ends(partitions)
            late = [each for each in self._starts if each not in self._stops] if self._looked_at is None else []
            if self._stopping is not None and late:  # an end that the program did not have
                self._stops.update(resolved(self._stopping, late, cluster))
            if new:
                starting = KafkaOffsetsInitializer.earliest() if self._begun else self._starting
                starts = first_offsets(cluster, new, starting, ends)
                stops = {} if self._stopping is None else resolved(self._stopping, new, cluster)
                self._starts.update(starts)
                self._stops.update(stops)
            self._begun = True
            self._looked_at = now if due else self._looked_at
            return [self._split(each, ends[each]) for each in partitions]

    def committed(self, positions: Mapping[str, Any]) -> None:
        """Commit offsets for the group of the source, if there is one; for tools that show how far it is behind."""
        if self._commits and positions:
            offsets = {partition_of(split_id): offset_of(position) for split_id, position in positions.items()}
            with self._lock, asking(self._properties) as cluster:
                cluster.commit(offsets)

    def ended(self) -> bool:
        """Whether nothing is to come behind the ends that were said last: partitions are not looked for again, and each
        ends where reading stops."""
        if self._stopping is None or self._interval is not None or not self._begun:
            return False
        return all(self._ends[each] >= self._stops[each] for each in self._starts)

    def _due(self, now: float) -> bool:
        """Whether it is time to look for partitions."""
        if self._looked_at is None:
            return True
        return self._interval is not None and now >= self._looked_at + self._interval

    def _new(self, cluster: Cluster) -> list[KafkaTopicPartition]:
        """Partitions that have not been seen before."""
        try:
            found = cluster.partitions(self._subscription)
        except ConfigurationError as error:
            if not self._starts or error.flink_class != client.MISSING:
                raise
            client.LOGGER.warning("%s Its partitions that are known are read on.", error)
            found = ()
        return [each for each in found if each not in self._starts]

    def _split(self, partition: KafkaTopicPartition, end: int) -> Split:
        start = self._starts[partition]
        if partition not in self._stops:
            return Split(str(partition), start, max(end, start))
        stop = self._stops[partition]
        return Split(str(partition), [start, stop], [max(min(end, stop), start), stop])


def carrying(split: Split) -> Split:
    """A split of a source that ends, whose positions say where: what there is when the job first starts counts, and not
    what there is when it is started again."""
    start, stop = split.start, split.end
    return Split(split.id, [start, stop], [stop, stop], split.weight)


def left(positions: Mapping[str, Any]) -> list[Split] | None:
    """What is left of splits whose positions say where they end; None if one does not, as the source had no end before.

    Args:
        positions: by id, of those that have not ended.
    """
    found: list[Split] = []
    for split_id, position in positions.items():
        start, stop = offset_of(position), stop_of(position)
        if stop is None:
            return None
        found.append(Split(split_id, [start, stop], [stop, stop], stop - start))
    return found


def to_the_end(splits: Sequence[Split]) -> list[Split]:
    """Splits of a source that had no end before, up to the one that it has now, which need not be there yet.

    Args:
        splits: of a :class:`Following` that stops somewhere.
    """
    found: list[Split] = []
    for split in splits:
        start, stop = split.start
        found.append(Split(split.id, [start, max(start, stop)], [max(start, stop)] * 2, max(0, stop - start)))
    return found


def begun(split: Split, positions: Mapping[str, Any]) -> Split:
    """A split from where it has been read to.

    Args:
        split: from its beginning.
        positions: by id, of those that have been begun; they can still say an end that the source has no longer.
    """
    position = positions.get(split.id, split.start)
    return replace(split, start=offset_of(position) if stop_of(split.end) is None else position)


def check_none_over(splits: Sequence[Split], over: Set[str]) -> None:
    """A source without an end does not meet partitions that it has read to the end that it had: where that was is not
    kept.

    Raises:
        InvalidProgramError: it does.
    """
    met = next((split.id for split in splits if split.id in over), None)
    if met is not None:
        raise InvalidProgramError(
            f"The partition {met} was read to the end that set_bounded() gave the source, and the source has none any "
            "more: where it ended is not kept. To read what has come since, give the source another uid(), and where "
            "to begin by set_starting_offsets()."
        )


def limited(split: Split, records: int) -> Split:
    """A split cut to a number of offsets, of which some may have no record.

    Args:
        split: of a partition.
        records: how many.
    """
    start, end = offset_of(split.start), offset_of(split.end)
    if end - start <= records:
        return split
    stop = stop_of(split.end)
    cut: Any = start + records if stop is None else [start + records, stop]
    return Split(split.id, split.start, cut, min(split.weight, records))


def offset_of(position: Any) -> int:
    """The offset of a position."""
    found: Any = position
    return found[0] if isinstance(found, list | tuple) else found


def stop_of(position: Any) -> int | None:
    """The offset at which reading stops, as a position says; None for never."""
    found: Any = position
    return found[1] if isinstance(found, list | tuple) else None


def discovery_interval(properties: Mapping[str, str]) -> float | None:
    """Seconds between two looks for new partitions; None for one look only.

    Raises:
        ConfigurationError: the property is no number.
    """
    text = properties.get(DISCOVERY, str(_DISCOVERY)).strip()
    if not text.removeprefix("-").isdigit():
        raise ConfigurationError(
            f"Kafka's property {DISCOVERY!r} is {text!r}; milliseconds are needed, or -1 for never. Give '60000', say."
        )
    return int(text) / 1000 if int(text) > 0 else None


def commits(properties: Mapping[str, str]) -> bool:
    """Whether offsets are committed for the group.

    Raises:
        ConfigurationError: the property is neither true nor false, or there is no group.
    """
    text = properties.get(COMMITS, str("group.id" in properties)).strip().lower()
    if text not in ("true", "false"):
        raise ConfigurationError(f"Kafka's property {COMMITS!r} is {text!r}. Give 'true' or 'false'.")
    if text == "true" and "group.id" not in properties:
        raise ConfigurationError(
            f"Kafka's property {COMMITS!r} is 'true', and offsets are those of a consumer group, of which none is "
            "named. Call set_group_id('mine')."
        )
    return text == "true"


def plain(split: Split) -> Split:
    """A split by offsets alone."""
    return Split(split.id, offset_of(split.start), offset_of(split.end), split.weight)
