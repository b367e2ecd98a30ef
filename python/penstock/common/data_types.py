"""Factory of types of columns, with PyFlink's names: ``DataTypes.DECIMAL(10, 2)``.

Source of names and defaults: ``pyflink.table.types``.
"""
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, cast

from penstock.common.callables import shown
from penstock.common.column_types import (
    MAX_DIGITS,
    MAX_FRACTION,
    MAX_LENGTH,
    ArrayType,
    BigIntType,
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    RowField,
    RowType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
    data_type_of,
)
from penstock.common.typeinfo import TypeInformation
from penstock.errors import TypeInfoError, UnsupportedError

__all__ = ["DataType", "DataTypes", "RowField", "RowType"]


class DataTypes:
    """Factory of all types of columns, with PyFlink's names."""

    @staticmethod
    def STRING(nullable: bool = True) -> VarCharType:
        """Text (``str``)."""
        return VarCharType(nullable=nullable)

    @staticmethod
    def VARCHAR(length: int, nullable: bool = True) -> VarCharType:
        """Text of at most so many characters."""
        return VarCharType(_between("VARCHAR", "length", length, 1, MAX_LENGTH), nullable=nullable)

    @staticmethod
    def CHAR(length: int, nullable: bool = True) -> CharType:
        """Text of so many characters."""
        return CharType(_between("CHAR", "length", length, 1, MAX_LENGTH), nullable=nullable)

    @staticmethod
    def BOOLEAN(nullable: bool = True) -> BooleanType:
        """True or False."""
        return BooleanType(nullable=nullable)

    @staticmethod
    def BYTES(nullable: bool = True) -> VarBinaryType:
        """``bytes``."""
        return VarBinaryType(nullable=nullable)

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
    def TINYINT(nullable: bool = True) -> TinyIntType:
        """An integer of 8 bits."""
        return TinyIntType(nullable=nullable)

    @staticmethod
    def SMALLINT(nullable: bool = True) -> SmallIntType:
        """An integer of 16 bits."""
        return SmallIntType(nullable=nullable)

    @staticmethod
    def INT(nullable: bool = True) -> IntType:
        """An integer of 32 bits."""
        return IntType(nullable=nullable)

    @staticmethod
    def BIGINT(nullable: bool = True) -> BigIntType:
        """An integer of 64 bits."""
        return BigIntType(nullable=nullable)

    @staticmethod
    def FLOAT(nullable: bool = True) -> FloatType:
        """A float of 32 bits."""
        return FloatType(nullable=nullable)

    @staticmethod
    def DOUBLE(nullable: bool = True) -> DoubleType:
        """A float of 64 bits."""
        return DoubleType(nullable=nullable)

    @staticmethod
    def DATE(nullable: bool = True) -> DateType:
        """A day."""
        return DateType(nullable=nullable)

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
        fields = tuple(each if isinstance(each, RowField) else DataTypes.FIELD(*each) for each in row_fields)
        names = [each.name for each in fields]
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
        hint = f"Here stand types of columns: {_instead(cast('TypeInformation[Any]', value))}"
    raise TypeInfoError(f"DataTypes.{name}() was given {shown(value)} where a type is expected. {hint}")


def _instead(type_info: TypeInformation[Any]) -> str:
    try:
        return f"DataTypes for {data_type_of(type_info)}."
    except UnsupportedError:
        return "DataTypes.STRING(), say."
