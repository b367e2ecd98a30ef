"""Programs from Kafka to Kafka that never end, through the loop of steps on a real broker: whatever dies when, each
record counts once, and what comes of it is there once."""

from __future__ import annotations

import contextlib
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from penstock.common import Configuration
from penstock.common.serialization import SimpleStringSchema
from penstock.connectors.kafka import transactions
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors import FlinkKafkaConsumer, FlinkKafkaProducer, Semantic
from penstock.errors import DirectoryHeldError, ShutOutError
from penstock.job.steps import commits
from penstock.job.steps.counts import StepSummary
from penstock.job.steps.progress import Progress
from penstock.job.steps.prometheus import samples
from penstock.metrics.running_job import line
from penstock.spark import SparkExecutor
from tests.effort import one_of
from tests.kafka.counting import POINTS, Counting, numbered
from tests.kafka.lives import Lives
from tests.kafka.points import Step, at, watch_sending
from tests.kafka.topics import PATIENCE, Topics

pytestmark = pytest.mark.spark

KEYS = "abcdefg"
OUTAGES = {
    "local": (("", False), ("send_offsets_to_transaction", False), ("commit_transaction", True)),
    "spark": (("", False), ("commit_transaction", True)),
}
"""When a broker is ended, and whether it is killed; without a name, while there is something to read."""


def some(count: int, seed: int = 0) -> list[str]:
    return random.Random(seed).choices(KEYS, k=count)


def fill(broker: Topics, topic: str, values: list[str]) -> list[str]:
    records = ({"value": value.encode(), "key": str(n).encode()} for n, value in enumerate(values))
    broker.fill(topic, records)
    return values


def committed(broker: Topics, group: str, topic: str) -> dict[int, int]:
    """What a group has committed, by partition."""
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer({"bootstrap.servers": broker.servers, "group.id": group})
    numbers = consumer.list_topics(topic, timeout=PATIENCE).topics[topic].partitions
    positions = consumer.committed([TopicPartition(topic, number) for number in numbers], timeout=PATIENCE)
    consumer.close()
    return {position.partition: position.offset for position in positions}


def ends(broker: Topics, topic: str) -> dict[int, int]:
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer({"bootstrap.servers": broker.servers, "group.id": "tests"})
    numbers = consumer.list_topics(topic, timeout=PATIENCE).topics[topic].partitions
    offsets = {
        number: consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=PATIENCE)[1] for number in numbers
    }
    consumer.close()
    return offsets


def counting(broker: Topics, tmp_path: Path, *sources: list[str], **more) -> Counting:
    return Counting(broker.servers, list(sources), broker.new_topic(2), str(tmp_path / "job"), **more)


@contextlib.contextmanager
def running(program: Counting, executor: SparkExecutor | None = None) -> Iterator[None]:
    """The program in a thread of its own, until the block ends; then it is stopped, and has not failed."""
    client = program.environment(executor).execute_async("counting")
    try:
        yield
    except BaseException:
        if client.get_job_status().result().is_terminal_state():
            client.get_job_execution_result().result(PATIENCE)  # why
        client.cancel().result()
        raise
    client.stop().result()
    client.get_job_execution_result().result(PATIENCE)


def wait_until(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 2 * PATIENCE
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.1)


def wait_for(broker: Topics, topic: str, expected: list[str]) -> None:
    """Wait until a topic has as much as is expected; it is that, then."""
    wait_until(lambda: len(broker.values(topic, settled=False)) >= len(expected))
    assert broker.values(topic) == expected


def wait_for_the_group(broker: Topics, program: Counting, topic: str) -> None:
    """Wait until the group of a program is at the end of a topic: nothing waits for the commit of its offsets."""
    wait_until(lambda: committed(broker, f"{program.target}-group", topic) == ends(broker, topic))


def dies(lives: Lives, program: Counting, point: str, count: int) -> None:
    if program.executor == "spark":  # whose JVM is to see its driver's pipes end
        command = [sys.executable, "-m", "tests.kafka.counting", program.text(), point, str(count)]
        run = subprocess.run(command, capture_output=True, text=True)
        assert run.returncode in (-signal.SIGKILL, 0), run.stderr
        return
    code = lives.run("tests.kafka.counting", program.text(), point, count)
    assert code in (-signal.SIGKILL, 0), lives.log_text()


def test_a_job_goes_on_where_it_was(broker, tmp_path) -> None:
    topic = broker.new_topic(3)
    program = counting(broker, tmp_path, [topic])
    values: list[str] = []
    for run in range(4):
        values += fill(broker, topic, some(20 if run != 2 else 0, run))
        program.run()
        assert broker.values(program.target) == numbered(values)
        wait_for_the_group(broker, program, topic)


