"""Sinks and sources through Spark: files of any format, tables, JDBC, Delta, Iceberg. Records become rows of a
DataFrame on the executors, and Spark's own writer writes it. ``env.from_spark(df)`` reads one."""
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from penstock.common import checks
from penstock.common.extras import pyspark
from penstock.common.typeinfo import PickledBytesTypeInfo, RowTypeInfo, TupleTypeInfo, TypeInformation
from penstock.connectors.spark.frames import FrameSink, FrameSource
from penstock.connectors.spark.spark_types import check_declared, check_fields, from_ddl, schema_of, type_of, undeclared
from penstock.datastream.connectors.base import Sink
from penstock.errors import PenstockError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

T = TypeVar("T", contravariant=True)

MODES = ("append", "overwrite", "ignore", "errorifexists", "error")


class SparkSink(Sink[T]):
    """Writes the records as a Spark DataFrame: by a function, or by a description for ``df.write``.

    Args:
        df_writer: takes the ``pyspark.sql.DataFrame`` and writes it, to the end: ``lambda df: df.write.jdbc(url, "t",
            mode="append")``. It runs on the driver, once, when all tasks have succeeded; in a program that runs in
            steps after each that has rows. A second argument, ``batch_id``, is the number of the step, by which it can
            refuse what it has written already (after a crash the last step may come again); a third one, ``owner``, is
            the id of the checkpoint directory.
        format: such as ``"orc"``, ``"jdbc"``, ``"delta"``; None for Spark's default.
        path: where to write; None where options say it.
        table: a table's name instead of a path (``saveAsTable``).
        mode: if data exists: ``"append"``, ``"overwrite"``, ``"ignore"`` or ``"errorifexists"``.
        partition_by: columns that become folders.
        options: of the format.
        schema: instead of the one of the records' type: Spark's ``StructType``, its DDL, a type of records, or what
            ``jsonValue()`` gives.
        exactly_once: a name for this sink, unique among the sinks of the table: the table records the step, and refuses
            one that is written again after a crash. For Delta (``txnAppId`` and ``txnVersion``) and Iceberg (properties
            of snapshots), in programs that run in steps.

    Raises:
        UnsupportedError: a schema with a type that no record has, such as an interval.
    """

    def __init__(
        self,
        df_writer: Callable[[DataFrame], object] | None = None,
        *,
        format: str | None = None,
        path: str | None = None,
        table: str | None = None,
        mode: str = "errorifexists",
        partition_by: str | Sequence[str] = (),
        options: Mapping[str, object] | None = None,
        schema: StructType | TypeInformation[Any] | Mapping[str, Any] | str | None = None,
        exactly_once: str | None = None,
    ) -> None:
        _check_once(exactly_once, format, table, mode)
        described = (format, path, table, partition_by, options) != (None, None, None, (), None)
        if df_writer is not None:
            if described or mode != "errorifexists":
                checks.refuse(
                    "SparkSink() was given a function and a description of what to write. Give one of the two: the "
                    "function says format, mode and place itself."
                )
            if isinstance(df_writer, type) or not callable(df_writer):
                hint = f"Name what it is: path={df_writer!r}. " if isinstance(df_writer, str) else ""
                checks.refuse(
                    f"SparkSink() was given {checks.shown(df_writer)}, which is not a function. {hint}Give a function "
                    "that writes a DataFrame: SparkSink(lambda df: df.write.save(…))."
                )
            name = getattr(df_writer, "__name__", type(df_writer).__name__)
            what = "what its lambda writes" if name == "<lambda>" else f"what its function {name} writes"
            write = df_writer
        else:
            _check(format, path, table, mode, options)
            columns = (partition_by,) if isinstance(partition_by, str) else tuple(partition_by)
            write = _Writer(format, path, table, mode, columns, dict(options or {}), exactly_once)
            what = "a place of its options" if path is None else repr(path)
            if table is not None:
                what = f"the table {table!r}"
            if format is not None:
                what += f" ({format})"
        self._sink = FrameSink(what, write, None if schema is None else schema_from(schema, "SparkSink"))

    def __repr__(self) -> str:
        return f"<SparkSink to {self._sink.what}>"

    def check(self, record_type: TypeInformation[object] | None, call: str = "sink_to") -> None:
        """Refuse a stream without the types that a DataFrame needs; ``call`` is for messages."""
        if self._sink.schema is None and schema_of(record_type) is None:
            example = "schema='word string, count long'"
            checks.refuse(
                f"{call}() needs the types of a DataFrame's columns, and {undeclared(record_type)}. Declare it where "
                "the stream is made, map(f, output_type=Types.ROW_NAMED(['word', 'count'], [Types.STRING(), "
                f"Types.LONG()])) say, or give {f'SparkSink(…, {example})' if call == 'sink_to' else example}."
            )

    def runtime(self) -> FrameSink:
        return self._sink

    def runtime_for(self, record_type: TypeInformation[object] | None, call: str = "sink_to") -> FrameSink:
        """The part that tasks run for records of a type: it has the schema of the DataFrame."""
        self.check(record_type, call)
        return replace(self._sink, schema=self._sink.schema or schema_of(record_type))


