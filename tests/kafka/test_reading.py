"""A KafkaSource in tasks, on librdkafka's mock cluster: everything once, timestamps, watermarks, faults."""

from __future__ import annotations

import re
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.common import Types, WatermarkStrategy
from penstock.common.serialization import DeserializationSchema
from penstock.common.time import Duration, Time
from penstock.datastream import ProcessFunction, RuntimeExecutionMode
from penstock.datastream.connectors import (
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaRecordDeserializationSchema,
    KafkaSource,
    KafkaTopicPartition,
)
from penstock.datastream.window import TumblingEventTimeWindows
from penstock.errors import ConfigurationError, JobExecutionError
from penstock.runtime.io.splits import Split
from tests.kafka.topics import NONE, Topics
from tests.running import collected, environment

PARTITIONS = st.lists(st.lists(st.text("abc", max_size=3), max_size=12), min_size=4, max_size=4)


@given(PARTITIONS, st.integers(1, 4), st.booleans(), st.booleans())
@settings(max_examples=15)
def test_every_record_once_in_the_order_of_its_partition(
    mock_cluster, partitions, parallelism, chaining, batch
) -> None:
    topic = mock_cluster.name()
    mock_cluster.fill(topic, records_of(partitions))
    env = environment(parallelism)
    if not chaining:
        env.disable_operator_chaining()
    if batch:
        env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    records = collected(env.from_source(mock_cluster.source(topic).build(), NONE, "in").map(lambda value: value))
    values = [f"{number}:{value}" for number, partition in enumerate(partitions) for value in partition]
    assert sorted(records) == sorted(values)
    for number, partition in enumerate(partitions):
        assert [value for value in records if value[0] == str(number)] == [f"{number}:{value}" for value in partition]


def records_of(partitions):
    for number, partition in enumerate(partitions):
        for value in partition:
            yield {"value": f"{number}:{value}".encode(), "partition": number}


def offsets(topic, *numbers):
    return KafkaOffsetsInitializer.offsets({KafkaTopicPartition(topic, p): o for p, o in enumerate(numbers)})


def test_from_an_offset_to_an_offset(mock_cluster) -> None:
    topic = mock_cluster.name()
    mock_cluster.fill(topic, records_of([list("abcdef"), list("ghi"), [], []]))
    source = (
        mock_cluster.source(topic)
        .set_starting_offsets(offsets(topic, 1, 2, 0, 0))
        .set_bounded(offsets(topic, 3, 3, 0, 0))
    )
    splits = source.build().splits(2)
    assert [(split.id, split.start, split.end, split.weight) for split in splits] == [
        (f"{topic}-0", 1, 3, 2),
        (f"{topic}-1", 2, 3, 1),
    ]
    assert collected(environment(1).from_source(source.build(), NONE, "in")) == ["0:b", "0:c", "1:i"]


def test_partitions_topics_and_patterns(mock_cluster) -> None:
    first, second = f"{mock_cluster.name()}-x", f"{mock_cluster.name()}-x"
    for topic in (first, second):
        mock_cluster.fill(topic, records_of([["a"], ["b"], [], []]))

    def read(builder: object) -> list[str]:
        return [split.id for split in builder.build().splits(1)]  # type: ignore[attr-defined]

    def source():
        return mock_cluster.source()

    whole = [f"{topic}-{number}" for topic in (first, second) for number in (0, 1)]
    assert read(source().set_topics(first, second)) == whole
    assert read(source().set_topic_pattern("topic-.*-x")) == whole
    assert read(source().set_topic_pattern("topic-.*-y")) == []
    assert read(source().set_partitions({KafkaTopicPartition(second, 1)})) == [f"{second}-1"]
    with pytest.raises(ConfigurationError, match=r"has 4 partitions, but set_partitions\(\) names the partition 4"):
        read(source().set_partitions([KafkaTopicPartition(second, 4)]))


def test_offsets_that_are_not_there(mock_cluster) -> None:
    topic = mock_cluster.name()
    mock_cluster.fill(topic, records_of([["a", "b"], [], [], []]))

    def read(strategy=KafkaOffsetResetStrategy.EARLIEST, start=9, end=2):
        begin = KafkaOffsetsInitializer.offsets({KafkaTopicPartition(topic, 0): start}, strategy)
        source = mock_cluster.source().set_partitions({KafkaTopicPartition(topic, 0)}).set_starting_offsets(begin)
        return [(split.start, split.end) for split in source.set_bounded(offsets(topic, end)).build().splits(1)]

    assert read() == [(0, 2)]
    assert read(KafkaOffsetResetStrategy.LATEST) == []
    with pytest.raises(ConfigurationError, match="begin at the offset 9, but its offsets are 0 to 2"):
        read(KafkaOffsetResetStrategy.NONE)
    with pytest.raises(ConfigurationError, match="end at the offset 7, but its records end at 2"):
        read(start=0, end=7)
    group = mock_cluster.source(topic).set_group_id("nobody")
    with pytest.raises(ConfigurationError, match=f"no offset for {topic}-0, {topic}-1.*committed none"):
        group.set_starting_offsets(KafkaOffsetsInitializer.committed_offsets()).build().splits(1)


class Times(ProcessFunction):
    def process_element(self, value, ctx):
        yield value, ctx.timestamp(), ctx.timer_service().current_watermark()


