"""Types of collections, whose elements have one type: lists, maps, arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from penstock.common.java.java_types import BASICS, OTHERS, JavaTypeInformation
from penstock.common.typesystem.scalars import TypeInformation

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
        """What stands for the type in Java, where an array of texts is one of basic values."""
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
