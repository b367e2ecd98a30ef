"""Types of columns: what a file holds, as PyFlink's table types name it (``pyflink.table.types``).

They know what :class:`~penstock.common.Types` do not need for records: digits, lengths, whether a value may be missing.
:func:`data_type_of` and :attr:`DataType.type_info` convert one into the other. There is no Table API.
"""
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol, TypeVar, cast

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
D_co = TypeVar("D_co", bound="DataType", covariant=True)


@dataclass(frozen=True, repr=False)
class DataType:
    """Base of the types of columns. Make them with :class:`DataTypes`."""

    nullable: bool = field(default=True, kw_only=True)  # whether a value may be missing

    @property
    def type_info(self) -> TypeInformation[Any]:
        """The type of such values in records."""
        return _OF_RECORDS[type(self)]

    def not_null(self) -> DataType:
        """The same type of values that are always there."""
        return type(self)(**{**vars(self), "nullable": False})

    def __str__(self) -> str:
        return _NAMES.get(type(self).__name__, type(self).__name__.removesuffix("Type").upper())

    def __repr__(self) -> str:
        return f"DataTypes.{self}{'' if self.nullable else ' NOT NULL'}"


class NullType(DataType):
    """None and nothing else."""


class BooleanType(DataType):
    """True or False."""


class TinyIntType(DataType):
    """An integer of 8 bits."""


class SmallIntType(DataType):
    """An integer of 16 bits."""


class IntType(DataType):
    """An integer of 32 bits."""


class BigIntType(DataType):
    """An integer of 64 bits."""


class FloatType(DataType):
    """A float of 32 bits."""


class DoubleType(DataType):
    """A float of 64 bits."""


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
        return Types.BIG_INT() if self.whole else Types.BIG_DEC()

    def __str__(self) -> str:
        return f"DECIMAL({self.precision}, {self.scale})"


@dataclass(frozen=True, repr=False)
class TimeType(DataType):
    """A time of day (``datetime.time``)."""

    precision: int = 0  # digits of the fraction of a second


@dataclass(frozen=True, repr=False)
class TimestampType(DataType):
    """A day and a local time (``datetime.datetime`` without zone)."""

    precision: int = 6  # digits of the fraction of a second


@dataclass(frozen=True, repr=False)
class LocalZonedTimestampType(TimestampType):
    """A moment (:class:`~penstock.common.Instant`)."""

    zoned: bool = field(default=False, compare=False)  # whether it is a ``datetime`` with a zone in records


@dataclass(frozen=True, repr=False)
class ArrayType(DataType):
    """A list."""

    element_type: DataType

    @property
    def type_info(self) -> TypeInformation[Any]:
        return Types.LIST(self.element_type.type_info)

    def __str__(self) -> str:
        return f"ARRAY<{self.element_type}>"


@dataclass(frozen=True, repr=False)
class MapType(DataType):
    """A dict."""

    key_type: DataType  # keys are never missing
    value_type: DataType

    @property
    def type_info(self) -> TypeInformation[Any]:
        return Types.MAP(self.key_type.type_info, self.value_type.type_info)

    def __str__(self) -> str:
        return f"MAP<{self.key_type}, {self.value_type}>"


@dataclass(frozen=True)
class RowField:
    """A field of a row."""

    name: str
    data_type: DataType
    description: str | None = None


@dataclass(frozen=True, repr=False)
class RowType(DataType):
    """A row of named fields."""

    fields: tuple[RowField, ...] = ()  # in order
    form: str = field(default="row", compare=False)  # what it is in records: ``row``, ``tuple``, or ``dict``
    # names of the fields in records, if they differ from those of the columns
    record_names: tuple[str, ...] | None = field(default=None, compare=False)

    @property
    def names(self) -> list[str]:
        return [field.name for field in self.fields]

    @property
    def types(self) -> list[DataType]:
        return [field.data_type for field in self.fields]

    @property
    def type_info(self) -> TypeInformation[Any]:
        """A row with these names, unless it is a tuple or a dict in records."""
        if self.form == "dict":
            return Types.PICKLED_BYTE_ARRAY()
        types = [data_type.type_info for data_type in self.types]
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
        return f"ROW<{', '.join(f'{part.name} {part.data_type}' for part in self.fields)}>"


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
_OF_RECORDS: dict[type[DataType], TypeInformation[Any]] = {
    NullType: Types.PICKLED_BYTE_ARRAY(),
    **{type(column): getattr(Types, kind.name)() for kind, column in _OF_BASIC.items()},
    **{type(column): getattr(Types, f"SQL_{kind.name}")() for kind, column in _OF_SQL.items()},
    CharType: Types.STRING(),
    VarBinaryType: Types.PRIMITIVE_ARRAY(Types.BYTE()),
    BinaryType: Types.PRIMITIVE_ARRAY(Types.BYTE()),
}


