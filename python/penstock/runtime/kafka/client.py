"""Clients of Kafka by confluent-kafka, which is loaded here and nowhere else, and errors that name brokers and topics.

librdkafka's own log goes to the logger ``penstock.kafka``.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import TYPE_CHECKING, Any, TypeVar

from penstock.common.extras import library
from penstock.errors import ConfigurationError, PenstockError
from penstock.runtime.kafka import properties as names

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Producer

T = TypeVar("T")

LOGGER = logging.getLogger("penstock.kafka")
LOGGER.addHandler(logging.NullHandler())

MISSING = "org.apache.kafka.common.errors.UnknownTopicOrPartitionException"
TIMEOUT = "org.apache.kafka.common.errors.TimeoutException"
_AGAIN = 0.2
_PASSING = frozenset(
    {
        "COORDINATOR_LOAD_IN_PROGRESS",
        "COORDINATOR_NOT_AVAILABLE",
        "FENCED_LEADER_EPOCH",
        "LEADER_NOT_AVAILABLE",
        "NOT_COORDINATOR",
        "NOT_LEADER_FOR_PARTITION",
        "REQUEST_TIMED_OUT",
        "UNKNOWN_LEADER_EPOCH",
        "_ALL_BROKERS_DOWN",
        "_DESTROY_BROKER",
        "_TIMED_OUT",
        "_TRANSPORT",
        "_WAIT_COORD",
    }
)
"""Errors of a broker that is away or not ready yet, or of a topic that was made just now."""
_BOOTSTRAP = {"metadata.recovery.rebootstrap.trigger.ms": 1_000}
"""A broker that is being stopped says to the last that there is no broker, and the client forgets all it knows of: it
begins anew with the addresses that it was given, but as a rule only after five minutes without an answer."""
_BOOTSTRAPS = 0x020B0000
"""The version of librdkafka that has that setting first."""
_NEW_TOPIC = 3.0
"""Seconds that a broker is given to make a topic that is written to, if it does so."""


def kafka() -> Any:
    """The module confluent_kafka.

    Raises:
        ConfigurationError: it is not installed.
    """
    return library("confluent_kafka", "kafka", "Kafka")


class Errors:
    """The last error that a client has told of, apart from its calls: such as a refused connection.

    Attributes:
        last: its text; empty for none.
    """

    def __init__(self) -> None:
        self.last = ""

    def __call__(self, error: Any) -> None:
        """Take an error."""
        if not self.last or "ALL_BROKERS_DOWN" not in error.name():
            self.last = error.str()


@contextlib.contextmanager
def consumer(properties: Mapping[str, str], **more: str | int | bool) -> Iterator[Consumer]:
    """A consumer, closed at the end.

    Args:
        properties: of the program.
        more: settings of librdkafka with ``_`` for ``.``, which count more.
    """
    client = made("Consumer", properties, "consumer", more)
    try:
        yield client
    finally:
        client.close()


def producer(properties: Mapping[str, str], **more: str | int | bool) -> Producer:
    """A producer.

    Args:
        properties, more: as of :func:`consumer`.
    """
    return made("Producer", properties, "producer", more)


def made(kind: str, properties: Mapping[str, str], client: str, more: Mapping[str, Any]) -> Any:
    """A client.

    Args:
        kind: its class in confluent_kafka.
        properties: of the program.
        client: consumer or producer.
        more: settings of librdkafka with ``_`` for ``.``, which count more; functions by their own names.

    Raises:
        ConfigurationError: it cannot be made so.
    """
    module = kafka()
    config = settings(properties, client)
    config.update({key if callable(value) else key.replace("_", "."): value for key, value in more.items()})
    try:
        return getattr(module, kind)({"error_cb": Errors(), **config}, logger=LOGGER)
    except (module.KafkaException, ValueError, TypeError) as error:
        raise ConfigurationError(
            f"Kafka's {client} cannot be made: {reason(error)}. Look at the properties of the source or sink: names "
            "are those of Kafka or librdkafka, and values are texts."
        ) from error


def settings(properties: Mapping[str, str], client: str) -> dict[str, Any]:
    """What librdkafka is configured with, as far as the one that is here knows it.

    Args:
        properties: of the program.
        client: consumer or producer.
    """
    given = names.settings(properties, client)
    return {**(_BOOTSTRAP if kafka().libversion()[1] >= _BOOTSTRAPS else {}), **given}


def offsets_of(properties: Mapping[str, str], group: str) -> Callable[[float], Sequence[Any]]:
    """What asks, for so many seconds, for all offsets that a group has committed; transactions that are about to end
    are waited for.

    Args:
        properties: that say where brokers are and who asks.
        group: its id.
    """
    from confluent_kafka.admin import AdminClient

    config: Any = {**settings(properties, "producer"), "logger": LOGGER, "error_cb": Errors()}
    admin, asked = AdminClient(config), kafka().ConsumerGroupTopicPartitions(group)

    def ask(seconds: float) -> Sequence[Any]:
        answer = admin.list_consumer_group_offsets([asked], require_stable=True, request_timeout=seconds)
        return answer[group].result().topic_partitions or ()

    return ask


def patiently(call: Callable[[float], T], seconds: float) -> T:
    """What a call of Kafka's client gives; again and again where this may help.

    Args:
        call: what to call, with the seconds that it may take.
        seconds: how long.

    Raises:
        KafkaException: as the call.
    """
    until = time.monotonic() + seconds
    while True:
        left = until - time.monotonic()
        try:
            return call(max(left, _AGAIN))
        except kafka().KafkaException as error:
            if not passing(error.args[0]) or left < _AGAIN:
                raise
        time.sleep(_AGAIN)


class StuckError(ConfigurationError):
    """A call of Kafka's client has not come back in its time, and may never do."""


