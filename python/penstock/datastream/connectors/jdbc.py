"""Database sinks through Python's drivers. Source of names and defaults: Flink's JDBC connector 3.2."""
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from penstock.common import checks
from penstock.common.typeinfo import RowTypeInfo, TupleTypeInfo, TypeInformation
from penstock.connectors.jdbc.sink import Database, JdbcCommits, JdbcOutput, placeholders
from penstock.connectors.two_phase import TwoPhaseOutput
from penstock.datastream.sinks import AddedSink
from penstock.runtime.io.sinks import BuiltinSink

if TYPE_CHECKING:
    from typing_extensions import Self


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

        def with_url(self, url: str) -> Self:
            """Where the database is: ``jdbc:postgresql://host:5432/name``, ``jdbc:sqlite:/data/orders.db``."""
            return self._with(url=checks.text(url, "with_url", "URL"))

        def with_driver_name(self, driver_name: str) -> Self:
            """The module of a Python driver, such as ``psycopg``. Java class names are stored and have no effect."""
            return self._with(driver=checks.text(driver_name, "with_driver_name", "driver name"))

        def with_user_name(self, user_name: str) -> Self:
            """The user name."""
            return self._with(user=checks.text(user_name, "with_user_name", "user name"))

        def with_password(self, password: str) -> Self:
            """The password."""
            return self._with(password=checks.text(password, "with_password", "password"))

        def _with(self, **settings: str | None) -> Self:
            self._database = replace(self._database, **settings)
            return self

        def build(self) -> JdbcConnectionOptions:
            """The options, which need a URL."""
            if not self._database.url:
                checks.illegal_argument(
                    "JdbcConnectionOptionsBuilder.build(): the URL is missing. Call with_url(…) first."
                )
            return JdbcConnectionOptions(self._database)


@dataclass(frozen=True)
class JdbcExecutionOptions:
    """When statements are sent. Made by :meth:`builder`, or :meth:`defaults`."""

    _interval: int = 0
    _size: int = 5_000
    _retries: int = 3

    def get_batch_interval_ms(self) -> int:
        """Milliseconds after which a batch is sent; 0 for no such limit."""
        return self._interval

    def get_batch_size(self) -> int:
        """Records of a batch."""
        return self._size

    def get_max_retries(self) -> int:
        """How often a batch is retried."""
        return self._retries

    @staticmethod
    def builder() -> JdbcExecutionOptions.Builder:
        """Begin with the defaults."""
        return JdbcExecutionOptions.Builder()

    @staticmethod
    def defaults() -> JdbcExecutionOptions:
        """Batches of 5,000 records without a time limit; three retries."""
        return JdbcExecutionOptions()

    class Builder:
        """Makes :class:`JdbcExecutionOptions`. Methods change it and return it."""

        def __init__(self) -> None:
            self._options = JdbcExecutionOptions()

        def with_batch_interval_ms(self, interval_ms: int) -> Self:
            """Send a batch with the next record after this time, however small it is. The end of a step sends it,
            too."""
            interval = checks.integer(interval_ms, "with_batch_interval_ms", "interval_ms")
            self._options = replace(self._options, _interval=interval)
            return self

        def with_batch_size(self, size: int) -> Self:
            """The number of records in a batch."""
            self._options = replace(self._options, _size=checks.positive(size, "with_batch_size", "size"))
            return self

        def with_max_retries(self, max_retries: int) -> Self:
            """How often a batch is retried before the job fails."""
            retries = checks.integer(max_retries, "with_max_retries", "max_retries")
            self._options = replace(self._options, _retries=max(retries, 0))
            return self

        def build(self) -> JdbcExecutionOptions:
            """The options."""
            return self._options


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
            type_info: rows or tuples, or any other type for a statement with one ``?``.
            jdbc_connection_options: where the database is.
            jdbc_execution_options: when batches are sent.
            exactly_once: a name for this sink, unique among the sinks of the database. Then records wait until their
                step counts; the driver executes them in one transaction, which also records the step in the table
                ``penstock_commits``, created if needed. So any statement is executed once per record.
        """
        checks.text(sql, "JdbcSink.sink", "sql")
        hint = "Give a type, such as Types.ROW([Types.INT(), Types.STRING()])."
        checks.instance(type_info, "JdbcSink.sink", TypeInformation, hint)
        hint = "Use JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(…).build()."
        checks.instance(jdbc_connection_options, "JdbcSink.sink", JdbcConnectionOptions, hint)
        if isinstance(type_info, RowTypeInfo | TupleTypeInfo) and "?" in sql:
            fields, marks = len(type_info.get_field_types()), placeholders(sql)
            if fields != marks:
                checks.refuse(
                    f"JdbcSink.sink(): the type {type_info} has {fields} fields, and the statement {marks} "
                    f"placeholders: {sql!r}. Give as many."
                )
        database = jdbc_connection_options.database
        batches = JdbcExecutionOptions.defaults() if jdbc_execution_options is None else jdbc_execution_options
        checks.instance(batches, "JdbcSink.sink", JdbcExecutionOptions, "Use JdbcExecutionOptions.builder()….build().")
        retries = batches.get_max_retries()
        if exactly_once is None:
            return JdbcSink(
                JdbcOutput(sql, database, batches.get_batch_size(), batches.get_batch_interval_ms(), retries)
            )
        name = checks.text(exactly_once, "JdbcSink.sink", "exactly_once")
        if not 0 < len(name) <= 200:
            checks.refuse(f"JdbcSink.sink(exactly_once={name!r}): give a name of 1 to 200 characters.")
        return JdbcSink(TwoPhaseOutput(JdbcCommits(sql, database, name, retries)))

    def runtime(self) -> BuiltinSink:
        return self._output
