"""Transactions of records with a marker: see :mod:`penstock.runtime.kafka.publishing`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import Any

from penstock.errors import ConfigurationError, ShutOutError
from penstock.runtime.kafka import client
from penstock.runtime.kafka import properties as names
from penstock.runtime.kafka.producing import produce
from penstock.runtime.kafka.records import Row, read_blocks

TIMEOUT = "transaction.timeout.ms"
LOST = "penstock.marker.lost"
"""The property that says what to take for granted where there is no marker any more."""
_TIMEOUT = 60_000
_REFRESH = 86_400.0
"""Seconds after which a marker is written again though nothing was sent: brokers forget those that are a week old."""
_MARKER, _GRACE = 5.0, 1.0
"""Seconds after which the writing of a marker is asked for again, and how many more it is given to answer."""
_LOGIN = ("bootstrap.", "client.", "sasl.", "security.", "socket.", "ssl.")
"""What properties begin with that say where brokers are and who asks."""


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


def transactional(properties: Mapping[str, str], prefix: str, number: str = "0") -> Any:
    """A producer of transactions; it asks the brokers for nothing yet.

    Args:
        properties: of the sink.
        prefix: of transactional ids.
        number: what the id has behind it.

    Raises:
        ConfigurationError: a property does not go with transactions.
    """
    ours = {"transactional_id": f"{prefix}-{number}", "transaction_timeout_ms": timeout_of(properties)}
    return client.producer(properties, **ours)


class Waiting:
    """What a version has to send.

    Args:
        files: their paths, in order.
        version: of the manifest that names them.
        before: bytes of all versions before.

    Attributes:
        size: bytes of the files.
    """

    def __init__(self, files: Sequence[str], version: int, before: int) -> None:
        self._files = [(path, os.path.getsize(path)) for path in files]
        self.version, self.before = version, before
        self.size = sum(size for _, size in self._files)

    def after(self, position: int) -> Generator[tuple[list[Row], int], None, None]:
        """Blocks of records, each with the position behind it.

        Args:
            position: where to begin: of the bytes of all versions.
        """
        start = self.before
        for path, size in self._files:
            if position < start + size:
                with open(path, "rb") as file:
                    file.seek(max(position - start, 0))
                    for rows in read_blocks(file):
                        yield rows, start + file.tell()
            start += size


class Transactions:
    """Takes over the transactional id, and knows the marker then.

    Args:
        properties: of the sink.
        prefix: of transactional ids.
        group: of the marker.
    """

    def __init__(self, properties: Mapping[str, str], prefix: str, group: str) -> None:
        self._properties, self._group, self._prefix = properties, group, prefix
        self._waiting = names.seconds(properties, "producer")
        self._seconds = timeout_of(properties) / 2000
        self._since: float | None = None  # when the transaction began
        self._producer: Any = transactional(properties, prefix)
        self._login = {key: value for key, value in properties.items() if key.startswith(_LOGIN)}
        more = {"group_id": group, "isolation_level": "read_committed"}
        self._consumer: Any = client.made("Consumer", self._login, "consumer", more)
        self._topic = ""
        self._done: int | None = None
        self._written = time.monotonic() - _REFRESH  # nobody knows how old it is

    def begin(self) -> None:
        """Take over the transactional id, and read the marker.

        Raises:
            ConfigurationError: brokers do not answer, or refuse.
        """
        self._call(lambda left: self._producer.init_transactions(left), "take over the transactional id")
        self._done = self._marker()

    def close(self) -> None:
        """Let the clients go.

        The producer ends with its last reference. As long as it lives it goes on with a call that was waited for in
        vain, and may take over the transactional id from its successor.
        """
        self._consumer.close()
        self._producer = None

    def run(self, waiting: Waiting) -> None:
        """Send the records of a version that have not been sent.

        Raises:
            ConfigurationError: brokers do not answer, or refuse, or the marker does not go with the version.
        """
        end = waiting.before + waiting.size
        done = self._known(waiting)
        if not waiting.before <= done <= end:
            raise self._out_of_turn(waiting, done)
        if done < end:
            blocks = waiting.after(done)
            while self._transaction(blocks):
                pass
            self._done = end
        elif self._topic and time.monotonic() > self._written + _REFRESH:
            self._transaction(iter(()))

    def _known(self, waiting: Waiting) -> int:
        """The marker.

        Raises:
            ConfigurationError: there is none, and there must be.
        """
        if self._done is None:
            lost = self._properties.get(LOST)
            if waiting.before and lost not in ("sent", "unsent"):
                raise ConfigurationError(
                    f"Kafka at {names.servers(self._properties)!r} has no offset of the group {self._group!r} any "
                    f"more, by which it is known how much of version {waiting.version} has been sent: it was removed, "
                    "or has expired while the program did not run ('offsets.retention.minutes' of the brokers). Look "
                    f"whether the records are in their topics, and set the property {LOST!r} of the sink to 'sent' or "
                    "'unsent' for one run."
                )
            self._done = waiting.before + (waiting.size if waiting.before and lost == "sent" else 0)
        return self._done

    def _out_of_turn(self, waiting: Waiting, done: int) -> ConfigurationError:
        further = done > waiting.before
        why = "another run of the job has gone further" if further else "a version before it was not sent"
        return ConfigurationError(
            f"The records of version {waiting.version} for Kafka are the bytes {waiting.before} to "
            f"{waiting.before + waiting.size} of the job, and {done} have been sent: {why}. Nothing is sent. "
            "Start the program again: it goes on with the newest version of its job folder."
        )

    def _marker(self) -> int | None:
        """How many bytes have been sent; None if nothing says so."""
        ask = client.offsets_of(self._login, self._group)
        found = [each for each in self._call(ask, "read the marker") if each.offset >= 0]
        if not found:
            return None
        newest = max(found, key=lambda each: each.offset)
        self._topic = newest.topic
        return newest.offset

    def _transaction(self, blocks: Iterator[tuple[list[Row], int]]) -> bool:
        """Send some records with the marker behind them; whether there may be more."""
        producer, position = self._producer, self._done
        self._since = time.monotonic()
        until, more = self._since + self._seconds, False
        self._call(lambda _: self._producer.begin_transaction(), "begin a transaction")
        try:
            for rows, position in blocks:  # noqa: B007 - of the last block
                produce(producer, rows)
                producer.poll(0)
                self._topic = rows[0][0]
                if time.monotonic() > until:
                    more = True
                    break
            self._write_marker(position)
            self._call(lambda left: self._producer.commit_transaction(left), "commit the transaction")
        except BaseException as error:
            shut_out = self._abort()
            if shut_out is not None and not isinstance(error, ShutOutError):
                raise shut_out from error
            raise
        self._done, self._written, self._since = position, time.monotonic(), None
        return more

    def _write_marker(self, position: int | None) -> None:
        """Put the marker into the transaction. Where a broker goes away meanwhile, Kafka's client may wait for ever for
        another to be found that knows the group, whatever time it was given."""
        marker = client.kafka().TopicPartition(self._topic, 0, position)  # any topic will do
        sent, what = ([marker], self._consumer.consumer_group_metadata()), "write the marker"

        def ask(left: float) -> None:
            seconds = min(left, _MARKER)
            client.in_time(lambda: self._producer.send_offsets_to_transaction(*sent, seconds), seconds + _GRACE, what)

        self._call(ask, what)

    def _call(self, call: Callable[[float], Any], what: str) -> Any:
        """Call Kafka's client, again where this may help."""
        try:
            return client.patiently(call, self._waiting)
        except client.kafka().KafkaException as error:
            raise self._failed(what, error) from error

    def _failed(self, what: str, error: Any) -> ConfigurationError:
        if error.args[0].name() in ("_FENCED", "INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED"):
            if self._since is not None and time.monotonic() >= self._since + 2 * self._seconds:
                return ConfigurationError(  # brokers shut out who lets one expire, too
                    f"A transaction with the id {self._prefix + '-0'!r} has taken longer than {TIMEOUT!r}, "
                    f"{timeout_of(self._properties)}: brokers did not answer in time, or this process was paused. The "
                    "records wait; run the program again, which sends them first."
                )
            return ShutOutError(
                f"Another has taken over the transactional id {self._prefix + '-0'!r}, and nothing is sent here any "
                "more: a driver that has gone on with this job, or another program with the same transactional id "
                "prefix. Let one of them run."
            )
        return ConfigurationError(
            f"Kafka at {names.servers(self._properties)!r} did not {what}: {client.reason(error)}. The records wait; "
            "run the program again, which sends them first."
        )

    def _abort(self) -> ShutOutError | None:
        """End the transaction; the error if that is for another to do."""
        try:
            self._producer.abort_transaction(self._waiting)
        except client.kafka().KafkaException as error:  # it times out, or is ended by whoever sends again
            failure = self._failed("abort a transaction", error)
            if isinstance(failure, ShutOutError):
                return failure
            client.LOGGER.warning("a transaction could not be aborted: %s", client.reason(error))
        return None