def test_wherever_the_driver_is_killed_the_next_run_goes_on(broker, lives, tmp_path) -> None:
    topic = broker.new_topic(3)
    program = counting(broker, tmp_path, [topic])
    values: list[str] = []
    for number, (point, count) in enumerate(random.Random(7).sample(POINTS, len(POINTS))):
        values += fill(broker, topic, some(40, number))
        dies(lives, program, point, count)
        assert set(broker.values(program.target, settled=False)) <= set(numbered(values))
    program.run()
    assert broker.values(program.target) == numbered(values)


def test_nor_does_it_matter_where_between_two_checkpoints(broker, lives, tmp_path) -> None:
    """The interval is never over: each run commits with its first step, where there is no version yet, and its last."""
    topic, also = broker.new_topic(3), broker.new_topic(2)
    program = counting(broker, tmp_path, [topic], interval=3_600_000, also=also)
    values: list[str] = []
    for number, (point, count) in enumerate(
        (("planned", 3), ("packed", 5), ("together", 2), ("commit_transaction", 2))
    ):
        values += fill(broker, topic, some(60, number))
        before = len(broker.values(program.target, settled=False))
        dies(lives, program, point, count)
        written = broker.values(program.target, settled=False)
        assert set(written) <= set(numbered(values))
        if point == "planned" and before:
            assert len(written) == before
    program.run()
    assert broker.values(program.target) == numbered(values)
    assert set(broker.values(also)) == set(numbered(values))  # at least once


def test_a_sink_without_transactions_does_not_wait_for_a_checkpoint(broker, tmp_path) -> None:
    """One with transactions does."""
    topic, also = broker.new_topic(2), broker.new_topic(2)
    program = counting(broker, tmp_path, [topic], available_now=False, interval=3_600_000, also=also)
    first = fill(broker, topic, some(5))
    with running(program):
        wait_for(broker, also, numbered(first))
        wait_for(broker, program.target, numbered(first))  # the first step is a checkpoint
        values = first + fill(broker, topic, some(40, 1))
        wait_for(broker, also, numbered(values))
        assert broker.values(program.target) == numbered(first)
    assert broker.values(program.target) == numbered(values)
    wait_for_the_group(broker, program, topic)


@pytest.mark.parametrize("many", [False, True], ids=["one source", "two of one topic"])
def test_records_that_come_while_it_runs(broker, tmp_path, many) -> None:
    topic = broker.new_topic(2)
    program = counting(broker, tmp_path, *([[topic]] * (2 if many else 1)), available_now=False)
    values: list[str] = []
    with running(program):
        for run in range(4):
            values += fill(broker, topic, some(25, run))
            wait_for(broker, program.target, numbered(values * 2 if many else values))


def test_partitions_and_topics_that_come_later(broker, tmp_path) -> None:
    from confluent_kafka.admin import AdminClient, NewTopic

    admin, stem = AdminClient({"bootstrap.servers": broker.servers}), broker.name()
    first, second = f"{stem}-in-1", f"{stem}-in-2"
    admin.create_topics([NewTopic(first, 1, 1)])[first].result(PATIENCE)
    program = counting(broker, tmp_path, pattern=f"{stem}-in-.*", available_now=False)
    values: list[str] = []
    for run in range(2):  # the second goes on with all that the first has found
        with running(program):
            values += fill(broker, first, some(20, run))
            wait_for(broker, program.target, numbered(values))
            if run == 0:
                broker.grow(first, 3)
                admin.create_topics([NewTopic(second, 2, 1)])[second].result(PATIENCE)
            values += fill(broker, second, some(20, 10 + run)) + fill(broker, first, some(30, 20 + run))
            wait_for(broker, program.target, numbered(values))


def test_a_topic_that_gets_partitions_while_drivers_die(broker, lives, tmp_path) -> None:
    topic = broker.new_topic()
    program = counting(broker, tmp_path, [topic])
    values: list[str] = []
    for partitions, point in ((2, "manifested"), (4, "commit_transaction"), (5, "")):
        values += fill(broker, topic, some(40, partitions))
        if point:
            dies(lives, program, point, 2)
            broker.grow(topic, partitions)
        else:
            program.run()
        assert set(broker.values(program.target, settled=False)) <= set(numbered(values))
    assert broker.values(program.target) == numbered(values)
    wait_for_the_group(broker, program, topic)
    assert all(ends(broker, topic).values())


