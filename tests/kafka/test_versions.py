"""Exactly once into Kafka by one version after the other, on a real broker: wherever a sender dies, whoever comes in
between, each record is there once and in its turn."""

from __future__ import annotations

import itertools
import random
import threading
import time
import weakref
from types import SimpleNamespace

import pytest
from confluent_kafka import KafkaError, KafkaException

from penstock.common.serialization import SimpleStringSchema
from penstock.connectors.kafka import records, transactions
from penstock.connectors.kafka.transactions import Sender
from penstock.datastream.connectors import DeliveryGuarantee, KafkaRecordSerializationSchema
from penstock.errors import ConfigurationError, FencedError, ShutOutError
from penstock.runtime.config.tasks import JobConfig
from tests.kafka.topics import PATIENCE, Topics, texts

pytestmark = pytest.mark.spark

_JOBS = itertools.count()


class Died(BaseException):
    """Stands for the end of the process."""


class Job:
    """The files of a job's versions, two each with ten records, and senders of them."""

    def __init__(self, broker: Topics, folder, topics: tuple[str, ...] = ()) -> None:
        self.topics = topics or (broker.new_topic(2),)
        self.broker, self._folder = broker, folder
        self.name = f"job-{next(_JOBS)}"
        self._numbers = itertools.count()
        self.before = [0, 0]
        self.files: list[list[str]] = [[]]
        self.values: list[list[str]] = [[]]

    def sender(self, **more: str) -> Sender:
        return Sender({"bootstrap.servers": self.broker.servers, **more}, self.name, self.name)

    def version(self, counts: tuple[int, ...] = (10, 10)) -> int:
        """Write the files of one more."""
        files: list[str] = []
        values: list[str] = []
        for count in counts:
            path = self._folder / f"{len(self.files)}-{len(files)}"
            numbers = [str(next(self._numbers)) for _ in range(count)]
            rows = [(self.topics[int(n) % len(self.topics)], -1, 0, None, n.encode(), None) for n in numbers]
            path.write_bytes(b"".join(records.packed(rows[at : at + 4]) for at in range(0, count, 4)))
            files.append(str(path))
            values += numbers
        self.files.append(files)
        self.values.append(values)
        self.before.append(self.before[-1] + sum(len(open(path, "rb").read()) for path in files))  # noqa: SIM115
        return len(self.files) - 1

    def send(self, sender: Sender, version: int) -> None:
        assert sender.send(self.files[version], version, self.before[version]) == self.before[version + 1]

    def sent(self) -> list[str]:
        return sorted(value for topic in self.topics for value in self.broker.values(topic))

    def expected(self, *versions: int) -> list[str]:
        return sorted(value for version in versions for value in self.values[version])


def test_versions_are_sent_in_their_turn_and_again_without_effect(broker, tmp_path) -> None:
    job = Job(broker, tmp_path)
    sender = job.sender()
    for counts in ((10, 10), (), (3,), (0,), (5, 0)):
        version = job.version(counts)
        job.send(sender, version)
        job.send(sender, version)
        if version % 2:
            sender.close()
            sender = job.sender()  # a restart
            job.send(sender, version)
    assert job.sent() == job.expected(*range(len(job.values)))
    sender.close()


def test_a_file_that_is_gone_has_been_sent(broker, tmp_path) -> None:
    job = Job(broker, tmp_path)
    assert job.sender().send([str(tmp_path / "gone")], 3, 17) == 17


POINTS = ("init_transactions", "begin_transaction", "produce", "send_offsets_to_transaction", "commit_transaction")


class Dying:
    """A producer whose process dies at one of its calls: before it, or behind it."""

    def __init__(self, producer, point: str, after: bool) -> None:
        self._producer, self._point, self._after = producer, point, after

    def __getattr__(self, name: str):
        method = getattr(self._producer, name)
        if name == "abort_transaction":
            return lambda *_: None  # the dead abort nothing
        if name != self._point:
            return method

        def call(*args, **more):
            if self._after:
                method(*args, **more)
            raise Died

        return call


