"""Type information: what a stream's records are, as PyFlink names it.

Types are plain frozen data: they compare by value, hash, pickle, and travel to executors. They carry no codec and no
text form of values; :mod:`penstock.runtime` reads them for both. ``java_name`` is how Flink prints the type in its
messages. :class:`Types` makes them.

Source of the names: ``pyflink.common.typeinfo``; of ``java_name``: ``toString`` of Flink's ``TypeInformation`` classes.
"""
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Any, Generic, TypeVar, cast

from penstock.common.callables import shown
from penstock.common.row import Row
from penstock.errors import TypeInfoError

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
K = TypeVar("K")
V = TypeVar("V")

MAX_TUPLE_ARITY = 25  # Flink's largest tuple class is Tuple25


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

    def __str__(self) -> str:
        return self.java_name


@dataclass(frozen=True)
class BasicTypeInfo(TypeInformation[T_co]):
    """A scalar."""

    basic_type: BasicType

    @property
    def java_name(self) -> str:
        return self.basic_type.value

    def __repr__(self) -> str:
        return f"Types.{self.basic_type.name}()"


@dataclass(frozen=True)
class SqlTimeTypeInfo(TypeInformation[T_co]):
    """A date, a time of day or a timestamp (``datetime.date``, ``time``, ``datetime`` in Python)."""

    sql_type: SqlTimeType

    @property
    def java_name(self) -> str:
        return self.sql_type.value

    def __repr__(self) -> str:
        return f"Types.SQL_{self.sql_type.name}()"


@dataclass(frozen=True, slots=True)
class PickledBytesTypeInfo(TypeInformation[Any]):
    """Any Python object, carried by pickle: what an undeclared type means."""

    @property
    def java_name(self) -> str:
        return "PythonPickled"

    def __repr__(self) -> str:
        return "Types.PICKLED_BYTE_ARRAY()"


@dataclass(frozen=True, slots=True)
class TupleTypeInfo(TypeInformation[tuple[Any, ...]]):
    """A Flink tuple; its fields are named f0, f1, …

    Attributes:
        field_types: one type per field, 1 to 25 of them.
    """

    field_types: tuple[TypeInformation[object], ...]

    def __post_init__(self) -> None:
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

    def get_field_types(self) -> list[TypeInformation[object]]:
        """The field types, as a new list (PyFlink)."""
        return list(self.field_types)

    def __repr__(self) -> str:
        return f"Types.TUPLE({list(self.field_types)})"


