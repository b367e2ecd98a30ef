"""The source of user functions as syntax trees, found by the file and line of their code.

A function whose file is gone, or which shares its line with others that look the same, has no tree, and rules that need
one find nothing there. Cost: each file is parsed once.
"""

from __future__ import annotations

import ast
import functools
import linecache
import sys
from collections import ChainMap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from types import CodeType, FunctionType, MethodType
from typing import Any, NamedTuple

from penstock.lint.inspection import class_of, closure_of, is_of, is_of_program, methods_of

Tree = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_LAMBDA = "<lambda>"


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


@dataclass(frozen=True, eq=False)
class _File:
    """A parsed file: functions by line and name of their code, parents of all nodes, and calls of methods whose results
    are not used."""

    functions: Mapping[tuple[int, str], list[Tree]]
    parents: Mapping[ast.AST, ast.AST]
    dropped: list[DroppedCall]


class Sources:
    """Finds trees, and remembers files."""

    def __init__(self) -> None:
        self._files: dict[str, _File | None] = {}
        self._trees: dict[int, tuple[CodeType, Tree | None]] = {}

    def of(self, function: Any, method: str = "") -> dict[str, Source]:
        """The sources of a user function by method, base classes of the program's own included; ``method`` is what a
        plain function stands for."""
        sources: dict[str, Source] = {}
        for name, plain in _plain(function, method):
            tree = self._tree(plain.__code__)
            if tree is not None and name not in sources:
                sources[name] = Source(name, tree, plain, ChainMap(dict(closure_of(plain)), plain.__globals__))
        return sources

    def enclosing(self, source: Source) -> Iterator[ast.AST]:
        """The nodes around a function, from the inside."""
        file = self._files.get(source.function.__code__.co_filename)
        node: ast.AST | None = source.tree
        while file is not None and (node := file.parents.get(node)) is not None:
            yield node

    def dropped_calls(self, file: str) -> list[DroppedCall]:
        """The calls of methods in a file whose results are not used; none if it cannot be read."""
        parsed = self._file(file)
        return [] if parsed is None else parsed.dropped

    def _tree(self, code: CodeType) -> Tree | None:
        known = self._trees.get(id(code))
        if known is None:
            known = self._trees[id(code)] = (code, self._search(code))  # with the code, which keeps its id
        return known[1]

    def _search(self, code: CodeType) -> Tree | None:
        file = self._file(code.co_filename)
        if file is None:
            return None
        arguments = code.co_varnames[: code.co_argcount]
        same = file.functions.get((code.co_firstlineno, code.co_name), [])
        fit = [tree for tree in same if _arguments(tree) == arguments]
        if len(fit) > 1:
            fit = [tree for tree in fit if _contains(tree, code)]
        return fit[0] if len(fit) == 1 else None

    def _file(self, name: str) -> _File | None:
        if name not in self._files:
            self._files[name] = _parsed(name)
        return self._files[name]


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


def _parsed(name: str) -> _File | None:
    linecache.checkcache(name)
    lines = linecache.getlines(name)
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError, RecursionError):
        return None
    if not lines:
        return None
    functions: dict[tuple[int, str], list[Tree]] = {}
    parents: dict[ast.AST, ast.AST] = {}
    dropped: list[DroppedCall] = []
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            parents[child] = node
        if isinstance(node, ast.Lambda):
            functions.setdefault((node.lineno, _LAMBDA), []).append(node)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            functions.setdefault((first, node.name), []).append(node)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            called = node.value.func
            if isinstance(called, ast.Attribute):
                dropped.append(DroppedCall(called.attr, called.end_lineno or called.lineno))
    return _File(functions, parents, sorted(dropped, key=lambda call: call.line))


def _contains(tree: Tree, code: CodeType) -> bool:
    """Whether all instructions of code are of a tree; before Python 3.11 code does not say that."""
    if sys.version_info < (3, 11):
        return False
    places = [co_position for co_position in code.co_positions() if None not in co_position and co_position[3]]
    inside = tree.body if isinstance(tree, ast.Lambda) else tree
    first, last = (inside.lineno, inside.col_offset), (inside.end_lineno or 0, inside.end_col_offset or 0)
    if isinstance(tree, ast.Lambda):
        first = (tree.lineno, tree.col_offset)
    return bool(places) and all(
        first <= (line, column) and (end, end_column) <= last  # type: ignore[operator]
        for line, end, column, end_column in places
    )