def in_time(call: Callable[[], T], seconds: float, what: str) -> T:
    """What a call gives whose client may forget its time-out; it waits in a thread of its own.

    Args:
        call: what to call.
        seconds: how long to wait.
        what: that is done, for the message.

    Raises:
        StuckError: it has not come back. Nothing more can be done with the client.
    """
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
            f"Kafka's client did not {what} within {seconds:g} s: the brokers went away meanwhile. The records wait; "
            "run the program again, which sends them first."
        ) from None


def passing(error: Any) -> bool:
    """Whether an error of Kafka's may be gone when one asks again."""
    if error.fatal() or error.txn_requires_abort():
        return False
    return error.retriable() or error.name() in _PASSING


def reason(error: BaseException) -> str:
    """What Kafka's client says, as text."""
    inner: Any = error.args[0] if error.args else error
    return str(inner.str() if hasattr(inner, "str") else inner)


def unreachable(properties: Mapping[str, str], client: str, why: str) -> ConfigurationError:
    """The error where no broker answers."""
    return ConfigurationError(
        f"No Kafka broker has answered at {names.servers(properties)!r} within {names.seconds(properties, client):g} s "
        f"({why}). Look whether it runs there, and whether set_bootstrap_servers() and the 'security.protocol' are "
        f"right. The property {names.WAIT[client]!r} says how many milliseconds to wait.",
        flink_class=TIMEOUT,
    )


def topics(client: Any, properties: Mapping[str, str], kind: str, topic: str | None = None) -> Mapping[str, Any]:
    """What the brokers say of topics, by name.

    Args:
        client: a consumer or producer.
        properties: of the program.
        kind: consumer or producer.
        topic: of one topic only; a broker that makes topics when they are asked for may make it.

    Raises:
        ConfigurationError: no broker answers.
    """
    arguments = {} if topic is None else {"topic": topic}
    try:
        return patiently(
            lambda left: client.list_topics(timeout=left, **arguments).topics, names.seconds(properties, kind)
        )
    except kafka().KafkaException as error:
        raise unreachable(properties, kind, reason(error)) from error


def missing_topic(topic: str, properties: Mapping[str, str], known: Sequence[str] = ()) -> PenstockError:
    """The error for a topic that is not there."""
    others = f" There are: {', '.join(sorted(known)[:10])}." if known else ""
    return ConfigurationError(
        f"The Kafka topic {topic!r} is not there, at {names.servers(properties)!r}.{others} Create it, or correct its "
        "name.",
        flink_class=MISSING,
    )


def partitions_of(client: Any, properties: Mapping[str, str], topic: str) -> list[int]:
    """The partitions of a topic that is to be written to; it is made where brokers do so.

    Args:
        client: a producer.
        properties: of the program.
        topic: its name.

    Raises:
        ConfigurationError: no broker answers, or the topic is not there.
    """
    until = time.monotonic() + min(_NEW_TOPIC, names.seconds(properties, "producer"))
    while True:
        found = topics(client, properties, "producer", topic).get(topic)
        if found is not None and found.error is None and found.partitions:
            return sorted(found.partitions)
        if time.monotonic() > until:
            raise (
                missing_topic(topic, properties)
                if found is None or found.error is None
                else _refused(topic, properties, found.error)
            )
        time.sleep(_AGAIN)


def _refused(topic: str, properties: Mapping[str, str], error: Any) -> PenstockError:
    if error.name() in ("UNKNOWN_TOPIC_OR_PART", "LEADER_NOT_AVAILABLE", "_UNKNOWN_TOPIC"):
        return missing_topic(topic, properties)
    return ConfigurationError(
        f"The Kafka topic {topic!r} at {names.servers(properties)!r} cannot be written: {error.str()}."
    )