def _fields_of(type_info: TupleTypeInfo | RowTypeInfo) -> RowType:
    pairs = zip(type_info.field_names, map(data_type_of, type_info.field_types), strict=True)
    form = "tuple" if isinstance(type_info, TupleTypeInfo) else "row"
    return RowType(tuple(RowField(name, data_type) for name, data_type in pairs), form=form)


def _array_of(type_info: ListTypeInfo[Any] | ArrayTypeInfo[Any]) -> DataType:
    is_bytes = type_info == Types.PRIMITIVE_ARRAY(Types.BYTE())
    return VarBinaryType() if is_bytes else ArrayType(data_type_of(type_info.element_type))


def _no_column(type_info: TypeInformation[Any] | None) -> NoReturn:
    raise UnsupportedError(
        f"No file has columns of the type {type_info!r}. Use a type whose values a column can hold, such as "
        "Types.STRING() or Types.ROW_NAMED([…], […])."
    )


data_type_of: Callable[[TypeInformation[Any]], DataType] = by_kind(
    scalars=lambda type_info: _OF_BASIC[type_info.basic_type],
    times=lambda type_info: _OF_SQL[type_info.sql_type],
    tuples=_fields_of,
    rows=_fields_of,
    lists=_array_of,
    arrays=_array_of,
    maps=lambda type_info: MapType(data_type_of(type_info.key_type), data_type_of(type_info.value_type)),
    objects=_no_column,
)
"""The type of a column for values of a record's type; UnsupportedError if there is none. Numbers without a limit get 38
digits, decimals 18 of them behind the point."""


def row_type_of(value: Any, call: str) -> RowType:
    """The type of rows that a format of files was given: ``DataTypes.ROW([…])``, or a type of rows or tuples."""
    row_type = data_type_of(value) if isinstance(value, RowTypeInfo | TupleTypeInfo) else value
    if not isinstance(row_type, RowType) or not row_type.fields:
        raise TypeInfoError(
            f"{call}() was given {shown(value)} as the type of rows. Give DataTypes.ROW([DataTypes.FIELD('id', "
            "DataTypes.INT()), …]) or Types.ROW_NAMED(['id', …], [Types.INT(), …])."
        )
    return row_type


class _Plain(Protocol[D_co]):
    def __call__(self, nullable: bool = True) -> D_co: ...


def _plain(data_type: type[D_co]) -> _Plain[D_co]:
    """The method of :class:`DataTypes` for a type that may take nothing but whether a value may be missing."""

    def method(nullable: bool = True) -> D_co:
        return data_type(nullable=nullable)

    method.__name__ = str(data_type())
    method.__qualname__ = f"DataTypes.{method.__name__}"
    return method


