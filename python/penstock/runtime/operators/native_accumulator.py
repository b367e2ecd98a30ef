"""Functions that keep attributes of their object from record to record, in native code: sinks that count, say.

Between two batches the object has its attributes, so that all its other methods see what they would see in Python."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time
from types import ModuleType
from typing import Any

from penstock.runtime import native

_PLAIN = frozenset({bool, bytes, float, int, str, date, datetime, time, type(None)})


@dataclass(frozen=True)
class KeepingProgram:
    """A function, compiled: its program, the attributes that are its first parameters and its result, and how many of
    them it assigns, the first ones."""

    text: str
    attributes: tuple[str, ...]
    assigned: int


class NativeAccumulator:
    """Such a function of an object."""

    def __init__(self, functions: ModuleType, owner: Any, program: KeepingProgram, native_program: Any) -> None:
        self._batch, self._owner = functions.Batch, owner
        self._assigned = program.attributes[: program.assigned]
        self._read = program.attributes[program.assigned :]
        self._run = functions.Accumulator(native_program).run
        self._kept: Any = None

    @classmethod
    def of(cls, functions: ModuleType, owner: Any, program: KeepingProgram) -> NativeAccumulator | None:
        """None where the native module does not know all that the program uses."""
        known = native.program(functions, program.text)
        return None if known is None else cls(functions, owner, program, known)

    def leave(self, most: int) -> int:
        """How many of the next records Python is to take, at the most so many: all, unless the attributes are plain
        data."""
        self._kept = self._values()
        return most if self._kept is None else 0

    def run(self, batch: Any, start: int, end: int) -> tuple[None, list[int], int, bool]:
        """Take records, after :meth:`leave`; a segment's ``run``."""
        kept, done = self._run(batch, start, end, self._kept)
        for name, value in zip(self._assigned, kept[0], strict=False):
            setattr(self._owner, name, value)
        return None, [], done, done < end

    def _values(self) -> Any:
        """The attributes as the only record of a batch; None where they are not plain data, or where assigning one
        could be seen, as the object would have an attribute of its own beside that of its class."""
        owner, cls = getattr(self._owner, "__dict__", {}), type(self._owner)
        try:
            values = [owner[name] for name in self._assigned]
            values += [owner[name] if name in owner else getattr(cls, name) for name in self._read]
        except (AttributeError, KeyError):  # the function says so itself
            return None
        return self._batch.of([tuple(values)]) if all(map(_is_plain, values)) else None


def _is_plain(value: object) -> bool:
    """Whether a value is a number, a text, a date and the like, or a tuple of them, which nothing can change."""
    return type(value) in _PLAIN or (type(value) is tuple and all(type(item) in _PLAIN for item in value))
