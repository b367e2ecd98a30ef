"""Positions that a partition does not have any more: of a topic that was made anew, or whose records were removed."""

from __future__ import annotations

import contextlib
import time
from typing import Any

import pytest

from penstock.common.serialization import SimpleStringSchema
from penstock.common.settings.settings import Settings
from penstock.connectors.kafka import split_source
from penstock.datastream.connectors import (
    FlinkKafkaConsumer,
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaSource,
    KafkaTopicPartition,
)
from penstock.errors import ConfigurationError
from penstock.job.steps.source_plans import SplitPlan
from penstock.metrics import SourceProgress
from tests.job.steps.test_reading import vertex
from tests.kafka.loop import Loop
from tests.kafka.topics import PATIENCE, Topics

AT, RESET = KafkaOffsetsInitializer, KafkaOffsetResetStrategy
UNSTATED = {"earliest": AT.earliest(), "latest": AT.latest(), "time": AT.timestamp(5), "none": AT.committed_offsets()}


class Log:
    """A cluster with one topic of two partitions, as the driver asks it.

    Attributes:
        first, last: offsets of all its partitions.
        stable: the end that a reader of committed records sees.
    """

    def __init__(self, first: int = 0, last: int = 100) -> None:
        self.first, self.last, self.stable = first, last, last

    @contextlib.contextmanager
    def open_cluster(self, properties):
        self._committed = properties.get("isolation.level") == "read_committed"
        yield self

    def partitions(self, subscription):
        return [KafkaTopicPartition("t", number) for number in range(2)]

    def beginnings(self, partitions):
        return dict.fromkeys(partitions, self.first)

    def ends(self, partitions):
        return dict.fromkeys(partitions, self.stable if self._committed else self.last)

    def committed_offsets(self, partitions):
        return {}


@pytest.fixture
def log(monkeypatch):
    cluster = Log()
    monkeypatch.setattr(split_source, "open_cluster", cluster.open_cluster)
    return cluster


def source(starting: Any = None, **properties: str):
    builder = KafkaSource.builder().set_bootstrap_servers("there:9092").set_topics("t")
    builder.set_value_only_deserializer(SimpleStringSchema())
    if starting is not None:
        builder.set_starting_offsets(starting)
    properties = {"group.id": "g", **properties}
    return builder.set_properties({name.replace("_", "."): value for name, value in properties.items()}).build()


def resumed(kafka_source, positions):
    kafka_source.resume(positions)
    return kafka_source


def places(splits):
    return {split.id: (split.start, split.end) for split in splits}


@pytest.mark.parametrize("name", UNSTATED)
@pytest.mark.parametrize(
    ("first", "last", "message"),
    [
        (0, 20, r"t-0 was read up to the offset 80, and ends at 20 now: the topic 't' was deleted and created again"),
        (90, 200, r"t-0 was read up to the offset 80, and begins at 90 now: .*retention"),
    ],
)
def test_a_position_that_is_not_there_any_more_is_an_error(log, name, first, last, message) -> None:
    log.first, log.last = first, last
    positions = {"t-0": 80, "t-1": 80 if first else 10}
    kafka_source = resumed(source(UNSTATED[name]), positions)
    with pytest.raises(ConfigurationError, match=rf"{message}.*set_starting_offsets.*uid\(\)") as refused:
        kafka_source.pending(1, positions)
    assert refused.value.flink_class == split_source.OUT_OF_RANGE
    assert ("t-1" in str(refused.value)) is (first > 0)


def test_a_topic_that_is_made_anew_while_the_job_runs_is_seen_in_the_next_step(log) -> None:
    kafka_source = resumed(source(), None)
    assert places(kafka_source.pending(1, {})) == {"t-0": (0, 100), "t-1": (0, 100)}
    log.last = 50
    with pytest.raises(ConfigurationError, match=r"t-1 was read up to the offset 100, and ends at 50 now"):
        kafka_source.pending(1, {"t-0": 50, "t-1": 100})


@pytest.mark.parametrize("strategy", [RESET.EARLIEST, RESET.LATEST])
@pytest.mark.parametrize("kind", ["offsets", "committed"])
def test_a_stated_strategy_says_where_reading_goes_on(log, strategy, kind) -> None:
    starting = AT.offsets({}, strategy) if kind == "offsets" else AT.committed_offsets(strategy)
    log.first, log.last = 5, 20
    positions: dict[str, Any] = {"t-0": 80, "t-1": 10}
    kafka_source = resumed(source(starting), positions)
    new = 5 if strategy is RESET.EARLIEST else 20
    for _ in range(2):  # a step that fails is planned again
        assert places(kafka_source.pending(1, positions)) == {"t-0": (new, 20), "t-1": (10, 20)}
    positions = {"t-0": 20, "t-1": 20}
    assert kafka_source.pending(1, positions) == []
    log.last = 30
    assert places(kafka_source.pending(1, positions)) == {"t-0": (20, 30), "t-1": (20, 30)}
    log.last = 7  # and once more
    assert places(kafka_source.pending(1, positions)) == dict.fromkeys(positions, (5 if new == 5 else 7, 7))


