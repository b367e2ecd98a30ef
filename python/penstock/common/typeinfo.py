"""Type information: what a stream's records are, as PyFlink names it (``pyflink.common.typeinfo``).

Types are plain frozen data: they compare by value, hash, pickle, and travel to executors; :mod:`penstock.runtime` has
the codecs and texts of their values. ``java_name`` is how Flink prints the type in its messages.
"""
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from penstock.common.callables import shown
from penstock.common.typesystem.types import (
    ArrayTypeInfo,
    BasicArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    InstantTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    ObjectArrayTypeInfo,
    PickledBytesTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    SqlTimeType,
    SqlTimeTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TupleTypeInfo,
    TypeInformation,
)
from penstock.errors import TypeInfoError

__all__ = [
    "ArrayTypeInfo",
    "BasicArrayTypeInfo",
    "BasicType",
    "BasicTypeInfo",
    "DateTypeInfo",
    "InstantTypeInfo",
    "ListTypeInfo",
    "MapTypeInfo",
    "ObjectArrayTypeInfo",
    "PickledBytesTypeInfo",
    "PrimitiveArrayTypeInfo",
    "RowTypeInfo",
    "SqlTimeType",
    "SqlTimeTypeInfo",
    "TimeTypeInfo",
    "TimestampTypeInfo",
    "TupleTypeInfo",
    "TypeInformation",
    "Types",
]

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")


class Types:
    """Factory of all types, with PyFlink's names."""

    STRING = staticmethod(BasicTypeInfo.STRING_TYPE_INFO)
    """Text (``str``)."""
    BYTE = staticmethod(BasicTypeInfo.BYTE_TYPE_INFO)
    """Signed 8-bit integer."""
    BOOLEAN = staticmethod(BasicTypeInfo.BOOLEAN_TYPE_INFO)
    """``bool``."""
    SHORT = staticmethod(BasicTypeInfo.SHORT_TYPE_INFO)
    """Signed 16-bit integer."""
    INT = staticmethod(BasicTypeInfo.INT_TYPE_INFO)
    """Signed 32-bit integer."""
    LONG = staticmethod(BasicTypeInfo.LONG_TYPE_INFO)
    """Signed 64-bit integer."""
    FLOAT = staticmethod(BasicTypeInfo.FLOAT_TYPE_INFO)
    """32-bit float."""
    DOUBLE = staticmethod(BasicTypeInfo.DOUBLE_TYPE_INFO)
    """64-bit float (Python's ``float``)."""
    CHAR = staticmethod(BasicTypeInfo.CHAR_TYPE_INFO)
    """One UTF-16 unit, a ``str`` of length 1."""
    BIG_INT = staticmethod(BasicTypeInfo.BIG_INT_TYPE_INFO)
    """Unbounded integer (Python's ``int``)."""
    BIG_DEC = staticmethod(BasicTypeInfo.BIG_DEC_TYPE_INFO)
    """``decimal.Decimal``."""
    INSTANT = staticmethod(BasicTypeInfo.INSTANT_TYPE_INFO)
    """A point in time."""

    @staticmethod
    def SQL_DATE() -> DateTypeInfo:
        """``datetime.date``."""
        return DateTypeInfo()

    @staticmethod
    def SQL_TIME() -> TimeTypeInfo:
        """``datetime.time``."""
        return TimeTypeInfo()

    @staticmethod
    def SQL_TIMESTAMP() -> TimestampTypeInfo:
        """``datetime.datetime`` without zone."""
        return TimestampTypeInfo()

    @staticmethod
    def PICKLED_BYTE_ARRAY() -> PickledBytesTypeInfo:
        """Any picklable Python object; declaring nothing means this too."""
        return PickledBytesTypeInfo()

    @staticmethod
    def TUPLE(field_types: Sequence[TypeInformation[object]]) -> TupleTypeInfo:
        """A Flink tuple (``tuple``) of 1 to 25 fields."""
        return TupleTypeInfo(field_types)

    @staticmethod
    def ROW(field_types: Sequence[TypeInformation[object]]) -> RowTypeInfo:
        """A :class:`~penstock.common.Row` with fields f0, f1, …"""
        return RowTypeInfo(field_types)

    @staticmethod
    def ROW_NAMED(field_names: Sequence[str], field_types: Sequence[TypeInformation[object]]) -> RowTypeInfo:
        """A :class:`~penstock.common.Row` whose fields have these names."""
        return RowTypeInfo(field_types, field_names or ())

    @staticmethod
    def LIST(element_type_info: TypeInformation[T]) -> ListTypeInfo[T]:
        """A ``list`` of one element type."""
        return ListTypeInfo(_one("LIST", element_type_info))

    @staticmethod
    def MAP(key_type_info: TypeInformation[K], value_type_info: TypeInformation[V]) -> MapTypeInfo[K, V]:
        """A ``dict``."""
        return MapTypeInfo(_one("MAP", key_type_info), _one("MAP", value_type_info))

    @staticmethod
    def PRIMITIVE_ARRAY(element_type: TypeInformation[T]) -> PrimitiveArrayTypeInfo[list[T]]:
        """An array of Java primitives; of BYTE it is ``bytes``, otherwise a ``list``."""
        return PrimitiveArrayTypeInfo(_one("PRIMITIVE_ARRAY", element_type))

    @staticmethod
    def BASIC_ARRAY(element_type: TypeInformation[T]) -> BasicArrayTypeInfo[list[T]]:
        """An array of boxed scalars or strings (``list``)."""
        return BasicArrayTypeInfo(_one("BASIC_ARRAY", element_type))

    @staticmethod
    def OBJECT_ARRAY(element_type: TypeInformation[T]) -> ObjectArrayTypeInfo[list[T]]:
        """An array of any one type (``list``)."""
        return ObjectArrayTypeInfo(_one("OBJECT_ARRAY", element_type))


def _one(name: str, value: TypeInformation[T]) -> TypeInformation[T]:
    if isinstance(value, TypeInformation):
        return value
    raise TypeInfoError(
        f"Types.{name} was given {shown(value)} where a type is expected. Write the type with its parentheses, "
        "such as Types.STRING() (not Types.STRING and not str)."
    )