def test_a_source_that_ends_keeps_its_ends_when_the_job_starts_again(broker, lives, tmp_path) -> None:
    endless, bounded = broker.new_topic(2), broker.new_topic(3)
    program = counting(broker, tmp_path, [endless], bounded=bounded)
    values = fill(broker, endless, some(30, 1))
    broker.fill(bounded, ({"value": value.encode(), "partition": n % 2} for n, value in enumerate(some(40, 2))))
    values += some(40, 2)
    dies(lives, program, "manifested", 2)  # when both have begun, and the third partition is empty still
    broker.fill(bounded, ({"value": b"z", "partition": n % 3} for n in range(9)))  # behind its ends
    values += fill(broker, endless, some(10, 3))
    program.run()
    assert broker.values(program.target) == numbered(values)
    broker.fill(bounded, [b"z"])
    values += fill(broker, endless, some(10, 4))
    program.run()
    assert broker.values(program.target) == numbered(values)


@pytest.mark.parametrize("executor", ["local", "spark"])
def test_a_job_says_how_far_it_is_behind(broker, tmp_path, monkeypatch, request, executor) -> None:
    """After each step, and in every way in which it can be asked."""
    behind: list[int | None] = []
    scraped: list[str] = []

    def step(progress: Progress, summary: StepSummary) -> None:
        steps(progress, summary)
        metrics = progress.metrics()
        behind.append(metrics.records_behind)
        scraped[:] = ["\n".join(f"{name} {value}" for name, _, _, value in samples("", metrics))]
        (source,) = metrics.sources
        assert f", {metrics.records_behind} behind" in line(metrics)
        assert f"pendingRecords {metrics[source].source.records_behind}" in scraped[0]
        assert "penstock_source_splits 2" in scraped[0]

    steps = Progress.step
    monkeypatch.setattr(Progress, "step", step)
    topic = broker.new_topic(2)
    fill(broker, topic, some(100))
    program = counting(broker, tmp_path, [topic], records=15)
    program.run(SparkExecutor(request.getfixturevalue("spark")) if executor == "spark" else None)
    assert behind[0] == 70
    assert behind == sorted(behind, reverse=True)
    assert behind[-1] == 0


@pytest.mark.parametrize("executor", ["local", "spark"])
def test_a_broker_that_is_restarted_while_the_job_runs(broker, tmp_path, monkeypatch, request, executor) -> None:
    """While tasks read and write, and in the middle of a transaction and of its commit."""
    topic, also = broker.new_topic(2), broker.new_topic(2)
    waits = {"seconds": 1.0} if executor == "local" else {}  # which are over before the broker is there again
    program = counting(broker, tmp_path, [topic], available_now=False, restarts=100, records=50, also=also, **waits)
    starting: list[Future[None]] = []
    moments: list[Step] = []

    def outage(kill: bool) -> None:
        broker.cluster.stop(kill)
        starting.append(threads.submit(broker.cluster.start))

    watch_sending(lambda name: [step(name) for step in moments], monkeypatch.setattr)
    values: list[str] = []
    spark = SparkExecutor(request.getfixturevalue("spark")) if executor == "spark" else None
    with ThreadPoolExecutor(1) as threads, running(program, spark):
        for number, (point, kill) in enumerate(OUTAGES[executor][:: -one_of(2)]):
            moments[:] = [at(point, 1, partial(outage, kill))] if point else []
            values += fill(broker, topic, some(300, number))
            if not point:
                outage(kill)
            wait_until(lambda number=number: len(starting) > number)
            starting[-1].result()
            wait_for(broker, program.target, numbered(values))
    assert set(broker.values(also)) == set(numbered(values))


def test_a_second_driver_is_refused_and_does_not_disturb_the_first(broker, tmp_path) -> None:
    topic = broker.new_topic()
    program = counting(broker, tmp_path, [topic], available_now=False)
    values = fill(broker, topic, some(10))
    with running(program):
        wait_for(broker, program.target, numbered(values))
        with pytest.raises(DirectoryHeldError):
            program.run()
        values += fill(broker, topic, some(10, 1))
        wait_for(broker, program.target, numbered(values))