@pytest.mark.parametrize("after", [False, True])
def test_wherever_a_sender_dies_another_goes_on(broker, tmp_path, monkeypatch, after) -> None:
    job = Job(broker, tmp_path, (broker.new_topic(), broker.new_topic(2)))
    clock, original = itertools.count(0, 1_000), transactions.transactional
    monkeypatch.setattr(transactions, "time", SimpleNamespace(monotonic=lambda: next(clock)))  # a block a transaction
    for point in random.Random(3).sample(POINTS, len(POINTS)):
        version = job.version()
        with monkeypatch.context() as patch:
            dying = lambda *args, point=point: Dying(original(*args), point, after)  # noqa: E731
            patch.setattr(transactions, "transactional", dying)
            with pytest.raises(Died):
                job.send(job.sender(), version)
        job.send(job.sender(), version)
        assert job.sent() == job.expected(*range(version + 1))


def test_a_sender_that_was_paused_sends_nothing_when_it_wakes(broker, tmp_path) -> None:
    job = Job(broker, tmp_path)
    paused, successor = job.sender(), job.sender()
    job.send(paused, job.version())
    version = job.version()
    job.send(successor, version)  # the newest version, which the paused one has committed
    job.send(successor, job.version())
    for _ in range(2):
        with pytest.raises(ShutOutError, match=r"Another process has taken over the transactional id 'job-\d+-0'"):
            job.send(paused, version)
    job.send(successor, job.version())  # nobody has shut it out
    late = job.sender()  # a paused driver that has not begun yet
    with pytest.raises(ConfigurationError, match=r"another run of the job is ahead. Nothing is sent"):
        job.send(late, version)
    assert job.sent() == job.expected(*range(len(job.values)))


@pytest.mark.parametrize("point", POINTS[1:])
def test_a_sender_that_is_paused_within_a_transaction(broker, tmp_path, monkeypatch, point) -> None:
    job = Job(broker, tmp_path)
    original, version = transactions.transactional, job.version()
    successor = job.sender()

    class Paused:
        def __init__(self, producer) -> None:
            self._producer = producer

        def __getattr__(self, name: str):
            method = getattr(self._producer, name)
            if name != point:
                return method

            def call(*args, **more):
                if name == "produce":
                    method(*args, **more)
                    self._producer.flush(PATIENCE)
                job.send(successor, version)
                return None if name == "produce" else method(*args, **more)

            return call

    with monkeypatch.context() as patch:
        paused = job.sender()
        patch.setattr(transactions, "transactional", lambda *args: Paused(original(*args)))
        begun = paused._begun()
        patch.setattr(transactions, "transactional", original)
        with pytest.raises(ShutOutError):
            job.send(paused, version)
        assert begun is not None
    job.send(successor, job.version())
    assert job.sent() == job.expected(1, 2)


def test_one_that_wakes_up_just_before_it_takes_over_the_id_stops_nobody(broker, tmp_path) -> None:
    job = Job(broker, tmp_path)
    woken, successor, version = job.sender(), job.sender(), job.version()
    looks: list[str] = []

    def check() -> None:
        looks.append("looks")
        if len(looks) == 2:
            raise FencedError("another driver has the folder")
        job.send(successor, version)

    woken.check, successor.check = check, lambda: None
    with pytest.raises(FencedError):
        job.send(woken, version)
    for _ in range(2):
        job.send(successor, job.version())
    assert job.sent() == job.expected(1, 2, 3)


@pytest.mark.parametrize("point", POINTS[1:])
def test_one_that_is_shut_out_though_it_has_the_folder_goes_on(broker, tmp_path, monkeypatch, point) -> None:
    job, original = Job(broker, tmp_path), transactions.transactional
    others = []

    class ShutOut:
        def __init__(self, producer) -> None:
            self._producer = producer

        def __getattr__(self, name: str):
            if name == point and not others:
                others.append(broker.producer(transactional_id=f"{job.name}-0"))
                others[0].init_transactions(PATIENCE)
            return getattr(self._producer, name)

    monkeypatch.setattr(transactions, "transactional", lambda *args: ShutOut(original(*args)))
    sender = job.sender()
    sender.check = lambda: None
    for _ in range(2):
        job.send(sender, job.version())
    assert others
    assert job.sent() == job.expected(1, 2)


