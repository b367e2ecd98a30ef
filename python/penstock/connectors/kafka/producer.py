"""Produces records, with producers that a worker process keeps from step to step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from penstock.connectors.kafka import client
from penstock.connectors.kafka.client import Pool
from penstock.connectors.kafka.records import Row
from penstock.errors import ConfigurationError

_TICK = 0.1
_MOST, _SECONDS = 8, 60.0
_DELIVERY = {"delivery.timeout.ms", "message.timeout.ms"}


def produce(producer: Any, rows: Sequence[Row]) -> None:
    """Hand records to Kafka's client; waits while its queue is full."""
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
                raise undelivered(topic, key, client.reason(error)) from error


def undelivered(topic: str, key: bytes | None, why: str) -> ConfigurationError:
    """The error for a record that Kafka did not accept."""
    with_key = "without a key" if key is None else f"with the key {key[:100]!r}"
    return ConfigurationError(
        f"Kafka did not accept a record {with_key} for the topic {topic!r}: {why}. Check that the topic exists, can be "
        "written, and accepts records of that size; 'delivery.timeout.ms' sets how long to try."
    )


class PooledProducer:
    """A producer that is kept for the next step."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        self.key = frozenset(properties.items())
        self.failed: Callable[[Any, Any], None] = _ignore
        more: dict[str, Any] = {"on_delivery": self._delivered, "delivery_report_only_error": True}
        if not properties.keys() & _DELIVERY:
            more["delivery_timeout_ms"] = 120_000  # as Java's
        self.producer: Any = client.create("producer", properties, more)

    def _delivered(self, error: Any, message: Any) -> None:
        if error is not None:
            self.failed(error, message)

    def put(self) -> None:
        """Return it to the pool, once all its records are acknowledged."""
        self.failed = _ignore
        PRODUCERS.put(self)

    def close(self) -> None:
        """Close it and drop records that were not sent."""
        self.failed = _ignore
        self.producer.purge()
        self.producer.poll(0)


PRODUCERS: Pool[PooledProducer] = Pool(_MOST, _SECONDS)


def take_producer(properties: Mapping[str, str]) -> PooledProducer:
    """A producer from the pool, or a new one."""
    key = frozenset(properties.items())
    return PRODUCERS.take(lambda producer: producer.key == key) or PooledProducer(properties)


def _ignore(error: Any, message: Any) -> None:
    """Delivery report of a producer that is being closed."""