def test_a_driver_that_is_shut_out_goes_on_three_times_and_ends_then(broker, tmp_path) -> None:
    topic = broker.new_topic()
    program = counting(broker, tmp_path, [topic], available_now=False, restarts=100)
    env = program.environment()
    values = fill(broker, topic, some(10))
    client = env.execute_async("counting")
    for number in range(1, 4):
        wait_for(broker, program.target, numbered(values))
        broker.producer(transactional_id=f"{program.target}-0").init_transactions(PATIENCE)
        values += fill(broker, topic, some(10, number))
    wait_for(broker, program.target, numbered(values))
    broker.producer(transactional_id=f"{program.target}-0").init_transactions(PATIENCE)
    fill(broker, topic, some(10, 4))
    assert isinstance(client.get_job_execution_result().exception(PATIENCE), ShutOutError)
    assert broker.values(program.target) == numbered(values)
    program.available_now = True
    program.run()
    assert broker.values(program.target) == numbered(values + some(10, 4))


def test_the_older_classes(broker, tmp_path) -> None:
    source, target = broker.new_topic(2), broker.new_topic(2)
    values = fill(broker, source, some(20))
    servers = {"bootstrap.servers": broker.servers}
    for run in range(2):
        settings = {"execution.checkpointing.dir": str(tmp_path / "job"), "penstock.step.available-now": "true"}
        configuration = Configuration.from_dict(settings)
        env = StreamExecutionEnvironment.get_execution_environment(configuration, executor="local").set_parallelism(2)
        consumer = FlinkKafkaConsumer(source, SimpleStringSchema(), servers).set_start_from_earliest()
        properties = {**servers, "penstock.folder": str(tmp_path)}
        producer = FlinkKafkaProducer(target, SimpleStringSchema(), properties, semantic=Semantic.EXACTLY_ONCE)
        env.add_source(consumer).uid("in").add_sink(producer).uid("out")
        env.execute("older")
        assert broker.values(target) == sorted(values)
        if run == 0:
            values += fill(broker, source, some(20, 1))


def test_on_spark_a_driver_is_killed_and_the_next_goes_on(broker, lives, tmp_path, spark) -> None:
    topic = broker.new_topic()
    program = counting(broker, tmp_path, [topic], executor="spark", records=20)
    values: list[str] = []
    for number, (point, count) in enumerate((("manifested", 1), ("commit_transaction", 2))):
        values += fill(broker, topic, some(60, number))
        dies(lives, program, point, count)
        broker.grow(topic, number + 2)
        assert set(broker.values(program.target, settled=False)) <= set(numbered(values))
    values += fill(broker, topic, some(60, 9))
    program.run(SparkExecutor(spark))
    assert broker.values(program.target) == numbered(values)
    wait_for_the_group(broker, program, topic)


def test_on_spark_a_driver_is_killed_between_two_checkpoints(broker, lives, tmp_path, spark) -> None:
    """What was sent in transactions is there once; what was sent without is there, and was before any checkpoint."""
    topic, also = broker.new_topic(2), broker.new_topic()
    program = counting(broker, tmp_path, [topic], executor="spark", records=10, interval=3_600_000, also=also)
    values = fill(broker, topic, some(100))
    dies(lives, program, "planned", 4)  # after the first step, which is a checkpoint, and two others
    first = broker.values(program.target)
    assert 0 < len(first) <= 20
    sent = broker.values(also)
    assert len(sent) > 20
    values += fill(broker, topic, some(20, 1))
    program.available_now = False
    with running(program, SparkExecutor(spark)):
        wait_until(lambda: set(broker.values(also)) >= set(numbered(values)))
        assert broker.values(program.target) == first
    assert broker.values(program.target) == numbered(values)
    assert set(broker.values(also)) == set(numbered(values))
    assert len(broker.values(also)) == len(numbered(values)) + len(sent) - len(first)  # once more since the checkpoint
    wait_for_the_group(broker, program, topic)


def test_a_marker_is_kept_while_nothing_comes(broker, tmp_path, monkeypatch) -> None:
    from confluent_kafka.admin import AdminClient

    monkeypatch.setattr(commits, "_KEEP", 0.2)
    monkeypatch.setattr(transactions, "_REFRESH", 0.2)
    topic = broker.new_topic()
    program = counting(broker, tmp_path, [topic], available_now=False)
    values = fill(broker, topic, some(10))
    with running(program):
        wait_for(broker, program.target, numbered(values))
        admin = AdminClient({"bootstrap.servers": broker.servers})
        groups = {group.group_id for group in admin.list_consumer_groups(request_timeout=PATIENCE).result().valid}
        [marker] = [
            group for group in groups if group.startswith(f"{program.target}-") and not group.endswith("-group")
        ]
        admin.delete_consumer_groups([marker])[marker].result(PATIENCE)
        wait_until(lambda: committed(broker, marker, program.target)[0] > 0)
        values += fill(broker, topic, some(10, 1))
        wait_for(broker, program.target, numbered(values))
