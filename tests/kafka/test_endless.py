"""Programs from Kafka to Kafka that never end, through the loop of steps on a real broker: whatever dies when, each
record counts once, and what comes of it is there once."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kafka.counting import POINTS, Counting, numbered
from tests.kafka.topics import Topics

pytestmark = pytest.mark.spark

KEYS = "abcdefg"


def some(count: int, seed: int = 0) -> list[str]:
    return random.Random(seed).choices(KEYS, k=count)


def fill(broker: Topics, topic: str, values: list[str]) -> list[str]:
    broker.fill(topic, ({"value": value.encode(), "key": str(n).encode()} for n, value in enumerate(values)))
    return values


def committed(broker: Topics, group: str, topic: str) -> dict[int, int]:
    """What a group has committed, by partition."""
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer({"bootstrap.servers": broker.servers, "group.id": group})
    numbers = consumer.list_topics(topic, timeout=30).topics[topic].partitions
    found = consumer.committed([TopicPartition(topic, each) for each in numbers], timeout=30)
    consumer.close()
    return {each.partition: each.offset for each in found}


def ends(broker: Topics, topic: str) -> dict[int, int]:
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer({"bootstrap.servers": broker.servers, "group.id": "tests"})
    numbers = consumer.list_topics(topic, timeout=30).topics[topic].partitions
    found = {each: consumer.get_watermark_offsets(TopicPartition(topic, each), timeout=30)[1] for each in numbers}
    consumer.close()
    return found


def counting(broker: Topics, tmp_path: Path, *sources: list[str], **more) -> Counting:
    return Counting(broker.servers, list(sources), broker.made(2), str(tmp_path / "job"), **more)


def dies(program: Counting, point: str, count: int) -> None:
    command = [sys.executable, "-m", "tests.kafka.counting", program.text(), point, str(count)]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode in (-signal.SIGKILL, 0), run.stderr


def test_a_job_goes_on_where_it_was(broker, tmp_path) -> None:
    topic = broker.made(3)
    program = counting(broker, tmp_path, [topic])
    values: list[str] = []
    for run in range(4):
        values += fill(broker, topic, some(20 if run != 2 else 0, run))
        program.run()
        assert broker.values(program.target) == numbered(values)
        assert committed(broker, f"{program.target}-group", topic) == ends(broker, topic)


def test_wherever_the_driver_is_killed_the_next_run_goes_on(broker, tmp_path) -> None:
    topic = broker.made(3)
    program = counting(broker, tmp_path, [topic])
    values: list[str] = []
    for number, (point, count) in enumerate(random.Random(7).sample(POINTS, len(POINTS))):
        values += fill(broker, topic, some(40, number))
        dies(program, point, count)
        assert set(broker.values(program.target)) <= set(numbered(values))
    program.run()
    assert broker.values(program.target) == numbered(values)
