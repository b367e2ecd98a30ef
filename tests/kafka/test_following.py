"""Topics without an end on a real broker: steps and restarts from every one of them, new partitions and topics,
transactions, a broker that is restarted, offsets of groups."""

from __future__ import annotations

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from penstock.common.serialization import SimpleStringSchema
from penstock.connectors.kafka.reader import READERS
from penstock.datastream.connectors import FlinkKafkaConsumer, KafkaOffsetsInitializer, KafkaSource
from penstock.errors import ConfigurationError
from penstock.runtime.io.splits import Split
from tests.kafka.loop import Loop
from tests.kafka.topics import PATIENCE, Topics

pytestmark = pytest.mark.spark

AT = KafkaOffsetsInitializer


def endless(broker: Topics, *topics: str):
    builder = KafkaSource.builder().set_bootstrap_servers(broker.servers)
    if topics:
        builder.set_topics(*topics)
    builder.set_value_only_deserializer(SimpleStringSchema())
    return builder.set_property("partition.discovery.interval.ms", "1")


def fill(broker: Topics, topic: str, numbers, partitions: int = 1) -> None:
    broker.fill(topic, ({"value": b"%d" % n, "partition": n % partitions} for n in numbers))


def texts(numbers) -> list[str]:
    return sorted(map(str, numbers))


def test_steps_read_what_has_come_and_a_restart_goes_on_from_each(broker) -> None:
    topic, choose = broker.new_topic(3), random.Random(7)
    source = endless(broker, topic).build()
    loop, written = Loop(source), 0
    kept: list[str] = []
    for _ in range(25):
        more = choose.choice((0, 1, 40))
        fill(broker, topic, range(written, written + more), 3)
        written += more
        loop.step(choose.choice((1, 7, None)), counts=choose.random() < 0.7)
        if choose.random() < 0.4:
            kept += loop.all()
            loop = Loop(source, loop.positions)
    loop.step()
    assert sorted(kept + loop.all()) == texts(range(written))
    assert all(isinstance(position, int) for position in loop.positions.values())
    assert loop.step() == []
    assert loop.read == []
    assert len(loop.positions) == 3


class Spied:
    """A consumer, and where it was sent."""

    def __init__(self, consumer, places: list[int]) -> None:
        self._consumer, self._places = consumer, places

    def __getattr__(self, name: str):
        return getattr(self._consumer, name)

    def assign(self, partitions) -> None:
        self._places += [partition.offset for partition in partitions]
        self._consumer.assign(partitions)


def test_a_range_that_follows_on_needs_no_new_place(broker) -> None:
    topic = broker.new_topic()
    fill(broker, topic, range(100))
    READERS.clear()
    loop, places = Loop(endless(broker, topic).build()), []
    loop.step(10)
    [reader] = [client for _, client in READERS._waiting]
    reader.consumer = Spied(reader.consumer, places)
    for _ in range(8):
        loop.step(10)
    assert [client for _, client in READERS._waiting] == [reader]
    assert places == []
    assert loop.all() == texts(range(90))
    loop.step()
    assert reader.partition is None  # nothing follows: it asks for nothing any more
    fill(broker, topic, range(100, 103))
    assert loop.step() == ["100", "101", "102"]
    assert places == [100]


def test_where_reading_begins_is_said_once(broker) -> None:
    topic = broker.new_topic()
    fill(broker, topic, range(5))
    source = endless(broker, topic).set_starting_offsets(AT.latest()).build()
    loop = Loop(source)
    assert loop.step(counts=False) == []
    fill(broker, topic, range(5, 8))
    assert loop.step(counts=False) == ["5", "6", "7"]  # a step that failed is run again from the same place
    loop.step(1)
    assert Loop(source, loop.positions).step() == ["6", "7"]
    assert Loop(source).step() == []  # another job with the same object


def test_a_partition_that_is_added_is_read_from_its_first_record(broker) -> None:
    topic = broker.new_topic()
    fill(broker, topic, range(3))
    source = endless(broker, topic).set_starting_offsets(AT.latest()).build()
    loop = Loop(source)
    assert loop.step() == []
    broker.grow(topic, 2)
    broker.fill(topic, ({"value": b"%d" % n, "partition": 1} for n in (10, 11)))
    after = Loop(source, loop.positions)  # found after a restart, as in the same run
    for run in (loop, after):
        until = time.monotonic() + PATIENCE
        while not run.all() and time.monotonic() < until:
            run.step()
        assert run.all() == ["10", "11"]


