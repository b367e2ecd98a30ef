"""Compares positions of an earlier step with the current offsets of the partitions.

A position is behind the end of its partition if the topic was deleted and created again. It is before the first record
if records were removed, for instance by retention, before they were read. Records are lost in both cases, so it is an
error unless the program states a reset strategy with its starting offsets. Kafka's client checks offsets only when it
fetches, and would wait at a position behind the end until the topic has grown past it.

A topic that was created again and has more records than the position cannot be detected.

Source of the semantics: ``KafkaSourceBuilder`` (Flink's Kafka connector 3.3), which applies the strategy of the
starting offsets to positions, stated or not.
"""

from __future__ import annotations

from collections.abc import Mapping

from penstock.connectors.kafka import client
from penstock.connectors.kafka.cluster import Cluster, Offsets, open_cluster
from penstock.connectors.kafka.offsets import KafkaOffsetResetStrategy, KafkaOffsetsInitializer, KafkaTopicPartition
from penstock.errors import ConfigurationError

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


def before_beginnings(cluster: Cluster, positions: Offsets) -> Offsets:
    """The partitions whose first record is behind their position, with its offset. One request."""
    first = cluster.beginnings(list(positions))
    return {partition: offset for partition, offset in first.items() if positions[partition] < offset}


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
            f"Reading of {len(lost)} Kafka partition{'s' * (len(lost) > 1)} cannot continue: {causes}. To continue "
            "anyway, state where, for one run: set_starting_offsets(KafkaOffsetsInitializer.offsets({}, "
            "KafkaOffsetResetStrategy.EARLIEST)) reads from the first existing record, LATEST only new ones. Or give "
            "the source another uid(), to begin as the program says.",
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
            f"its records end at {end} now: the topic {partition.topic!r} was deleted and created again, or has lost "
            "records. Give the source another uid() to read the existing records.",
            flink_class=OUT_OF_RANGE,
        )


def _cause(partition: KafkaTopicPartition, position: int, behind: Offsets, before: Offsets) -> str:
    if partition in behind:
        return (
            f"{partition} was read up to the offset {position}, and ends at {behind[partition]} now: the topic "
            f"{partition.topic!r} was deleted and created again, or has lost records"
        )
    return (
        f"{partition} was read up to the offset {position}, and begins at {before[partition]} now: records were "
        "removed before they were read, for instance by the retention of the topic"
    )
