"""Tables of databases as sinks, by Python's drivers."""

from __future__ import annotations

import sqlite3
import sys
from datetime import date, datetime
from decimal import Decimal
from types import ModuleType
from typing import Any

import pytest

from penstock.common import Row, Types
from penstock.common.time import Instant
from penstock.connectors.jdbc.sink import Database, placeholders, statement
from penstock.datastream.connectors import JdbcConnectionOptions, JdbcExecutionOptions, JdbcSink
from penstock.errors import ConfigurationError, InvalidProgramError, JobExecutionError, PenstockError
from tests.running import environment

UPSERT = "INSERT INTO words VALUES (?, ?) ON CONFLICT (word) DO UPDATE SET count = excluded.count"
WORDS = Types.TUPLE([Types.STRING(), Types.LONG()])


def connection(path: Any, scheme: str = "sqlite") -> JdbcConnectionOptions:
    return JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(f"jdbc:{scheme}:{path}").build()


@pytest.fixture
def words(tmp_path):
    path = tmp_path / "words.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE words (word TEXT PRIMARY KEY, count INTEGER)")
    return path


def content(path) -> list[Any]:
    with sqlite3.connect(path) as database:
        return list(database.execute("SELECT word, count FROM words ORDER BY word"))


def run(path, values, sql=UPSERT, execution=None, **kwargs) -> None:
    env = environment()
    env.set_parallelism(1)
    sink = JdbcSink.sink(sql, WORDS, connection(path), execution, **kwargs)
    env.from_collection(values, type_info=WORDS).add_sink(sink).name("Words")
    env.execute()


@pytest.mark.parametrize("name", [None, "words"])
def test_upserts_leave_the_last_of_each_key(words, name):
    for _ in range(2):
        run(words, [("a", 1), ("b", 1), ("a", 2)], exactly_once=name)
    assert content(words) == [("a", 2), ("b", 1)]


def test_batches_are_transactions(words):
    execution = JdbcExecutionOptions.builder().with_batch_size(2).with_max_retries(0).build()
    with pytest.raises(JobExecutionError) as caught:
        run(words, [("a", 1), ("b", 1), ("c", 1), ("c", 2)], "INSERT INTO words VALUES (?, ?)", execution)
    assert "has not taken the records after 1 attempts: IntegrityError" in str(caught.value.__cause__)
    assert content(words) == [("a", 1), ("b", 1)]


def test_with_a_marker_nothing_is_there_of_a_step_that_fails(words):
    execution = JdbcExecutionOptions.builder().with_max_retries(0).build()
    values = [("a", 1), ("b", 1), ("b", 2)]
    with pytest.raises(PenstockError, match="has not taken the records"):
        run(words, values, "INSERT INTO words VALUES (?, ?)", execution, exactly_once="w")
    assert content(words) == []


