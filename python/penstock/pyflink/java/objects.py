"""Java's collections as Python objects: what a program asks of them in Java's spelling is there."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Generic, TypeVar

from penstock.common.java_objects import JavaClass, JavaObject, missing

__all__ = ["JavaArrays", "JavaClass", "JavaList", "JavaMap", "JavaObject", "JavaOptional", "missing", "snake_case"]

T = TypeVar("T")


def snake_case(name: str) -> str:
    """Python's spelling of a name of Java's."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda found: f"_{found[0]}", name).lower()


class JavaOptional(JavaObject, Generic[T]):
    """A value, or none.

    Args:
        value: None for none.
    """

    java_class = "java.util.Optional"

    def __init__(self, value: T | None) -> None:
        self._value = value

    def isPresent(self) -> bool:
        """Whether there is one."""
        return self._value is not None

    def get(self) -> T:
        """The value.

        Raises:
            LookupError: there is none (Java: NoSuchElementException).
        """
        if self._value is None:
            raise LookupError("An empty Optional has no value. Ask isPresent() before get().")
        return self._value

    def orElse(self, other: T) -> T:
        """The value, or else another."""
        return other if self._value is None else self._value


class JavaList(list[T]):
    """A list with the methods of ``java.util.List``."""

    def add(self, value: T) -> bool:
        """Append a value."""
        self.append(value)
        return True

    def addAll(self, values: Iterable[T]) -> bool:
        """Append values."""
        self.extend(values)
        return True

    def get(self, index: int) -> T:
        """The value at a place."""
        return self[index]

    def set(self, index: int, value: T) -> T:
        """Replace the value at a place, and give back what was there."""
        old, self[index] = self[index], value
        return old

    def size(self) -> int:
        """How many there are."""
        return len(self)

    def isEmpty(self) -> bool:
        """Whether there are none."""
        return not self

    def contains(self, value: object) -> bool:
        """Whether it is among them."""
        return value in self

    def toArray(self) -> list[T]:
        """A copy."""
        return list(self)

    def toString(self) -> str:
        """Java's text of a list."""
        return f"[{', '.join(map(str, self))}]"


class JavaMap(dict[str, T]):
    """A dict with the methods of ``java.util.Map`` and ``Properties``."""

    def put(self, key: str, value: T) -> T | None:
        """Set a value, and give back what was there."""
        old = self.get(key)
        self[key] = value
        return old

    setProperty = put

    def getProperty(self, key: str, default: T | None = None) -> T | None:
        """The value of a key, or the default."""
        return self.get(key, default)

    def containsKey(self, key: str) -> bool:
        """Whether a key has a value."""
        return key in self

    def keySet(self) -> set[str]:
        """All keys."""
        return set(self)

    def entrySet(self) -> list[tuple[str, T]]:
        """All keys with their values."""
        return list(self.items())

    def putAll(self, other: dict[str, T]) -> None:
        """Take over all of another."""
        self.update(other)

    def size(self) -> int:
        """How many there are."""
        return len(self)

    def isEmpty(self) -> bool:
        """Whether there are none."""
        return not self


class JavaArrays:
    """``java.util.Arrays``."""

    @staticmethod
    def asList(*values: Any) -> JavaList[Any]:
        """A list of the values, or of those of the one array that is given."""
        return JavaList(values[0] if len(values) == 1 and isinstance(values[0], list) else values)
