"""Plain data as constants of programs; and data that a user's object has only after its ``open``."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta, timezone
from typing import Any, cast

Json = Any
_LARGEST = 1 << 20  # entries of a dict
_MOST_OTHERS = 64  # entries of a dict that is searched, items of a tuple
_SURROGATE = re.compile("[\ud800-\udfff]")


class NotPlainError(Exception):
    """A value is not plain data, with what it is instead."""


def constant(value: object, *, sets: bool = False) -> Json:
    """Plain data as a constant of a program, a set only if it is wanted; NotPlainError for all else. Recursive in the
    nesting of the data."""
    if value is None or value is True or value is False:
        return value
    kind = type(value)
    if kind is int:
        number = cast("int", value)
        if not -(1 << 63) <= number < 1 << 63:
            raise NotPlainError("a whole number of more than 64 bits")
        return number
    if kind is float:
        return {"f": str(struct.unpack("<Q", struct.pack("<d", value))[0])}
    if kind is str:
        text = cast("str", value)
        if not text.isascii() and _SURROGATE.search(text):
            raise NotPlainError("a text with half of a surrogate pair")
        return text
    if kind is bytes:
        return {"b": cast("bytes", value).hex()}
    if kind is tuple or kind is list:
        items = [constant(item) for item in cast("list[object]", value)]
        return {"t" if kind is tuple else "l": items}
    if kind is dict:
        pairs = cast("dict[object, object]", value).items()
        return {"d": [[constant(key), constant(item)] for key, item in pairs]}
    if sets and kind in (set, frozenset):
        members = [constant(item) for item in cast("set[object]", value)]
        return {"s": sorted(members, key=json.dumps)}  # not in the order of their hashes, which differ from run to run
    if kind in (datetime, date, time, timedelta):
        return _moment(value)
    raise NotPlainError(f"{article(kind.__name__)}, which is not plain data")


def _moment(value: Any) -> Json:
    """A date, a time by its own clock with the seconds of its offset, or a span, in microseconds."""
    if type(value) is timedelta:
        span = value // timedelta(microseconds=1)
        if not -(1 << 63) <= span < 1 << 63:
            raise NotPlainError("a timedelta of more than 64 bits")
        return {"span": [span]}
    if type(value) is date:
        return {"day": [value.toordinal() - 1]}
    if value.fold:
        raise NotPlainError("a time that comes a second time")
    if isinstance(value, time) and value.tzinfo is not None:
        raise NotPlainError("a time of day with a time zone")
    if isinstance(value, time):
        return {"clock": [(datetime.combine(date.min, value) - datetime.min) // timedelta(microseconds=1)]}
    local = (value.replace(tzinfo=None) - datetime.min) // timedelta(microseconds=1)
    return {"at": [local, None if value.tzinfo is None else offset_of(value.tzinfo)]}


def offset_of(zone: object) -> int:
    """The seconds that a time zone is ahead of UTC; NotPlainError for one that is not known by them alone."""
    if type(zone) is timezone:
        offset = zone.utcoffset(None)
        if str(zone) == str(timezone(offset)) and not offset.microseconds:
            return offset // timedelta(seconds=1)
    raise NotPlainError("a time zone without a fixed offset of whole seconds")


def is_changeable(value: object) -> bool:
    """Whether data is, or holds, a list, a dict or a set. Recursive in the nesting of the data."""
    if type(value) is tuple:
        return any(map(is_changeable, cast("tuple[object, ...]", value)))
    return type(value) in (list, dict, set, bytearray)


def article(noun: str) -> str:
    """A noun with its article."""
    return f"{'an' if noun[:1].lower() in 'aeio' else 'a'} {noun}"


class ProgramText(str):
    """A program that makes objects: with their classes, each with the names of its attributes, by number."""

    __slots__ = ("classes",)
    classes: tuple[tuple[type, tuple[str, ...]], ...]

    def __new__(cls, text: str, classes: Sequence[tuple[type, tuple[str, ...]]] = ()) -> ProgramText:
        program = super().__new__(cls, text)
        program.classes = tuple(classes)
        return program

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.classes)


def reads_opened(text: str) -> bool:
    """Whether a program may read attributes that ``open`` assigns. (A text in it would have its quotes escaped.)"""
    return '["opened",' in text


def rewritten(text: str, program: Json) -> str:
    """Another program, which makes objects of the same classes."""
    whole = json.dumps(program, separators=(",", ":"))
    return ProgramText(whole, text.classes) if isinstance(text, ProgramText) else whole


def filled(text: str, values: Callable[[str, bool], Json]) -> str:
    """A program with constants in place of the attributes that ``open`` assigns (``["opened", name, keeps]``).
    ``values`` takes the name of one, and whether the result may hold the object itself."""
    if not reads_opened(text):
        return text
    return rewritten(text, _filled(json.loads(text), values))


def _filled(node: Json, values: Callable[[str, bool], Json]) -> Json:
    """Recursive in the nesting of the program."""
    if isinstance(node, dict):
        return {name: _filled(part, values) for name, part in cast("dict[str, Json]", node).items()}
    if not isinstance(node, list) or node[:1] == ["const"]:
        return node
    parts = cast("list[Json]", node)
    if len(parts) == 3 and parts[0] == "opened" and isinstance(parts[2], bool):
        return ["const", values(parts[1], parts[2])]
    return [_filled(part, values) for part in parts]


def filled_by(text: str, owner: object) -> str | None:
    """A program with the attributes of an open object of the user's; None where one cannot be a constant."""
    if not reads_opened(text):
        return text
    attributes = vars(owner)
    try:
        return filled(text, lambda name, keeps: opened(attributes, name, keeps))
    except NotPlainError:
        return None


def opened(attributes: dict[str, Any], name: str, keeps: bool) -> Json:
    """An attribute of a user's object as a constant; NotPlainError where it is not plain data, could be changed by
    those who get the result, or is slower to look into than in Python."""
    value = attributes.get(name)
    if type(value) is dict:
        entries = cast("dict[object, object]", value)
        kinds = set(map(type, entries))
        if keeps or any(map(is_changeable, entries.values())):
            raise NotPlainError("a dict that others could change")
        if len(entries) > (_LARGEST if kinds in ({str}, {int}) else _MOST_OTHERS):
            raise NotPlainError("a large dict")
    elif is_changeable(value) or (isinstance(value, tuple) and len(cast("tuple[object]", value)) > _MOST_OTHERS):
        raise NotPlainError("a list or a set, or a large tuple")
    return constant(value)