def test_a_sender_that_has_failed_keeps_no_client(broker, tmp_path, monkeypatch) -> None:
    """It would go on in the background with what it was waited for in vain, and shut its successor out."""
    job, original = Job(broker, tmp_path), transactions.transactional
    version, references = job.version(), []

    class Refused:
        def __init__(self, producer, point: str) -> None:
            self._producer, self._point = producer, point
            references.append(weakref.ref(self))

        def __getattr__(self, name: str):
            def refused(*_):
                raise KafkaException(KafkaError(KafkaError.CLUSTER_AUTHORIZATION_FAILED))

            return refused if name == self._point else getattr(self._producer, name)

    for point in POINTS:
        with monkeypatch.context() as patch:
            patch.setattr(transactions, "transactional", lambda *args, point=point: Refused(original(*args), point))
            with pytest.raises(ConfigurationError) as failure:
                job.send(job.sender(), version)
        assert isinstance(failure.value.__cause__, KafkaException)
        kept, until = references.pop(), time.monotonic() + PATIENCE
        while kept() is not None and time.monotonic() < until:  # a thread of its own that has just failed
            time.sleep(0.01)
        assert kept() is None
    job.send(job.sender(), version)
    assert job.sent() == job.expected(1)


def test_a_client_that_waits_for_ever_is_replaced(broker, tmp_path, monkeypatch) -> None:
    job, original = Job(broker, tmp_path), transactions.transactional
    producers, ended = [], threading.Event()

    class Stuck:
        """As librdkafka 2.16, where a coordinator goes away at the wrong moment."""

        def __init__(self, producer) -> None:
            self._producer = producer
            producers.append(producer)
            monkeypatch.setattr(transactions, "_MARKER", 0.1 if len(producers) == 1 else PATIENCE)

        def __getattr__(self, name: str):
            stuck = name == "send_offsets_to_transaction" and len(producers) == 1
            return (lambda *_: ended.wait()) if stuck else getattr(self._producer, name)

    monkeypatch.setattr(transactions, "_GRACE", 0.1)
    monkeypatch.setattr(transactions, "transactional", lambda *args: Stuck(original(*args)))
    job.send(job.sender(), job.version())
    ended.set()
    assert len(producers) == 2
    assert job.sent() == job.expected(1)


def test_a_version_that_was_left_out_is_missed(broker, tmp_path) -> None:
    job = Job(broker, tmp_path)
    job.send(job.sender(), job.version())
    job.version()
    with pytest.raises(ConfigurationError, match=r"an earlier version was not sent. Nothing is sent"):
        job.send(job.sender(), job.version())
    assert job.sent() == job.expected(1)


@pytest.mark.parametrize(("lost", "expected"), [("sent", (1, 3)), ("unsent", (1, 2, 3))])
def test_without_a_marker_the_user_decides(broker, tmp_path, lost, expected) -> None:
    from confluent_kafka.admin import AdminClient

    job = Job(broker, tmp_path)
    first = job.sender()
    job.send(first, job.version())
    first.close()
    admin, group = AdminClient({"bootstrap.servers": broker.servers}), f"{job.name}-{job.name}"
    admin.delete_consumer_groups([group])[group].result(PATIENCE)
    version = job.version()
    with pytest.raises(ConfigurationError, match=r"has lost the offset of the group .*'penstock.marker.lost'"):
        job.send(job.sender(), version)
    sender = job.sender(**{"penstock.marker.lost": lost})
    job.send(sender, version)
    job.send(sender, job.version())
    assert job.sent() == job.expected(*expected)


def test_a_marker_is_written_again_before_it_is_forgotten(broker, tmp_path, monkeypatch) -> None:
    job, now = Job(broker, tmp_path), itertools.count(0, 40_000)
    sender = job.sender()
    monkeypatch.setattr(transactions, "time", SimpleNamespace(monotonic=lambda: next(now)))
    job.send(sender, job.version())
    written = []
    assert sender._transactions is not None
    original = sender._transactions._transaction
    monkeypatch.setattr(sender._transactions, "_transaction", lambda blocks: written.append(1) or original(blocks))
    for _ in range(6):
        job.send(sender, job.version(()))
    assert 0 < len(written) < 6
    job.send(job.sender(), 1)
    assert job.sent() == job.expected(1)


def context(folder, job_id: str = "0" * 32):
    """As much of a subtask's context as a writer looks at."""
    return SimpleNamespace(
        subtask=0,
        files=[],
        config=SimpleNamespace(operator_id="1" * 32),
        job=JobConfig("job", job_id),
        vertex=SimpleNamespace(parallelism=1),
    )


