"""Objects of classes that the program no longer has, in state that may be dropped: they are read without their class,
and never written. A state that contains one is dropped, unless the program asks for it, which is an error."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Protocol

from penstock.errors import InvalidProgramError
from penstock.runtime.state.classes import Noted

MIGRATION = "org.apache.flink.util.StateMigrationException"


class LostObjectError(Exception):
    """An object of a missing class was about to be written."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class Lost:
    """An object of a missing class. It accepts everything a pickle does to an object, and cannot be pickled again."""

    full = ""  # the class's module and name

    def __new__(cls, *_: Any, **__: Any) -> Lost:
        return object.__new__(cls)

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def __reduce__(self) -> Any:
        raise LostObjectError(self.full)

    def __setstate__(self, _: Any) -> None: ...
    def __setitem__(self, _: Any, __: Any) -> None: ...
    def append(self, _: Any) -> None: ...

    def extend(self, _: Any) -> None: ...


def lost_class(module: str, name: str) -> type[Lost]:
    """A stand-in for a missing class."""
    return type("Lost", (Lost,), {"full": f"{module}.{name}"})


def lost_in(value: Any) -> str:
    """The name of a missing class of which a value contains an object; "" if there is none."""
    try:
        Noted().dumps(value)
    except LostObjectError as error:
        return error.name
    return ""


def check_asked(lost: Mapping[str, str], name: str) -> None:
    """Refuse a request for a state that has objects of a missing class."""
    if name in lost:
        raise InvalidProgramError(
            f"The state {name!r} has objects of the class {lost[name]}, which the program does not have, and the "
            f"program asks for it. Put the class back, or put @formerly('{lost[name]}') above the one that it is now "
            "(from penstock.common import formerly).",
            flink_class=MIGRATION,
        )


class Dropping(Protocol):
    """Keyed state or operator state."""

    lost: dict[str, str]
    forms: dict[str, Any]
    notes: Counter[str]


def drop_lost(state: Dropping) -> None:
    """Drop the states that ``open()`` has not asked for, with a log message."""
    for name, cls in state.lost.items():
        state.forms.pop(name, None)
        reason = f"objects of the class {cls} are in it, which the program does not have: it is dropped, as allowed"
        state.notes[f"{name}: {reason}"] += 0
    state.lost.clear()
