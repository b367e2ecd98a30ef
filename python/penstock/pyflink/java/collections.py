"""Java's lists and maps as Python's, with the methods that programs call."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")


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
