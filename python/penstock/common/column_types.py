"""Types of columns: what a file holds, as PyFlink's table types name it.

They say what :class:`~penstock.common.Types` do not need to know of records: digits, lengths, whether a value may be
missing. Formats of files take them, or types of rows: :func:`data_type_of` and :attr:`DataType.type_info` lead from one
to the other, and ``DataTypes`` makes them. There is no Table API.

Source of names and defaults: ``pyflink.table.types``.
"""
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

from penstock.common.callables import shown
from penstock.common.typeinfo import (
    ArrayTypeInfo,
    BasicType,
    ListTypeInfo,
    RowTypeInfo,
    SqlTimeType,
    TupleTypeInfo,
    TypeInformation,
    Types,
)
from penstock.common.typesystem.kinds import by_kind
from penstock.errors import TypeInfoError, UnsupportedError

MAX_LENGTH = 0x7FFFFFFF
"""Of texts and bytes: as long as they come."""
MAX_DIGITS, MAX_FRACTION = 38, 9
_NAMES = {"LocalZonedTimestampType": "TIMESTAMP_LTZ"}


@dataclass(frozen=True, repr=False)
class DataType:
    """Base of the types of columns. Make them with :class:`DataTypes`."""

    nullable: bool = field(default=True, kw_only=True)  # whether a value may be missing

    @property
    def type_info(self) -> TypeInformation[Any]:
        """The type of such values in records."""
        return _OF_RECORDS[type(self)]()

    def not_null(self) -> DataType:
        """The same type of values that are always there."""
        return type(self)(**{**vars(self), "nullable": False})

    def __str__(self) -> str:
        return _NAMES.get(type(self).__name__, type(self).__name__.removesuffix("Type").upper())

    def __repr__(self) -> str:
        return f"DataTypes.{self}{'' if self.nullable else ' NOT NULL'}"


@dataclass(frozen=True, repr=False)
class NullType(DataType):
    """None and nothing else."""


@dataclass(frozen=True, repr=False)
class BooleanType(DataType):
    """True or False."""


@dataclass(frozen=True, repr=False)
class TinyIntType(DataType):
    """An integer of 8 bits."""


@dataclass(frozen=True, repr=False)
class SmallIntType(DataType):
    """An integer of 16 bits."""


@dataclass(frozen=True, repr=False)
class IntType(DataType):
    """An integer of 32 bits."""


@dataclass(frozen=True, repr=False)
class BigIntType(DataType):
    """An integer of 64 bits."""


@dataclass(frozen=True, repr=False)
class FloatType(DataType):
    """A float of 32 bits."""


@dataclass(frozen=True, repr=False)
class DoubleType(DataType):
    """A float of 64 bits."""


@dataclass(frozen=True, repr=False)
class DateType(DataType):
    """A day (``datetime.date``)."""


@dataclass(frozen=True, repr=False)
class VarCharType(DataType):
    """Text."""

    length: int = MAX_LENGTH  # of the longest

    def __str__(self) -> str:
        return "STRING" if self.length == MAX_LENGTH else f"VARCHAR({self.length})"


@dataclass(frozen=True, repr=False)
class CharType(VarCharType):
    """Text of one length."""

    length: int = 1

    def __str__(self) -> str:
        return f"CHAR({self.length})"


@dataclass(frozen=True, repr=False)
class VarBinaryType(DataType):
    """Bytes."""

    length: int = MAX_LENGTH  # of the longest

    def __str__(self) -> str:
        return "BYTES" if self.length == MAX_LENGTH else f"VARBINARY({self.length})"


@dataclass(frozen=True, repr=False)
class BinaryType(VarBinaryType):
    """Bytes, always as many."""

    length: int = 1


@dataclass(frozen=True, repr=False)
class DecimalType(DataType):
    """A decimal number (``decimal.Decimal``)."""

    precision: int = MAX_DIGITS  # digits
    scale: int = 18  # digits behind the point
    whole: bool = field(default=False, compare=False)  # whether it is an ``int`` in records

    @property
    def type_info(self) -> TypeInformation[Any]:
        """``Types.BIG_DEC()``."""
        return Types.BIG_INT() if self.whole else Types.BIG_DEC()

    def __str__(self) -> str:
        return f"DECIMAL({self.precision}, {self.scale})"


@dataclass(frozen=True, repr=False)
class TimeType(DataType):
    """A time of day (``datetime.time``)."""

    precision: int = 0  # digits of the fraction of a second


@dataclass(frozen=True, repr=False)
class TimestampType(DataType):
    """A day and a time on a clock on some wall (``datetime.datetime`` without zone)."""

    precision: int = 6  # digits of the fraction of a second


@dataclass(frozen=True, repr=False)
class LocalZonedTimestampType(TimestampType):
    """A moment (:class:`~penstock.common.Instant`)."""

    zoned: bool = field(default=False, compare=False)  # whether it is a ``datetime`` with a zone in records


@dataclass(frozen=True, repr=False)
class ArrayType(DataType):
    """A list."""

    element_type: DataType  # of its elements

    @property
    def type_info(self) -> TypeInformation[Any]:
        """A list."""
        return Types.LIST(self.element_type.type_info)

    def __str__(self) -> str:
        return f"ARRAY<{self.element_type}>"


@dataclass(frozen=True, repr=False)
class MapType(DataType):
    """A dict."""

    key_type: DataType  # of its keys, which are never missing
    value_type: DataType  # of its values

    @property
    def type_info(self) -> TypeInformation[Any]:
        """A dict."""
        return Types.MAP(self.key_type.type_info, self.value_type.type_info)

    def __str__(self) -> str:
        return f"MAP<{self.key_type}, {self.value_type}>"


