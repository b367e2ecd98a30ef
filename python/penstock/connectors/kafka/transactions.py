"""Sends records that wait in files, in transactions with a *marker*, so that every record is sent exactly once,
whichever process dies and when.

The marker is the committed offset of a consumer group that belongs to this job only. It counts the bytes of the job's
files that have been sent, over all checkpoints, and is part of the transaction of the records, so both are visible or
neither. A sender first takes over the transactional id, which aborts the transaction of another sender and fences it
off. Only then it reads the marker, and resumes behind it. So in whatever order two drivers act, no byte is sent twice
or out of order, even if one was paused and wakes up.

A driver that was paused must not stop its successor. So a sender checks that it still owns the checkpoint directory
before it takes over the transactional id, and again afterwards: if it lost it in between, it ends before it begins a
transaction, and its successor takes the id back. Each predecessor can do this once at most. A driver that is fenced off
more often shares its prefix with another program, and fails.

A transaction is committed when half its timeout has passed. Cost: linear in the bytes; memory for the queue of Kafka's
client."""

from __future__ import annotations

import functools
import os
import time
import traceback
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from penstock.connectors.kafka import client
from penstock.connectors.kafka import properties as names
from penstock.connectors.kafka.client import Pool, close
from penstock.connectors.kafka.records import Row, produce, read_blocks
from penstock.errors import ConfigurationError, ShutOutError

TIMEOUT = "transaction.timeout.ms"
LOST = "penstock.marker.lost"  # the property that says what to assume if the marker is gone
_TIMEOUT = 60_000
_REFRESH = 86_400.0
"""Seconds after which the marker is written again though nothing was sent: brokers drop offsets after a week."""
_MARKER, _GRACE = 5.0, 1.0
"""Seconds after which a request to write the marker is repeated, and the extra seconds that it gets to answer."""
_LOGIN = ("bootstrap.", "client.", "sasl.", "security.", "socket.", "ssl.")
"""Prefixes of the properties for connection and login."""


def timeout_of(properties: Mapping[str, str]) -> int:
    """The timeout of a transaction in milliseconds."""
    text = properties.get(TIMEOUT, str(_TIMEOUT))
    if not text.strip().isdigit() or int(text) < 1_000:
        raise ConfigurationError(
            f"Kafka's property {TIMEOUT!r} is {text!r}; it takes milliseconds, at least 1000, and at most the "
            "brokers' 'transaction.max.timeout.ms'. Give '60000', say."
        )
    return int(text)


def transactional(properties: Mapping[str, str], prefix: str, number: str = "0") -> Any:
    """A producer of transactions, which does not contact the brokers yet."""
    ours = {"transactional_id": f"{prefix}-{number}", "transaction_timeout_ms": timeout_of(properties)}
    return client.producer(properties, **ours)


class Waiting:
    """The files of a checkpoint that are to be sent. ``before`` counts the bytes of all earlier checkpoints."""

    def __init__(self, files: Sequence[str], version: int, before: int) -> None:
        self._files = [(path, os.path.getsize(path)) for path in files]
        self.version, self.before = version, before
        self.size = sum(size for _, size in self._files)

    def after(self, position: int) -> Generator[tuple[list[Row], int], None, None]:
        """Blocks of records behind a position, each with the position after it."""
        start = self.before
        for path, size in self._files:
            if position < start + size:
                with open(path, "rb") as file:
                    file.seek(max(position - start, 0))
                    for rows in read_blocks(file):
                        yield rows, start + file.tell()
            start += size


