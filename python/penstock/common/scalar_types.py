"""Types of single values, and the base of all types.

Source of the names: ``pyflink.common.typeinfo``; of ``java_name``: ``toString`` of Flink's ``TypeInformation`` classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from typing import Any, Generic, TypeVar

__all__ = [
    "BasicType",
    "BasicTypeInfo",
    "DateTypeInfo",
    "InstantTypeInfo",
    "PickledBytesTypeInfo",
    "SqlTimeType",
    "SqlTimeTypeInfo",
    "TimeTypeInfo",
    "TimestampTypeInfo",
    "TypeInformation",
]

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

    @staticmethod
    def STRING_TYPE_INFO() -> BasicTypeInfo[str]:
        """Of text: ``Types.STRING()``."""
        return BasicTypeInfo(BasicType.STRING)

    @staticmethod
    def BOOLEAN_TYPE_INFO() -> BasicTypeInfo[bool]:
        """Of truth values: ``Types.BOOLEAN()``."""
        return BasicTypeInfo(BasicType.BOOLEAN)

    @staticmethod
    def BYTE_TYPE_INFO() -> BasicTypeInfo[int]:
        """Of whole numbers of 8 bits: ``Types.BYTE()``."""
        return BasicTypeInfo(BasicType.BYTE)

    @staticmethod
    def SHORT_TYPE_INFO() -> BasicTypeInfo[int]:
        """Of whole numbers of 16 bits: ``Types.SHORT()``."""
        return BasicTypeInfo(BasicType.SHORT)

    @staticmethod
    def INT_TYPE_INFO() -> BasicTypeInfo[int]:
        """Of whole numbers of 32 bits: ``Types.INT()``."""
        return BasicTypeInfo(BasicType.INT)

    @staticmethod
    def LONG_TYPE_INFO() -> BasicTypeInfo[int]:
        """Of whole numbers of 64 bits: ``Types.LONG()``."""
        return BasicTypeInfo(BasicType.LONG)

    @staticmethod
    def FLOAT_TYPE_INFO() -> BasicTypeInfo[float]:
        """Of numbers of 32 bits: ``Types.FLOAT()``."""
        return BasicTypeInfo(BasicType.FLOAT)

    @staticmethod
    def DOUBLE_TYPE_INFO() -> BasicTypeInfo[float]:
        """Of numbers of 64 bits: ``Types.DOUBLE()``."""
        return BasicTypeInfo(BasicType.DOUBLE)

    @staticmethod
    def CHAR_TYPE_INFO() -> BasicTypeInfo[str]:
        """Of single characters: ``Types.CHAR()``."""
        return BasicTypeInfo(BasicType.CHAR)

    @staticmethod
    def BIG_INT_TYPE_INFO() -> BasicTypeInfo[int]:
        """Of whole numbers of any size: ``Types.BIG_INT()``."""
        return BasicTypeInfo(BasicType.BIG_INT)

    @staticmethod
    def BIG_DEC_TYPE_INFO() -> BasicTypeInfo[Decimal]:
        """Of decimal numbers: ``Types.BIG_DEC()``."""
        return BasicTypeInfo(BasicType.BIG_DEC)

    @staticmethod
    def INSTANT_TYPE_INFO() -> InstantTypeInfo:
        """Of moments: ``Types.INSTANT()``."""
        return InstantTypeInfo(BasicType.INSTANT)


class InstantTypeInfo(BasicTypeInfo[Any]):
    """A moment."""


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

    @staticmethod
    def DATE() -> DateTypeInfo:
        """Of days: ``Types.SQL_DATE()``."""
        return DateTypeInfo()

    @staticmethod
    def TIME() -> TimeTypeInfo:
        """Of times of a day: ``Types.SQL_TIME()``."""
        return TimeTypeInfo()

    @staticmethod
    def TIMESTAMP() -> TimestampTypeInfo:
        """Of days with their times: ``Types.SQL_TIMESTAMP()``."""
        return TimestampTypeInfo()


class DateTypeInfo(SqlTimeTypeInfo[date]):
    """A day."""

    def __init__(self) -> None:
        super().__init__(SqlTimeType.DATE)


class TimeTypeInfo(SqlTimeTypeInfo[time]):
    """A time of a day."""

    def __init__(self) -> None:
        super().__init__(SqlTimeType.TIME)


class TimestampTypeInfo(SqlTimeTypeInfo[datetime]):
    """A day with a time."""

    def __init__(self) -> None:
        super().__init__(SqlTimeType.TIMESTAMP)


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
