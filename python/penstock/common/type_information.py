"""Type information: what a stream's records are, as PyFlink names it.

Types are plain frozen data: they compare by value, hash, pickle, and travel to executors. They carry no codec and no
text form of values; :mod:`penstock.runtime` reads them for both. ``java_name`` is how Flink prints the type in its
messages. :class:`~penstock.common.typeinfo.Types` makes them.

Source of the names: ``pyflink.common.typeinfo``; of ``java_name``: ``toString`` of Flink's ``TypeInformation`` classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, TypeVar

from penstock.common.row import Row
from penstock.errors import TypeInfoError

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
K = TypeVar("K")
V = TypeVar("V")

MAX_TUPLE_ARITY = 25
"""Flink's largest tuple class is Tuple25."""


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


NUMERIC = frozenset({BasicType.BYTE, BasicType.SHORT, BasicType.INT, BasicType.LONG, BasicType.FLOAT, BasicType.DOUBLE})
"""What Flink's SumFunction can add up (not BigInteger, BigDecimal or String)."""


class TypeInformation(Generic[T_co]):
    """Base of all types; of records that are a ``T`` in Python. Build them with
    :class:`~penstock.common.typeinfo.Types`."""

    __slots__ = ()

    @property
    def java_name(self) -> str:
        """The type as Flink's messages print it, such as ``Java Tuple2<String, Integer>``."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.java_name


@dataclass(frozen=True)
class BasicTypeInfo(TypeInformation[T_co]):
    """A scalar.

    Attributes:
        basic_type: which one.
    """

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
        return f"Types.TUPLE([{_reprs(self.field_types)}])"


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
        return f"Types.ROW_NAMED({list(self.field_names)}, [{_reprs(self.field_types)}])"


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


def _reprs(types: Sequence[TypeInformation[object]]) -> str:
    return ", ".join(map(repr, types))