class Transactions:
    """Takes over the transactional id, reads the marker, and sends."""

    def __init__(self, properties: Mapping[str, str], prefix: str, group: str) -> None:
        self._properties, self._group, self._prefix = properties, group, prefix
        self._waiting = names.seconds(properties, "producer")
        self._seconds = timeout_of(properties) / 2000
        self._since: float | None = None  # when the transaction began
        self._producer: Any = transactional(properties, prefix)
        self._login = {key: value for key, value in properties.items() if key.startswith(_LOGIN)}
        more = {"group_id": group, "isolation_level": "read_committed"}
        self._consumer: Any = client.create("consumer", self._login, more)
        self._topic = ""
        self._done: int | None = None
        self._written = time.monotonic() - _REFRESH  # its age is unknown

    def begin(self) -> None:
        self._call(lambda seconds: self._producer.init_transactions(seconds), "take over the transactional id")
        self._done = self._marker()

    def close(self) -> None:
        """Close the clients. Until its last reference ends, a producer may take the transactional id back."""
        self._consumer.close()
        self._producer = None

    def run(self, waiting: Waiting) -> None:
        """Send the records of a checkpoint that have not been sent."""
        end, done, lost = waiting.before + waiting.size, self._done, self._properties.get(LOST)
        if done is None:  # there is no marker
            if waiting.before and lost not in ("sent", "unsent"):
                raise ConfigurationError(
                    f"Kafka at {names.servers(self._properties)!r} has lost the offset of the group {self._group!r}, "
                    f"which records how much of version {waiting.version} has been sent: it was removed, or expired "
                    "('offsets.retention.minutes' of the brokers). Check whether the records are in their topics, and "
                    f"set the property {LOST!r} of the sink to 'sent' or 'unsent' for one run."
                )
            done = self._done = end if waiting.before and lost == "sent" else waiting.before
        if not waiting.before <= done <= end:
            why = "another run of the job is ahead" if done > waiting.before else "an earlier version was not sent"
            raise ConfigurationError(
                f"The records of version {waiting.version} for Kafka are the bytes {waiting.before} to {end} of the "
                f"job, but {done} have been sent: {why}. Nothing is sent. Start the program again: it resumes from the "
                "newest checkpoint in its checkpoint directory."
            )
        if done < end:
            blocks = waiting.after(done)
            while self._transaction(blocks):
                pass
            self._done = end
        elif self._topic and time.monotonic() > self._written + _REFRESH:
            self._transaction(iter(()))

    def _marker(self) -> int | None:
        """How many bytes have been sent, None without a marker."""
        fetch = client.offsets_of(self._login, self._group)
        markers = [marker for marker in self._call(fetch, "read the marker") if marker.offset >= 0]
        if not markers:
            return None
        newest = max(markers, key=lambda marker: marker.offset)
        self._topic = newest.topic
        return newest.offset

    def _transaction(self, blocks: Iterator[tuple[list[Row], int]]) -> bool:
        """Send some records with the marker behind them, in one transaction. Returns whether more may follow."""
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
            self._call(lambda seconds: self._producer.commit_transaction(seconds), "commit the transaction")
        except BaseException as error:
            shut_out = self._abort()
            if shut_out is not None and not isinstance(error, ShutOutError):
                raise shut_out from error
            raise
        self._done, self._written, self._since = position, time.monotonic(), None
        return more

    def _write_marker(self, position: int | None) -> None:
        """Put the marker into the transaction; if a broker goes away, the client may ignore its timeout."""
        marker = client.kafka().TopicPartition(self._topic, 0, position)  # any topic will do
        sent, what = ([marker], self._consumer.consumer_group_metadata()), "write the marker"

        def write(left: float) -> None:
            seconds = min(left, _MARKER)
            send = functools.partial(self._producer.send_offsets_to_transaction, *sent, seconds)
            client.with_timeout(send, seconds + _GRACE, what)

        self._call(write, what)

    def _call(self, call: Callable[[float], Any], what: str) -> Any:
        try:
            return client.with_retries(call, self._waiting)
        except client.kafka().KafkaException as error:
            raise self._failed(what, error) from error

    def _failed(self, what: str, error: Any) -> ConfigurationError:
        if error.args[0].name() in ("_FENCED", "INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED"):
            if self._since is not None and time.monotonic() >= self._since + 2 * self._seconds:
                return ConfigurationError(  # brokers also fence a producer whose transaction expires
                    f"A transaction with the id {self._prefix + '-0'!r} has taken longer than {TIMEOUT!r}, "
                    f"{timeout_of(self._properties)}: brokers did not answer in time, or this process was paused. The "
                    "records are kept; run the program again, which sends them first."
                )
            return ShutOutError(
                f"Another process has taken over the transactional id {self._prefix + '-0'!r}, and this one stops: a "
                "driver that has resumed this job, or a program with the same prefix. Run only one of them."
            )
        return ConfigurationError(
            f"Kafka at {names.servers(self._properties)!r} did not {what}: {client.reason(error)}. The records are "
            "kept; run the program again, which sends them first."
        )

    def _abort(self) -> ShutOutError | None:
        """Abort the transaction. Returns the error if this sender was fenced off."""
        try:
            self._producer.abort_transaction(self._waiting)
        except client.kafka().KafkaException as error:  # it times out, or the next sender aborts it
            failure = self._failed("abort a transaction", error)
            if isinstance(failure, ShutOutError):
                return failure
            client.LOGGER.warning("a transaction could not be aborted: %s", client.reason(error))
        return None


