"""Sending records that have waited in files: in transactions, each with a *marker*, so that each record is sent once
whatever dies when.

The marker is a committed offset of a consumer group that only this job has: how many bytes of all files together have
been sent. It is written in the transaction of the records, so both are there or neither. Whoever sends again, as after
a crash, first takes over the transactional id, which ends what another has begun, and goes on behind the marker.

A transaction is ended when half its timeout has passed, so what is sent in that time becomes visible at once, to
readers with ``isolation.level=read_committed``. Cost: linear in the bytes; memory for what waits in Kafka's client.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from penstock.errors import ConfigurationError
from penstock.runtime.kafka import client
from penstock.runtime.kafka import properties as names
from penstock.runtime.kafka.records import read_records
from penstock.runtime.kafka.serializing import OutRecord

TIMEOUT = "transaction.timeout.ms"
_TIMEOUT = 60_000
_STRIDE = 500
"""Records between two looks at the clock and at what has been delivered."""
_TICK = 0.1
_LOGIN = ("bootstrap.", "client.", "sasl.", "security.", "socket.", "ssl.")
"""What properties begin with that say where brokers are and who asks."""


def produce(producer: Any, record: OutRecord, delivered: Callable[[Any, Any], None]) -> None:
    """Hand a record to Kafka's client; waits while it has no room.

    Args:
        producer: the client.
        record: what to send.
        delivered: is called with an error or None, and the message.
    """
    more = {} if record.partition is None else {"partition": record.partition}
    if record.timestamp is not None:
        more["timestamp"] = record.timestamp
    headers: Any = list(record.headers) or None
    while True:
        try:
            producer.produce(record.topic, record.value, record.key, headers=headers, on_delivery=delivered, **more)
            return
        except BufferError:
            producer.poll(_TICK)
        except client.kafka().KafkaException as error:
            raise _undelivered(record.topic, record.key, client.reason(error)) from error


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


def send(properties: Mapping[str, str], prefix: str, job_id: str, files: Sequence[str]) -> None:
    """Send what files hold, each record once, whatever has been sent of them before.

    Args:
        properties: of the sink.
        prefix: of transactional ids.
        job_id: of the job whose files they are.
        files: in their order; all that the job has for the sink. If one is gone, all have been sent.

    Raises:
        ConfigurationError: brokers do not answer, or refuse.
    """
    if not all(map(os.path.exists, files)):
        return
    records = _Records(files)
    topic = records.first_topic()
    if topic is not None:
        group = f"{quote(prefix, safe='')}-{job_id}"  # librdkafka takes plain characters only
        _Transactions(properties, prefix, group, topic).run(records)


def timeout_of(properties: Mapping[str, str]) -> int:
    """How many milliseconds a transaction may take.

    Raises:
        ConfigurationError: the property is no such number.
    """
    text = properties.get(TIMEOUT, str(_TIMEOUT))
    if not text.strip().isdigit() or int(text) < 1_000:
        raise ConfigurationError(
            f"Kafka's property {TIMEOUT!r} is {text!r}; milliseconds are needed, at least 1000, and no more than the "
            "brokers' 'transaction.max.timeout.ms'. Give '60000', say."
        )
    return int(text)


def transactional(properties: Mapping[str, str], prefix: str) -> Any:
    """A producer of transactions; it asks the brokers for nothing yet.

    Args:
        properties: of the sink.
        prefix: of transactional ids.

    Raises:
        ConfigurationError: a property does not go with transactions.
    """
    ours = {"transactional_id": f"{prefix}-0", "transaction_timeout_ms": timeout_of(properties)}
    return client.producer(properties, **ours)


def check(properties: Mapping[str, str], prefix: str) -> None:
    """Look whether brokers let a sink begin transactions; what is open of an earlier run is ended by it.

    Args:
        properties: of the sink.
        prefix: of transactional ids.

    Raises:
        ConfigurationError: they do not.
    """
    producer, seconds = transactional(properties, prefix), names.seconds(properties, "producer")
    try:
        client.patiently(lambda: producer.init_transactions(seconds), seconds)
    except client.kafka().KafkaException as error:
        raise ConfigurationError(
            f"Kafka at {names.servers(properties)!r} does not let the sink begin transactions: {client.reason(error)}. "
            f"Look whether {TIMEOUT!r}, {timeout_of(properties)}, is more than the brokers' "
            f"'transaction.max.timeout.ms', and whether the transactional id {prefix + '-0'!r} may be used."
        ) from error


class _Records:
    """The records of files, one file after the other.

    Args:
        files: their paths.

    Attributes:
        position: bytes of all files up to behind the last record that was given.
    """

    def __init__(self, files: Sequence[str]) -> None:
        self._files = files
        self.position = 0

    def first_topic(self) -> str | None:
        """The topic of the first record; None if there is no record."""
        with contextlib.closing(self.after(0)) as records:
            return next((record.topic for record in records), None)

    def after(self, start: int) -> Generator[OutRecord, None, None]:
        """The records from a position on."""
        before = 0
        for path in self._files:
            size = os.path.getsize(path)
            if start < before + size:
                with open(path, "rb") as file:
                    file.seek(max(start - before, 0))
                    for record in read_records(file):
                        self.position = before + file.tell()
                        yield record
            before += size


class _Transactions:
    """Transactions of records with a marker.

    Args:
        properties: of the sink.
        prefix: of transactional ids.
        group: of the marker.
        topic: the marker is an offset of its first partition; any topic will do.
    """

    def __init__(self, properties: Mapping[str, str], prefix: str, group: str, topic: str) -> None:
        self._properties = properties
        self._group, self._topic = group, topic
        self._seconds = timeout_of(properties) / 2000
        self._producer = transactional(properties, prefix)
        self._failure: ConfigurationError | None = None

    def run(self, records: _Records) -> None:
        """Send the records that have not been sent."""
        login = {key: value for key, value in self._properties.items() if key.startswith(_LOGIN)}
        waiting = names.seconds(self._properties, "producer")
        with client.consumer(login, group_id=self._group, isolation_level="read_committed") as consumer:
            self._call(lambda: self._producer.init_transactions(waiting), "take over the transactional id")
            done = self._done(consumer, waiting)
            group = consumer.consumer_group_metadata()
            rest = records.after(done)
            while self._transaction(rest, records, group):
                pass

    def _done(self, consumer: Any, waiting: float) -> int:
        marker = client.kafka().TopicPartition(self._topic, 0)
        found = self._call(lambda: consumer.committed([marker], timeout=waiting), "read the marker")[0]
        if found.error is not None:
            raise self._failed("read the marker", found.error.str())
        return max(found.offset, 0)

    def _transaction(self, rest: Iterator[OutRecord], records: _Records, group: Any) -> bool:
        """Send some records with the marker behind them; whether there may be more."""
        producer = self._producer
        until, count = time.monotonic() + self._seconds, 0
        producer.begin_transaction()
        try:
            for record in rest:
                produce(producer, record, self._delivered)
                count += 1
                if count % _STRIDE == 0:
                    producer.poll(0)
                    self._check()
                    if time.monotonic() > until:
                        break
            marker = client.kafka().TopicPartition(self._topic, 0, records.position)
            if count:
                self._call(lambda: producer.send_offsets_to_transaction([marker], group), "write the marker")
            self._call(producer.commit_transaction, "commit the transaction")
        except BaseException:
            self._abort()
            raise
        self._check()
        return count > 0 and time.monotonic() > until

    def _delivered(self, error: Any, message: Any) -> None:
        if error is not None and self._failure is None:
            self._failure = undelivered(error, message, self._properties)

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _call(self, call: Callable[[], Any], what: str) -> Any:
        """Call Kafka's client, again where it says that this may help."""
        try:
            return client.patiently(call, names.seconds(self._properties, "producer"))
        except client.kafka().KafkaException as error:
            self._check()
            raise self._failed(what, client.reason(error)) from error

    def _failed(self, what: str, why: str) -> ConfigurationError:
        return ConfigurationError(
            f"Kafka at {names.servers(self._properties)!r} did not {what}: {why}. The records wait; run the program "
            "again, which sends them first."
        )

    def _abort(self) -> None:
        try:
            self._producer.abort_transaction(names.seconds(self._properties, "producer"))
        except client.kafka().KafkaException as error:  # it times out, or is ended by whoever sends again
            client.LOGGER.warning("a transaction could not be aborted: %s", client.reason(error))
