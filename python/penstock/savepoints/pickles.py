"""Reads the pickles of a savepoint without running any code in them. Only plain values are created: rows, dates,
decimals, windows. Every other name becomes an :class:`~.plain_values.Unmade` object; a value that contains one is
refused when it is asked for."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from penstock.common.row import Row
from penstock.errors import SavepointError
from penstock.runtime.operators import interval_join
from penstock.runtime.state import class_changes
from penstock.runtime.state.class_changes import Reading
from penstock.runtime.state.classes import ClassForm
from penstock.runtime.windows.evictors import TimestampedValue
from penstock.savepoints import plain_pickles
from penstock.savepoints.plain_values import Unmade


class PlainReading:
    """Reads pickles without running code, as :class:`~penstock.runtime.state.class_changes.Reading` does with it."""

    def __init__(self) -> None:
        self.changed: set[type] = set()
        self.notes: list[str] = []
        self.drops = False
        self.unmade: dict[tuple[str, str], Unmade] = {}

    def loads(self, data: bytes) -> Any:
        return plain_pickles.loads(data, self.unmade)


class TrustingReading(Reading):
    """Reads pickles with objects of all classes; only values with objects of a missing class are refused."""

    def __init__(self, forms: Mapping[str, ClassForm]) -> None:
        self.unmade: dict[tuple[str, str], type[Lost]] = {}
        super().__init__(forms, lost=self._lost)

    def _lost(self, module: str, name: str) -> type[Lost]:
        stand_in = self.unmade[module, name] = type("Lost", (Lost,), {"full": f"{module}.{name}"})
        return stand_in


class Lost(class_changes.Lost, Unmade):
    """An object of a missing class, in a savepoint that is read."""

    def __init__(self, *_: Any, **__: Any) -> None:
        Unmade.__init__(self, self.full)

    def __reduce__(self) -> Any:
        raise unread_error("What is to be written", self.full, unpickle=True)


def unmade_in(value: Any) -> str | None:
    """The name of something in a value that was not created. Linear in the value, even if it contains itself."""
    waiting, seen = [value], set[int]()
    while waiting:
        part = waiting.pop()
        if isinstance(part, Lost) or (isinstance(part, type) and issubclass(part, Lost)):
            return part.full
        if isinstance(part, Unmade):
            return part.name
        parts = _parts(part)
        if parts and id(part) not in seen:
            seen.add(id(part))
            waiting += parts
    return None


def refuse_unmade(values: Iterable[Any], what: str, *, unpickle: bool = False) -> None:
    """Raise SavepointError if something in some values was not created."""
    for value in values:
        if (name := unmade_in(value)) is not None:
            raise unread_error(what, name, unpickle=unpickle)


def _parts(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value, *value.values()]
    if isinstance(value, list | tuple | set | frozenset | deque | Row):
        return list(value)
    if isinstance(value, TimestampedValue):
        return [value.value]
    if isinstance(value, slice | range):
        return [value.start, value.stop, value.step]
    if isinstance(value, interval_join._Buffer):  # pyright: ignore[reportPrivateUsage]
        return [value.times]
    if is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name, None) for field in fields(value)]
    return list(getattr(value, "__dict__", {}).values()) if not isinstance(value, type) else []


def unread_error(what: str, name: str, *, unpickle: bool = False) -> SavepointError:
    """The error for a value that is not read."""
    if unpickle:
        cure = (
            "It belongs to the program's own file: name that file, --program FILE."
            if name.startswith("__main__.")
            else "Have its module on the path, under the name that it had; a class with another name now says so by "
            "@formerly."
        )
        return SavepointError(f"{what} has objects of the class {name}, which cannot be found. {cure}")
    return SavepointError(
        f"{what} has objects made by {name!r}. They are pickled, and reading a pickle can run any code as you. If "
        "you trust everyone who can write to this place, and have the class, use "
        "Savepoint(place, unpickle=True), or --unpickle."
    )