_MOST_SHUT_OUT = 3
"""How often a sender takes the id back: enough for paused predecessors, and too seldom for two programs' conflict."""


class Sender:
    """Sends the files of a job's checkpoints in order, on the driver; fails once another sender has taken over."""

    check: Callable[[], None] | None = None

    def __init__(self, properties: Mapping[str, str], prefix: str, job_id: str) -> None:
        self.key = (frozenset(properties.items()), prefix, job_id)
        self._properties, self._prefix = properties, prefix
        self._group = f"{quote(prefix, safe='')}-{job_id}"  # librdkafka takes plain characters only
        self._transactions: Transactions | None = None
        self._refused: ConfigurationError | None = None
        self._times_shut_out = 0

    def send(self, files: Sequence[str], version: int = 1, before: int = 0) -> int:
        """Send the records of a checkpoint's files exactly once. Checkpoints come in order, also those without
        files."""
        if self._refused is not None:
            raise self._refused
        if not all(map(os.path.exists, files)):
            return before
        waiting = Waiting(files, version, before)
        try:
            if waiting.size or before:  # without records no marker is needed
                self._run(waiting)
        except BaseException as error:
            if isinstance(error, ShutOutError):
                self._refused = error
            self.close()
            _forget_clients(error)
            raise
        return before + waiting.size

    def _run(self, waiting: Waiting) -> None:
        """Send, with new clients if the current ones cannot continue."""
        stuck = False
        while True:
            try:
                self._begun().run(waiting)
                return
            except client.StuckError as error:
                if stuck:
                    raise
                stuck = True
                client.LOGGER.warning("%s Trying again.", error)
                _forget_clients(error)
            except ShutOutError as error:
                self._times_shut_out += 1
                if self.check is None or self._times_shut_out > _MOST_SHUT_OUT:
                    raise
                client.LOGGER.warning("%s This driver takes it back if it still owns the checkpoint directory.", error)
                _forget_clients(error)
            self.close()

    def _begun(self) -> Transactions:
        if self._transactions is None:
            self._check()
            self._transactions = Transactions(self._properties, self._prefix, self._group)
            self._transactions.begin()
            self._check()
        return self._transactions

    def _check(self) -> None:
        if self.check is not None:
            self.check()

    def close(self) -> None:
        transactions, self._transactions = self._transactions, None
        if transactions is not None:
            close(transactions)


def _forget_clients(error: BaseException | None) -> None:
    """Drop the references of an error to the clients."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__


_CHECK = "check"
SENDERS: Pool[Sender] = Pool(8, 3 * 3600.0)
"""Senders that wait for the next checkpoint; none that failed, as a new one has to take over the id and the marker."""


def begin(prefix: str) -> None:
    """Start a run: drop the senders of earlier runs, which another process may have fenced off since."""
    while (old := SENDERS.take(lambda sender: sender.key[1] == prefix)) is not None:
        close(old)


def check(properties: Mapping[str, str], prefix: str) -> None:
    """Check that brokers let a sink begin transactions, by an id of its own, which fences off no run that works."""
    producer, seconds = transactional(properties, prefix, _CHECK), names.seconds(properties, "producer")
    try:
        client.with_retries(producer.init_transactions, seconds)
    except client.kafka().KafkaException as error:
        raise ConfigurationError(
            f"Kafka at {names.servers(properties)!r} does not let the sink begin transactions: {client.reason(error)}. "
            f"Check that {TIMEOUT!r}, {timeout_of(properties)}, is not more than the brokers' "
            f"'transaction.max.timeout.ms', and that the transactional id {f'{prefix}-{_CHECK}'!r} may be used."
        ) from error