def test_topics_that_come_later_fit_the_pattern_or_do_not(broker) -> None:
    base = broker.new_topic()
    source = endless(broker).set_topic_pattern(f"{base}-later.*").build()
    loop = Loop(source)
    assert (loop.step(), loop.read) == ([], [])
    for name in (f"{base}-later", f"{base}-other"):
        broker.make(name, 1)
        fill(broker, name, range(2))
    until = time.monotonic() + PATIENCE
    while not loop.step() and time.monotonic() < until:
        pass
    assert loop.values == {f"{base}-later-0": ["0", "1"]}


def test_new_partitions_are_not_looked_for_where_the_program_says_so(broker) -> None:
    topic = broker.new_topic()
    loop = Loop(endless(broker, topic).set_property("partition.discovery.interval.ms", "-1").build())
    loop.step()
    broker.grow(topic, 2)
    loop.step()
    assert list(loop.positions) == [f"{topic}-0"]


def test_transactions_leave_gaps_and_steps_go_over_them(broker) -> None:
    topic = broker.new_topic()
    producer = broker.producer(transactional_id="gaps")
    producer.init_transactions(PATIENCE)
    loop = Loop(endless(broker, topic).set_property("isolation.level", "read_committed").build())
    expected: list[str] = []
    for number in range(12):
        producer.begin_transaction()
        for part in range(3):
            producer.produce(topic, b"%d-%d" % (number, part), partition=0)
        producer.flush(PATIENCE)
        if number % 3:
            producer.commit_transaction(PATIENCE)
            expected += [f"{number}-{part}" for part in range(3)]
        else:
            producer.abort_transaction(PATIENCE)
        for records in (1, 2, 1):
            loop.step(records)
    while loop.positions[f"{topic}-0"] < 48:  # 36 records, 12 ends of transactions
        loop.step(2)
    assert loop.values[f"{topic}-0"] == expected


def test_what_is_written_in_an_open_transaction_is_not_there_yet(broker) -> None:
    topic = broker.new_topic()
    producer = broker.producer(transactional_id="open")
    producer.init_transactions(PATIENCE)
    producer.begin_transaction()
    producer.produce(topic, b"a", partition=0)
    producer.flush(PATIENCE)
    committed = Loop(endless(broker, topic).set_property("isolation.level", "read_committed").build())
    assert committed.step() == []
    assert Loop(endless(broker, topic).build()).step() == ["a"]
    producer.commit_transaction(PATIENCE)
    values, until = [], time.monotonic() + PATIENCE  # the broker says so before a reader is told
    while not values and time.monotonic() < until:
        values = committed.step()
    assert values == ["a"]


def test_reading_stops_where_an_endless_source_is_told_to(broker) -> None:
    topic = broker.new_topic()
    fill(broker, topic, range(5))
    builder = endless(broker, topic).set_unbounded(AT.latest())
    for interval, ends in (("-1", True), ("60000", False)):
        source = builder.set_property("partition.discovery.interval.ms", interval).build()
        assert not source.bounded
        loop = Loop(source)
        loop.step(2)
        fill(broker, topic, range(5, 7))
        assert not Loop(source).source.ended()
        loop = Loop(source, loop.positions)  # stops where the first run would have
        loop.step()
        stop = loop.positions[f"{topic}-0"][0]
        assert loop.all() == texts(range(2, stop))
        assert loop.step() == []
        assert loop.source.ended() is ends


