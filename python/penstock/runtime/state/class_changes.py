"""Reads objects whose class has changed since they were written: fields added, removed or reordered, or another name.
The unpickler is given a stand-in for each changed class, which makes an object of today's class."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from enum import Flag
from functools import reduce
from operator import or_
from typing import Any

from penstock.errors import InvalidProgramError
from penstock.runtime.buffers.codec import decode_value
from penstock.runtime.state import classes
from penstock.runtime.state.classes import CODE, PLAIN, PYTHON, ClassForm, find_class, text_of
from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.state.operator_state import OperatorState
from penstock.runtime.state.type_changes import Refusal

StandIn = Callable[..., Any]
MIGRATION = "org.apache.flink.util.StateMigrationException"
_UNKNOWN = ("object", "other")  # kinds of classes without known fields, or that restore themselves
_MAKER = classes.__name__, classes.program_class.__name__


class GoneError(Refusal):
    """The state has objects of a class that the program does not have."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"there are objects of the class {name}, which the program does not have, or, on Spark, which no function "
            "names: name it in the function that has the state; if it is called otherwise now, put "
            f"@formerly('{name}') above it (from penstock.common import formerly); if the program has no such state "
            "any more, have it dropped: allow that state is left behind (--allow-non-restored-state, -n)"
        )


class Reading:
    """Reads the pickles of one file. ``loads`` is the unpickler, ``changed`` the classes that have changed, ``others``
    what stands for names that are not those of forms."""

    def __init__(
        self,
        forms: Mapping[str, ClassForm],
        find: Callable[[str, str], type | None] = find_class,
        lost: Callable[[str, str], StandIn] | None = None,
        *,
        drops: bool = False,
        others: Mapping[tuple[str, str], StandIn] | None = None,
    ) -> None:
        self.loads: Callable[[bytes], Any] = decode_value
        self.changed: set[type] = set()
        self.notes: list[str] = []
        self.drops = False
        lost = lost_class if drops else lost
        stand_ins: dict[tuple[str, str], StandIn] = dict(others or {})
        for name, form in forms.items():
            if form["kind"] == CODE:
                if (python := form["python"]) != PYTHON:
                    raise Refusal(
                        f"it contains functions or classes that were pickled with their code by {python}, and this is "
                        f"{PYTHON}, which would crash on it. Run the program once more with {python}, changed so that "
                        "state holds no such thing: a lambda, as in defaultdict(lambda: 0), or what is defined within "
                        "a function. What is imported goes by name; migrated_by(dict) makes a plain dictionary"
                    )
                continue
            module, _, qualname = name.partition(":")
            cls = find(module, qualname)
            if cls is None:
                if lost is not None:
                    stand_ins[module, qualname] = lost(module, qualname)
                    self.drops = drops
                    continue
                if form["kind"] == "other":  # another class may restore its objects
                    continue
                raise GoneError(f"{module}.{qualname}")
            new = classes.form_of(cls)
            if _holds(new, form):
                if classes.importable(module, qualname) is not cls:  # pickle's own lookup would not find it
                    stand_ins[module, qualname] = cls
            else:
                stand_ins[module, qualname] = _stand_in(cls, f"{module}.{qualname}", form, new)
                self.changed.add(cls)
                self.notes.append(f"objects of the class {module}.{qualname} are what it is now")
        if stand_ins:
            self.loads = lambda data: _Unpickler(data, stand_ins).load()


def _holds(new: ClassForm, old: ClassForm) -> bool:
    if not {new["kind"], old["kind"]}.isdisjoint(_UNKNOWN):
        return True
    if new["kind"] == old["kind"] == "enum":
        return _members(old).items() <= _members(new).items()
    return new == old


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: bytes, stand_ins: Mapping[tuple[str, str], StandIn]) -> None:
        super().__init__(io.BytesIO(data))
        self._known: dict[tuple[str, str], Any] = {**stand_ins, _MAKER: self.find_class}

    def find_class(self, module: str, name: str) -> Any:
        target = self._known.get((module, name))
        if target is None:
            target = self._known[module, name] = super().find_class(module, name)
        return target


def _stand_in(cls: Any, name: str, old: ClassForm, new: ClassForm) -> StandIn:
    if old["kind"] != new["kind"]:
        raise Refusal(
            f"the class {name} was a {old['kind']} and is a {new['kind']}; give it a __setstate__ that accepts the old "
            "state"
        )
    if new["kind"] == "enum":
        return _member(cls, name, old)
    named, before = new["kind"] == "namedtuple", old["fields"]
    defaults = cls._field_defaults if named else _defaults(cls)
    for field in new["fields"]:
        if field not in before and field not in defaults:
            raise Refusal(f"the class {name} has gained the field {field!r}, which has no default; give it a default")
    return _named_tuple(cls, before) if named else _dataclass(cls, before, defaults)


