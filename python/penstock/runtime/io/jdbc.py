"""Records as statements of SQL: in batches while the task runs, or all together, with a marker, once their step counts.

Source of the semantics: ``JdbcOutputFormat``, ``JdbcExecutionOptions`` (Flink's JDBC connector 3.2).
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from penstock.errors import ConfigurationError, PenstockError
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.io.databases import Database, Statement, statement
from penstock.runtime.io.sinks import BuiltinSink, SinkWriter

_LOG = logging.getLogger("penstock")
R = TypeVar("R")

TABLE = "penstock_commits"
"""The table of markers."""
_CREATE = (
    f"CREATE TABLE IF NOT EXISTS {TABLE} (sink VARCHAR(200) NOT NULL, job_folder VARCHAR(40) NOT NULL, "
    "version BIGINT NOT NULL, PRIMARY KEY (sink, job_folder))"
)
_HOLD = f"UPDATE {TABLE} SET version = version WHERE sink = ? AND job_folder = ?"
_RAISE = f"UPDATE {TABLE} SET version = ? WHERE sink = ? AND job_folder = ?"
_FIND = f"SELECT version FROM {TABLE} WHERE sink = ? AND job_folder = ?"
_BEGIN = f"INSERT INTO {TABLE} (version, sink, job_folder) VALUES (?, ?, ?)"


@dataclass(frozen=True)
class JdbcOutput(BuiltinSink):
    """Executes a statement for each record, in batches; a batch is a transaction.

    Attributes:
        sql: with ``?`` for each field.
        database: where.
        size: records of a batch.
        interval: milliseconds after which the next record sends the batch; 0 for no such limit.
        retries: how often a batch is tried again.
    """

    sql: str
    database: Database
    size: int = 5_000
    interval: int = 0
    retries: int = 3

    def prepare(self, parallelism: int) -> JdbcOutput:
        """There is a driver."""
        self.database.module()
        return self

    def writer(self, context: OperatorContext) -> SinkWriter:
        """Batches of a subtask."""
        return _Batches(self, context)


class _Batches(SinkWriter):
    def __init__(self, output: JdbcOutput, context: OperatorContext) -> None:
        self._output, self._clock = output, context.clock
        self._statement = statement(output.sql, output.database)
        self._waiting: list[Any] = []
        self._since = 0
        self._access = Access(output.database, output.retries)
        self.room = min(output.size, 1_000)

    def write(self, value: Any) -> None:  # type: ignore[override]
        self._waiting.append(self._statement.values(value))
        if len(self._waiting) >= self._output.size or (self._output.interval and self._late()):
            self.end_step()

    def _late(self) -> bool:
        now = self._clock.now()
        if len(self._waiting) == 1:
            self._since = now
        return now - self._since >= self._output.interval

    def end_step(self) -> None:
        rows, self._waiting = self._waiting, []
        if rows:
            self._access.run(lambda connection: execute(connection, self._statement, rows))

    def finish(self) -> None:
        self.end_step()
        self._access.close()

    def discard(self) -> None:
        self._waiting = []
        self._access.close()


class Access:
    """A connection that is made when it is needed, and again when something has failed.

    Args:
        database: where.
        retries: how often to try again.
    """

    def __init__(self, database: Database, retries: int) -> None:
        self._database, self._retries = database, retries
        self._connection: Any = None

    def run(self, work: Callable[[Any], R]) -> R:
        """Do some work in a transaction, again after a failure, each time a second later than before.

        Args:
            work: takes the connection.

        Raises:
            ConfigurationError: it has failed too often; the driver's exception is the cause.
        """
        for attempt in range(self._retries + 1):
            try:
                if self._connection is None:
                    self._connection = self._database.connect()
                if self._database.scheme == "duckdb":  # the one driver that begins no transaction by itself
                    self._connection.begin()
                result = work(self._connection)
                self._connection.commit()
                return result
            except PenstockError:
                self.close()
                raise
            except Exception as error:
                self.close()
                if attempt == self._retries:
                    raise _refused(self._database, error, attempt + 1) from error
                _LOG.warning("%s: %s; trying again", self._database.url, error)
                time.sleep(attempt)
        raise AssertionError("there is a last attempt")

    def close(self) -> None:
        """End what is open without a commit."""
        connection, self._connection = self._connection, None
        if connection is not None:
            for end in (connection.rollback, connection.close):
                with contextlib.suppress(Exception):  # the failure before it counts
                    end()


def _refused(database: Database, error: Exception, attempts: int) -> ConfigurationError:
    return ConfigurationError(
        f"The database {database.url!r} has not taken the records after {attempts} attempts: {type(error).__name__}: "
        f"{error}. Look at the statement, the table, and whether the database can be reached from the executors; "
        "with_max_retries() says how often to try again."
    )


def execute(connection: Any, made: Statement, rows: Sequence[Any]) -> None:
    """Execute a statement for each of some rows of values."""
    cursor = connection.cursor()
    try:
        cursor.executemany(made.text, rows) if len(rows) > 1 else cursor.execute(made.text, rows[0])
    finally:
        cursor.close()


class JdbcCommits:
    """A two-phase sink: records of a step are executed in one transaction once it counts, with a marker that says so.

    Args:
        sql: with ``?`` for each field.
        database: where.
        name: of the sink, in the table of markers.
        retries: how often a transaction is tried again.

    Attributes:
        owner: id of the job folder; empty for a job of one step, which commits once.
    """

    owner = ""

    def __init__(self, sql: str, database: Database, name: str, retries: int) -> None:
        self._sql, self._database, self._name, self._retries = sql, database, name, retries
        self._rows: list[Any] = []
        self._made: Statement | None = None

    def open(self, context: Any) -> None:
        """In a task."""
        self._made = statement(self._sql, self._database)

    def write(self, value: Any) -> None:
        """Keep the values of a record."""
        assert self._made is not None
        self._rows.append(self._made.values(value))

    def prepare(self, version: int) -> list[Any] | None:
        """All of a step."""
        rows, self._rows = self._rows, []
        return rows or None

    def abort(self) -> None:
        """They do not count."""
        self._rows = []

    def commit(self, committables: Sequence[list[Any]], version: int) -> None:
        """Execute the statement for all, unless the marker says that this has been done."""
        access = Access(self._database, self._retries)
        made = statement(self._sql, self._database)
        try:
            if self.owner:
                access.run(lambda connection: self._do(connection, _CREATE, ()))
            access.run(lambda connection: self._commit(connection, made, committables, version))
        finally:
            access.close()

    def _commit(self, connection: Any, made: Statement, committables: Sequence[list[Any]], version: int) -> None:
        if self.owner and not self._mark(connection, version):
            return
        for rows in committables:
            execute(connection, made, rows)

    def _mark(self, connection: Any, version: int) -> bool:
        """Hold the marker, so that everybody else waits for the end of the transaction, and raise it; whether it was
        lower."""
        own = (self._name, self.owner)
        self._do(connection, _HOLD, own)
        find = statement(_FIND, self._database)
        cursor = connection.cursor()
        cursor.execute(find.text, find.values(own))
        found = cursor.fetchall()
        cursor.close()
        if found and found[0][0] >= version:
            return False
        self._do(connection, _RAISE if found else _BEGIN, (version, *own))
        return True

    def _do(self, connection: Any, sql: str, values: tuple[Any, ...]) -> None:
        made = statement(sql, self._database)
        execute(connection, made, [made.values(values)])
