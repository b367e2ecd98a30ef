"""Sends records that wait in files, in transactions. Each transaction has a *marker*, so that every record is sent
exactly once, whichever process dies and when.

The marker is the committed offset of a consumer group that belongs to this job only. It counts the bytes of the job's
files that have been sent, over all checkpoints. It is part of the transaction of the records, so both are visible or
neither. A sender first takes over the transactional id, which aborts the transaction of another sender and fences it
off. Only then it reads the marker, and resumes behind it. So in whatever order two drivers act, no byte is sent twice
or out of order, even if one was paused and wakes up: the fenced sender fails, and a new one sees how far the other
came.

A driver that was paused must not stop its successor. So a sender checks that it still owns the checkpoint directory
each time before it takes over the transactional id. If it is paused between the two, it fences off its successor when
it wakes up. It checks again afterwards, and then ends before it begins a transaction; the successor, which owns the
directory, takes the id back and resumes behind the marker. A lost checkpoint directory stays lost, so each predecessor
can do this once at most. A driver that is fenced off more often shares its prefix with another program, and fails.

A transaction is committed when half its timeout has passed. Readers with ``isolation.level=read_committed`` see its
records at once. Cost: linear in the bytes; memory for the queue of Kafka's client.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import quote

from penstock.connectors.kafka import client
from penstock.connectors.kafka import properties as names
from penstock.connectors.kafka.client import Pool, close
from penstock.connectors.kafka.transactions import TIMEOUT, Transactions, Waiting, timeout_of, transactional
from penstock.errors import ConfigurationError, ShutOutError

_MOST_SHUT_OUT = 3
"""How often a sender takes the transactional id back: often enough for predecessors that were paused, and seldom enough
to end the conflict of two programs with one prefix."""


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
"""Senders that wait for the next checkpoint. A sender that failed is removed: a new one takes over the transactional id
and reads the marker."""


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
