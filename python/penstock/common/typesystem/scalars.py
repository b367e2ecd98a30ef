"""Types of single values, and the base of all types.

Source of the names: ``pyflink.common.typeinfo``; of ``java_name``: ``toString`` of Flink's ``TypeInformation`` classes.
"""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from time import localtime, mktime
from typing import Any, ClassVar, Generic, TypeVar

from penstock.common.java.java_types import BASICS, PYTHONS, JavaTypeInformation

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


_NUMBERS = {
    **dict.fromkeys((BasicType.BYTE, BasicType.SHORT, BasicType.INT, BasicType.LONG), "IntegerTypeInfo"),
    **dict.fromkeys((BasicType.FLOAT, BasicType.DOUBLE), "FractionalTypeInfo"),
}
"""The classes of types of numbers in Java; of the others it is BasicTypeInfo."""
_PACKAGES = {BasicType.BIG_INT: "java.math.", BasicType.BIG_DEC: "java.math.", BasicType.INSTANT: "java.time."}
"""Where records' classes are, if not in java.lang."""


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

    def need_conversion(self) -> bool:
        """Whether values have another form where PyFlink hands them to Java (PyFlink)."""
        return False

    def to_internal_type(self, obj: Any) -> Any:
        """A value in the form that PyFlink hands to Java: rows as tuples, dates as days, times as microseconds."""
        return obj

    def from_internal_type(self, obj: Any) -> Any:
        """The value of what :meth:`to_internal_type` gives; rows and tuples stay tuples (PyFlink)."""
        return obj

    def get_java_type_info(self) -> JavaTypeInformation:
        """What stands for the type in Java: it answers Java's questions, and no Java runs."""
        raise NotImplementedError


def _factory(basic_type: BasicType) -> staticmethod[[], Any]:
    """The static method that makes the type of a scalar, such as ``Types.STRING()``."""

    def make() -> BasicTypeInfo[Any]:
        return (InstantTypeInfo if basic_type is BasicType.INSTANT else BasicTypeInfo)(basic_type)

    make.__name__ = make.__qualname__ = basic_type.name
    return staticmethod(make)


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

    def get_java_type_info(self) -> JavaTypeInformation:
        kind = self.basic_type
        java_class = BASICS + _NUMBERS.get(kind, "BasicTypeInfo")
        return JavaTypeInformation(kind.value, java_class, f"{_PACKAGES.get(kind, 'java.lang.')}{kind.value}")

    STRING_TYPE_INFO: ClassVar[staticmethod[[], BasicTypeInfo[str]]] = _factory(BasicType.STRING)
    BOOLEAN_TYPE_INFO: ClassVar[staticmethod[[], BasicTypeInfo[bool]]] = _factory(BasicType.BOOLEAN)
    BYTE_TYPE_INFO: ClassVar[staticmethod[[], BasicTypeInfo[int]]] = _factory(BasicType.BYTE)
    SHORT_TYPE_INFO: ClassVar[staticmethod[[], BasicTypeInfo[int]]] = _factory(BasicType.SHORT)
    INT_TYPE_INFO: ClassVar[staticmethod[[], BasicTypeInfo[int]]] = _factory(BasicType.INT)
    LONG_TYPE_INFO: ClassVar[staticmethod[[], BasicTypeInfo[int]]] = _factory(BasicType.LONG)
    FLOAT_TYPE_INFO: ClassVar[staticmethod[[], BasicTypeInfo[float]]] = _factory(BasicType.FLOAT)
    DOUBLE_TYPE_INFO: ClassVar[staticmethod[[], BasicTypeInfo[float]]] = _factory(BasicType.DOUBLE)
    CHAR_TYPE_INFO: ClassVar[staticmethod[[], BasicTypeInfo[str]]] = _factory(BasicType.CHAR)
    BIG_INT_TYPE_INFO: ClassVar[staticmethod[[], BasicTypeInfo[int]]] = _factory(BasicType.BIG_INT)
    BIG_DEC_TYPE_INFO: ClassVar[staticmethod[[], BasicTypeInfo[Decimal]]] = _factory(BasicType.BIG_DEC)
    INSTANT_TYPE_INFO: ClassVar[staticmethod[[], InstantTypeInfo]] = _factory(BasicType.INSTANT)


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

    def get_java_type_info(self) -> JavaTypeInformation:
        name = self.sql_type.value
        return JavaTypeInformation(name, f"{BASICS}SqlTimeTypeInfo", f"java.sql.{name}")

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

    EPOCH_ORDINAL: ClassVar[int] = date(1970, 1, 1).toordinal()  # of 1970-01-01

    def __init__(self) -> None:
        super().__init__(SqlTimeType.DATE)

    def need_conversion(self) -> bool:
        return True

    def to_internal_type(self, obj: date | None) -> int | None:
        """Days since the epoch."""
        return None if obj is None else obj.toordinal() - self.EPOCH_ORDINAL

    def from_internal_type(self, obj: int | None) -> date | None:
        return None if obj is None else date.fromordinal(obj + self.EPOCH_ORDINAL)


class TimeTypeInfo(SqlTimeTypeInfo[time]):
    """A time of a day."""

    # microseconds by which the machine's zone was ahead of UTC in 1970
    EPOCH_ORDINAL: ClassVar[int] = calendar.timegm(localtime(0)) * 1_000_000

    def __init__(self) -> None:
        super().__init__(SqlTimeType.TIME)

    def need_conversion(self) -> bool:
        return True

    def to_internal_type(self, obj: time | None) -> int | None:
        """Microseconds of the day in UTC; a time without a zone is in the machine's."""
        if obj is None:
            return None
        second = timedelta(hours=obj.hour, minutes=obj.minute, seconds=obj.second, microseconds=obj.microsecond)
        ahead = timedelta(microseconds=self.EPOCH_ORDINAL) if obj.tzinfo is None else obj.utcoffset() or timedelta()
        return (second - ahead) // timedelta(microseconds=1)

    def from_internal_type(self, obj: int | None) -> time | None:
        if obj is None:
            return None
        return (datetime.min + timedelta(microseconds=obj + self.EPOCH_ORDINAL)).time()


class TimestampTypeInfo(SqlTimeTypeInfo[datetime]):
    """A day with a time."""

    def __init__(self) -> None:
        super().__init__(SqlTimeType.TIMESTAMP)

    def need_conversion(self) -> bool:
        return True

    def to_internal_type(self, obj: datetime | None) -> int | None:
        """Microseconds since the epoch; a timestamp without a zone is in the machine's."""
        if obj is None:
            return None
        seconds = mktime(obj.timetuple()) if obj.tzinfo is None else calendar.timegm(obj.utctimetuple())
        return int(seconds) * 1_000_000 + obj.microsecond

    def from_internal_type(self, obj: int | None) -> datetime | None:
        if obj is None:
            return None
        return datetime.fromtimestamp(obj // 1_000_000).replace(microsecond=obj % 1_000_000)


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

    def get_java_type_info(self) -> JavaTypeInformation:
        return JavaTypeInformation(str(self), f"{PYTHONS}PickledByteArrayTypeInfo", "[B")
