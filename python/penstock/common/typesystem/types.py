"""Types of single values, collections and records, and the base of all types. Source of the names:
``pyflink.common.typeinfo``; of ``java_name``: ``toString`` of Flink's ``TypeInformation`` classes."""
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import calendar
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from time import localtime, mktime
from typing import Any, ClassVar, Generic, TypeVar, cast

from penstock.common.callables import shown
from penstock.common.java.java_types import BASICS, OTHERS, PYTHONS, JavaTypeInformation
from penstock.common.row import Row, RowKind
from penstock.errors import TypeInfoError

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
K = TypeVar("K")
V = TypeVar("V")


class BasicType(Enum):
    """The scalar types; the value is the Java class in Flink's messages."""

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
        """The type's object in Java: it answers Java's questions, and no Java runs."""
        raise NotImplementedError


def _factory(basic_type: BasicType) -> staticmethod[[], Any]:
    """The static method that makes the type of a scalar, such as ``Types.STRING()``."""

    def make() -> BasicTypeInfo[Any]:
        return (InstantTypeInfo if basic_type is BasicType.INSTANT else BasicTypeInfo)(basic_type)

    make.__name__, make.__qualname__ = basic_type.name, f"BasicTypeInfo.{basic_type.name}_TYPE_INFO"
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


_PRIMITIVES = {"Integer": "int", "Character": "char"}
"""Java's names of primitives that are not those of their classes in small letters."""


@dataclass(frozen=True)
class ListTypeInfo(TypeInformation[list[T]]):
    """A list whose elements all have one type."""

    element_type: TypeInformation[T]

    @property
    def java_name(self) -> str:
        return f"List<{self.element_type.java_name}>"

    def __str__(self) -> str:
        return f"ListTypeInfo<{self.element_type}>"

    def __repr__(self) -> str:
        return f"Types.LIST({self.element_type!r})"

    def get_java_type_info(self) -> JavaTypeInformation:
        return JavaTypeInformation(self.java_name, f"{OTHERS}ListTypeInfo", "java.util.List", arity=0)


@dataclass(frozen=True)
class MapTypeInfo(TypeInformation[dict[K, V]]):
    """A dict with one key type and one value type."""

    key_type: TypeInformation[K]
    value_type: TypeInformation[V]

    @property
    def java_name(self) -> str:
        return f"Map<{self.key_type.java_name}, {self.value_type.java_name}>"

    def __str__(self) -> str:
        return f"MapTypeInfo<{self.key_type}, {self.value_type}>"

    def __repr__(self) -> str:
        return f"Types.MAP({self.key_type!r}, {self.value_type!r})"

    def get_java_type_info(self) -> JavaTypeInformation:
        return JavaTypeInformation(self.java_name, f"{OTHERS}MapTypeInfo", "java.util.Map", arity=0)


@dataclass(frozen=True)
class ArrayTypeInfo(TypeInformation[T_co]):
    """An array, which is a list in Python: the base of Flink's three array types."""

    element_type: TypeInformation[object]  # type of every element

    @property
    def java_name(self) -> str:
        return f"{type(self).__name__}<{self.element_type.java_name}>"

    def __str__(self) -> str:
        return f"{type(self).__name__}<{self.element_type}>"

    def __repr__(self) -> str:
        kind = type(self).__name__.removesuffix("ArrayTypeInfo").upper()
        return f"Types.{kind}_ARRAY({self.element_type!r})"

    def get_java_type_info(self) -> JavaTypeInformation:
        """The type's object in Java, where an array of texts is one of basic values."""
        kind = type(self).__name__
        if kind == "ObjectArrayTypeInfo" and str(self.element_type) == "String":
            kind = "BasicArrayTypeInfo"
        text = self.java_name.replace(type(self).__name__, kind, 1)
        element = self.element_type.get_java_type_info().getTypeClass().getName()
        return JavaTypeInformation(text, (OTHERS if kind.startswith("Object") else BASICS) + kind, f"[L{element};")


class PrimitiveArrayTypeInfo(ArrayTypeInfo[T_co]):
    """An array of Java's primitives: no element is None. Of BYTE it is bytes."""

    @property
    def java_name(self) -> str:
        name = self.element_type.java_name
        return f"{_PRIMITIVES.get(name, name.lower())}[]"


