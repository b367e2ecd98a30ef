"""The pass from Flink's serializers to columns: one case for each that has parts, and a table of those without.

Maps whose keys Python cannot look up are lists of pairs; a value of one of two types is a row with a field for each.
Times are cut to microseconds, as Spark and pandas have them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from penstock.common.row import Row
from penstock.common.time import Instant
from penstock.common.typeinfo import TypeInformation, Types
from penstock.common.typesystem.conversions import Convert, optional, same
from penstock.flink.columns.avro import avro_column
from penstock.flink.columns.column import Column, NoColumn, list_of, map_of, row_of
from penstock.flink.cursor import plain
from penstock.flink.entries import kafka_partitions
from penstock.flink.entries.readers import KRYO, form_of
from penstock.flink.entries.values import Either, LocalDate, LocalDateTime, LocalTime, Pojo, Watermark
from penstock.flink.snapshots import BASE, JAVA, Serializer

_FLINK = "org.apache.flink."
VOID_NAMESPACE = f"{_FLINK}runtime.state.VoidNamespaceSerializer"
TTL = f"{_FLINK}runtime.state.ttl.TtlStateFactory$TtlSerializer"
_LARGEST_SCALE = 1_000
_WINDOWS = f"{_FLINK}streaming.api.windowing.windows."
_TABLE_WINDOWS = f"{_FLINK}table.runtime.operators.window."


def column_for(serializer: Serializer) -> Column:
    """The column for a serializer's values.

    Args:
        serializer: one that :func:`~penstock.flink.entries.readers.form_of` knows.

    Raises:
        NoColumn: it, or one that it has parts of, writes values that no column takes.

    Cost: linear in the serializers that it has parts of.
    """
    name = serializer.serializer
    if name in _SCALARS:
        return _SCALARS[name]
    if name == KRYO and serializer.named == kafka_partitions.CLASS:
        return _PARTITION
    case = _CASES.get(name)
    if case is None:
        raise NoColumn(f"{plain(serializer.text)} has no values of its own")
    return case(serializer)


def without_lifetime(serializer: Serializer, kind: str) -> tuple[Serializer, bool]:
    """The serializer of a state's bare values, and whether they have a time to live.

    Args:
        serializer: of the values of a state.
        kind: of the state, as :attr:`penstock.flink.headers.StateInfo.kind` names it.
    """
    in_parts = kind in ("list", "map") and bool(serializer.nested)
    lives = serializer.nested[-1] if in_parts else serializer
    if lives.serializer != TTL:
        return serializer, False
    bare = lives.nested[1]
    return (replace(serializer, nested=(*serializer.nested[:-1], bare)) if in_parts else bare), True


def has_lifetime(serializer: Serializer) -> bool:
    """Whether values, or parts of them, have a time to live. Linear in the serializers of parts."""
    return serializer.serializer == TTL or any(map(has_lifetime, serializer.nested))


def _date(value: LocalDate) -> date:
    return date(*value)  # a ValueError for years that Python lacks


def _time(value: LocalTime) -> time:
    return time(value.hour, value.minute, value.second, value.nano // 1000)


def _decimal(value: Decimal) -> Decimal:
    if abs(int(value.as_tuple().exponent)) > _LARGEST_SCALE:  # Arrow crashes with some
        raise ValueError(f"a decimal has a scale beyond {_LARGEST_SCALE:,}")
    return value


def _date_time(value: LocalDateTime) -> datetime:
    return datetime.combine(_date(value.date), _time(value.time))


_MOMENT = Column(Types.INSTANT(), optional(lambda value: Instant(value.seconds, value.nano)))
_TEXT = Column(Types.STRING())
_NUMBERS: dict[str, TypeInformation[Any]] = {
    "Boolean": Types.BOOLEAN(),
    "Byte": Types.BYTE(),
    "Short": Types.SHORT(),
    "Int": Types.INT(),
    "Long": Types.LONG(),
    "Float": Types.FLOAT(),
    "Double": Types.DOUBLE(),
}
_OTHERS: dict[str, Column] = {
    **dict.fromkeys(("Char", "CharValue", "String", "StringValue", "Enum", "array.CharPrimitiveArray"), _TEXT),
    **dict.fromkeys(("Date", "SqlDate", "SqlTime", "SqlTimestamp", "Instant"), _MOMENT),
    "BigInt": Column(Types.BIG_INT()),
    "BigDec": Column(Types.BIG_DEC(), optional(_decimal)),
    "LocalDate": Column(Types.SQL_DATE(), optional(_date)),
    "LocalTime": Column(Types.SQL_TIME(), optional(_time)),
    "LocalDateTime": Column(Types.SQL_TIMESTAMP(), optional(_date_time)),
    "array.BytePrimitiveArray": Column(Types.PRIMITIVE_ARRAY(Types.BYTE())),
    "array.StringArray": list_of(_TEXT),
}
_WINDOW = Column(Types.ROW_NAMED(["start", "end"], [Types.LONG(), Types.LONG()]))
_GLOBAL_WINDOW = Column(Types.STRING(), lambda _: "GlobalWindow")
_SCALARS: dict[str, Column] = {
    **{f"{BASE}{name}Serializer": column for name, column in _OTHERS.items()},
    **{f"{BASE}{name}{kind}Serializer": Column(_NUMBERS[name]) for name in _NUMBERS for kind in ("", "Value")},
    **{
        f"{BASE}array.{name}PrimitiveArraySerializer": list_of(Column(number))
        for name, number in _NUMBERS.items()
        if name != "Byte"
    },
    **{f"{package}TimeWindow$Serializer": _WINDOW for package in (_WINDOWS, _TABLE_WINDOWS)},
    **{f"{package}GlobalWindow$Serializer": _GLOBAL_WINDOW for package in (_WINDOWS, _TABLE_WINDOWS)},
    f"{_TABLE_WINDOWS}CountWindow$Serializer": Column(Types.ROW_NAMED(["id"], [Types.LONG()])),
    f"{_FLINK}streaming.api.utils.ByteArrayWrapperSerializer": Column(Types.PRIMITIVE_ARRAY(Types.BYTE())),
}


def _partition() -> Column:
    names = ["topic", "partition"]
    kind, make = row_of(names, [_TEXT, Column(Types.INT())], "a partition")
    return Column(kind, optional(lambda value: make([value.fields[name] for name in names])))


_PARTITION = _partition()


def _parts(serializer: Serializer) -> list[Column]:
    return list(map(column_for, serializer.nested))


def _list(serializer: Serializer) -> Column:
    return list_of(column_for(serializer.nested[0]))


def _map(serializer: Serializer) -> Column:
    return map_of(*_parts(serializer), hashable=form_of(serializer.nested[0]).hashable)


def _tuple(serializer: Serializer) -> Column:
    columns = _parts(serializer)
    if not columns:
        raise NoColumn(f"{plain(serializer.text)} has no fields")
    converts = [column.convert or same for column in columns]
    convert: Convert | None = None
    if any(column.convert for column in columns):
        convert = optional(lambda value: tuple([step(field) for step, field in zip(converts, value, strict=True)]))
    return Column(Types.TUPLE([column.type for column in columns]), convert)


def _row(serializer: Serializer) -> Column:
    columns = _parts(serializer)
    kind, make = row_of([f"f{index}" for index in range(len(columns))], columns, "a row")
    return Column(kind, optional(make))


def _pojo(serializer: Serializer) -> Column:
    names, declared = serializer.names, plain(serializer.named)
    kind, make = row_of(names, _parts(serializer), serializer.named)

    def convert(value: Any) -> Row:
        if not isinstance(value, Pojo) or value.java_class is not None:
            its = plain(getattr(value, "java_class", None) or type(value).__name__)
            raise ValueError(f"it has a {its}, a subclass of {declared}, which has fields of its own")
        return make([value.fields[name] for name in names])

    return Column(kind, optional(convert))


def _two_sides(*names: str) -> Callable[[Serializer], Column]:
    def case(serializer: Serializer) -> Column:
        kind, make = row_of(names, _parts(serializer), serializer.text)

        def convert(value: Either) -> Row:
            return make([value.value if value.side == name else None for name in names])

        return Column(kind, optional(convert))

    return case


def _named(*names: str) -> Callable[[Serializer], Column]:
    """Of a tuple with names; ``joined`` has no serializer of its own."""

    def case(serializer: Serializer) -> Column:
        columns = _parts(serializer)
        if "joined" in names:
            columns.append(Column(Types.BOOLEAN()))
        kind, make = row_of(names, columns, serializer.text)
        return Column(kind, optional(make))

    return case


def _stream_element(serializer: Serializer) -> Column:
    long = Column(Types.LONG())
    kind, make = row_of(["timestamp", "value", "watermark"], [long, *_parts(serializer), long], serializer.text)

    def convert(value: Any) -> Row:
        return make([None, None, value.timestamp] if isinstance(value, Watermark) else [*value, None])

    return Column(kind, optional(convert))


def _avro(serializer: Serializer) -> Column:
    return avro_column(str(serializer.detail))


_CASES: dict[str, Callable[[Serializer], Column]] = {
    f"{BASE}ListSerializer": _list,
    f"{_FLINK}runtime.state.ArrayListSerializer": _list,
    f"{BASE}SetSerializer": _list,
    f"{BASE}MapSerializer": _map,
    f"{BASE}GenericArraySerializer": _list,
    f"{JAVA}TupleSerializer": _tuple,
    f"{JAVA}RowSerializer": _row,
    f"{JAVA}PojoSerializer": _pojo,
    f"{JAVA}NullableSerializer": lambda serializer: column_for(serializer.nested[0]),
    f"{JAVA}EitherSerializer": _two_sides("left", "right"),
    f"{JAVA}JavaEitherSerializer": _two_sides("left", "right"),
    f"{_FLINK}streaming.api.datastream.CoGroupedStreams$UnionSerializer": _two_sides("first", "second"),
    f"{_FLINK}streaming.api.operators.co.IntervalJoinOperator$BufferEntrySerializer": _named("value", "joined"),
    TTL: _named("last_access", "value"),
    f"{_FLINK}streaming.runtime.streamrecord.StreamElementSerializer": _stream_element,
    f"{_FLINK}formats.avro.typeutils.AvroSerializer": _avro,
}