def frame_source(
    df: Any, declared: TypeInformation[Any] | None, order: str | None = None, *, timed: bool = False
) -> FrameSource:
    """The DataFrame of ``from_spark`` as a source, in the order of a column, or, if ``timed``, of its files."""
    if not (hasattr(df, "isStreaming") and hasattr(df, "schema")) or isinstance(df, type):
        pyspark("from_spark() reads a DataFrame of Spark")
        checks.refuse(
            f"from_spark() was given {checks.shown(df)}, which is not a Spark DataFrame. Give spark.read.…, "
            "spark.table('…') or spark.createDataFrame(…)."
        )
    schema, ends = df.schema.jsonValue(), not df.isStreaming
    if not schema["fields"]:
        checks.refuse("from_spark() was given a DataFrame without columns. select() the ones you want.")
    columns = [column["name"] for column in schema["fields"]]
    if order is not None and order not in columns:
        checks.refuse(f"from_spark(order_by={order!r}): the DataFrame has no such column. It has {', '.join(columns)}.")
    rows, by_file = type_of(schema), timed and ends
    if declared is None or isinstance(declared, PickledBytesTypeInfo):
        return FrameSource(schema, rows, df, bounded=ends, order=order, by_file=by_file, instants=False)
    if isinstance(declared, RowTypeInfo | TupleTypeInfo):
        check_fields(schema["fields"], declared)
    elif len(schema["fields"]) == 1:
        check_declared(schema["fields"][0]["type"], declared, schema["fields"][0]["name"])
    else:
        checks.refuse(
            f"from_spark() was given the type {declared} for a DataFrame of {len(schema['fields'])} columns. Leave it "
            "out for rows with their names, or declare Types.ROW_NAMED([…], […]) or Types.TUPLE([…])."
        )
    return FrameSource(schema, declared, df, bounded=ends, order=order, by_file=by_file)


def schema_from(schema: Any, call: str) -> Mapping[str, Any]:
    """The schema of a DataFrame, as given to a call, as plain data."""
    if isinstance(schema, TypeInformation):
        declared = cast("TypeInformation[Any]", schema)
        columns = schema_of(declared)
        if columns is None:
            checks.refuse(f"{call}() was given the schema {declared}, and {undeclared(declared)}. Declare it.")
        return columns
    if isinstance(schema, Mapping):  # it was checked before
        return cast("Mapping[str, Any]", schema)
    parsed = schema
    if isinstance(schema, str):
        pyspark(f"{call}() was given the schema {schema!r}, which Spark reads")
        try:
            parsed = from_ddl(schema)
        except PenstockError:
            raise
        except Exception as error:
            first = str(error).strip().split("\n")[0].rstrip(".") or type(error).__name__
            checks.refuse(
                f"{call}() was given the schema {schema!r}, and Spark could not read it: {first}. Correct it; where no "
                "SparkSession has been made yet, make one before, or give a StructType."
            )
    json: Any = parsed.jsonValue() if hasattr(parsed, "jsonValue") else None
    if not isinstance(json, dict) or "fields" not in json or not json["fields"]:
        checks.refuse(
            f"{call}() was given {checks.shown(schema)} as schema. Give a StructType of Spark, its DDL "
            "('word string, count long'), or Types.ROW_NAMED([…], […])."
        )
    columns = cast("Mapping[str, Any]", json)
    type_of(columns)
    return columns


