"""Partitions that no step has come to before the driver dies: the next run reads them as the first one would have."""

from __future__ import annotations

import pytest

from penstock.common import Types
from penstock.common.serialization import SimpleStringSchema
from penstock.datastream.connectors import (
    HybridSource,
    KafkaOffsetsInitializer,
    KafkaSource,
    KafkaTopicPartition,
    NumberSequenceSource,
)
from tests.job.restore.jobs import environment, some
from tests.kafka.topics import NONE
from tests.running import collected

PARTITIONS = 4


def fill(cluster, topic: str, name: str, count: int) -> list[str]:
    """Write records to all partitions."""
    values = [f"{name}-{partition}-{number}" for partition in range(PARTITIONS) for number in range(count)]
    records = [{"value": value, "partition": int(value.split("-")[1])} for value in values]
    cluster.fill(topic, records)
    return values


def texts(folder, source, **settings):
    env = environment(folder, 1, penstock__step__records=1, **settings)
    return env.from_source(source, NONE, "source").uid("source").map(str, Types.STRING())


@pytest.mark.slow
@pytest.mark.parametrize("steps", [1, 2])
@pytest.mark.parametrize("place", ["alone", "first", "last"])
def test_a_source_that_ends(mock_cluster, tmp_path, place, steps) -> None:
    topic = mock_cluster.name()
    values = fill(mock_cluster, topic, "first", 3)
    numbers = NumberSequenceSource(0, 1)

    def stream():
        kafka = mock_cluster.source(topic).build()
        if place == "first":
            kafka = HybridSource.builder(kafka).add_source(numbers).build()
        elif place == "last":
            kafka = HybridSource.builder(numbers).add_source(kafka).build()
        return texts(tmp_path / "job", kafka)

    values_read = some(stream(), steps)
    assert 0 < len(values_read) < len(values)
    fill(mock_cluster, topic, "late", 2)
    values_read += collected(stream())
    assert sorted(values_read) == sorted(values if place == "alone" else [*values, "0", "1"])


def test_a_source_without_an_end_that_begins_at_offsets(mock_cluster, tmp_path) -> None:
    topic = mock_cluster.name()
    fill(mock_cluster, topic, "old", 2)
    begin = KafkaOffsetsInitializer.offsets({KafkaTopicPartition(topic, number): 2 for number in range(PARTITIONS)})
    values = fill(mock_cluster, topic, "new", 2)

    def stream():
        builder = KafkaSource.builder().set_bootstrap_servers(mock_cluster.servers).set_topics(topic)
        builder.set_starting_offsets(begin)
        source = builder.set_value_only_deserializer(SimpleStringSchema()).build()
        return texts(tmp_path / "job", source, penstock__step__available_now="true")

    values_read = some(stream(), 1)
    assert 0 < len(values_read) < len(values)
    assert sorted(values_read + collected(stream())) == sorted(values)
