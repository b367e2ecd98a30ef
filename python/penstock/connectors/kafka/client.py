"""Creates clients of confluent-kafka, which only this module loads, and errors that name brokers and topics.

librdkafka's own log goes to the logger ``penstock.kafka``.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any, Generic, Protocol, TypeVar

from penstock.common.extras import library
from penstock.connectors.kafka import properties as names
from penstock.errors import ConfigurationError

T = TypeVar("T")

LOGGER = logging.getLogger("penstock.kafka")
LOGGER.addHandler(logging.NullHandler())

MISSING = "org.apache.kafka.common.errors.UnknownTopicOrPartitionException"
TIMEOUT = "org.apache.kafka.common.errors.TimeoutException"
_AGAIN = 0.2
_LOOK = 5.0  # seconds to wait for the list of topics after another request got no answer
_TRANSIENT = """
    COORDINATOR_LOAD_IN_PROGRESS COORDINATOR_NOT_AVAILABLE FENCED_LEADER_EPOCH LEADER_NOT_AVAILABLE NOT_COORDINATOR
    NOT_LEADER_FOR_PARTITION REQUEST_TIMED_OUT UNKNOWN_LEADER_EPOCH _ALL_BROKERS_DOWN _DESTROY_BROKER _TIMED_OUT
    _TRANSPORT _WAIT_COORD
    """
"""Errors of a broker that is down or starting, or of a topic that was just created."""
_BOOTSTRAP = {"metadata.recovery.rebootstrap.trigger.ms": 1_000}
"""A broker that shuts down reports that there are no brokers, and the client forgets all it knows. With this setting it
reconnects to its bootstrap servers at once, and not after the default of five minutes."""
_BOOTSTRAPS = 0x020B0000  # the first version of librdkafka with that setting
_NEW_TOPIC = 3.0  # seconds to wait for a broker that creates topics automatically


def kafka() -> Any:
    """The module confluent_kafka, or a ConfigurationError if it is not installed."""
    return library("confluent_kafka", "kafka", "Kafka")


def _unlogged(_: Any) -> None:
    """Takes the errors outside of calls, such as a refused connection, which librdkafka would log otherwise."""


@contextlib.contextmanager
def consumer(properties: Mapping[str, str], **more: str | int | bool) -> Iterator[Any]:
    """A consumer that is closed at the end of the block; ``more`` are settings of librdkafka, with ``_`` for ``.``."""
    client = create("consumer", properties, more)
    try:
        yield client
    finally:
        client.close()


def producer(properties: Mapping[str, str], **more: str | int | bool) -> Any:
    """A producer; arguments as for :func:`consumer`."""
    return create("producer", properties, more)


def create(kind: str, properties: Mapping[str, str], more: Mapping[str, Any]) -> Any:
    """Create a ``consumer`` or ``producer``; arguments as for :func:`consumer`."""
    module = kafka()
    config = settings(properties, kind)
    config.update({key if callable(value) else key.replace("_", "."): value for key, value in more.items()})
    try:
        return getattr(module, kind.capitalize())({"error_cb": _unlogged, **config}, logger=LOGGER)
    except (module.KafkaException, ValueError, TypeError) as error:
        raise ConfigurationError(
            f"Kafka's {kind} cannot be created: {reason(error)}. Check the properties of the source or sink: names are "
            "those of Kafka or librdkafka, and values are texts."
        ) from error


def settings(properties: Mapping[str, str], client: str) -> dict[str, Any]:
    """The properties as settings that the installed librdkafka knows."""
    rebootstrap = _BOOTSTRAP if kafka().libversion()[1] >= _BOOTSTRAPS else {}
    return {**rebootstrap, **names.settings(properties, client)}


def offsets_of(properties: Mapping[str, str], group: str) -> Callable[[float], Sequence[Any]]:
    """A function that fetches all committed offsets of a group within a number of seconds."""
    from confluent_kafka.admin import AdminClient

    config: Any = {**settings(properties, "producer"), "logger": LOGGER, "error_cb": _unlogged}
    admin, request = AdminClient(config), kafka().ConsumerGroupTopicPartitions(group)

    def fetch(seconds: float) -> Sequence[Any]:
        answer = admin.list_consumer_group_offsets([request], require_stable=True, request_timeout=seconds)
        return answer[group].result().topic_partitions or ()

    return fetch


def with_retries(call: Callable[[float], T], seconds: float) -> T:
    """Call Kafka's client with the seconds it may take, and retry while the error may pass and time is left."""
    until = time.monotonic() + seconds
    while True:
        left = until - time.monotonic()
        try:
            return call(max(left, _AGAIN))
        except kafka().KafkaException as error:
            if not is_transient(error.args[0]) or left < _AGAIN:
                raise
        time.sleep(_AGAIN)


class StuckError(ConfigurationError):
    """A call of Kafka's client did not return in time, and may never return."""


def with_timeout(call: Callable[[], T], seconds: float, what: str) -> T:
    """Run a call in a thread of its own, for clients that may ignore their timeout."""
    outcome: Future[T] = Future()

    def run() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=run, name="penstock-kafka-call", daemon=True).start()
    try:
        return outcome.result(seconds)
    except FutureTimeoutError:
        raise StuckError(
            f"Kafka's client did not {what} within {seconds:g} s: the brokers went away meanwhile. The records are "
            "kept; run the program again, which sends them first."
        ) from None


def is_transient(error: Any) -> bool:
    """Whether a retry may succeed after this error."""
    if error.fatal() or error.txn_requires_abort():
        return False
    return error.retriable() or error.name() in _TRANSIENT.split()


def reason(error: BaseException) -> str:
    """The message of Kafka's client."""
    inner: Any = error.args[0] if error.args else error
    return str(inner.str() if hasattr(inner, "str") else inner)


