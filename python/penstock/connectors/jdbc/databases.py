"""Databases through Python's drivers (DB-API 2.0): the driver for a URL, connections, placeholders, values.

URLs are JDBC's: ``jdbc:sqlite:/data/orders.db``, ``jdbc:postgresql://host:5432/orders``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timezone
from decimal import Decimal
from importlib import import_module
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from penstock.common.row import Row
from penstock.common.time import Instant
from penstock.errors import ConfigurationError, InvalidProgramError

_DRIVERS = {
    "sqlite": ("sqlite3",),
    "duckdb": ("duckdb",),
    "postgresql": ("psycopg", "psycopg2", "pg8000.dbapi"),
    "mysql": ("mysql.connector", "pymysql", "MySQLdb"),
    "mariadb": ("mariadb", "pymysql", "mysql.connector"),
}
"""Python's drivers by the scheme of the URL; the first that is installed is used."""
_FILES = frozenset({"sqlite", "duckdb"})
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
        """The scheme of the URL, without ``jdbc:``."""
        return self.url.removeprefix("jdbc:").partition(":")[0].lower()

    def module(self) -> Any:
        """The driver."""
        module = self.driver if self.driver is not None and _is_module(self.driver) else None
        names = (module,) if module else _DRIVERS.get(self.scheme, ())
        for name in names:
            try:
                return import_module(name)
            except ImportError:
                continue
        schemes = ", ".join(f"jdbc:{scheme}:" for scheme in _DRIVERS)
        if not names:
            raise ConfigurationError(
                f"The database {self.url!r} has the scheme {self.scheme!r}, for which no driver is known. Known are "
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


def _is_module(name: str) -> bool:
    """Whether a driver's name is a Python module: the last part of a Java class begins with a capital letter."""
    return not name.rpartition(".")[2][:1].isupper()


@dataclass(frozen=True)
class Statement:
    """A statement in the driver's parameter style."""

    text: str
    placeholders: int
    named: bool = False
    texts_only: bool = False

    def values(self, record: Any) -> Any:
        """The values of a record, for the driver."""
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
        return str(value) if isinstance(value, Decimal | date | time) else value


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
            numbered = {"numeric": f":{count}", "named": f":p{count}"}
            piece = "?" if style == "qmark" else numbered.get(style, "%s")
        elif style in ("format", "pyformat"):
            piece = piece.replace("%", "%%")
        pieces.append(piece)
    return Statement("".join(pieces), count, style == "named", database.scheme == "sqlite")
