"""The functions of a program, and the calls of one by another: of functions, and of classes, which make objects."""

from __future__ import annotations

import ast
import os
from collections.abc import Sequence
from dataclasses import MISSING
from inspect import CO_GENERATOR
from types import FunctionType, MethodType
from typing import Any, Protocol

from penstock.compiler import kinds
from penstock.compiler.accumulators import is_changed, is_shown
from penstock.compiler.constructors import Field, attributes_of, fields_of, init_of
from penstock.compiler.invocations import Invocation, bound_method, defaults_of, plain_function
from penstock.compiler.lists import Lists
from penstock.compiler.names import Context, Scope, Static
from penstock.compiler.process import is_context
from penstock.compiler.process_states import KeyedStates
from penstock.compiler.program import Json, RefusedError
from penstock.compiler.signatures import LIBRARY, Use
from penstock.compiler.statements import Statements, refused_class
from penstock.compiler.trees import Absence, Trees

_LIBRARY = os.path.dirname(os.__file__)


class Unit(Protocol):
    """The program that a function is part of."""

    trees: Trees
    context: Context
    makes_sets: bool
    is_pure: bool
    states: KeyedStates
    answering: FunctionType | None
    merging: FunctionType | None
    classes: list[tuple[type, tuple[str, ...]]]
    blank: object

    def compile(self, function: FunctionType, call: Invocation) -> int:
        """The number of a function of the program that is called in some way."""
        ...


class Body(Statements):
    """A function, with the other functions of its program."""

    def __init__(
        self, unit: Unit, scope: Scope, lists: Lists, iterators: frozenset[str], result: Use, is_generator: bool
    ) -> None:
        super().__init__(scope, lists, iterators, result, is_generator)
        self.unit = unit
        self.makes_sets = unit.makes_sets
        self.merges = scope.function is unit.merging
        self.answers = scope.function is unit.answering

    def combining(self, function: Any, method: str, count: int, node: ast.AST) -> int:
        plain, first, keywords = plain_function(bound_method(function, method))
        if plain is None or plain in LIBRARY:
            raise RefusedError(f"{method}() of the state's function is not written in Python", node)
        changes: Sequence[int] = ()
        if method == "add" and is_changed(plain, self.unit.trees):
            if is_shown(plain_function(bound_method(function, "get_result"))[0], self.unit.trees):
                raise RefusedError("add() changes an accumulator that other code could see", node)
            changes = kinds.ACCUMULATORS["add"]
        return self.unit.compile(plain, Invocation(first, keywords, count=count, changes=changes))

    def new_object(self, static: Static, node: ast.Call) -> Json | None:
        try:
            fields, init = fields_of(static.value), init_of(static.value)
            names = () if init is None or fields is not None else self._attributes(init)
        except RefusedError as error:
            raise RefusedError(f"calls {static.text}(): {error.reason}", node) from None
        if fields is not None:
            attributes = self._fields(fields, static, node)
            return self._object(static.value, tuple(field.name for field in fields), attributes)
        if init is None:
            return None
        attributes = self.program_call(Static(MethodType(init, self.unit.blank), static.text), node, Use.KEEP, names)
        return self._object(static.value, names, attributes)

    def _attributes(self, init: FunctionType) -> tuple[str, ...]:
        """The attributes that an ``__init__`` assigns."""
        tree = self.unit.trees.of(init)
        if isinstance(tree, Absence):
            raise RefusedError(str(tree))
        return attributes_of(tree, init.__code__.co_varnames[0])

    def _object(self, cls: type, names: tuple[str, ...], attributes: Json) -> Json:
        """An object of a class out of a tuple of its attributes."""
        if (cls, names) not in self.unit.classes:
            self.unit.classes.append((cls, names))
        return ["object", self.unit.classes.index((cls, names)), attributes]

    def _fields(self, fields: Sequence[Field], static: Static, node: ast.Call) -> Json:
        """The attributes of an object of a dataclass, as a tuple."""
        names = [field.name for field in fields]
        values = _bound(static.text, names, [field.name for field in fields if not field.by_name], node)
        attributes: list[Json] = ["tuple"]
        for field in fields:
            if field.name in values:
                attributes.append(self.expression(values[field.name]))
            elif field.default is not MISSING:
                default = Static(field.default, f"the default of {field.name}")
                attributes.append(self.static_value(default, Use.KEEP, node))
            elif field.factory in (list, dict):
                attributes.append([field.factory.__name__])
            else:
                raise _without(static.text, field.name, node)
        return attributes

    def program_call(self, static: Static, node: ast.Call, use: Use, makes: tuple[str, ...] = ()) -> Json:
        plain, first, keywords = plain_function(static.value)
        if plain is None:
            raise refused_class(static, node)
        code = plain.__code__
        names = list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
        free = [name for name in names[len(first) :] if name not in keywords]
        positional = [name for name in names[len(first) : code.co_argcount] if name not in keywords]
        values, keywords = _bound(static.text, free, positional, node), dict(keywords)
        defaults = defaults_of(plain)
        arguments: list[Json] = []
        for name in free:
            if name in values and is_context(self.scope.static(values[name])):
                keywords[name] = self.unit.context
            elif name in values:
                arguments.append(self.expression(values[name]))
            elif name in defaults:
                arguments.append(self.static_value(Static(defaults[name], f"the default of {name}"), Use.KEEP, node))
            else:
                raise _without(static.text, name, node)
        try:
            yields = self._yields(plain, use)
            number = self.unit.compile(plain, Invocation(first, keywords, yields=yields, makes=makes))
        except RefusedError as error:
            if _is_of_library(plain):
                raise RefusedError(f"calls {static.text}(), which {error.reason}", node) from None
            if error.file is None:
                error.node = node
            raise
        result = ["call", number, *arguments]
        item = self.scope.fresh() if yields else -1
        return ["each", ["local", item], [[item, result, []]]] if yields else result

    def _yields(self, function: FunctionType, use: Use) -> bool:
        """Whether a function is a generator that may run to its end before its first item is looked at: what it yields
        is gone through, and nothing changes meanwhile that it could see."""
        is_generator = bool(function.__code__.co_flags & CO_GENERATOR)
        return is_generator and use is Use.ITERATE and self.unit.is_pure and not self.unit.states.native


def _bound(title: str, names: Sequence[str], positional: Sequence[str], node: ast.Call) -> dict[str, ast.expr]:
    """The arguments of a call by the names of parameters; the ``positional`` ones may come without."""
    if any(isinstance(argument, ast.Starred) for argument in node.args):
        raise RefusedError(f"{title}() with * cannot be translated", node)
    if len(node.args) > len(positional):
        raise RefusedError(f"{title}() is called with {len(node.args)} arguments", node)
    values = dict(zip(positional, node.args, strict=False))
    for keyword in node.keywords:
        if keyword.arg is None or keyword.arg not in names or keyword.arg in values:
            raise RefusedError(f"{title}() with {keyword.arg or '**'} cannot be translated", node)
        values[keyword.arg] = keyword.value
    return values


def _without(title: str, name: str, node: ast.Call) -> RefusedError:
    return RefusedError(f"{title}() is called without {name}", node)


def _is_of_library(function: FunctionType) -> bool:
    """Whether a function is of Python's library or an installed one, where a place helps nobody."""
    path = function.__code__.co_filename
    return path.startswith(_LIBRARY) or any(folder in path for folder in ("site-packages", "dist-packages"))