def _check(
    format: str | None, path: str | None, table: str | None, mode: str, options: Mapping[str, object] | None
) -> None:
    for value, what in ((format, "format"), (table, "table")):
        if checks.text(value, "SparkSink", what, optional=True) == "":
            checks.refuse(f"SparkSink() was given an empty {what}. Give its name.")
    if path is not None:
        checks.path(path, "SparkSink")
    if options is not None:
        checks.instance(options, "SparkSink", Mapping, "Give the options of the format as a dict: {'header': 'true'}.")
    if path is not None and table is not None:
        checks.refuse(
            f"SparkSink() was given the path {path!r} and the table {table!r}. Give one of the two; the path of a "
            "table's files is an option: options={'path': …}."
        )
    if path is None and table is None and (format is None or not options):
        checks.refuse(
            "SparkSink() was not told where to write. Give path=… or table=…, format=… with the options that say it "
            "(JDBC's url and dbtable), or a function: SparkSink(lambda df: df.write.save(…))."
        )
    if mode not in MODES:
        checks.refuse(
            f"SparkSink() was given {checks.shown(mode)} as mode. Give one of {', '.join(map(repr, MODES[:4]))}."
        )


@dataclass(frozen=True)
class _Writer:
    """Writes a DataFrame as described by the arguments of :class:`SparkSink`."""

    format: str | None
    path: str | None
    table: str | None
    mode: str
    columns: tuple[str, ...]
    options: Mapping[str, Any]
    exactly_once: str | None

    def __call__(self, frame: DataFrame, batch_id: int | None = None, owner: str = "") -> None:
        """Write the rows; in a program in steps, those of the step ``batch_id`` of the checkpoint directory
        ``owner``."""
        more: dict[str, str] = {}
        if self.exactly_once is not None and batch_id is not None:
            name = f"{self.exactly_once}-{owner}"
            if self.format == "iceberg" and _has_snapshot(frame.sparkSession, self.table or "", name, batch_id):
                return
            more = _marked(self.format or "", name, batch_id)
        writer = frame.write.options(**self.options, **more)
        if not self.mode.startswith("error"):  # Spark's own default, which Spark Connect has no word for
            writer = writer.mode(self.mode)
        if self.format is not None:
            writer = writer.format(self.format)
        if self.columns:
            writer = writer.partitionBy(*self.columns)
        if self.table is not None:
            writer.saveAsTable(self.table)
        else:
            writer.save(self.path)


def _marked(format: str, name: str, step: int) -> dict[str, str]:
    """The options by which a table records the step that wrote to it."""
    if format == "delta":
        return {"txnAppId": name, "txnVersion": str(step)}
    return {f"snapshot-property.penstock.{name}": str(step)}


def _has_snapshot(session: Any, table: str, name: str, version: int) -> bool:
    """Whether an Iceberg table has a snapshot of this step or a later one. Iceberg's append has no version that it
    could refuse a second time, but the table keeps the properties of its snapshots."""
    if not session.catalog.tableExists(table):
        return False
    snapshots = session.table(f"{table}.snapshots")
    newest = snapshots.selectExpr(f"max(cast(summary['penstock.{name}'] as bigint)) as version").collect()
    return bool(newest) and newest[0]["version"] is not None and newest[0]["version"] >= version


def _check_once(name: Any, format: str | None, table: str | None, mode: str) -> None:
    if checks.text(name, "SparkSink", "exactly_once", optional=True) is None:
        return
    if not name or "'" in name:
        checks.refuse(f"SparkSink(exactly_once={name!r}): give a name, without quotation marks.")
    if format not in ("delta", "iceberg") or mode != "append" or (format == "iceberg" and table is None):
        checks.refuse(
            f"SparkSink(exactly_once={name!r}) was given the format {format!r}, the table {table!r} and the mode "
            f"{mode!r}. Only tables of Delta and Iceberg remember what they got: give format='delta' or "
            "format='iceberg' with table=…, and mode='append'. Otherwise give a function of (df, batch_id)."
        )