def test_another_driver(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "words.duck"
    with duckdb.connect(str(path)) as database:
        database.execute("CREATE TABLE words (word TEXT PRIMARY KEY, count INTEGER)")
    env = environment()
    env.set_parallelism(1)
    sink = JdbcSink.sink(UPSERT, WORDS, connection(path, "duckdb"))
    env.from_collection([("a", 1), ("a", 2)], type_info=WORDS).add_sink(sink)
    env.execute()
    with duckdb.connect(str(path)) as database:
        assert database.execute("SELECT * FROM words").fetchall() == [("a", 2)]


class Flaky:
    """A driver whose connections break; it keeps what was said to it."""

    def __init__(self, paramstyle: str, failures: int = 0) -> None:
        self.module = ModuleType("flaky")
        vars(self.module).update(paramstyle=paramstyle, connect=self.connect)
        self.failures, self.calls, self.options = failures, [], {}

    def connect(self, **options: Any) -> Any:
        self.options = options
        return self

    def cursor(self) -> Any:
        return self

    def execute(self, sql: str, values: Any) -> None:
        self.executemany(sql, [values])

    def executemany(self, sql: str, rows: Any) -> None:
        self.failures -= 1
        if self.failures >= 0:
            raise OSError("the line is down")
        self.calls.append((sql, list(rows)))

    def commit(self) -> None:
        self.calls.append("commit")

    rollback = close = lambda self: None


def test_a_batch_is_tried_again(monkeypatch):
    flaky = Flaky("format", failures=1)
    monkeypatch.setitem(sys.modules, "flaky", flaky.module)
    options = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url("jdbc:any://host:7/shop?ssl=on")
    options = options.with_driver_name("flaky").with_user_name("me").with_password("secret").build()
    env = environment()
    env.set_parallelism(1)
    sink = JdbcSink.sink("INSERT INTO w VALUES (?, '50%?')", Types.STRING(), options)
    env.from_collection(["a"], type_info=Types.STRING()).add_sink(sink)
    env.execute()
    assert flaky.calls == [("INSERT INTO w VALUES (%s, '50%%?')", [("a",)]), "commit"]
    expected = {"host": "host", "port": 7, "database": "shop", "user": "me", "password": "secret", "ssl": "on"}
    assert flaky.options == expected
    assert "secret" not in repr(options) + repr(sink)


@pytest.mark.parametrize(
    ("style", "text", "values"),
    [
        ("qmark", "a ? b ?", (1, 2)),
        ("numeric", "a :1 b :2", (1, 2)),
        ("named", "a :p1 b :p2", {"p1": 1, "p2": 2}),
        ("pyformat", "a %s b %s", (1, 2)),
    ],
)
def test_placeholders_are_those_of_the_driver(monkeypatch, style, text, values):
    monkeypatch.setitem(sys.modules, "flaky", Flaky(style).module)
    prepared = statement("a ? b ?", Database("jdbc:any:", "flaky"))
    assert (prepared.text, prepared.values(Row(1, 2))) == (text, values)


def test_what_stands_in_texts_names_and_comments_is_no_placeholder():
    sql = "SELECT '?', 'it''s ?', \"?\", `?`, ? -- ?\n /* ? */ WHERE a / ? - 1 = ?"
    assert placeholders(sql) == 3
    assert statement(sql, Database("jdbc:sqlite:x")).text == sql


def test_values_that_sqlite_does_not_know_are_texts():
    prepared = statement("? ? ? ?", Database("jdbc:sqlite:x"))
    values = prepared.values((Decimal("1.50"), date(2026, 1, 2), datetime(2026, 1, 2, 3), Instant.of_epoch_milli(1500)))
    assert values == ("1.50", "2026-01-02", "2026-01-02 03:00:00", "1970-01-01 00:00:01.500000")


def test_refusals_say_what_to_do(tmp_path, monkeypatch):
    with pytest.raises(ConfigurationError, match=r"'nosql', whose driver is unknown.*with_driver_name"):
        Database("jdbc:nosql://x").module()
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.setitem(sys.modules, "psycopg2", None)
    monkeypatch.setitem(sys.modules, "pg8000.dbapi", None)
    with pytest.raises(ConfigurationError, match=r"needs one of the Python drivers 'psycopg', 'psycopg2'.*Install"):
        Database("jdbc:postgresql://x", "org.postgresql.Driver").module()
    with pytest.raises(InvalidProgramError, match="2 fields, and the statement 1 placeholders"):
        JdbcSink.sink("INSERT INTO t VALUES (?)", WORDS, connection(tmp_path))
    with pytest.raises(InvalidProgramError, match="Give a type"):
        JdbcSink.sink("select 1", int, connection(tmp_path))  # type: ignore[arg-type]
    with pytest.raises(InvalidProgramError, match="JdbcConnectionOptionsBuilder"):
        JdbcSink.sink("select 1", WORDS, None)  # type: ignore[arg-type]
    with pytest.raises(InvalidProgramError, match="1 to 200"):
        JdbcSink.sink("INSERT INTO t VALUES (?, ?)", WORDS, connection(tmp_path), exactly_once="")
    with pytest.raises(InvalidProgramError, match="3 fields"):
        statement("? ?", Database("jdbc:sqlite:x")).values((1, 2, 3))