class BasicArrayTypeInfo(ArrayTypeInfo[T_co]):
    """An array of boxed scalars or strings."""


class ObjectArrayTypeInfo(ArrayTypeInfo[T_co]):
    """An array of any one type."""


MAX_TUPLE_ARITY = 25  # Flink's largest tuple class is Tuple25


def _types(name: str, field_types: Iterable[TypeInformation[object]]) -> tuple[TypeInformation[object], ...]:
    if not isinstance(field_types, Iterable) or isinstance(field_types, str):
        raise TypeInfoError(f"{name} was given {shown(field_types)}. Give a list of types such as [Types.INT()].")
    types = tuple(field_types)
    for position, field_type in enumerate(types):
        if not isinstance(field_type, TypeInformation):
            raise TypeInfoError(
                f"{name} was given {shown(field_type)} as the type of field {position}. Write the type with its "
                "parentheses, such as Types.STRING()."
            )
    return types


def _each_to_internal(types: Iterable[TypeInformation[object]], values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(field.to_internal_type(value) for field, value in zip(types, values, strict=False))  # as PyFlink


def _each_from_internal(types: Iterable[TypeInformation[object]], obj: Any) -> Any:
    """Tuples and lists are what PyFlink's pickler has made, and stay; other sequences are converted."""
    if obj is None or isinstance(obj, tuple | list):
        return obj  # pyright: ignore[reportUnknownVariableType]
    return tuple(field.from_internal_type(value) for field, value in zip(types, obj, strict=False))


@dataclass(frozen=True, slots=True, init=False)
class TupleTypeInfo(TypeInformation[tuple[Any, ...]]):
    """A Flink tuple; its fields are named f0, f1, …"""

    field_types: tuple[TypeInformation[object], ...]  # one type per field, 1 to 25 of them

    def __init__(self, field_types: Sequence[TypeInformation[object]]) -> None:
        object.__setattr__(self, "field_types", _types("Types.TUPLE (TupleTypeInfo)", field_types))
        if not 1 <= len(self.field_types) <= MAX_TUPLE_ARITY:
            raise TypeInfoError(
                f"Types.TUPLE was given {len(self.field_types)} field types; a Flink tuple has 1 to {MAX_TUPLE_ARITY} "
                "fields. Use Types.ROW for wider records.",
                flink_class="java.lang.IllegalArgumentException",
            )

    @property
    def field_names(self) -> tuple[str, ...]:
        return tuple(f"f{i}" for i in range(len(self.field_types)))

    @property
    def java_name(self) -> str:
        return f"Java Tuple{len(self.field_types)}<{', '.join(t.java_name for t in self.field_types)}>"

    def __str__(self) -> str:
        return f"TupleTypeInfo({', '.join(map(str, self.field_types))})"

    def get_field_types(self) -> list[TypeInformation[object]]:
        """The field types, as a new list (PyFlink)."""
        return list(self.field_types)

    def need_conversion(self) -> bool:
        return True

    def to_internal_type(self, obj: Any) -> tuple[Any, ...] | None:
        """The fields in their internal forms; TypeInfoError of what is not a tuple, list or row."""
        if obj is None:
            return None
        if not isinstance(obj, list | tuple | Row):
            raise _no_record(obj, self, "a tuple, a list or a Row")
        return _each_to_internal(self.field_types, cast("Iterable[Any]", obj))

    def from_internal_type(self, obj: Any) -> Any:
        return _each_from_internal(self.field_types, obj)

    def get_java_type_info(self) -> JavaTypeInformation:
        fields = [field.get_java_type_info() for field in self.field_types]
        tuple_class = f"org.apache.flink.api.java.tuple.Tuple{len(fields)}"
        return JavaTypeInformation(self.java_name, f"{OTHERS}TupleTypeInfo", tuple_class, fields, self.field_names)

    def __repr__(self) -> str:
        return f"Types.TUPLE({list(self.field_types)})"


@dataclass(frozen=True, slots=True, init=False)
class RowTypeInfo(TypeInformation[Row]):
    """A row with named fields; without names they are f0, f1, …"""

    field_types: tuple[TypeInformation[object], ...]  # one type per field
    field_names: tuple[str, ...]  # one name per field, all different

    def __init__(
        self, field_types: Sequence[TypeInformation[object]], field_names: Sequence[str] | None = None
    ) -> None:
        types = _types("Types.ROW (RowTypeInfo)", field_types)
        names = [f"f{i}" for i in range(len(types))] if field_names is None else field_names
        if (
            isinstance(names, str)
            or not isinstance(names, Iterable)
            or not all(isinstance(text, str) for text in names)
        ):
            raise TypeInfoError(
                f"Types.ROW_NAMED (RowTypeInfo) was given the names {shown(field_names)}. Give a list of texts such as "
                "['a', 'b']."
            )
        object.__setattr__(self, "field_types", types)
        object.__setattr__(self, "field_names", tuple(names))
        self._check()

    def _check(self) -> None:
        if len(self.field_names) != len(self.field_types):
            raise TypeInfoError(
                f"Types.ROW_NAMED was given {len(self.field_names)} names {list(self.field_names)} for "
                f"{len(self.field_types)} field types. Give one name per type.",
                flink_class="java.lang.IllegalArgumentException",
            )
        if len(set(self.field_names)) != len(self.field_names):
            twice = sorted({n for n in self.field_names if self.field_names.count(n) > 1})
            raise TypeInfoError(
                f"A row type names {twice} more than once in {list(self.field_names)}. Field names must differ, "
                "otherwise a field could not be addressed by its name.",
                flink_class="java.lang.IllegalArgumentException",
            )

    @property
    def java_name(self) -> str:
        fields = (f"{n}: {t.java_name}" for n, t in zip(self.field_names, self.field_types, strict=True))
        return f"Row({', '.join(fields)})"

    def __str__(self) -> str:
        names = [f"{name}: " for name in self.field_names]
        if self.field_names == tuple(f"f{i}" for i in range(len(names))):  # what nobody has named
            names = [""] * len(names)
        return (
            f"RowTypeInfo({', '.join(name + str(field) for name, field in zip(names, self.field_types, strict=True))})"
        )

    def get_field_types(self) -> list[TypeInformation[object]]:
        """The field types, as a new list (PyFlink)."""
        return list(self.field_types)

    def get_field_names(self) -> list[str]:
        """The field names, as a new list (PyFlink)."""
        return list(self.field_names)

    def get_field_index(self, field_name: str) -> int:
        """Position of a field by name, −1 if there is none (PyFlink)."""
        return self.field_names.index(field_name) if field_name in self.field_names else -1

    def need_conversion(self) -> bool:
        return True

    def to_internal_type(self, obj: Any) -> tuple[Any, ...] | None:
        """The number of the row's kind, then the fields in their internal forms: of a dict, an object or a row with
        names those of the type's names, else in their order. TypeInfoError of what has no fields, or not these."""
        if obj is None:
            return None
        kind = obj.get_row_kind() if isinstance(obj, Row) else RowKind.INSERT
        return (kind.value, *_each_to_internal(self.field_types, self._values(obj)))

    def _values(self, obj: Any) -> Iterable[Any]:
        if isinstance(obj, Row):
            return obj.get_fields_by_names(self.field_names)
        if isinstance(obj, tuple | list):
            return obj  # pyright: ignore[reportUnknownVariableType]
        if not isinstance(obj, dict) and not hasattr(obj, "__dict__"):
            raise _no_record(obj, self, "a Row, a dict, a tuple, a list or an object with attributes")
        attributes = cast("dict[str, Any]", obj if isinstance(obj, dict) else vars(obj))
        return [attributes.get(name) for name in self.field_names]

    def from_internal_type(self, obj: Any) -> Any:
        return _each_from_internal(self.field_types, obj)

    def get_java_type_info(self) -> JavaTypeInformation:
        fields = [field.get_java_type_info() for field in self.field_types]
        row_class = "org.apache.flink.types.Row"
        return JavaTypeInformation(self.java_name, f"{OTHERS}RowTypeInfo", row_class, fields, self.field_names)

    def __repr__(self) -> str:
        return f"Types.ROW_NAMED({list(self.field_names)}, {list(self.field_types)})"


def _no_record(obj: object, type_info: TypeInformation[Any], expected: str) -> TypeInfoError:
    return TypeInfoError(f"{type_info!r} has no internal form of {shown(obj)}. Give {expected}.")