class DataTypes:
    """Factory of all types of columns, with PyFlink's names."""

    STRING = _plain(VarCharType)
    BYTES = _plain(VarBinaryType)
    BOOLEAN = _plain(BooleanType)
    TINYINT = _plain(TinyIntType)
    SMALLINT = _plain(SmallIntType)
    INT = _plain(IntType)
    BIGINT = _plain(BigIntType)
    FLOAT = _plain(FloatType)
    DOUBLE = _plain(DoubleType)
    DATE = _plain(DateType)

    @staticmethod
    def VARCHAR(length: int, nullable: bool = True) -> VarCharType:
        """Text of at most so many characters."""
        return VarCharType(_between("VARCHAR", "length", length, 1, MAX_LENGTH), nullable=nullable)

    @staticmethod
    def CHAR(length: int, nullable: bool = True) -> CharType:
        """Text of so many characters."""
        return CharType(_between("CHAR", "length", length, 1, MAX_LENGTH), nullable=nullable)

    @staticmethod
    def VARBINARY(length: int, nullable: bool = True) -> VarBinaryType:
        """At most so many bytes."""
        return VarBinaryType(_between("VARBINARY", "length", length, 1, MAX_LENGTH), nullable=nullable)

    @staticmethod
    def BINARY(length: int, nullable: bool = True) -> BinaryType:
        """So many bytes."""
        return BinaryType(_between("BINARY", "length", length, 1, MAX_LENGTH), nullable=nullable)

    @staticmethod
    def DECIMAL(precision: int, scale: int, nullable: bool = True) -> DecimalType:
        """A decimal number of so many digits, 1 to 38, ``scale`` of them behind the point."""
        _between("DECIMAL", "precision", precision, 1, MAX_DIGITS)
        return DecimalType(precision, _between("DECIMAL", "scale", scale, 0, precision), nullable=nullable)

    @staticmethod
    def TIME(precision: int = 0, nullable: bool = True) -> TimeType:
        """A time of day; of its seconds so many digits of a fraction."""
        return TimeType(_between("TIME", "precision", precision, 0, MAX_FRACTION), nullable=nullable)

    @staticmethod
    def TIMESTAMP(precision: int = 6, nullable: bool = True) -> TimestampType:
        """Day and time without a zone; of its seconds so many digits of a fraction."""
        return TimestampType(_between("TIMESTAMP", "precision", precision, 0, MAX_FRACTION), nullable=nullable)

    @staticmethod
    def TIMESTAMP_LTZ(precision: int = 6, nullable: bool = True) -> LocalZonedTimestampType:
        """A moment; of its seconds so many digits of a fraction."""
        digits = _between("TIMESTAMP_LTZ", "precision", precision, 0, MAX_FRACTION)
        return LocalZonedTimestampType(digits, nullable=nullable)

    TIMESTAMP_WITH_LOCAL_TIME_ZONE = TIMESTAMP_LTZ

    @staticmethod
    def ARRAY(element_type: DataType, nullable: bool = True) -> ArrayType:
        """A list."""
        return ArrayType(_a_type("ARRAY", element_type), nullable=nullable)

    @staticmethod
    def MAP(key_type: DataType, value_type: DataType, nullable: bool = True) -> MapType:
        """A dict."""
        return MapType(_a_type("MAP", key_type), _a_type("MAP", value_type), nullable=nullable)

    @staticmethod
    def ROW(row_fields: Sequence[RowField | tuple[str, DataType]] = (), nullable: bool = True) -> RowType:
        """A row of a :meth:`FIELD` for each; TypeInfoError if two have one name."""
        fields = tuple(part if isinstance(part, RowField) else DataTypes.FIELD(*part) for part in row_fields)
        names = [part.name for part in fields]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise TypeInfoError(f"DataTypes.ROW() was given the fields {twice} more than once. Give each its own name.")
        return RowType(fields, nullable=nullable)

    @staticmethod
    def FIELD(name: str, data_type: DataType, description: str | None = None) -> RowField:
        """A field of a row."""
        if not isinstance(name, str):
            raise TypeInfoError(f"DataTypes.FIELD() was given {shown(name)} as the name of a field. Give a text.")
        return RowField(name, _a_type("FIELD", data_type), description)

    @staticmethod
    def NULL() -> NoReturn:
        """No file has a column of nothing: always UnsupportedError."""
        raise UnsupportedError("DataTypes.NULL(): no file has a column of nothing. Use a type that may be None.")

    @staticmethod
    def MULTISET(element_type: DataType, nullable: bool = True) -> NoReturn:
        """No file has such a column: always UnsupportedError."""
        raise UnsupportedError(
            "DataTypes.MULTISET(): columns of files do not count elements. Use DataTypes.MAP(element_type, "
            "DataTypes.INT()), from element to count."
        )

    @staticmethod
    def INTERVAL(upper_resolution: Any, lower_resolution: Any = None) -> NoReturn:
        """No file has such a column: always UnsupportedError."""
        raise UnsupportedError("DataTypes.INTERVAL(): columns of files hold no spans of time. Use DataTypes.BIGINT().")


def _between(name: str, what: str, value: Any, least: int, most: int) -> int:
    if type(value) is int and least <= value <= most:
        return value
    raise TypeInfoError(f"DataTypes.{name}() was given {shown(value)} as {what}. Give {least} to {most}.")


def _a_type(name: str, value: Any) -> DataType:
    if isinstance(value, DataType):
        return value
    hint = "Write the type with its parentheses, such as DataTypes.STRING()."
    if isinstance(value, TypeInformation):
        try:
            instead = f"DataTypes for {data_type_of(cast('TypeInformation[Any]', value))}."
        except UnsupportedError:
            instead = "DataTypes.STRING(), say."
        hint = f"Here stand types of columns: {instead}"
    raise TypeInfoError(f"DataTypes.{name}() was given {shown(value)} where a type is expected. {hint}")
