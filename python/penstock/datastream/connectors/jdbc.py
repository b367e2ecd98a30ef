"""Database sinks (PyFlink: ``pyflink.datastream.connectors.jdbc``) through Python's drivers.

Source of names and defaults: Flink's JDBC connector 3.2. :mod:`penstock.connectors.jdbc.sink` executes the
statements.
"""
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from penstock.common import checks
from penstock.common.typeinfo import RowTypeInfo, TupleTypeInfo, TypeInformation
from penstock.connectors.jdbc.sink import Database, JdbcCommits, JdbcOutput, placeholders
from penstock.connectors.two_phase import TwoPhaseOutput
from penstock.datastream.sinks import AddedSink
from penstock.runtime.io.sinks import BuiltinSink


class JdbcConnectionOptions:
    """How to reach a database. Made by :class:`JdbcConnectionOptionsBuilder`."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def __repr__(self) -> str:
        return f"<JdbcConnectionOptions url={self.database.url!r}>"

    def get_db_url(self) -> str:
        """The URL."""
        return self.database.url

    def get_driver_name(self) -> str | None:
        """The driver, if one was named."""
        return self.database.driver

    def get_user_name(self) -> str | None:
        """The user name."""
        return self.database.user

    def get_password(self) -> str | None:
        """The password."""
        return self.database.password

    class JdbcConnectionOptionsBuilder:
        """Makes :class:`JdbcConnectionOptions`. Methods change it and return it."""

        def __init__(self) -> None:
            self._database = Database("")

        def with_url(self, url: str) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            """Where the database is: ``jdbc:postgresql://host:5432/name``, ``jdbc:sqlite:/data/orders.db``."""
            return self._with(url=checks.text(url, "with_url", "URL"))

        def with_driver_name(self, driver_name: str) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            """The module of a Python driver, such as ``psycopg``. Java class names are stored and have no effect."""
            return self._with(driver=checks.text(driver_name, "with_driver_name", "driver name"))

        def with_user_name(self, user_name: str) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            """The user name."""
            return self._with(user=checks.text(user_name, "with_user_name", "user name"))

        def with_password(self, password: str) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            """The password."""
            return self._with(password=checks.text(password, "with_password", "password"))

        def _with(self, **settings: str | None) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            self._database = replace(self._database, **settings)
            return self

        def build(self) -> JdbcConnectionOptions:
            """The options.

            Raises:
                InvalidProgramError: there is no URL.
            """
            if not self._database.url:
                checks.illegal_argument(
                    "JdbcConnectionOptionsBuilder.build(): with_url(…) has not been called on the builder. Call it "
                    "first."
                )
            return JdbcConnectionOptions(self._database)


@dataclass(frozen=True)
class _Batches:
    interval: int = 0
    size: int = 5_000
    retries: int = 3


class JdbcExecutionOptions:
    """When statements are sent. Made by :meth:`builder`, or :meth:`defaults`."""

    def __init__(self, batches: _Batches) -> None:
        self._batches = batches

    def __repr__(self) -> str:
        return f"<JdbcExecutionOptions {self._batches}>"

    def get_batch_interval_ms(self) -> int:
        """Milliseconds after which a batch is sent; 0 for no such limit."""
        return self._batches.interval

    def get_batch_size(self) -> int:
        """Records of a batch."""
        return self._batches.size

    def get_max_retries(self) -> int:
        """How often a batch is retried."""
        return self._batches.retries

    @staticmethod
    def builder() -> JdbcExecutionOptions.Builder:
        """Begin with the defaults."""
        return JdbcExecutionOptions.Builder()

    @staticmethod
    def defaults() -> JdbcExecutionOptions:
        """Batches of 5,000 records without a time limit; three retries."""
        return JdbcExecutionOptions(_Batches())

    class Builder:
        """Makes :class:`JdbcExecutionOptions`. Methods change it and return it."""

        def __init__(self) -> None:
            self._batches = _Batches()

        def with_batch_interval_ms(self, interval_ms: int) -> JdbcExecutionOptions.Builder:
            """Send a batch with the next record after this many milliseconds, however small it is. The end of a step
            always sends it."""
            interval = checks.integer(interval_ms, "with_batch_interval_ms", "interval_ms")
            self._batches = replace(self._batches, interval=interval)
            return self

        def with_batch_size(self, size: int) -> JdbcExecutionOptions.Builder:
            """The number of records in a batch."""
            self._batches = replace(self._batches, size=checks.positive(size, "with_batch_size", "size"))
            return self

        def with_max_retries(self, max_retries: int) -> JdbcExecutionOptions.Builder:
            """How often a batch is retried before the job fails."""
            retries = checks.integer(max_retries, "with_max_retries", "max_retries")
            self._batches = replace(self._batches, retries=max(retries, 0))
            return self

        def build(self) -> JdbcExecutionOptions:
            """The options."""
            return JdbcExecutionOptions(self._batches)