def unreachable(properties: Mapping[str, str], client: str, why: str) -> ConfigurationError:
    """The error for brokers that do not answer."""
    return ConfigurationError(
        f"No Kafka broker has answered at {names.servers(properties)!r} within {names.seconds(properties, client):g} s "
        f"({why}). Check that it runs there, and that set_bootstrap_servers() and the 'security.protocol' are "
        f"right. The property {names.WAIT[client]!r} sets how many milliseconds to wait.",
        flink_class=TIMEOUT,
    )


def topics(client: Any, properties: Mapping[str, str], kind: str, topic: str | None = None) -> Mapping[str, Any]:
    """Metadata of the topics by name. Brokers that create topics automatically may create ``topic``."""
    arguments = {} if topic is None else {"topic": topic}
    try:
        return with_retries(
            lambda left: client.list_topics(timeout=left, **arguments).topics, names.seconds(properties, kind)
        )
    except kafka().KafkaException as error:
        raise unreachable(properties, kind, reason(error)) from error


def check_exists(client: Any, properties: Mapping[str, str], partitions: Iterable[Any]) -> None:
    """Check that topics and partitions exist, if a broker answers, after a request about them got no answer."""
    try:
        known = client.list_topics(timeout=_LOOK).topics
    except kafka().KafkaException:  # no broker answers
        return
    for partition in partitions:
        metadata = known.get(partition.topic)
        if metadata is None or not metadata.partitions:
            raise ConfigurationError(
                f"The Kafka topic {partition.topic!r} does not exist any more, at {names.servers(properties)!r}: it "
                "was deleted while the job read it. Unread records are lost. Create it again, and give the source "
                "another uid(); or remove the topic from the program.",
                flink_class=MISSING,
            )
        if partition.partition not in metadata.partitions:
            raise ConfigurationError(
                f"The Kafka topic {partition.topic!r} at {names.servers(properties)!r} has {len(metadata.partitions)} "
                f"partitions, and partition {partition.partition} is gone: the topic was deleted and created again "
                "with fewer. Give the source another uid() to read it from where the program says.",
                flink_class=MISSING,
            )


def missing_topic(topic: str, properties: Mapping[str, str], known: Sequence[str] = ()) -> ConfigurationError:
    """The error for a topic that does not exist."""
    others = f" Existing topics: {', '.join(sorted(known)[:10])}." if known else ""
    return ConfigurationError(
        f"The Kafka topic {topic!r} does not exist, at {names.servers(properties)!r}.{others} Create it, or correct "
        "its name.",
        flink_class=MISSING,
    )


def partitions_of(client: Any, properties: Mapping[str, str], topic: str) -> list[int]:
    """The partitions of a topic to write to. Waits a moment for brokers that create topics automatically."""
    until = time.monotonic() + min(_NEW_TOPIC, names.seconds(properties, "producer"))
    while True:
        metadata = topics(client, properties, "producer", topic).get(topic)
        if metadata is not None and metadata.error is None and metadata.partitions:
            return sorted(metadata.partitions)
        if time.monotonic() > until:
            error = None if metadata is None else metadata.error
            if error is None or error.name() in ("UNKNOWN_TOPIC_OR_PART", "LEADER_NOT_AVAILABLE", "_UNKNOWN_TOPIC"):
                raise missing_topic(topic, properties)
            raise ConfigurationError(
                f"The Kafka topic {topic!r} at {names.servers(properties)!r} cannot be written: {error.str()}."
            )
        time.sleep(_AGAIN)


class Client(Protocol):
    """A client that a :class:`Pool` can keep: a new one costs up to half a second (connection, login, producer id), and
    one that stays has prefetched the next records."""

    def close(self) -> None: ...


C = TypeVar("C", bound=Client)

_lost: list[object] = []
"""Clients inherited by a forked process. Their threads are the parent's, so they are neither used nor closed."""


class Pool(Generic[C]):
    """Idle clients. Whoever takes one has it exclusively. Thread-safe. O(clients) per call."""

    def __init__(self, most: int, seconds: float) -> None:
        self._most, self._seconds = most, seconds
        self._waiting: list[tuple[float, C]] = []
        self._lock = threading.Lock()
        self._reaper: threading.Timer | None = None
        atexit.register(self.clear)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def __len__(self) -> int:
        return len(self._waiting)

    def take(self, *fits: Callable[[C], bool]) -> C | None:
        with self._lock:
            for fit in fits:
                for index in range(len(self._waiting) - 1, -1, -1):
                    if fit(self._waiting[index][1]):
                        return self._waiting.pop(index)[1]
        return None

    def put(self, client: C) -> None:
        with self._lock:
            self._waiting.append((time.monotonic(), client))
            surplus = self._waiting.pop(0)[1] if len(self._waiting) > self._most else None
            self._watch()
        if surplus is not None:
            close(surplus)

    def clear(self) -> None:
        self._close(float("inf"))

    def _watch(self) -> None:
        if self._reaper is None and self._waiting:
            self._reaper = threading.Timer(self._seconds, lambda: self._close(time.monotonic() - self._seconds))
            self._reaper.daemon = True
            self._reaper.start()

    def _close(self, before: float) -> None:
        with self._lock:
            old = [client for since, client in self._waiting if since <= before]
            self._waiting = [entry for entry in self._waiting if entry[0] > before]
            if self._reaper is not None:
                self._reaper.cancel()
                self._reaper = None
            self._watch()
        for client in old:
            close(client)

    def _forget(self) -> None:
        _lost.extend(client for _, client in self._waiting)
        self._waiting, self._lock, self._reaper = [], threading.Lock(), None


def close(client: Client) -> None:
    """Close a client and ignore errors."""
    with contextlib.suppress(Exception):
        client.close()