@dataclass(frozen=True, slots=True)
class RowTypeInfo(TypeInformation[Row]):
    """A row with named fields; without names they are f0, f1, …

    Attributes:
        field_types: one type per field.
        field_names: one name per field, all different.
    """

    field_types: tuple[TypeInformation[object], ...]
    field_names: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.field_names) != len(self.field_types):
            raise TypeInfoError(
                f"A row type was given {len(self.field_names)} names {list(self.field_names)} for "
                f"{len(self.field_types)} field types. Give one name per type, as in Types.ROW_NAMED(['a', 'b'], "
                "[Types.INT(), Types.STRING()]).",
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

    def get_field_types(self) -> list[TypeInformation[object]]:
        """The field types, as a new list (PyFlink)."""
        return list(self.field_types)

    def get_field_names(self) -> list[str]:
        """The field names, as a new list (PyFlink)."""
        return list(self.field_names)

    def get_field_index(self, field_name: str) -> int:
        """Position of a field by name, −1 if there is none (PyFlink)."""
        return self.field_names.index(field_name) if field_name in self.field_names else -1

    def __repr__(self) -> str:
        return f"Types.ROW_NAMED({list(self.field_names)}, {list(self.field_types)})"


@dataclass(frozen=True)
class ListTypeInfo(TypeInformation[list[T]]):
    """A list whose elements all have one type."""

    element_type: TypeInformation[T]

    @property
    def java_name(self) -> str:
        return f"List<{self.element_type.java_name}>"

    def __repr__(self) -> str:
        return f"Types.LIST({self.element_type!r})"


@dataclass(frozen=True)
class MapTypeInfo(TypeInformation[dict[K, V]]):
    """A dict with one key type and one value type."""

    key_type: TypeInformation[K]
    value_type: TypeInformation[V]

    @property
    def java_name(self) -> str:
        return f"Map<{self.key_type.java_name}, {self.value_type.java_name}>"

    def __repr__(self) -> str:
        return f"Types.MAP({self.key_type!r}, {self.value_type!r})"


class ArrayKind(Enum):
    """The three array types of Flink: of Java primitives, of their boxes and strings, of anything."""

    PRIMITIVE = "PrimitiveArrayTypeInfo"
    BASIC = "BasicArrayTypeInfo"
    OBJECT = "ObjectArrayTypeInfo"


@dataclass(frozen=True)
class ArrayTypeInfo(TypeInformation[T_co]):
    """An array; a Python list, or bytes for a primitive array of BYTE.

    Attributes:
        kind: which of Flink's array types.
        element_type: type of every element.
    """

    kind: ArrayKind
    element_type: TypeInformation[object]

    @property
    def java_name(self) -> str:
        return f"{self.kind.value}<{self.element_type.java_name}>"

    def __repr__(self) -> str:
        return f"Types.{self.kind.name}_ARRAY({self.element_type!r})"


class Types:
    """Factory of all types, with PyFlink's names."""

    @staticmethod
    def STRING() -> BasicTypeInfo[str]:
        """Text (``str``)."""
        return BasicTypeInfo(BasicType.STRING)

    @staticmethod
    def BYTE() -> BasicTypeInfo[int]:
        """Signed 8-bit integer."""
        return BasicTypeInfo(BasicType.BYTE)

    @staticmethod
    def BOOLEAN() -> BasicTypeInfo[bool]:
        """``bool``."""
        return BasicTypeInfo(BasicType.BOOLEAN)

    @staticmethod
    def SHORT() -> BasicTypeInfo[int]:
        """Signed 16-bit integer."""
        return BasicTypeInfo(BasicType.SHORT)

    @staticmethod
    def INT() -> BasicTypeInfo[int]:
        """Signed 32-bit integer."""
        return BasicTypeInfo(BasicType.INT)

    @staticmethod
    def LONG() -> BasicTypeInfo[int]:
        """Signed 64-bit integer."""
        return BasicTypeInfo(BasicType.LONG)

    @staticmethod
    def FLOAT() -> BasicTypeInfo[float]:
        """32-bit float."""
        return BasicTypeInfo(BasicType.FLOAT)

    @staticmethod
    def DOUBLE() -> BasicTypeInfo[float]:
        """64-bit float (Python's ``float``)."""
        return BasicTypeInfo(BasicType.DOUBLE)

    @staticmethod
    def CHAR() -> BasicTypeInfo[str]:
        """One UTF-16 unit, a ``str`` of length 1."""
        return BasicTypeInfo(BasicType.CHAR)

    @staticmethod
    def BIG_INT() -> BasicTypeInfo[int]:
        """Unbounded integer (Python's ``int``)."""
        return BasicTypeInfo(BasicType.BIG_INT)

    @staticmethod
    def BIG_DEC() -> BasicTypeInfo[Decimal]:
        """``decimal.Decimal``."""
        return BasicTypeInfo(BasicType.BIG_DEC)

    @staticmethod
    def INSTANT() -> BasicTypeInfo[Any]:
        """A point in time."""
        return BasicTypeInfo(BasicType.INSTANT)

    @staticmethod
    def SQL_DATE() -> SqlTimeTypeInfo[datetime.date]:
        """``datetime.date``."""
        return SqlTimeTypeInfo(SqlTimeType.DATE)

    @staticmethod
    def SQL_TIME() -> SqlTimeTypeInfo[datetime.time]:
        """``datetime.time``."""
        return SqlTimeTypeInfo(SqlTimeType.TIME)

    @staticmethod
    def SQL_TIMESTAMP() -> SqlTimeTypeInfo[datetime.datetime]:
        """``datetime.datetime`` without zone."""
        return SqlTimeTypeInfo(SqlTimeType.TIMESTAMP)

    @staticmethod
    def PICKLED_BYTE_ARRAY() -> PickledBytesTypeInfo:
        """Any picklable Python object; declaring nothing means this too."""
        return PickledBytesTypeInfo()

    @staticmethod
    def TUPLE(field_types: Sequence[TypeInformation[object]]) -> TupleTypeInfo:
        """A Flink tuple (``tuple``) of 1 to 25 fields."""
        return TupleTypeInfo(_checked("TUPLE", field_types))

    @staticmethod
    def ROW(field_types: Sequence[TypeInformation[object]]) -> RowTypeInfo:
        """A :class:`~penstock.common.Row` with fields f0, f1, …"""
        types = _checked("ROW", field_types)
        return RowTypeInfo(types, tuple(f"f{i}" for i in range(len(types))))

    @staticmethod
    def ROW_NAMED(field_names: Sequence[str], field_types: Sequence[TypeInformation[object]]) -> RowTypeInfo:
        """A :class:`~penstock.common.Row` whose fields have these names."""
        return RowTypeInfo(_checked("ROW_NAMED", field_types), _names(field_names))

    @staticmethod
    def LIST(element_type_info: TypeInformation[T]) -> ListTypeInfo[T]:
        """A ``list`` of one element type."""
        return ListTypeInfo(_one("LIST", element_type_info))

    @staticmethod
    def MAP(key_type_info: TypeInformation[K], value_type_info: TypeInformation[V]) -> MapTypeInfo[K, V]:
        """A ``dict``."""
        return MapTypeInfo(_one("MAP", key_type_info), _one("MAP", value_type_info))

    @staticmethod
    def PRIMITIVE_ARRAY(element_type: TypeInformation[T]) -> ArrayTypeInfo[list[T]]:
        """An array of Java primitives; of BYTE it is ``bytes``, otherwise a ``list``."""
        return ArrayTypeInfo(ArrayKind.PRIMITIVE, _one("PRIMITIVE_ARRAY", element_type))

    @staticmethod
    def BASIC_ARRAY(element_type: TypeInformation[T]) -> ArrayTypeInfo[list[T]]:
        """An array of boxed scalars or strings (``list``)."""
        return ArrayTypeInfo(ArrayKind.BASIC, _one("BASIC_ARRAY", element_type))

    @staticmethod
    def OBJECT_ARRAY(element_type: TypeInformation[T]) -> ArrayTypeInfo[list[T]]:
        """An array of any one type (``list``)."""
        return ArrayTypeInfo(ArrayKind.OBJECT, _one("OBJECT_ARRAY", element_type))


def _checked(name: str, types: Iterable[TypeInformation[object]]) -> tuple[TypeInformation[object], ...]:
    if not isinstance(types, Iterable) or isinstance(types, str):
        raise TypeInfoError(
            f"Types.{name} was given {shown(types)}, where a list of types is expected. "
            "Give one such as [Types.STRING(), Types.INT()]."
        )
    return tuple(_one(name, t) for t in types)


def _names(names: Iterable[str]) -> tuple[str, ...]:
    checked = tuple(names) if isinstance(names, Iterable) and not isinstance(names, str) else (None,)
    if not all(isinstance(name, str) for name in checked):
        raise TypeInfoError(
            f"Types.ROW_NAMED was given the names {names!r}; a list of texts is expected. Give ['a', 'b']."
        )
    return cast("tuple[str, ...]", checked)


def _one(name: str, value: TypeInformation[T]) -> TypeInformation[T]:
    if isinstance(value, TypeInformation):
        return value
    raise TypeInfoError(
        f"Types.{name} was given {shown(value)} where a type is expected. Write the type with its parentheses, "
        "such as Types.STRING() (not Types.STRING and not str)."
    )
