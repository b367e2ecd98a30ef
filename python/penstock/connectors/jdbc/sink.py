"""Writes records by SQL statements: in batches while the task runs, or, exactly once, in one transaction per step.

Databases are reached through Python's drivers (DB-API 2.0). URLs are JDBC's: ``jdbc:sqlite:/data/orders.db``,
``jdbc:postgresql://host:5432/orders``. Source of the semantics: ``JdbcOutputFormat``, ``JdbcExecutionOptions`` (Flink's
JDBC connector 3.2)."""

from __future__ import annotations

import contextlib
import logging
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timezone
from datetime import time as time_of_day
from decimal import Decimal
from importlib import import_module
from typing import Any, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

from penstock.common.row import Row
from penstock.common.time import Instant
from penstock.errors import ConfigurationError, InvalidProgramError, PenstockError
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.io.sinks import BuiltinSink, SinkWriter

_LOG = logging.getLogger("penstock")
R = TypeVar("R")

TABLE = "penstock_commits"  # the table of markers
_CREATE = (
    f"CREATE TABLE IF NOT EXISTS {TABLE} (sink VARCHAR(200) NOT NULL, job_folder VARCHAR(40) NOT NULL, "
    "version BIGINT NOT NULL, PRIMARY KEY (sink, job_folder))"
)
_HOLD = f"UPDATE {TABLE} SET version = version WHERE sink = ? AND job_folder = ?"
_RAISE = f"UPDATE {TABLE} SET version = ? WHERE sink = ? AND job_folder = ?"
_FIND = f"SELECT version FROM {TABLE} WHERE sink = ? AND job_folder = ?"
_BEGIN = f"INSERT INTO {TABLE} (version, sink, job_folder) VALUES (?, ?, ?)"


_DRIVERS = {
    "sqlite": ("sqlite3",),
    "duckdb": ("duckdb",),
    "postgresql": ("psycopg", "psycopg2", "pg8000.dbapi"),
    "mysql": ("mysql.connector", "pymysql", "MySQLdb"),
    "mariadb": ("mariadb", "pymysql", "mysql.connector"),
}
"""Python's drivers by the scheme of the URL; the first that is installed is used."""
_FILES = ("sqlite", "duckdb")
_BUSY_SECONDS = 60.0
_DATABASE = {"psycopg": "dbname", "psycopg2": "dbname"}
"""The argument for the database, in drivers that do not call it ``database``."""

_PIECES = re.compile(
    r"""'(?:[^']|'')*' | "(?:[^"]|"")*" | `[^`]*` | --[^\n]* | /\*.*?\*/ | \? | % | : | [^'"`?%:/-]+ | .""",
    re.VERBOSE | re.DOTALL,
)
"""Tokens of a statement: texts, names, comments, and placeholders."""


@dataclass(frozen=True)
class Database:
    """How to reach a database."""

    url: str
    driver: str | None = None
    user: str | None = None
    password: str | None = field(default=None, repr=False)

    @property
    def scheme(self) -> str:
        return self.url.removeprefix("jdbc:").partition(":")[0].lower()

    def module(self) -> Any:
        names = _DRIVERS.get(self.scheme, ())
        if self.driver and not self.driver.rpartition(".")[2][:1].isupper():  # a module, and not a Java class
            names = (self.driver,)
        for name in names:
            try:
                return import_module(name)
            except ImportError:
                continue
        schemes = ", ".join(f"jdbc:{scheme}:" for scheme in _DRIVERS)
        if not names:
            raise ConfigurationError(
                f"The database {self.url!r} has the scheme {self.scheme!r}, whose driver is unknown. Known are "
                f"{schemes}; for another one give the module of its Python driver: with_driver_name('oracledb')."
            )
        raise ConfigurationError(
            f"The database {self.url!r} needs one of the Python drivers {', '.join(map(repr, names))}, but none can be "
            "imported. Install one, on the driver and on all executors; Java's drivers are not used."
        )

    def connect(self) -> Any:
        """A new connection, without automatic commit."""
        module = self.module()
        if self.scheme in _FILES:
            path = self.url.removeprefix("jdbc:").partition(":")[2]
            more = {"timeout": _BUSY_SECONDS, "check_same_thread": False} if self.scheme == "sqlite" else {}
            return module.connect(path, **more)
        parts = urlsplit(self.url.removeprefix("jdbc:"))
        arguments = {
            "host": parts.hostname,
            "port": parts.port,
            _DATABASE.get(module.__name__, "database"): unquote(parts.path.lstrip("/")) or None,
            "user": self.user or parts.username,
            "password": self.password or parts.password,
            **dict(parse_qsl(parts.query)),
        }
        return module.connect(**{name: value for name, value in arguments.items() if value is not None})


