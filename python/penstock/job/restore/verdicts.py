"""The effect of a restore on the state of an operator, by what is known of it, without its values.

The decisions are those of a restore: ``key_check`` of keys, ``conversion_of`` of each state, ``Reading`` of classes.
What they leave to single values is *unknown until it runs*. Cost: linear in states and the sizes of their types.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any, NamedTuple

from penstock.common.class_names import former
from penstock.common.functions.state_descriptor import Migration, StateDescriptor
from penstock.common.typeinfo import BasicType, ListTypeInfo, RowTypeInfo, TupleTypeInfo, TypeInformation
from penstock.errors import InvalidProgramError, TypeInfoError
from penstock.runtime.buffers.value_checks import kind_of
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.keys.pyflink_keys import InRow
from penstock.runtime.state.class_changes import GoneError, Reading
from penstock.runtime.state.classes import ClassForm
from penstock.runtime.state.evolution import TABLE, conversion_of, never_closed
from penstock.runtime.state.keyed import StateInfo
from penstock.runtime.state.type_changes import Refusal, is_undeclared, key_check, mentions_undeclared
from penstock.runtime.state.type_texts import type_of

KEPT, CONVERTED, REFUSED, LOST, EMPTY, UNKNOWN = "kept", "converted", "refused", "lost", "starts empty", "unknown"
KEYED, BROADCAST, TIMERS, LIST = "keyed", "broadcast", "timers", "list"  # where a state belongs
THE_KEY = "the key"
_IN_ROW = "InRow(key_type="


class Verdict(NamedTuple):
    """The fate of one state."""

    state: str  # its name, or :data:`THE_KEY`, or the name of a class
    outcome: str  # ``kept``, ``converted``, ``refused``, ``lost``, ``starts empty`` or ``unknown``
    reason: str = ""  # why, or what differs; "" where there is nothing to say


class Known(NamedTuple):
    """A state as one side knows it."""

    form: StateInfo  # what it is; of kind "" where that is not known
    where: str = KEYED  # ``keyed``, ``broadcast``, ``timers`` or ``list``
    late: bool = False  # whether a function has it, which may ask for it at any time
    former_names: tuple[str, ...] = ()  # what it was called before, as the program says
    defaults: tuple[str, ...] = ()  # paths of fields for which the program has defaults


@dataclass(frozen=True)
class Holding:
    """What is known of the state of an operator, as it was saved or as a program asks for it."""

    states: Sequence[Known]
    key: str | None = None  # type of its keys as a text, "" for undeclared; None where it has none, or nobody knows
    complete: bool = True  # whether nothing else is asked for; a function may ask later than in ``open()``
    classes: Mapping[str, ClassForm] = field(default_factory=dict)  # what the classes of saved objects were


def verdicts(
    saved: Holding, asked: Holding, classes: Mapping[str, type] = MappingProxyType({}), *, allow: bool = False
) -> list[Verdict]:
    """The fate of each state of an operator, in the order in which the program asks; then of what is left."""
    existing = {(known.where, known.form.name): known for known in saved.states}
    result: list[Verdict] = []
    taken: set[tuple[str, str]] = set()
    for state in asked.states:
        names = (state.form.name, *state.former_names)
        was = next((existing[state.where, name] for name in names if (state.where, name) in existing), None)
        if was is None:
            result.append(Verdict(state.form.name, EMPTY))
        else:
            taken.add((was.where, was.form.name))
            result += _of_state(was, state)
    left = [known for place, known in existing.items() if place not in taken]
    drops = allow and any(known.where in (KEYED, BROADCAST) for known in left)
    return [*_of_classes(saved, classes, drops), *_of_key(saved.key, asked.key), *result, *_of_left(left, asked)]


def _of_state(was: Known, state: Known) -> Iterator[Verdict]:
    old, new = was.form, state.form
    same_table = old.kind == new.kind == TABLE and (not new.types[0] or old.types == new.types)
    if state.where not in (KEYED, BROADCAST) or same_table:
        yield Verdict(new.name, KEPT)
        return
    if not old.kind or not new.kind:
        yield Verdict(new.name, UNKNOWN, "what is kept of it was not recorded")
        return
    doubts = [] if old.name == new.name else [f"it was called {old.name}"]
    before = len(doubts)
    try:
        declared = [type_of(text) for text in new.types]
        convert = conversion_of(_descriptor(state, old), old, new, declared, 0, dict.fromkeys(state.defaults), doubts)
    except InvalidProgramError as error:
        yield Verdict(new.name, REFUSED, str(error))
        return
    except ValueError as error:
        yield Verdict(new.name, UNKNOWN, str(error))
        return
    if new.windows and not old.windows:
        doubts.append("which sort of windows are open was not recorded")
    closed = never_closed(old, new)
    if closed:
        yield Verdict(new.name, LOST, closed.partition(": ")[2])
    if len(doubts) > before:
        yield Verdict(new.name, UNKNOWN, "; ".join(dict.fromkeys(doubts)))
    elif not closed:
        pairs = zip(old.types, new.types, strict=False)
        changed = [f"{one or 'undeclared'} -> {other or 'undeclared'}" for one, other in pairs if one != other]
        yield Verdict(new.name, KEPT if convert is None else CONVERTED, ", ".join([*doubts, *changed]))


def _descriptor(state: Known, old: StateInfo) -> StateDescriptor[Any]:
    """A descriptor with the migrations of the program, of whose functions only the presence is known."""
    descriptor: StateDescriptor[Any] = StateDescriptor(state.form.name)
    object.__setattr__(descriptor, "field_defaults", dict.fromkeys(state.defaults))
    if state.form.version > old.version:
        object.__setattr__(descriptor, "migrations", (Migration(state.form.version, lambda value: value),))
    return descriptor


def _of_left(left: Sequence[Known], asked: Holding) -> Iterator[Verdict]:
    windows = any(state.form.windows for state in asked.states)
    for state in left:
        name = state.form.name
        if name.startswith("trigger:"):  # goes with its windows
            if windows:
                yield Verdict(name, KEPT)
        elif state.late and not asked.complete:
            yield Verdict(name, UNKNOWN, "open() does not ask for it; it stays unread if nothing does later")
        elif state.where == TIMERS:
            yield Verdict(name, LOST, "nothing takes its timers any more")
        else:
            yield Verdict(name, LOST, "nothing asks for it any more")


def _of_key(before: str | None, after: str | None) -> Iterator[Verdict]:
    if before is None or after is None:
        return
    try:
        new = key_type_of(after)
        check = key_check(before, KeyHash(new))
    except (Refusal, TypeInfoError) as reason:
        yield Verdict(THE_KEY, REFUSED, str(reason))
        return
    except ValueError as reason:
        yield Verdict(THE_KEY, UNKNOWN, str(reason))
        return
    if check is None:
        if is_undeclared(_inner(new)) or mentions_undeclared(new):  # type: ignore[arg-type]
            yield Verdict(THE_KEY, UNKNOWN, "its type is not declared: keys of another type than before begin empty")
        return
    refused = None
    old = _inner(key_type_of(before))
    usual = _values(_inner(new) if is_undeclared(old) else old)
    for sample in usual:  # if each of them is refused, so is the program
        try:
            check([sample])
        except Refusal as reason:
            refused = reason
            continue
        text = f"it was {before or 'undeclared'} and is {after or 'undeclared'}: refused if a key has another hash now"
        yield Verdict(THE_KEY, UNKNOWN, text)
        return
    text = f"the keys were declared {before or 'as nothing'} and are {after or 'not declared'} now"
    yield Verdict(THE_KEY, REFUSED, text if refused is None else f"{text}, where a key has another hash")


def key_type_of(text: str) -> TypeInformation[Any] | None:
    """The type of keys behind its text, also of keys as PyFlink sends them to Java."""
    if text.startswith(_IN_ROW) and text.endswith(")"):
        inner = text[len(_IN_ROW) : -1]
        return InRow(None if inner == "None" else type_of(inner))
    return type_of(text)


def _inner(key_type: TypeInformation[Any] | None) -> TypeInformation[Any] | None:
    return key_type.key_type if isinstance(key_type, InRow) else key_type


def _values(declared: TypeInformation[Any] | None) -> list[Any]:
    if isinstance(declared, TupleTypeInfo | RowTypeInfo):
        columns = [_values(field_type) for field_type in declared.field_types]
        return [tuple(column[i % len(column)] for column in columns) for i in range(3)]
    if isinstance(declared, ListTypeInfo):
        return [[value] for value in _values(declared.element_type)]
    kind = None if declared is None else kind_of(declared)
    if kind in (BasicType.STRING, BasicType.CHAR):
        return ["a", "b"]
    if kind in (BasicType.FLOAT, BasicType.DOUBLE):
        return [1.5, 2.25]
    if kind is BasicType.BOOLEAN:
        return [True, False]
    return [3, 1000, -7] if kind is not None else ["a", 3]


def _of_classes(saved: Holding, classes: Mapping[str, type], drops: bool) -> Iterator[Verdict]:
    """Of the classes of objects in a state; ``drops``: one that is not asked for may go with its class."""

    def find(module: str, name: str) -> type | None:
        full = f"{module}.{name}"
        renamed = (cls for cls in classes.values() if full in vars(cls).get("__formerly__", ()))
        loaded = None if module == "__main__" else _loaded(module, name)  # which is this command's here
        return loaded or classes.get(f"{module}:{name}") or former(full) or next(renamed, None)

    for name, form in saved.classes.items():
        module, _, qualname = name.partition(":")
        if find(module, qualname) is None and _could_have(module):
            yield Verdict(name, UNKNOWN, "whether the program has this class is seen when it runs")
            continue
        try:
            reading = Reading({name: form}, find)
        except GoneError as reason:
            text = "the program does not have this class; a state with its objects is dropped, or refused if asked for"
            yield Verdict(name, UNKNOWN, text) if drops else Verdict(name, REFUSED, str(reason))
            continue
        except Refusal as reason:
            yield Verdict(name, REFUSED, str(reason))
            continue
        if reading.changed:
            gone = _gone(form, next(iter(reading.changed)))
            text = f"the enum has no {gone} any more: refused if they are in use" if gone else "the class has changed"
            if gone or not saved.key:
                yield Verdict(name, UNKNOWN, f"{text}; keys that are its objects are refused")
            else:
                yield Verdict(name, CONVERTED, text)


def _loaded(module: str, name: str) -> type | None:
    """A class of a module that is loaded: a savepoint may name any, and importing one runs it."""
    value: Any = sys.modules.get(module)
    for part in name.split("."):
        value = getattr(value, part, None)
    return value if isinstance(value, type) else None


def _could_have(module: str) -> bool:
    """Whether a run could find a class in a module where this command has not."""
    if module == "__main__":
        return True
    top = module.partition(".")[0]
    return module not in sys.modules and (top in sys.modules or find_spec(top) is not None)


def _gone(form: ClassForm, cls: type) -> str:
    """The members of an enum that it has lost."""
    if form["kind"] != "enum":
        return ""
    return ", ".join(str(member) for member, _ in form["members"] if member not in getattr(cls, "__members__", {}))