def test_the_end_before_an_open_transaction_is_no_lost_record(log) -> None:
    log.stable = 60  # the job has read beyond, before it was told to read committed records only
    positions = {"t-0": 80, "t-1": 10}
    kafka_source = resumed(source(isolation_level="read_committed"), positions)
    assert "t-1" in places(kafka_source.pending(1, positions))
    log.last = log.stable = 70
    with pytest.raises(ConfigurationError, match="t-0 was read up to the offset 80, and ends at 70 now"):
        kafka_source.pending(1, positions)


def test_an_older_consumer_states_it_by_its_property(log) -> None:
    log.last = 20
    for properties, stated in (({}, False), ({"auto.offset.reset": "earliest"}, True)):
        kafka_source = FlinkKafkaConsumer("t", SimpleStringSchema(), {"bootstrap.servers": "x", **properties}).source()
        assert kafka_source.starting_offsets.stated is stated


def test_a_source_that_ends_ends_where_it_was_to(log) -> None:
    bounded = source()
    bounded.bounded, bounded.stopping_offsets = True, AT.latest()
    positions = {"t-0": [30, 100], "t-1": [100, 100]}
    assert places(resumed(bounded, positions).splits(1))["t-0"] == ([30, 100], [100, 100])
    log.last = 99
    with pytest.raises(ConfigurationError, match=r"t-0 should end at the offset 100.*end at 99 now.*created again"):
        resumed(bounded, positions).splits(1)


# --- on a real broker -------------------------------------------------------------------------------------------------


def endless(broker: Topics, topic: str, starting: Any = None):
    builder = KafkaSource.builder().set_bootstrap_servers(broker.servers).set_topics(topic)
    builder.set_value_only_deserializer(SimpleStringSchema()).set_property("default.api.timeout.ms", "60000")
    return builder.set_starting_offsets(starting or AT.earliest()).build()


def delete(broker: Topics, topic: str) -> None:
    from confluent_kafka.admin import AdminClient

    admin = AdminClient({"bootstrap.servers": broker.servers})
    admin.delete_topics([topic])[topic].result(PATIENCE)


def step_until_it_fails(loop: Loop) -> None:
    """The broker confirms that a topic is deleted, and answers for it some time longer."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        assert loop.step() == []
        time.sleep(0.05)


@pytest.mark.spark
def test_a_topic_that_is_deleted_and_made_anew(broker) -> None:
    topic = broker.new_topic()
    broker.fill(topic, (b"%d" % n for n in range(800)))
    loop = Loop(endless(broker, topic))
    assert len(loop.step()) == 800
    delete(broker, topic)
    with pytest.raises(ConfigurationError, match=f"'{topic}' does not exist any more"):
        step_until_it_fails(loop)
    broker.make(topic, 1)
    broker.fill(topic, (b"new-%d" % n for n in range(10)))
    for again in (loop, Loop(endless(broker, topic), loop.positions)):
        with pytest.raises(ConfigurationError, match=f"{topic}-0 was read up to the offset 800, and ends at 10 now"):
            again.step()
    stated = Loop(endless(broker, topic, AT.offsets({}, RESET.EARLIEST)), loop.positions)
    assert stated.step() == [f"new-{n}" for n in range(10)]
    broker.fill(topic, [b"more"])
    assert Loop(endless(broker, topic), stated.positions).step() == ["more"]


@pytest.mark.spark
def test_records_that_retention_has_removed(broker) -> None:
    from confluent_kafka import TopicPartition
    from confluent_kafka.admin import AdminClient

    topic = broker.new_topic()
    broker.fill(topic, (b"%d" % n for n in range(10)))
    loop = Loop(endless(broker, topic))
    loop.step(2)
    admin, position = AdminClient({"bootstrap.servers": broker.servers}), TopicPartition(topic, 0, 6)
    admin.delete_records([position])[position].result(PATIENCE)
    with pytest.raises(ConfigurationError, match=f"{topic}-0 was read up to the offset 2, and begins at 6 now"):
        Loop(endless(broker, topic), loop.positions).step()
    assert Loop(endless(broker, topic, AT.offsets({}, RESET.EARLIEST)), loop.positions).step() == list("6789")
    assert Loop(endless(broker, topic, AT.offsets({}, RESET.LATEST)), loop.positions).step() == []


@pytest.mark.parametrize("stopping", [None, AT.offsets({KafkaTopicPartition("t", n): 100 for n in range(2)})])
def test_what_a_step_leaves_of_the_partitions_is_pending(log, stopping) -> None:
    kafka_source = source()
    kafka_source.stopping_offsets = stopping
    log.last = 50
    plan = SplitPlan(vertex(1), {}, (), resumed(kafka_source, None), Settings())
    read = {}
    for pending, last in ((80, 50), (60, 50), (80, 70), (60, 70)):
        log.last = last
        (reading,) = plan.plan(20, None).readings
        plan.read(0, {split.id: split.end for split in reading.splits}, [])
        assert plan.progress() == SourceProgress(2, pending)
        read |= {split.id: split_source.offset_of(split.end) for split in reading.splits}
    assert read == {"t-0": 40, "t-1": 40}
    again = SplitPlan(vertex(1), plan.positions, (), resumed(kafka_source, dict(plan._at())), Settings())
    assert again.progress() == SourceProgress(2, 0)  # nobody has asked yet
    again.plan(20, None)
    assert again.progress() == SourceProgress(2, 60)
    for _ in range(4):
        (reading,) = again.plan(30, None).readings
        again.read(0, {split.id: split.end for split in reading.splits}, [])
    assert again.progress() == SourceProgress(2, 0)
