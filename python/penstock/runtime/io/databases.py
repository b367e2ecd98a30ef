"""Databases by Python's drivers (DB-API 2.0): which driver a URL needs, connections, placeholders, values.

URLs are those of JDBC: ``jdbc:sqlite:/data/orders.db``, ``jdbc:postgresql://host:5432/orders``.
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
"""Python's drivers by the scheme of the URL, the first that is installed counts."""
_FILES = frozenset({"sqlite", "duckdb"})
_BUSY_SECONDS = 60.0
_DATABASE = {"psycopg": "dbname", "psycopg2": "dbname"}
"""What drivers call the name of the database that do not call it so."""

_PIECES = re.compile(
    r"""'(?:[^']|'')*' | "(?:[^"]|"")*" | `[^`]*` | --[^\n]* | /\*.*?\*/ | \? | % | : | [^'"`?%:/-]+ | .""",
    re.VERBOSE | re.DOTALL,
)
"""Pieces of a statement: texts, names, comments; what stands for a value, alone."""


@dataclass(frozen=True)
class Database:
    """How to reach a database.

    Attributes:
        url: as of JDBC.
        driver: module of a driver to be used; the name of a Java class says nothing here.
        user: name to log in by.
        password: to log in by.
    """

    url: str
    driver: str | None = None
    user: str | None = None
    password: str | None = field(default=None, repr=False)

    @property
    def scheme(self) -> str:
        """Of the URL, without ``jdbc:``."""
        return self.url.removeprefix("jdbc:").partition(":")[0].lower()

    def module(self) -> Any:
        """The driver.

        Raises:
            ConfigurationError: none is installed, or none is known.
        """
        own = self.driver if self.driver is not None and _is_module(self.driver) else None
        names = (own,) if own else _DRIVERS.get(self.scheme, ())
        for name in names:
            try:
                return import_module(name)
            except ImportError:
                continue
        known = ", ".join(f"jdbc:{scheme}:" for scheme in _DRIVERS)
        if not names:
            raise ConfigurationError(
                f"The database {self.url!r} has the scheme {self.scheme!r}, for which no driver is known. Known are "
                f"{known}; for another one give the module of its Python driver: with_driver_name('oracledb')."
            )
        raise ConfigurationError(
            f"The database {self.url!r} needs one of the Python drivers {', '.join(map(repr, names))}, and none can be "
            "imported. Install one, on the driver and on all executors; Java's drivers are not used."
        )

    def connect(self) -> Any:
        """A new connection, without automatic commit.

        Raises:
            ConfigurationError: there is no driver; what the driver raises, where the database cannot be reached.
        """
        module = self.module()
        if self.scheme in _FILES:
            path = self.url.removeprefix("jdbc:").partition(":")[2]
            more = {"timeout": _BUSY_SECONDS, "check_same_thread": False} if self.scheme == "sqlite" else {}
            return module.connect(path, **more)
        parts = urlsplit(self.url.removeprefix("jdbc:"))
        given = {
            "host": parts.hostname,
            "port": parts.port,
            _DATABASE.get(module.__name__, "database"): unquote(parts.path.lstrip("/")) or None,
            "user": self.user or parts.username,
            "password": self.password or parts.password,
            **dict(parse_qsl(parts.query)),
        }
        return module.connect(**{name: value for name, value in given.items() if value is not None})


def _is_module(name: str) -> bool:
    """Whether a driver's name is that of a Python module: a Java class has a capital letter at its end."""
    return not name.rpartition(".")[2][:1].isupper()


@dataclass(frozen=True)
class Statement:
    """A statement as the driver takes it.

    Attributes:
        text: with the driver's placeholders.
        placeholders: how many.
        named: whether values go by names, ``p1`` and so on.
        texts_only: whether the database knows neither decimals nor moments.
    """

    text: str
    placeholders: int
    named: bool = False
    texts_only: bool = False

    def values(self, record: Any) -> Any:
        """The values of a record, for the driver.

        Args:
            record: a Row or tuple with a field per placeholder; any other record is the one value.

        Raises:
            InvalidProgramError: it has more fields, or fewer.
        """
        fields: Sequence[Any] = tuple(record) if isinstance(record, Row | tuple | list) else (record,)
        if len(fields) != self.placeholders:
            raise InvalidProgramError(
                f"The record {record!r} has {len(fields)} fields, and the statement {self.placeholders} placeholders: "
                f"{self.text!r}. Map the stream to rows with a field for each '?'."
            )
        made = tuple(map(self._value, fields))
        return {f"p{index}": value for index, value in enumerate(made, 1)} if self.named else made

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
    """How many ``?`` of a statement stand for values."""
    return sum(match[0] == "?" for match in _PIECES.finditer(sql))


def statement(sql: str, database: Database) -> Statement:
    """A statement with ``?`` for each value, as a database's driver takes it. Those in texts, names and comments stay.

    Args:
        sql: as for JDBC.
        database: where it is to run.

    Raises:
        ConfigurationError: there is no driver.
    """
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
