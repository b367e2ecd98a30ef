"""Objects whose class has changed since they were written: fields gained, lost or in another order, another name.

A pickle is read by a reader that has a stand-in for each such class. It takes what the pickle has of an object, and
makes one of the class of today.

Cost: comparing is linear in the fields of the classes; where all are as they were, pickles are read as always.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from functools import partial
from typing import Any

from penstock.runtime.buffers.codec import decode_value
from penstock.runtime.state import classes
from penstock.runtime.state.classes import ClassForm, find_class, form_of, is_plain
from penstock.runtime.state.type_changes import Refusal

StandIn = Callable[..., Any]
_UNKNOWN = ("object", "other")
"""Kinds of classes of which nothing is known, or which see to it themselves."""
_MAKER = classes.__name__, classes.program_class.__name__


class Reading:
    """How the pickles of a file are read.

    Args:
        forms: what the classes of its objects were.

    Attributes:
        loads: makes a value of bytes.
        changed: the classes of today whose objects are not what they were.
        notes: what to tell of them.

    Raises:
        Refusal: the objects of one cannot come back; the reason names it.
    """

    def __init__(self, forms: Mapping[str, ClassForm]) -> None:
        self.loads: Callable[[bytes], Any] = decode_value
        self.changed: set[type] = set()
        self.notes: list[str] = []
        stand_ins: dict[tuple[str, str], StandIn] = {}
        for name, form in forms.items():
            module, _, qualname = name.partition(":")
            cls = find_class(module, qualname)
            if cls is None:
                if form["kind"] == "other":  # its objects may come back by something else
                    continue
                raise Refusal(_gone(module, qualname))
            new = form_of(cls)
            if _holds(new, form):
                if not is_plain(module, qualname, cls):
                    stand_ins[module, qualname] = cls
            else:
                stand_ins[module, qualname] = _stand_in(cls, f"{module}.{qualname}", form, new)
                self.changed.add(cls)
                self.notes.append(f"objects of the class {module}.{qualname} are what it is now")
        if stand_ins:
            self.loads = partial(_loads, stand_ins)


def _gone(module: str, name: str) -> str:
    return (
        f"there are objects of the class {module}.{name}, which the program does not have; if it is called otherwise "
        f"now, put @formerly('{module}.{name}') above it (from penstock.common import formerly)"
    )


def _holds(new: ClassForm, old: ClassForm) -> bool:
    """Whether objects of a class come back as they are."""
    if not {new["kind"], old["kind"]}.isdisjoint(_UNKNOWN):
        return True
    if new["kind"] == old["kind"] == "enum":
        members = {name: (type(value), value) for name, value in new["members"]}
        return all(members.get(name) == (type(value), value) for name, value in old["members"])
    return new == old


def _loads(stand_ins: Mapping[tuple[str, str], StandIn], data: bytes) -> Any:
    return _Unpickler(data, stand_ins).load()


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: bytes, stand_ins: Mapping[tuple[str, str], StandIn]) -> None:
        super().__init__(io.BytesIO(data))
        self._known: dict[tuple[str, str], Any] = {**stand_ins, _MAKER: self.find_class}

    def find_class(self, module: str, name: str) -> Any:
        found = self._known.get((module, name))
        if found is None:
            found = self._known[module, name] = super().find_class(module, name)
        return found


def _stand_in(cls: type, name: str, old: ClassForm, new: ClassForm) -> StandIn:
    if old["kind"] != new["kind"]:
        raise Refusal(
            f"the class {name} was a {old['kind']} and is a {new['kind']}; give it a __setstate__ that takes that"
        )
    if new["kind"] == "enum":
        return _member(cls, name, old)
    return (_named_tuple if new["kind"] == "namedtuple" else _dataclass)(cls, name, old["fields"])


def _missing(name: str, field: str) -> Refusal:
    return Refusal(f"the class {name} has gained the field {field!r}, which has no default; give it one")


def _named_tuple(cls: Any, name: str, old: list[str]) -> StandIn:
    defaults = cls._field_defaults
    for field in cls._fields:
        if field not in old and field not in defaults:
            raise _missing(name, field)

    class StandIn:  # pickle wants a class, and takes whatever it makes
        def __new__(cls_, *values: Any) -> Any:  # pyright: ignore[reportSelfClsParameterName]
            found = dict(zip(old, values, strict=True))
            return cls._make(found[field] if field in found else defaults[field] for field in cls._fields)

    return StandIn


def _dataclass(cls: Any, name: str, old: list[str]) -> StandIn:
    gained: dict[str, Callable[[], Any]] = {}
    for field in fields(cls):
        if field.name in old:
            continue
        if field.default is not MISSING:
            gained[field.name] = partial(_same, field.default)
        elif field.default_factory is not MISSING:
            gained[field.name] = field.default_factory
        else:
            raise _missing(name, field.name)
    lost = set(old).difference(field.name for field in fields(cls))

    def set_state(self: Any, state: Any) -> None:
        object.__setattr__(self, "__class__", cls)
        values = {key: value for key, value in _values(state, old).items() if key not in lost}
        for key, make in gained.items():
            values[key] = make()
        for key, value in values.items():
            object.__setattr__(self, key, value)

    on_its_way = type(cls.__name__, (cls,), {"__slots__": (), "__setstate__": set_state, "__module__": cls.__module__})

    class StandIn:
        def __new__(cls_, *arguments: Any) -> Any:  # pyright: ignore[reportSelfClsParameterName]
            made = object.__new__(on_its_way)
            if not old:  # no state comes
                set_state(made, {})
            return made

    return StandIn


def _same(value: Any) -> Any:
    return value


def _values(state: Any, old: list[str]) -> dict[str, Any]:
    """The fields of an object by name: of one with a dict, with slots, or both, or of a frozen one with slots."""
    if isinstance(state, list):
        return dict(zip(old, state, strict=True))
    if isinstance(state, tuple):
        return {key: value for part in state if part for key, value in part.items()}
    return dict(state or {})


def _member(cls: Any, name: str, old: ClassForm) -> StandIn:
    before = {(type(value), value): member for member, value in old["members"]}

    def member(value: Any) -> Any:
        known = before.get((type(value), value))
        if known is None:
            return cls(value)
        if known not in cls.__members__:
            raise Refusal(f"the enum {name} has no member {known!r} any more, and it is in use")
        return cls[known]

    return member


def mentions(value: Any, kinds: set[type]) -> bool:
    """Whether a key has an object of some classes in it."""
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if type(found) in kinds:
            return True
        if isinstance(found, tuple | list):
            waiting.extend(found)
        elif hasattr(type(found), "__dataclass_fields__"):
            waiting.extend(getattr(found, field.name) for field in fields(found))
    return False
