"""The sources of user functions by method, with the variables that they see (trees: :mod:`penstock.compiler.trees`).

A function whose file is gone or edited since has no tree, and rules that need one find nothing there.
"""

from __future__ import annotations

import ast
import functools
from collections import ChainMap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from types import FunctionType, MethodType
from typing import Any, NamedTuple

from penstock.compiler.trees import TREES, Absence, ParsedFile, Tree, closure_of
from penstock.lint.inspection import class_of, is_of, is_of_program, methods_of


@dataclass(frozen=True, eq=False)
class Source:
    """A function with its tree."""

    name: str  # of the method; of the one that a plain function stands for, such as ``map``
    tree: Tree
    function: FunctionType
    variables: Mapping[str, Any]  # global ones, and those of enclosing functions

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of its positional parameters, without that of the object."""
        names = _arguments(self.tree)
        return names[1:] if names[:1] == ("self",) else names

    @property
    def is_generator(self) -> bool:
        """Whether calling it makes a generator."""
        return bool(self.function.__code__.co_flags & (CO_GENERATOR | CO_ASYNC_GENERATOR))

    @property
    def is_coroutine(self) -> bool:
        """Whether calling it makes a coroutine."""
        return bool(self.function.__code__.co_flags & CO_COROUTINE)


class DroppedCall(NamedTuple):
    """A call of a method that is a statement of its own; ``line`` is that of its name, from 1."""

    method: str
    line: int


class Sources:
    """Finds the sources of functions."""

    def of(self, function: Any, method: str = "") -> dict[str, Source]:
        """The sources of a user function by method, base classes of the program's own included; ``method`` is what a
        plain function stands for."""
        sources: dict[str, Source] = {}
        for name, plain in _plain(function, method):
            tree = TREES.of(plain)
            if not isinstance(tree, Absence) and name not in sources:
                sources[name] = Source(name, tree, plain, ChainMap(dict(closure_of(plain)), plain.__globals__))
        return sources

    def enclosing(self, source: Source) -> Iterator[ast.AST]:
        """The nodes around a function, from the inside."""
        file = TREES.file(source.function.__code__.co_filename)
        return iter(()) if file is None else file.enclosing(source.tree)

    def dropped_calls(self, file: str) -> list[DroppedCall]:
        """The calls of methods in a file whose results are not used; none if it cannot be read."""
        parsed = TREES.file(file)
        return [] if parsed is None else _dropped(parsed)


def _arguments(tree: Tree) -> tuple[str, ...]:
    return tuple(argument.arg for argument in (*tree.args.posonlyargs, *tree.args.args))


def _plain(function: Any, method: str) -> Iterator[tuple[str, FunctionType]]:
    """The functions behind a user function, with their names."""
    while is_of(function, functools.partial, MethodType):
        function = function.func if is_of(function, functools.partial) else function.__func__
    if is_of(function, FunctionType):
        if is_of_program(function):
            yield method or function.__name__, function
        return
    yield from methods_of(function if is_of(function, type) else class_of(function))


def _dropped(file: ParsedFile) -> list[DroppedCall]:
    dropped: list[DroppedCall] = []
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            called = node.value.func
            if isinstance(called, ast.Attribute):
                dropped.append(DroppedCall(called.attr, called.end_lineno or called.lineno))
    return sorted(dropped, key=lambda call: call.line)
