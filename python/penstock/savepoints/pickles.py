"""Pickles of a savepoint, read without running what is in them.

A pickle names functions and classes, and reading it calls them. Here only those are called that make plain values:
rows, dates, decimals, windows. Every other name gets a stand-in that takes what it is given and does nothing, so that
the rest can be read; a value that has one in it is refused to who asks for it.

Cost: that of reading a pickle.
"""

from __future__ import annotations

import io
import pickle
from collections import deque
from typing import Any

from penstock.common.row import Row
from penstock.errors import SavepointError
from penstock.runtime.operators import interval_join
from penstock.runtime.windows.evictors import TimestampedValue

_KNOWN = {
    "builtins": {"bytearray", "complex", "frozenset", "range", "set", "slice"},
    "collections": {"Counter", "OrderedDict", "deque"},
    "datetime": {"date", "datetime", "time", "timedelta", "timezone"},
    "decimal": {"Decimal"},
    "uuid": {"UUID"},
    "penstock.common.row": {"Row", "RowKind", "_row"},
    "penstock.common.time": {"Instant"},
    "penstock.runtime.operators.interval_join": {"_Buffer"},
    "penstock.runtime.windows.evictors": {"TimestampedValue"},
    "penstock.runtime.windows.time_window": {"CountWindow", "GLOBAL_WINDOW", "TimeWindow"},
}
"""What is called: makes a value of its arguments, and does nothing else."""
_METHODS = {"penstock.common.row": "Row.of_values"}


class Unmade:
    """An object that was not made. Takes all that a pickle does to an object."""

    name = ""

    def __new__(cls, *_: Any, **__: Any) -> Unmade:
        return object.__new__(cls)

    def __init__(self, *_: Any, **__: Any) -> None: ...
    def __call__(self, *_: Any) -> Unmade:
        return self

    def __setstate__(self, _: Any) -> None: ...
    def __setitem__(self, _: Any, __: Any) -> None: ...
    def append(self, _: Any) -> None:
        """Of a list."""

    def extend(self, _: Any) -> None:
        """Of a list."""

    def add(self, _: Any) -> None:
        """Of a set."""


class PlainReading:
    """How the pickles of a savepoint are read where nothing may run; in the place of
    :class:`~penstock.runtime.state.class_changes.Reading`.

    Attributes:
        changed, notes: as there; nothing.
        unmade: names of what was not made so far.
    """

    def __init__(self) -> None:
        self.changed: set[type] = set()
        self.notes: list[str] = []
        self.unmade: dict[tuple[str, str], type[Unmade]] = {}

    def loads(self, data: bytes) -> Any:
        """A value of bytes, with :class:`Unmade` objects in it."""
        return _Unpickler(data, self).load()


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: bytes, reading: PlainReading) -> None:
        super().__init__(io.BytesIO(data))
        self._reading = reading

    def find_class(self, module: str, name: str) -> Any:
        if name in _KNOWN.get(module, ()) or _METHODS.get(module) == name:
            return super().find_class(module, name)
        known = self._reading.unmade
        if (module, name) not in known:
            known[module, name] = type("Unmade", (Unmade,), {"name": f"{module}.{name}"})
        return known[module, name]

    def persistent_load(self, pid: Any) -> Any:
        raise pickle.UnpicklingError(f"it refers to {pid!r}, which is not in it")


def unmade_in(value: Any) -> str | None:
    """The name of something in a value that was not made. Linear in it, also where it holds itself."""
    waiting, seen = [value], set[int]()
    while waiting:
        one = waiting.pop()
        if isinstance(one, Unmade) or (isinstance(one, type) and issubclass(one, Unmade)):
            return one.name
        parts = _parts(one)
        if parts and id(one) not in seen:
            seen.add(id(one))
            waiting += parts
    return None


def _parts(value: Any) -> list[Any]:
    """What a value holds, if it holds something."""
    if isinstance(value, dict):
        return [*value, *value.values()]
    if isinstance(value, list | tuple | set | frozenset | deque | Row):
        return list(value)
    if isinstance(value, TimestampedValue):
        return [value.value]
    if isinstance(value, slice | range):
        return [value.start, value.stop, value.step]
    return [value.times] if isinstance(value, interval_join._Buffer) else []  # pyright: ignore[reportPrivateUsage]


def refused(what: str, name: str) -> SavepointError:
    """The error for a value that is not read without being asked for.

    Args:
        what: it belongs to, as the subject of a sentence.
        name: of the class or function that would make it.
    """
    return SavepointError(
        f"{what} has objects that {name!r} makes. They are pickled, and reading a pickle can run any code as you. If "
        "you trust all who can write to this place, and have the class, ask for it by "
        "Savepoint(place, unpickle=True), or --unpickle."
    )