def test_a_task_writes_a_file_for_each_step_that_has_records(broker, tmp_path) -> None:
    topic = broker.new_topic()
    sink = broker.sink(topic, DeliveryGuarantee.EXACTLY_ONCE).set_transactional_id_prefix("steps")
    output = sink.set_property("penstock.folder", str(tmp_path)).build().runtime()
    (output.target() / f".pending-{'0' * 32}").mkdir(parents=True)  # type: ignore[attr-defined]
    task = context(tmp_path)
    writer, sender, before = output.writer(task), output.sender("0" * 32), 0  # type: ignore[attr-defined]
    for version, values in enumerate((["1", "2"], [], ["3"] * 1_500, []), 1):
        writer.open()
        writer.write_all(values)
        writer.finish()
        files = [file.pending for file in task.files]
        task.files.clear()
        assert len(files) == (1 if values else 0)
        before = sender.send(files, version, before)
        assert broker.values(topic) == ["1", "2", *(["3"] * 1_500 if version > 2 else [])]


def test_a_task_that_produces_keeps_its_producer_and_waits_at_the_end_of_each_step(broker, tmp_path) -> None:
    topic = broker.new_topic(2)
    schema = texts(topic).set_key_serialization_schema(SimpleStringSchema())
    output = broker.sink_of(schema).set_property("linger.ms", "2000").build().runtime()
    records.PRODUCERS.clear()
    clients = set()
    for step in range(3):
        writer = output.writer(context(tmp_path))  # on Spark each step makes a new one
        writer.open()
        writer.write_all([f"{step}-{n}" for n in range(5)])
        writer.finish()
        clients.update(id(client) for _, client in records.PRODUCERS._waiting)
        assert len(broker.values(topic)) == 5 * (step + 1)
    assert len(clients) == 1
    writer.open()
    writer.write("never")
    writer.discard()
    assert len(records.PRODUCERS) == 0
    assert "never" not in broker.values(topic)


def test_topics_by_record_with_keys_and_headers(broker, tmp_path) -> None:
    topics = broker.new_topic(), broker.new_topic()
    schema = (
        KafkaRecordSerializationSchema.builder()
        .set_topic_selector(lambda value: topics[len(value) - 1])
        .set_value_serialization_schema(SimpleStringSchema())
        .set_header_provider(lambda value: {"n": value.encode()})
    )
    sink = broker.sink_of(schema).set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
    output = sink.set_transactional_id_prefix("by-record").build().runtime()
    job = Job(broker, tmp_path, topics)
    serialize = output.serializer.opened(0, lambda _: [0])  # type: ignore[attr-defined]
    sender, before = job.sender(), 0
    for version, values in enumerate((["1"], ["22"], ["3", "44"]), 1):
        path = tmp_path / f"v{version}"
        path.write_bytes(records.packed(serialize(values, 1_000 + version)))
        before = sender.send([str(path)], version, before)
        sender.close()  # a restart, which finds the marker whatever topic it lies at
    assert [broker.values(topic) for topic in topics] == [["1", "3"], ["22", "44"]]
    [message, _] = broker.messages(topics[1])
    assert (message.headers(), message.timestamp()[1]) == ([("n", b"22")], 1_002)


def test_a_transaction_that_has_expired_is_tried_again(broker, tmp_path, monkeypatch) -> None:
    job, original = Job(broker, tmp_path), transactions.transactional
    version, clock = job.version(), itertools.count(0, 100)

    class Expired:
        """As a broker answers that has waited too long."""

        def __init__(self, producer) -> None:
            self._producer = producer

        def __getattr__(self, name: str):
            def refused(*_):
                raise KafkaException(KafkaError(KafkaError._FENCED))

            return refused if name == "commit_transaction" else getattr(self._producer, name)

    with monkeypatch.context() as patch:
        patch.setattr(transactions, "transactional", lambda *args: Expired(original(*args)))
        patch.setattr(transactions, "time", SimpleNamespace(monotonic=lambda: next(clock)))
        with pytest.raises(ConfigurationError, match=r"longer than 'transaction\.timeout\.ms', 60000") as failure:
            job.send(job.sender(), version)
    assert not isinstance(failure.value, ShutOutError)
    job.send(job.sender(), version)
    assert job.sent() == job.expected(1)
