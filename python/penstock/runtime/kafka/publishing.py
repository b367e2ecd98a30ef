"""Sending records that have waited in files: in transactions, each with a *marker*, so that each record is sent once
whatever dies when.

The marker is a committed offset of a consumer group that only this job has: how many bytes of its files have been sent,
of all its versions together. It is written in the transaction of the records, so both are there or neither. Whoever
sends takes over the transactional id first, which ends what another has begun and shuts that one out; only then it
reads the marker, and goes on behind it. So whatever order two drivers come in, one that was paused and wakes up
included, no byte is sent twice, and none before those that stand before it: the sender that is shut out fails, and one
that begins anew finds what the other has done.

A transaction is ended when half its timeout has passed, so what is sent in that time becomes visible at once, to
readers with ``isolation.level=read_committed``. Cost: linear in the bytes; memory for what waits in Kafka's client.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Mapping, Sequence
from urllib.parse import quote

from penstock.errors import ConfigurationError, ShutOutError
from penstock.runtime.kafka import client
from penstock.runtime.kafka import properties as names
from penstock.runtime.kafka.pool import Pool, close
from penstock.runtime.kafka.transactions import TIMEOUT, Transactions, Waiting, timeout_of, transactional


class Sender:
    """Sends the files of a job's versions, one after the other, as long as nobody else begins to: then each call fails.
    Lives on the driver.

    Args:
        properties: of the sink.
        prefix: of transactional ids.
        job_id: of the job: the same in all runs that go on with one another.

    Attributes:
        key: all three.
    """

    def __init__(self, properties: Mapping[str, str], prefix: str, job_id: str) -> None:
        self.key = (frozenset(properties.items()), prefix, job_id)
        self._properties, self._prefix = properties, prefix
        self._group = f"{quote(prefix, safe='')}-{job_id}"  # librdkafka takes plain characters only
        self._transactions: Transactions | None = None
        self._refused: ConfigurationError | None = None

    def send(self, files: Sequence[str], version: int = 1, before: int = 0) -> int:
        """Send what files hold, each record once, whatever has been sent of them before. It can be repeated; versions
        come in their order, those without files too.

        Args:
            files: in their order; all that the version has for the sink, perhaps none. If one is gone, all have been
                sent.
            version: of the manifest that names them.
            before: bytes of all files of the versions before.

        Returns:
            ``before`` of the next version.

        Raises:
            ShutOutError: another has taken over the transactional id.
            ConfigurationError: brokers do not answer, or refuse; or the marker does not go with the version.
        """
        if self._refused is not None:
            raise self._refused
        if not all(map(os.path.exists, files)):
            return before
        waiting = Waiting(files, version, before)
        try:
            if waiting.size or before:  # else there is no marker, and none is needed
                self._run(waiting)
        except BaseException as error:
            if isinstance(error, ShutOutError):
                self._refused = error
            self.close()
            _forget_clients(error)
            raise
        return before + waiting.size

    def _run(self, waiting: Waiting) -> None:
        """Send; with new clients, if those that there are cannot go on."""
        try:
            self._begun().run(waiting)
        except client.StuckError as error:
            client.LOGGER.warning("%s It is tried again.", error)
            self.close()
            self._begun().run(waiting)

    def _begun(self) -> Transactions:
        if self._transactions is None:
            self._transactions = Transactions(self._properties, self._prefix, self._group)
            self._transactions.begin()
        return self._transactions

    def close(self) -> None:
        """Let the clients go."""
        transactions, self._transactions = self._transactions, None
        if transactions is not None:
            close(transactions)


def _forget_clients(error: BaseException | None) -> None:
    """Have an error keep nothing alive of what it was raised in."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__


_CHECK = "check"
SENDERS: Pool[Sender] = Pool(8, 3 * 3600.0)
"""That wait for the next version. One that has failed is not among them: a new one takes over the transactional id, and
reads the marker."""


def begin(prefix: str) -> None:
    """A run begins: it uses no sender of an earlier one, which another process may have shut out since.

    Args:
        prefix: of its transactional ids.
    """
    while (old := SENDERS.take(lambda each: each.key[1] == prefix)) is not None:
        close(old)


def check(properties: Mapping[str, str], prefix: str) -> None:
    """Look whether brokers let a sink begin transactions; by an id of its own, as a run that works must not be shut out
    by one that will be told so.

    Args:
        properties: of the sink.
        prefix: of transactional ids.

    Raises:
        ConfigurationError: they do not.
    """
    producer, seconds = transactional(properties, prefix, _CHECK), names.seconds(properties, "producer")
    try:
        client.patiently(producer.init_transactions, seconds)
    except client.kafka().KafkaException as error:
        raise ConfigurationError(
            f"Kafka at {names.servers(properties)!r} does not let the sink begin transactions: {client.reason(error)}. "
            f"Look whether {TIMEOUT!r}, {timeout_of(properties)}, is more than the brokers' "
            f"'transaction.max.timeout.ms', and whether the transactional id {f'{prefix}-{_CHECK}'!r} may be used."
        ) from error
