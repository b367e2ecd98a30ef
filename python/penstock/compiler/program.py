"""The results of the compiler: a program as text, or the reason why there is none; and how constants are written."""

from __future__ import annotations

import ast
import json
import struct
from dataclasses import dataclass
from typing import Any, cast

VERSION = 1
Json = Any
"""Data of the JSON module: an expression, a statement, a constant of a program."""


@dataclass(frozen=True)
class Compiled:
    """A function as a program."""

    program: str  # JSON
    functions: tuple[str, ...] = ()  # the program's functions that it calls, by qualified name, in order


@dataclass(frozen=True)
class Refusal:
    """Why a function stays in Python."""

    reason: str
    file: str | None = None
    line: int | None = None  # from 1
    column: int | None = None  # in characters, from 1

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        return f"{self.reason} ({place})" if place else self.reason


class RefusedError(Exception):
    """A function cannot be compiled because of one of its nodes. It never leaves the compiler."""

    def __init__(self, reason: str, node: ast.AST | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.node = node
        self.file: str | None = None  # of the node, if it is not the file of the function that is compiled
        self.place: tuple[int, int] | None = None


def program_text(functions: list[Json]) -> str:
    """The JSON of functions; the operator calls the first."""
    return json.dumps({"v": VERSION, "functions": functions}, separators=(",", ":"))


def constant(value: object, *, sets: bool = False) -> Json:
    """Plain data as a constant of a program, a set only if it is wanted; RefusedError for all else. Recursive in the
    nesting of the data."""
    if value is None or value is True or value is False:
        return value
    kind = type(value)
    if kind is int:
        number = cast("int", value)
        if not -(1 << 63) <= number < 1 << 63:
            raise RefusedError("a whole number of more than 64 bits")
        return number
    if kind is float:
        return {"f": str(struct.unpack("<Q", struct.pack("<d", value))[0])}
    if kind is str:
        text = cast("str", value)
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise RefusedError("a text with half of a surrogate pair")
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
    raise RefusedError(f"{article(kind.__name__)}, which is not plain data")


def is_constant(expression: Json) -> bool:
    """Whether an expression of a program is a constant."""
    return expression[0] == "const"


def is_changeable(value: object) -> bool:
    """Whether data is, or holds, a list, a dict or a set. Recursive in the nesting of the data."""
    if type(value) is tuple:
        return any(map(is_changeable, cast("tuple[object, ...]", value)))
    return type(value) in (list, dict, set, bytearray)


def article(noun: str) -> str:
    """A noun with its article."""
    return f"{'an' if noun[:1].lower() in 'aeio' else 'a'} {noun}"