@dataclass(frozen=True)
class Statement:
    """A statement in the driver's parameter style."""

    text: str
    placeholders: int
    named: bool = False
    texts_only: bool = False

    def values(self, record: Any) -> Any:
        fields: Sequence[Any] = tuple(record) if isinstance(record, Row | tuple | list) else (record,)
        if len(fields) != self.placeholders:
            raise InvalidProgramError(
                f"The record {record!r} has {len(fields)} fields, and the statement {self.placeholders} placeholders: "
                f"{self.text!r}. Map the stream to rows with a field for each '?'."
            )
        values = tuple(map(self._value, fields))
        return {f"p{index}": value for index, value in enumerate(values, 1)} if self.named else values

    def _value(self, value: Any) -> Any:
        if isinstance(value, Instant):
            moment = datetime.fromtimestamp(value.seconds, timezone.utc)
            value = moment.replace(microsecond=value.nanos // 1000, tzinfo=None)
        if not self.texts_only:
            return value
        if isinstance(value, datetime):
            return value.isoformat(" ")
        return str(value) if isinstance(value, Decimal | date | time_of_day) else value


def placeholders(sql: str) -> int:
    """The number of ``?`` that stand for values."""
    return sum(match[0] == "?" for match in _PIECES.finditer(sql))


def statement(sql: str, database: Database) -> Statement:
    """A statement with ``?`` in the parameter style of the driver. A ``?`` in a text, name or comment stays."""
    style = database.module().paramstyle
    pieces: list[str] = []
    count = 0
    for match in _PIECES.finditer(sql):
        piece = match[0]
        if piece == "?":
            count += 1
            piece = "?" if style == "qmark" else {"numeric": f":{count}", "named": f":p{count}"}.get(style, "%s")
        elif style in ("format", "pyformat"):
            piece = piece.replace("%", "%%")
        pieces.append(piece)
    return Statement("".join(pieces), count, style == "named", database.scheme == "sqlite")


@dataclass(frozen=True)
class JdbcOutput(BuiltinSink):
    """Executes a statement for each record, in batches; a batch is a transaction."""

    sql: str
    database: Database
    size: int = 5_000
    interval: int = 0
    retries: int = 3

    def prepare(self, parallelism: int) -> JdbcOutput:
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
        output, late = self._output, False
        if output.interval:
            now = self._clock.now()
            self._since = now if len(self._waiting) == 1 else self._since
            late = now - self._since >= output.interval
        if late or len(self._waiting) >= output.size:
            self.end_step()

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
                    raise ConfigurationError(
                        f"The database {self._database.url!r} has not taken the records after {attempt + 1} attempts: "
                        f"{type(error).__name__}: {error}. Check the statement, the table, and that the executors can "
                        "reach the database; with_max_retries() sets the number of retries."
                    ) from error
                _LOG.warning("%s: %s; trying again", self._database.url, error)
                time.sleep(attempt)
        raise AssertionError("there is a last attempt")

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            for end in (connection.rollback, connection.close):
                with contextlib.suppress(Exception):  # the failure before it counts
                    end()


def execute(connection: Any, prepared: Statement, rows: Sequence[Any]) -> None:
    """Execute a statement for each row of values."""
    with contextlib.closing(connection.cursor()) as cursor:
        cursor.executemany(prepared.text, rows) if len(rows) > 1 else cursor.execute(prepared.text, rows[0])


class JdbcCommits:
    """A two-phase sink: the records of a step are executed in one transaction, with a marker of its version. A job
    without a checkpoint directory, whose ``owner`` is empty, commits once and needs no marker."""

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
        rows, self._rows = self._rows, []
        return rows or None

    def abort(self) -> None:
        self._rows = []

    def commit(self, committables: Sequence[list[Any]], version: int) -> None:
        """Execute the statement for all rows, unless the marker says that this has been done."""
        access = Access(self._database, self._retries)
        prepared = statement(self._sql, self._database)

        def work(connection: Any) -> None:
            if not self.owner or self._mark(connection, version):
                for rows in committables:
                    execute(connection, prepared, rows)

        try:
            if self.owner:
                access.run(lambda connection: self._do(connection, _CREATE, ()))
            access.run(work)
        finally:
            access.close()

    def _mark(self, connection: Any, version: int) -> bool:
        """Lock the marker until the end of the transaction, and raise it. Returns whether it was lower."""
        key = (self._name, self.owner)
        self._do(connection, _HOLD, key)
        find = statement(_FIND, self._database)
        with contextlib.closing(connection.cursor()) as cursor:
            cursor.execute(find.text, find.values(key))
            markers = cursor.fetchall()
        if markers and markers[0][0] >= version:
            return False
        self._do(connection, _RAISE if markers else _BEGIN, (version, *key))
        return True

    def _do(self, connection: Any, sql: str, values: tuple[Any, ...]) -> None:
        prepared = statement(sql, self._database)
        execute(connection, prepared, [prepared.values(values)])
