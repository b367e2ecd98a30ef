"""Writes records by SQL statements: in batches while the task runs, or, exactly once, in one transaction per step.

Source of the semantics: ``JdbcOutputFormat``, ``JdbcExecutionOptions`` (Flink's JDBC connector 3.2).
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from penstock.connectors.jdbc.databases import Database, Statement, statement
from penstock.errors import ConfigurationError, PenstockError
from penstock.runtime.chain.context import OperatorContext
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
    """Executes a statement for each record, in batches; a batch is a transaction."""

    sql: str
    database: Database
    size: int = 5_000
    interval: int = 0
    retries: int = 3

    def prepare(self, parallelism: int) -> JdbcOutput:
        """Check that the driver is installed."""
        self.database.module()
        return self

    def writer(self, context: OperatorContext) -> SinkWriter:
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
    """A connection that is opened when it is needed, and again after a failure."""

    def __init__(self, database: Database, retries: int) -> None:
        self._database, self._retries = database, retries
        self._connection: Any = None

    def run(self, work: Callable[[Any], R]) -> R:
        """Do some work in a transaction. After a failure it waits, each time a second longer, and retries."""
        for attempt in range(self._retries + 1):
            try:
                if self._connection is None:
                    self._connection = self._database.connect()
                if self._database.scheme == "duckdb":  # its driver does not begin transactions by itself
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
                    raise _failure(self._database, error, attempt + 1) from error
                _LOG.warning("%s: %s; trying again", self._database.url, error)
                time.sleep(attempt)
        raise AssertionError("there is a last attempt")

    def close(self) -> None:
        """Roll back and close the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            for end in (connection.rollback, connection.close):
                with contextlib.suppress(Exception):  # the failure before it counts
                    end()


def _failure(database: Database, error: Exception, attempts: int) -> ConfigurationError:
    return ConfigurationError(
        f"The database {database.url!r} has not taken the records after {attempts} attempts: {type(error).__name__}: "
        f"{error}. Check the statement, the table, and that the executors can reach the database; "
        "with_max_retries() sets the number of retries."
    )


def execute(connection: Any, prepared: Statement, rows: Sequence[Any]) -> None:
    """Execute a statement for each row of values."""
    cursor = connection.cursor()
    try:
        cursor.executemany(prepared.text, rows) if len(rows) > 1 else cursor.execute(prepared.text, rows[0])
    finally:
        cursor.close()


class JdbcCommits:
    """A two-phase sink: the records of a step are executed in one transaction once the step counts, with a marker of
    its version. A job without a checkpoint directory, whose ``owner`` is empty, commits once and needs no marker."""

    owner = ""
    gathers = True

    def __init__(self, sql: str, database: Database, name: str, retries: int) -> None:
        self._sql, self._database, self._name, self._retries = sql, database, name, retries
        self._rows: list[Any] = []
        self._statement: Statement | None = None

    def open(self, context: Any) -> None:
        self._statement = statement(self._sql, self._database)

    def write(self, value: Any) -> None:
        assert self._statement is not None
        self._rows.append(self._statement.values(value))

    def prepare(self, version: int) -> list[Any] | None:
        """The rows of a step."""
        rows, self._rows = self._rows, []
        return rows or None

    def abort(self) -> None:
        self._rows = []

    def commit(self, committables: Sequence[list[Any]], version: int) -> None:
        """Execute the statement for all rows, unless the marker says that this has been done."""
        access = Access(self._database, self._retries)
        prepared = statement(self._sql, self._database)
        try:
            if self.owner:
                access.run(lambda connection: self._do(connection, _CREATE, ()))
            access.run(lambda connection: self._commit(connection, prepared, committables, version))
        finally:
            access.close()

    def _commit(self, connection: Any, prepared: Statement, committables: Sequence[list[Any]], version: int) -> None:
        if self.owner and not self._mark(connection, version):
            return
        for rows in committables:
            execute(connection, prepared, rows)

    def _mark(self, connection: Any, version: int) -> bool:
        """Lock the marker until the end of the transaction, and raise it. Returns whether it was lower."""
        key = (self._name, self.owner)
        self._do(connection, _HOLD, key)
        find = statement(_FIND, self._database)
        cursor = connection.cursor()
        cursor.execute(find.text, find.values(key))
        markers = cursor.fetchall()
        cursor.close()
        if markers and markers[0][0] >= version:
            return False
        self._do(connection, _RAISE if markers else _BEGIN, (version, *key))
        return True

    def _do(self, connection: Any, sql: str, values: tuple[Any, ...]) -> None:
        prepared = statement(sql, self._database)
        execute(connection, prepared, [prepared.values(values)])
