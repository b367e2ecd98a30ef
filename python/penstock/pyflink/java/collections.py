"""Java's lists and maps as Python's, with the methods that programs call."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")


class JavaList(list[T]):
    """A list with the methods of ``java.util.List``."""

    def add(self, value: T) -> bool:
        self.append(value)
        return True

    def addAll(self, values: Iterable[T]) -> bool:
        self.extend(values)
        return True

    def get(self, index: int) -> T:
        return self[index]

    def set(self, index: int, value: T) -> T:
        old, self[index] = self[index], value
        return old

    def size(self) -> int:
        return len(self)

    def isEmpty(self) -> bool:
        return not self

    def contains(self, value: object) -> bool:
        return value in self

    def toArray(self) -> list[T]:
        return list(self)

    def toString(self) -> str:
        return f"[{', '.join(map(str, self))}]"


class JavaMap(dict[str, T]):
    """A dict with the methods of ``java.util.Map`` and ``Properties``."""

    def put(self, key: str, value: T) -> T | None:
        old = self.get(key)
        self[key] = value
        return old

    setProperty = put

    def getProperty(self, key: str, default: T | None = None) -> T | None:
        return self.get(key, default)

    def containsKey(self, key: str) -> bool:
        return key in self

    def keySet(self) -> set[str]:
        return set(self)

    def entrySet(self) -> list[tuple[str, T]]:
        return list(self.items())

    def putAll(self, other: dict[str, T]) -> None:
        self.update(other)

    def size(self) -> int:
        return len(self)

    def isEmpty(self) -> bool:
        return not self
