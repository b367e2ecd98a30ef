"""The results of the compiler: a program as text, or the reason why there is none; and how constants are written."""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from penstock.runtime import constants

VERSION = 1
Json = Any
"""Data of the JSON module: an expression, a statement, a constant of a program."""


@dataclass(frozen=True)
class Compiled:
    """A function as a program."""

    program: str  # JSON
    functions: tuple[str, ...] = ()  # the program's functions that it calls, by qualified name, in order
    states: tuple[tuple[str, str, str], ...] = ()  # that it may use, by number: attribute, kind, mark of its functions
    tags: tuple[str, ...] = ()  # the IDs of side outputs, by number
    kept: tuple[str, ...] = ()  # the attributes that are its first parameters, and its result
    assigned: int = 0  # how many of them it assigns, the first ones


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


def program_text(functions: list[Json], states: int = 0, classes: Sequence[tuple[type, tuple[str, ...]]] = ()) -> str:
    """The JSON of functions, which may use so many states of a key, and make objects of classes with these attributes;
    the operator calls the first."""
    of_states = {"states": states} if states else {}
    text = json.dumps({"v": VERSION, "functions": functions, **of_states}, separators=(",", ":"))
    return constants.ProgramText(text, classes) if classes else text


def constant(value: object, *, sets: bool = False) -> Json:
    """Plain data as a constant of a program, a set only if it is wanted; RefusedError for all else."""
    try:
        return constants.constant(value, sets=sets)
    except constants.NotPlainError as error:
        raise RefusedError(str(error)) from None


def is_constant(expression: Json) -> bool:
    """Whether an expression of a program is a constant."""
    return expression[0] == "const"