def _named_tuple(cls: Any, old: list[str]) -> StandIn:
    class StandIn:  # pickle requires a class, and accepts whatever it creates
        def __new__(cls_, *values: Any) -> Any:  # pyright: ignore[reportSelfClsParameterName]
            by_name = {**cls._field_defaults, **dict(zip(old, values, strict=True))}
            return cls._make(by_name[field] for field in cls._fields)

    return StandIn


def _defaults(cls: Any) -> dict[str, Callable[[], Any]]:
    """The fields of a dataclass that have defaults; one pickled by value has a copy of ``dataclasses.MISSING``."""
    defaults: dict[str, Any] = {}
    for field in fields(cls):
        if not isinstance(field.default, type(MISSING)):
            defaults[field.name] = lambda value=field.default: value
        elif not isinstance(field.default_factory, type(MISSING)):
            defaults[field.name] = field.default_factory
    return defaults


def _dataclass(cls: Any, old: list[str], defaults: Mapping[str, Callable[[], Any]]) -> StandIn:
    gained = {name: make for name, make in defaults.items() if name not in old}
    lost = set(old).difference(field.name for field in fields(cls))

    def set_state(self: Any, state: Any) -> None:
        object.__setattr__(self, "__class__", cls)
        values = {key: value for key, value in _values(state, old).items() if key not in lost}
        values |= {key: make() for key, make in gained.items()}
        for key, value in values.items():
            object.__setattr__(self, key, value)

    on_its_way = type(cls.__name__, (cls,), {"__slots__": (), "__setstate__": set_state, "__module__": cls.__module__})

    class StandIn:
        def __new__(cls_, *arguments: Any) -> Any:  # pyright: ignore[reportSelfClsParameterName]
            instance = object.__new__(on_its_way)
            if not old:  # no state will follow
                set_state(instance, {})
            return instance

    return StandIn


def _values(state: Any, old: list[str]) -> dict[str, Any]:
    """The fields of an object by name, from a dict, slots, both, or a list for frozen slots."""
    if isinstance(state, list):
        return dict(zip(old, state, strict=True))
    if isinstance(state, tuple):
        return {key: value for part in state if part for key, value in part.items()}
    return dict(state or {})


def _members(form: ClassForm) -> dict[str, Any]:
    members: dict[str, Any] = {name: (type(value), value) for name, value in form["members"]}
    return members | {name: (tuple, text) for name, text in form.get("texts", ())}


def _member(cls: Any, name: str, old: ClassForm) -> StandIn:
    # reversed, as the first of equal members is not an alias
    before = {identity: member for member, identity in reversed(_members(old).items())}
    flags = _flags(cls, name, old) if issubclass(cls, Flag) else None

    def member(value: Any) -> Any:
        if flags is not None and isinstance(value, int):
            return flags(value)
        known = before.get((type(value), value) if isinstance(value, PLAIN) else (tuple, text_of(value)))
        return cls(value) if known is None else _named(cls, name, known)

    return member


def _named(cls: Any, name: str, member: str) -> Any:
    if member not in cls.__members__:
        raise Refusal(f"the enum {name} no longer has the member {member!r}, which is in use")
    return cls[member]


def _flags(cls: Any, name: str, old: ClassForm) -> Callable[[int], Any]:
    """Today's combination of flags for an old value: each flag is found by its name."""
    # A named combination is an alias of its flags; it matters only for bits without a name of their own.
    numbers = [(member, value) for member, value in old["members"] if isinstance(value, int) and value]
    numbers.sort(key=lambda flag: (flag[1].bit_count(), flag[1]))
    named_now = reduce(or_, (flag.value for flag in cls.__members__.values()), 0)

    def flags(value: int) -> Any:
        result, rest = cls(0), value
        for member, bits in numbers:
            if bits & value == bits and bits & rest:
                result |= _named(cls, name, member)
                rest &= ~bits
        if rest & named_now:
            raise Refusal(
                f"a value of the flags {name} has the bits {rest:#x}, which had no name when it was written and "
                "belong to a member now; give the members their old values"
            )
        return result | cls(rest) if rest else result

    return flags


def mentions(value: Any, kinds: set[type]) -> bool:
    """Whether a key contains an object of one of these classes."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if type(part) in kinds:
            return True
        if isinstance(part, tuple | list):
            waiting.extend(part)
        elif hasattr(type(part), "__dataclass_fields__"):
            waiting.extend(getattr(part, field.name) for field in fields(part))
    return False


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
    """The name of a missing class with an object in a value; "" if there is none."""
    try:
        classes.Noted().dumps(value)
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


def drop_lost(state: KeyedState | OperatorState) -> None:
    """Drop the states that ``open()`` has not asked for, with a log message."""
    for name, cls in state.lost.items():
        state.forms.pop(name, None)
        reason = f"objects of the class {cls} are in it, which the program does not have: it is dropped, as allowed"
        state.notes[f"{name}: {reason}"] += 0
    state.lost.clear()