@dataclass(frozen=True)
class RowField:
    """A field of a row."""

    name: str  # of the field
    data_type: DataType  # of its values
    description: str | None = None  # for readers


@dataclass(frozen=True, repr=False)
class RowType(DataType):
    """A row of named fields."""

    fields: tuple[RowField, ...] = ()  # in order
    form: str = field(default="row", compare=False)  # what it is in records: ``row``, ``tuple``, or ``dict``
    # names of the fields in records, if they differ from those of the columns
    record_names: tuple[str, ...] | None = field(default=None, compare=False)

    @property
    def names(self) -> list[str]:
        """Names of the fields."""
        return [each.name for each in self.fields]

    @property
    def types(self) -> list[DataType]:
        """Types of the fields."""
        return [each.data_type for each in self.fields]

    @property
    def type_info(self) -> TypeInformation[Any]:
        """A row with these names, unless it is a tuple or a dict in records."""
        if self.form == "dict":
            return Types.PICKLED_BYTE_ARRAY()
        types = [each.type_info for each in self.types]
        return Types.TUPLE(types) if self.form == "tuple" else Types.ROW_NAMED(self.names, types)

    def field_names(self) -> list[str]:
        """Names of the fields (PyFlink)."""
        return self.names

    def field_types(self) -> list[DataType]:
        """Types of the fields (PyFlink)."""
        return self.types

    def __len__(self) -> int:
        return len(self.fields)

    def __iter__(self) -> Iterator[RowField]:
        return iter(self.fields)

    def __str__(self) -> str:
        return f"ROW<{', '.join(f'{each.name} {each.data_type}' for each in self.fields)}>"


_OF_RECORDS: dict[type[DataType], Any] = {
    NullType: Types.PICKLED_BYTE_ARRAY,
    BooleanType: Types.BOOLEAN,
    TinyIntType: Types.BYTE,
    SmallIntType: Types.SHORT,
    IntType: Types.INT,
    BigIntType: Types.LONG,
    FloatType: Types.FLOAT,
    DoubleType: Types.DOUBLE,
    VarCharType: Types.STRING,
    CharType: Types.STRING,
    VarBinaryType: lambda: Types.PRIMITIVE_ARRAY(Types.BYTE()),
    BinaryType: lambda: Types.PRIMITIVE_ARRAY(Types.BYTE()),
    DateType: Types.SQL_DATE,
    TimeType: Types.SQL_TIME,
    TimestampType: Types.SQL_TIMESTAMP,
    LocalZonedTimestampType: Types.INSTANT,
}

_OF_BASIC: dict[BasicType, DataType] = {
    BasicType.STRING: VarCharType(),
    BasicType.CHAR: CharType(),
    BasicType.BOOLEAN: BooleanType(),
    BasicType.BYTE: TinyIntType(),
    BasicType.SHORT: SmallIntType(),
    BasicType.INT: IntType(),
    BasicType.LONG: BigIntType(),
    BasicType.FLOAT: FloatType(),
    BasicType.DOUBLE: DoubleType(),
    BasicType.BIG_INT: DecimalType(MAX_DIGITS, 0, whole=True),
    BasicType.BIG_DEC: DecimalType(),
    BasicType.INSTANT: LocalZonedTimestampType(),
}
_OF_SQL: dict[SqlTimeType, DataType] = {
    SqlTimeType.DATE: DateType(),
    SqlTimeType.TIME: TimeType(6),
    SqlTimeType.TIMESTAMP: TimestampType(),
}


def data_type_of(type_info: TypeInformation[Any]) -> DataType:
    """The type of a column for values of a record's type; UnsupportedError if there is none. Numbers without a limit
    get 38 digits, decimals 18 of them behind the point."""
    return _column_of(type_info)


def _fields_of(type_info: TupleTypeInfo | RowTypeInfo) -> RowType:
    pairs = zip(type_info.field_names, map(_column_of, type_info.field_types), strict=True)
    form = "tuple" if isinstance(type_info, TupleTypeInfo) else "row"
    return RowType(tuple(RowField(name, data_type) for name, data_type in pairs), form=form)


def _array_of(type_info: ListTypeInfo[Any] | ArrayTypeInfo[Any]) -> DataType:
    is_bytes = type_info == Types.PRIMITIVE_ARRAY(Types.BYTE())
    return VarBinaryType() if is_bytes else ArrayType(_column_of(type_info.element_type))


def _no_column(type_info: TypeInformation[Any] | None) -> NoReturn:
    raise UnsupportedError(
        f"No file has columns of the type {type_info!r}. Use a type whose values a column can hold, such as "
        "Types.STRING() or Types.ROW_NAMED([…], […])."
    )


_column_of: Callable[..., DataType] = by_kind(
    scalars=lambda type_info: _OF_BASIC[type_info.basic_type],
    times=lambda type_info: _OF_SQL[type_info.sql_type],
    tuples=_fields_of,
    rows=_fields_of,
    lists=_array_of,
    arrays=_array_of,
    maps=lambda type_info: MapType(_column_of(type_info.key_type), _column_of(type_info.value_type)),
    objects=_no_column,
)


def row_type_of(value: Any, call: str) -> RowType:
    """The type of rows that a format of files was given: ``DataTypes.ROW([…])``, or a type of rows or tuples."""
    found = data_type_of(value) if isinstance(value, RowTypeInfo | TupleTypeInfo) else value
    if not isinstance(found, RowType) or not found.fields:
        raise TypeInfoError(
            f"{call}() was given {shown(value)} as the type of rows. Give DataTypes.ROW([DataTypes.FIELD('id', "
            "DataTypes.INT()), …]) or Types.ROW_NAMED(['id', …], [Types.INT(), …])."
        )
    return found
