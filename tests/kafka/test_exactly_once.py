"""Exactly once into Kafka, on a real broker: wherever a driver or a task dies, each record is there once."""

from __future__ import annotations

import random
import signal
from pathlib import Path

import pytest

from penstock.common import Types
from penstock.connectors.kafka.records import Row, packed, read_blocks
from penstock.datastream.connectors import DeliveryGuarantee
from penstock.errors import ConfigurationError, InvalidProgramError, JobExecutionError
from penstock.job.commit.leftovers import Verdict, pending_at, recover
from tests.kafka.dying import HAPPENED, POINTS, RECORDS, write
from tests.kafka.lives import Lives
from tests.kafka.topics import Topics
from tests.running import environment

pytestmark = pytest.mark.spark


def texts(*firsts: int) -> list[str]:
    """What runs that begin with these numbers write, sorted."""
    return sorted(str(number) for first in firsts for number in range(first, first + RECORDS))


def dies(lives: Lives, broker: Topics, topic: str, folder: Path, first: int, point: str, count: int) -> None:
    code = lives.run("tests.kafka.dying", broker.servers, topic, folder, first, point, count)
    assert code == -signal.SIGKILL, lives.log_text()


@pytest.mark.parametrize("parallelism", [1, 3])
def test_records_of_a_job_are_there_when_it_has_succeeded(broker, tmp_path, parallelism) -> None:
    topic = broker.new_topic(2)
    for run in range(2):
        write(broker, topic, tmp_path, run * RECORDS, parallelism)
    assert broker.values(topic) == texts(0, RECORDS)
    [left] = tmp_path.iterdir()
    assert list(left.iterdir()) == []


def test_wherever_the_driver_dies_the_next_run_finishes_it(broker, lives, tmp_path) -> None:
    """A run dies at each of some points, in any order; what it has left, the next one settles before it dies itself."""
    points = random.Random(5).sample(POINTS, len(POINTS))
    topic, folder = broker.new_topic(2), tmp_path / "waiting"
    for number, (point, count) in enumerate(points):
        dies(lives, broker, topic, folder, number * RECORDS, point, count)
    last = len(points) * RECORDS
    write(broker, topic, folder, last)
    happened = list(map(int, (tmp_path / HAPPENED).read_text().split()))
    assert 0 < len(happened) < len(points)
    assert broker.values(topic) == texts(*happened, last)


def test_nobody_but_the_program_can_send_what_it_has_left(broker, lives, tmp_path) -> None:
    topic = broker.new_topic()
    dies(lives, broker, topic, tmp_path, 0, "manifested", 1)
    [base] = tmp_path.iterdir()
    [folder] = pending_at(str(base))
    for dry_run in (True, False):
        left = recover(folder, dry_run=dry_run)
        assert left is not None
        assert left.verdict is Verdict.LEAVE
        assert "only the program with that sink can send them. Run it again" in left.reason
    assert broker.values(topic) == []
    write(broker, topic, tmp_path, 100)
    assert broker.values(topic) == texts(0, 100)


def test_a_broker_that_is_gone_after_the_commit_keeps_the_records_waiting(broker, tmp_path, monkeypatch) -> None:
    topic = broker.new_topic()

    def refused(*_):
        raise ConfigurationError("No Kafka broker has answered")

    with monkeypatch.context() as patch:
        patch.setattr("penstock.connectors.kafka.transactions.Sender.send", refused)
        with pytest.raises(ConfigurationError, match="job has succeeded, but not all"):
            write(broker, topic, tmp_path, 0)
    write(broker, topic, tmp_path, 100)
    assert broker.values(topic) == texts(0, 100)


def test_a_failed_job_leaves_nothing(broker, tmp_path) -> None:
    topic = broker.new_topic()
    env = environment(2)
    sink = broker.sink(topic, DeliveryGuarantee.EXACTLY_ONCE).set_transactional_id_prefix("p")
    sink.set_property("penstock.folder", str(tmp_path))
    stream = env.from_collection(["1", "2", "x"], Types.STRING()).rebalance()
    stream.map(lambda value: str(int(value)), Types.STRING()).sink_to(sink.build())
    with pytest.raises(JobExecutionError, match="invalid literal"):
        env.execute()
    assert broker.values(topic, "read_uncommitted") == []
    assert list(tmp_path.rglob("*")) == []


def test_what_brokers_refuse_they_refuse_before_anything_starts(broker, tmp_path) -> None:
    env = environment()
    sink = broker.sink(broker.new_topic(), DeliveryGuarantee.EXACTLY_ONCE).set_transactional_id_prefix("long")
    sink.set_property("transaction.timeout.ms", "3600000").set_property("penstock.folder", str(tmp_path))
    env.from_collection(["1"], Types.STRING()).map(lambda _: 1 // 0).sink_to(sink.build())
    with pytest.raises(
        ConfigurationError, match=r"does not let the sink begin transactions.*3600000, is not more than"
    ):
        env.execute()


def test_two_sinks_need_two_prefixes(broker, tmp_path) -> None:
    topic, env = broker.new_topic(), environment()
    stream = env.from_collection(["1"], Types.STRING())
    for _ in range(2):
        sink = broker.sink(topic, DeliveryGuarantee.EXACTLY_ONCE).set_transactional_id_prefix("p")
        stream.sink_to(sink.set_property("penstock.folder", str(tmp_path)).build())
    with pytest.raises(InvalidProgramError, match="have the same transactional id prefix"):
        env.execute()


class Name(str):
    """A text of a class of its own, as topic selectors may return."""


def test_files_hold_records_as_they_are(tmp_path) -> None:
    rows: list[Row] = [
        ("a", -1, 0, None, None, None),
        ("ä", 3, 5, b"", b"\0" * 70_000, [("h", None), ("", b"1")]),
        (Name("b"), 0, 0, b"k", b"v", [(Name("n"), b"1")]),
    ]
    path = tmp_path / "file"
    path.write_bytes(packed(rows[:2]) + packed(rows[2:]))
    with open(path, "rb") as file:
        assert list(read_blocks(file)) == [rows[:2], rows[2:]]
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole[:-5] + b"?" + whole[-4:], whole[:5], b"?" + whole[1:]):
        path.write_bytes(damaged)
        with open(path, "rb") as file, pytest.raises(ConfigurationError, match=r"file'.* is damaged before its byte"):
            list(read_blocks(file))
