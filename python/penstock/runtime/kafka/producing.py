"""Handing records to Kafka's client, and producers that a worker process keeps from step to step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from penstock.errors import ConfigurationError
from penstock.runtime.kafka import client
from penstock.runtime.kafka import properties as names
from penstock.runtime.kafka.pool import Pool
from penstock.runtime.kafka.records import Row

_TICK = 0.1
_MOST, _SECONDS = 8, 60.0
_DELIVERY = {"delivery.timeout.ms", "message.timeout.ms"}


def produce(producer: Any, rows: Sequence[Row]) -> None:
    """Hand records to Kafka's client; waits while it has no room.

    Args:
        producer: the client.
        rows: what to send.

    Raises:
        ConfigurationError: it refuses one.
    """
    send, module = producer.produce, client.kafka()
    for row in rows:
        topic, partition, timestamp, key, value, headers = row
        while True:
            try:
                send(topic, value, key, partition, None, None, timestamp, headers)
                break
            except BufferError:
                producer.poll(_TICK)
            except module.KafkaException as error:
                raise _undelivered(topic, key, client.reason(error)) from error


def undelivered(error: Any, message: Any, properties: Mapping[str, str]) -> ConfigurationError:
    """The error for a record that Kafka has not taken.

    Args:
        error: Kafka's.
        message: the record.
        properties: of the sink.
    """
    return _undelivered(message.topic(), message.key(), f"{error.str()}, at {names.servers(properties)!r}")


def _undelivered(topic: str, key: bytes | None, why: str) -> ConfigurationError:
    with_key = "without a key" if key is None else f"with the key {key[:100]!r}"
    return ConfigurationError(
        f"Kafka has not taken a record {with_key} for the topic {topic!r}: {why}. Look whether the topic is there, may "
        "be written, and takes records of that size; 'delivery.timeout.ms' says how long to try."
    )


class Kept:
    """A producer that is kept for the next step.

    Args:
        properties: of the sink.

    Attributes:
        key: the properties.
        producer: the client.
        failed: is called with the error and the record where one was not taken.
    """

    def __init__(self, properties: Mapping[str, str]) -> None:
        self.key = frozenset(properties.items())
        self.failed: Callable[[Any, Any], None] = _ignore
        more: dict[str, Any] = {"on_delivery": self._delivered, "delivery_report_only_error": True}
        if not properties.keys() & _DELIVERY:
            more["delivery_timeout_ms"] = 120_000  # as Java's
        self.producer: Any = client.made("Producer", properties, "producer", more)

    def _delivered(self, error: Any, message: Any) -> None:
        if error is not None:
            self.failed(error, message)

    def put(self) -> None:
        """Keep it: all it was given has been taken."""
        self.failed = _ignore
        PRODUCERS.put(self)

    def close(self) -> None:
        """End it, and forget what has not been sent."""
        self.failed = _ignore
        self.producer.purge()
        self.producer.poll(0)


PRODUCERS: Pool[Kept] = Pool(_MOST, _SECONDS)


def kept(properties: Mapping[str, str]) -> Kept:
    """A producer that waits for its next use, or a new one.

    Args:
        properties: of the sink.
    """
    key = frozenset(properties.items())
    return PRODUCERS.take(lambda each: each.key == key) or Kept(properties)


def _ignore(error: Any, message: Any) -> None:
    """Nobody asks any more."""