def test_records_have_kafkas_timestamps_and_an_assigner_sees_them(mock_cluster) -> None:
    topic = mock_cluster.name()
    mock_cluster.fill(topic, [{"value": b"a", "timestamp": 1_000, "partition": 0}])
    source = mock_cluster.source(topic).build()
    assert [record[:2] for record in collected(environment().from_source(source, NONE, "in").process(Times()))] == [
        ("a", 1_000)
    ]
    later = NONE.with_timestamp_assigner(lambda value, timestamp: timestamp + 5)
    assert collected(environment().from_source(source, later, "in").process(Times()))[0][1] == 1_005


@pytest.mark.parametrize("parallelism", [1, 2, 3])
def test_no_record_is_late_because_of_another_partition(mock_cluster, parallelism) -> None:
    """Each partition is in order of time, and they are read one after the other."""
    topic = mock_cluster.name()
    times = [(number, time) for number in range(4) for time in range(1, 10_000, 500 + 100 * number)]
    mock_cluster.fill(topic, ({"value": b"%d" % t, "timestamp": t, "partition": number} for number, t in times))
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(1))
    stream = environment(parallelism).from_source(mock_cluster.source(topic).build(), strategy, "in")
    windows = stream.map(lambda value: 1, Types.INT()).window_all(TumblingEventTimeWindows.of(Time.seconds(1)))
    expected = [sum(time // 1000 == second for _, time in times) for second in range(10)]
    assert collected(windows.reduce(lambda a, b: a + b)) == expected


def test_the_watermark_is_that_of_the_partition_furthest_behind(mock_cluster, monkeypatch) -> None:
    monkeypatch.setattr("penstock.runtime.operators.watermarks.PERIOD", 1)
    topic = mock_cluster.name()
    mock_cluster.fill(topic, ({"value": b"v", "timestamp": t, "partition": n} for n in (0, 1) for t in (10, 20, 30)))
    strategy = WatermarkStrategy.for_monotonous_timestamps()
    stream = environment().from_source(mock_cluster.source(topic).build(), strategy, "in")
    nothing = -(1 << 63)
    assert [record[1:] for record in collected(stream.process(Times()))] == [
        (10, nothing), (20, nothing), (30, nothing), (10, nothing), (20, 9), (30, 19),
    ]  # fmt: skip


class Whole(KafkaRecordDeserializationSchema):
    def deserialize(self, record, /):
        yield from [tuple(record)[:3] + tuple(record)[3:]] * len(record.value)

    def get_produced_type(self):
        return Types.PICKLED_BYTE_ARRAY()


def test_whole_records(mock_cluster) -> None:
    topic = mock_cluster.name()
    record = {"value": b"ab", "key": b"k", "timestamp": 7, "partition": 2, "headers": [("h", b"1"), ("h", None)]}
    mock_cluster.fill(topic, [record, {"value": b"", "partition": 2}])
    source = mock_cluster.source(topic).set_deserializer(Whole()).build()
    expected = (topic, 2, 0, 7, b"k", b"ab", [("h", b"1"), ("h", None)])
    assert collected(environment().from_source(source, NONE, "in")) == [expected] * 2


class Numbers(DeserializationSchema):
    def deserialize(self, message, /):
        return int(message) or None

    def get_produced_type(self):
        return Types.LONG()


def test_what_cannot_be_read_is_named_by_topic_partition_and_offset(mock_cluster) -> None:
    topic = mock_cluster.name()
    values = [{"value": value, "partition": 1} for value in (b"1", b"0", b"x")]
    mock_cluster.fill(topic, values)
    source = mock_cluster.source(topic).set_value_only_deserializer(Numbers())
    two = offsets(topic, 0, 2, 0, 0)
    assert collected(environment().from_source(source.set_bounded(two).build(), NONE, "in")) == [1]
    everything = source.set_bounded(KafkaOffsetsInitializer.latest()).build()
    failing = environment().from_source(everything, NONE, "in")
    with pytest.raises(JobExecutionError) as caught:
        collected(failing)
    assert isinstance(caught.value.__cause__, ValueError)
    message = f"The deserialization schema Numbers, given topic '{topic}', partition 1, offset 2"
    assert re.search(rf"{message} \(line \d+ of test_reading.py\) in operator 'Source: in'", str(caught.value))


def test_a_record_without_value(mock_cluster) -> None:
    topic = mock_cluster.name()
    mock_cluster.fill(topic, [{"key": b"gone", "partition": 0}])
    with pytest.raises(JobExecutionError, match=r"offset 0, a record without value.* in operator"):
        collected(environment().from_source(mock_cluster.source(topic).build(), NONE, "in"))


def nowhere(**properties: str) -> KafkaSource:
    builder = Topics("127.0.0.1:1").source("orders").set_property("default.api.timeout.ms", "300")
    return builder.set_properties({key.replace("_", "."): value for key, value in properties.items()}).build()


def test_where_no_broker_answers() -> None:
    env = environment()
    env.from_source(nowhere(), NONE, "in").print()
    with pytest.raises(ConfigurationError, match=r"No Kafka broker has answered at '127\.0\.0\.1:1' within 0\.3 s"):
        env.execute()


def test_where_the_client_is_not_installed(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'penstock\[kafka\]'"):
        nowhere().splits(1)


def test_a_property_that_nobody_knows() -> None:
    with pytest.raises(ConfigurationError, match=r'created: No such configuration property: "isolation\.levle"'):
        nowhere(isolation_levle="read_committed").splits(1)


def test_a_broker_that_falls_silent_meanwhile(monkeypatch) -> None:
    monkeypatch.setattr("penstock.connectors.kafka.client._LOOK", 0.3)
    source = nowhere()
    with pytest.raises(
        ConfigurationError, match=r"has answered at '127\.0\.0\.1:1' .*reading orders-0 at the offset 3"
    ):
        list(source.read(Split("orders-0", 3, 9)))
