"""Types of single values, and the base of all types.

Source of the names: ``pyflink.common.typeinfo``; of ``java_name``: ``toString`` of Flink's ``TypeInformation`` classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, TypeVar

__all__ = ["BasicType", "BasicTypeInfo", "PickledBytesTypeInfo", "SqlTimeType", "SqlTimeTypeInfo", "TypeInformation"]

T_co = TypeVar("T_co", covariant=True)


class BasicType(Enum):
    """The scalar types; the value is the Java class that stands in Flink's messages."""

    STRING = "String"
    BYTE = "Byte"
    BOOLEAN = "Boolean"
    SHORT = "Short"
    INT = "Integer"
    LONG = "Long"
    FLOAT = "Float"
    DOUBLE = "Double"
    CHAR = "Character"
    BIG_INT = "BigInteger"
    BIG_DEC = "BigDecimal"
    INSTANT = "Instant"


class SqlTimeType(Enum):
    """The java.sql time types; the value is the class name."""

    DATE = "Date"
    TIME = "Time"
    TIMESTAMP = "Timestamp"


class TypeInformation(Generic[T_co]):
    """Base of all types; of records that are a ``T`` in Python. Build them with :class:`Types`."""

    __slots__ = ()

    @property
    def java_name(self) -> str:
        """The type as Flink's messages print it, such as ``Java Tuple2<String, Integer>``."""
        raise NotImplementedError

    def __str__(self) -> str:  # as PyFlink's, which programs print: a type's name, then those in it
        return self.java_name


@dataclass(frozen=True)
class BasicTypeInfo(TypeInformation[T_co]):
    """A scalar."""

    basic_type: BasicType

    @property
    def java_name(self) -> str:
        return self.basic_type.value

    def __str__(self) -> str:
        return "Char" if self.basic_type is BasicType.CHAR else self.basic_type.value

    def __repr__(self) -> str:
        return f"Types.{self.basic_type.name}()"


@dataclass(frozen=True)
class SqlTimeTypeInfo(TypeInformation[T_co]):
    """A date, a time of day or a timestamp (``datetime.date``, ``time``, ``datetime`` in Python)."""

    sql_type: SqlTimeType

    @property
    def java_name(self) -> str:
        return self.sql_type.value

    def __str__(self) -> str:
        return f"{self.sql_type.value}TypeInfo"

    def __repr__(self) -> str:
        return f"Types.SQL_{self.sql_type.name}()"


@dataclass(frozen=True, slots=True)
class PickledBytesTypeInfo(TypeInformation[Any]):
    """Any Python object, carried by pickle: what an undeclared type means."""

    @property
    def java_name(self) -> str:
        return "PythonPickled"

    def __str__(self) -> str:
        return "PickledByteArrayTypeInfo"

    def __repr__(self) -> str:
        return "Types.PICKLED_BYTE_ARRAY()"