class JdbcSink(AddedSink):
    """Executes a statement of SQL for each record. Made by :meth:`sink`; for ``add_sink``."""

    def __init__(self, output: BuiltinSink) -> None:
        self._output = output

    def __repr__(self) -> str:
        return f"<JdbcSink {self._output}>"

    @staticmethod
    def sink(
        sql: str,
        type_info: TypeInformation[Any],
        jdbc_connection_options: JdbcConnectionOptions,
        jdbc_execution_options: JdbcExecutionOptions | None = None,
        *,
        exactly_once: str | None = None,
    ) -> JdbcSink:
        """A sink that writes to a table.

        Batches are executed while a step runs, so a step that is repeated after a failure executes them again: at least
        once. With a statement that gives the same result a second time (``INSERT … ON CONFLICT (id) DO UPDATE SET …``)
        the table is as if each record had been there once.

        Args:
            sql: with ``?`` for each field of a record.
            type_info: of the records: rows or tuples, or any other type for a statement with one ``?``.
            jdbc_connection_options: where the database is.
            jdbc_execution_options: when batches are sent; None for the defaults.
            exactly_once: a name for this sink, unique among the sinks of the database. Then records wait until their
                step counts; the driver executes them in one transaction, which also records the step in the table
                ``penstock_commits``, created if needed. So any statement is executed once per record.

        Raises:
            InvalidProgramError: no text, type or options; or not as many ``?`` as fields.
        """
        database = _checked(sql, type_info, jdbc_connection_options).database
        batches = JdbcExecutionOptions.defaults() if jdbc_execution_options is None else jdbc_execution_options
        checks.instance(batches, "JdbcSink.sink", JdbcExecutionOptions, "Use JdbcExecutionOptions.builder()….build().")
        size, interval = batches.get_batch_size(), batches.get_batch_interval_ms()
        retries = batches.get_max_retries()
        if exactly_once is None:
            return JdbcSink(JdbcOutput(sql, database, size, interval, retries))
        name = checks.text(exactly_once, "JdbcSink.sink", "exactly_once")
        if not 0 < len(name) <= 200:
            checks.refuse(f"JdbcSink.sink(exactly_once={name!r}): give a name of 1 to 200 characters.")
        return JdbcSink(TwoPhaseOutput(JdbcCommits(sql, database, name, retries)))

    def runtime(self) -> BuiltinSink:
        return self._output


def _checked(sql: Any, type_info: Any, options: Any) -> JdbcConnectionOptions:
    checks.text(sql, "JdbcSink.sink", "sql")
    hint = "Give a type, such as Types.ROW([Types.INT(), Types.STRING()])."
    checks.instance(type_info, "JdbcSink.sink", TypeInformation, hint)
    hint = "Use JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(…).build()."
    checks.instance(options, "JdbcSink.sink", JdbcConnectionOptions, hint)
    if isinstance(type_info, RowTypeInfo | TupleTypeInfo) and "?" in sql:
        fields, marks = len(type_info.get_field_types()), placeholders(sql)
        if fields != marks:
            checks.refuse(
                f"JdbcSink.sink(): the type {type_info} has {fields} fields, and the statement {marks} placeholders: "
                f"{sql!r}. Give as many."
            )
    return options