def test_offsets_are_committed_for_those_who_look(broker) -> None:
    from confluent_kafka import Consumer, TopicPartition

    topic = broker.new_topic()
    fill(broker, topic, range(5))
    asked = Consumer({"bootstrap.servers": broker.servers, "group.id": "lag"})

    def committed(wanted: int) -> int:
        until = time.monotonic() + PATIENCE
        while True:
            [position] = asked.committed([TopicPartition(topic, 0)], timeout=PATIENCE)
            if position.offset == wanted or time.monotonic() > until:
                return position.offset
            time.sleep(0.05)

    silent = endless(broker, topic).set_group_id("lag").set_property("commit.offsets.on.checkpoint", "false")
    Loop(silent.build()).step()
    assert committed(-1001) == -1001
    loop = Loop(endless(broker, topic).set_group_id("lag").build())
    loop.step(3)
    assert committed(3) == 3
    loop.step()
    assert committed(5) == 5
    asked.close()
    consumer = FlinkKafkaConsumer(
        topic, SimpleStringSchema(), {"bootstrap.servers": broker.servers, "group.id": "lag"}
    ).set_start_from_group_offsets()
    fill(broker, topic, range(5, 7))
    assert Loop(consumer.source()).step() == ["5", "6"]


def test_records_that_are_gone_before_they_were_read(broker) -> None:
    from confluent_kafka import TopicPartition
    from confluent_kafka.admin import AdminClient

    topic = broker.new_topic()
    fill(broker, topic, range(4))
    loop = Loop(endless(broker, topic).build())
    loop.step(1)
    admin, position = AdminClient({"bootstrap.servers": broker.servers}), TopicPartition(topic, 0, 3)
    admin.delete_records([position])[position].result(PATIENCE)
    READERS.clear()
    with pytest.raises(ConfigurationError, match=f"'{topic}', partition 0, cannot be read at the offset 1.*removed"):
        loop.step()


def test_readers_in_threads(broker) -> None:
    topic = broker.new_topic(6)
    fill(broker, topic, range(3_000), 6)
    source = endless(broker, topic).build()
    source.resume(None)
    values: dict[str, list[str]] = {}

    def read(split: Split) -> None:
        for start in range(0, split.end, 50):
            part = Split(split.id, start, min(start + 50, split.end))
            for records in source.read(part):
                values.setdefault(split.id, []).extend(records.values)

    threads = [threading.Thread(target=read, args=(split,)) for split in source.splits(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert values == {f"{topic}-{p}": [str(n) for n in range(3_000) if n % 6 == p] for p in range(6)}


def test_a_broker_is_restarted_between_steps_and_within_one(broker) -> None:
    topic = broker.new_topic(2)
    fill(broker, topic, range(20_000), 2)
    source = endless(broker, topic).set_group_id("g").set_property("default.api.timeout.ms", "240000").build()
    loop = Loop(source)
    loop.step(5)
    broker.cluster.restart()
    loop.step(5)
    splits = [Split(split.id, loop.positions[split.id], split.end) for split in loop.source.splits(1)]
    within = [source.read(split) for split in splits]
    values = [list(next(reading).values) for reading in within]  # both are in the middle of their range
    with ThreadPoolExecutor(1) as threads:
        restarting = threads.submit(broker.cluster.restart)
        for reading, split_values in zip(within, values, strict=True):
            for records in reading:
                split_values += records.values
        restarting.result()
    assert sorted(loop.all() + [value for split_values in values for value in split_values]) == texts(range(20_000))
    loop.step()
    assert loop.all() == texts(range(20_000))


def test_a_broker_that_is_gone_is_named(tmp_path, broker) -> None:
    topic = broker.new_topic()
    source = endless(broker, topic).set_property("default.api.timeout.ms", "700").build()
    fill(broker, topic, range(2))
    with pytest.raises(ConfigurationError, match=r"No Kafka broker has answered at.*reading .* at the offset 2"):
        list(source.read(Split(f"{topic}-0", 2, 9)))  # there are two records only


@pytest.mark.parametrize("wanted", [3, 10])
def test_a_step_that_has_enough_leaves_the_consumer_where_it_is(broker, monkeypatch, wanted) -> None:
    monkeypatch.setattr("penstock.connectors.kafka.reader._RECORDS", wanted)
    topic = broker.new_topic()
    fill(broker, topic, range(10))
    source = endless(broker, topic).build()
    READERS.clear()
    rows = source.read(Split(f"{topic}-0", 0, 10))
    first = next(rows)
    rows.close()  # type: ignore[attr-defined]
    [(_, kept)] = READERS._waiting
    assert kept.position == first.position
    rest = [value for records in source.read(Split(f"{topic}-0", first.position, 10)) for value in records.values]
    assert [*first.values, *rest] == texts(range(10))
    assert len(READERS) == 1
