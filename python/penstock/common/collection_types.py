"""Types of collections, whose elements have one type: lists, maps, arrays.

Sources: as for :mod:`.scalar_types`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from penstock.common.scalar_types import TypeInformation

__all__ = [
    "ArrayTypeInfo",
    "BasicArrayTypeInfo",
    "ListTypeInfo",
    "MapTypeInfo",
    "ObjectArrayTypeInfo",
    "PrimitiveArrayTypeInfo",
]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
K = TypeVar("K")
V = TypeVar("V")


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


@dataclass(frozen=True)
class ArrayTypeInfo(TypeInformation[T_co]):
    """An array, which is a list in Python: the base of Flink's three array types.

    Attributes:
        element_type: type of every element.
    """

    element_type: TypeInformation[object]

    @property
    def java_name(self) -> str:
        return f"{type(self).__name__}<{self.element_type.java_name}>"

    def __str__(self) -> str:
        return f"{type(self).__name__}<{self.element_type}>"

    def __repr__(self) -> str:
        kind = type(self).__name__.removesuffix("ArrayTypeInfo").upper()
        return f"Types.{kind}_ARRAY({self.element_type!r})"


class PrimitiveArrayTypeInfo(ArrayTypeInfo[T_co]):
    """An array of Java's primitives: no element is None. Of BYTE it is bytes."""


class BasicArrayTypeInfo(ArrayTypeInfo[T_co]):
    """An array of boxed scalars or strings."""


class ObjectArrayTypeInfo(ArrayTypeInfo[T_co]):
    """An array of any one type."""
