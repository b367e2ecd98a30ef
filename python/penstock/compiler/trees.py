"""The syntax tree of a function that runs, from its file or notebook cell.

A tree is certain: its code, compiled alone, is that of the function, instruction by instruction, with the same
constants and names. So neither a file that was edited since nor two lambdas in one line can mislead. Lambdas of equal
code are interchangeable. Cost: a file is parsed once; a function's tree is compiled once.
"""

from __future__ import annotations
import __future__

import ast
import linecache
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from types import CodeType, FunctionType
from typing import Any

Tree = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_LAMBDA = "<lambda>"
_FUTURE = __future__.annotations.compiler_flag  # the one that changes code
_KINDS = 0x04 | 0x08 | 0x20 | 0x80 | 0x200 | _FUTURE  # *args, **kwargs, generators, coroutines, async generators
_MOST_FILES = 64
_PLACE = "<place>"
_COUNTS = ("co_argcount", "co_posonlyargcount", "co_kwonlyargcount")
_EXACT = (*_COUNTS, "co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_exceptiontable")


class Absence(str):
    """The reason why a function has no tree, as the end of a sentence."""

    __slots__ = ()


NO_SOURCE = Absence("its source is not available")
CHANGED = Absence("its source has been changed since it was loaded, or something has changed its code")


@dataclass(frozen=True, eq=False)
class ParsedFile:
    """A file with its functions by line and name of their code."""

    name: str
    lines: list[str]
    tree: ast.Module
    functions: Mapping[tuple[int, str], list[Tree]]
    parents: Mapping[ast.AST, ast.AST]  # of all nodes but the tree itself

    def enclosing(self, node: ast.AST | None) -> Iterator[ast.AST]:
        """The nodes around a node, from the inside."""
        while node is not None and (node := self.parents.get(node)) is not None:
            yield node

    @cached_property
    def imported(self) -> frozenset[str]:
        """The global variables that imports outside of functions and classes assign."""
        names: set[str] = set()
        pending: list[ast.AST] = [self.tree]
        while pending:
            for node in ast.iter_child_nodes(pending.pop()):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    names.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
                elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr):
                    pending.append(node)
        return frozenset(names)

    @cached_property
    def reassigned(self) -> frozenset[str]:
        """The variables that a function declares as global or nonlocal."""
        nodes = (node for node in self.parents if isinstance(node, ast.Global | ast.Nonlocal))
        return frozenset(name for node in nodes for name in node.names)

    @cached_property
    def changed(self) -> frozenset[str]:
        """The variables whose object is changed somewhere: by item, by attribute, in place, or by a method that changes
        containers."""
        kinds = ast.Subscript | ast.Attribute | ast.AugAssign | ast.Call
        return frozenset(name for node in self.parents if isinstance(node, kinds) for name in _changed(node))


class Trees:
    """Finds trees, and remembers files."""

    def __init__(self) -> None:
        self._files: dict[str, ParsedFile] = {}
        self._trees: dict[int, tuple[CodeType, ParsedFile, Tree]] = {}

    def file(self, name: str, variables: dict[str, Any] | None = None) -> ParsedFile | None:
        """A file as it is now, None if it cannot be read or parsed; ``variables`` are the globals of its module, whose
        loader may know it."""
        linecache.checkcache(name)
        lines = linecache.getlines(name, variables)
        known = self._files.get(name)
        if known is None or known.lines is not lines:
            known = _parsed(name, lines)
            if known is None:
                return None
            while len(self._files) >= _MOST_FILES:
                self._files.pop(next(iter(self._files)), None)  # None: another thread was first
            self._files[name] = known
        return known

    def of(self, function: FunctionType) -> Tree | Absence:
        """The tree of a function."""
        code = function.__code__
        file = self.file(code.co_filename, function.__globals__)
        if file is None:
            return NO_SOURCE
        known = self._trees.get(id(code))
        if known is not None and known[1] is file:
            return known[2]
        tree = _search(file, code)
        if tree is None:
            return CHANGED
        if len(self._trees) >= _MOST_FILES * _MOST_FILES:
            self._trees.clear()
        self._trees[id(code)] = (code, file, tree)  # with the code, which keeps its id
        return tree


TREES = Trees()
"""The trees that all programs of this process share."""


def closure_of(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """The variables of enclosing functions, without those that are not assigned yet."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):
            yield name, cell.cell_contents


def _parsed(name: str, lines: list[str]) -> ParsedFile | None:
    if not lines:
        return None
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    functions: dict[tuple[int, str], list[Tree]] = {}
    parents: dict[ast.AST, ast.AST] = {}
    nodes: list[ast.AST] = [tree]
    for node in nodes:  # which grows meanwhile
        children = [*ast.iter_child_nodes(node)] if node._fields else ()
        nodes += children
        parents.update(dict.fromkeys(children, node))
        if isinstance(node, ast.Lambda):
            functions.setdefault((node.lineno, _LAMBDA), []).append(node)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            functions.setdefault((first, node.name), []).append(node)
    return ParsedFile(name, lines, tree, functions, parents)


def _search(file: ParsedFile, code: CodeType) -> Tree | None:
    """The tree of a code; among those of equal code the one at the same place."""
    equal: list[Tree] = []
    for tree in file.functions.get((code.co_firstlineno, code.co_name), []):
        compiled = _compiled(tree, file, code)
        if compiled is not None and _are_equal(compiled, code):
            if compiled == code:  # from Python 3.12 on with its columns
                return tree
            equal.append(tree)
    return equal[0] if equal else None


def _compiled(tree: Tree, file: ParsedFile, code: CodeType) -> CodeType | None:
    """The code of a tree, compiled alone: in a class, whose name private names take, within a function that has the
    variables of enclosing functions."""
    around = next((node.name for node in file.enclosing(tree) if isinstance(node, ast.ClassDef)), "_")
    old = tree.args
    arguments = ast.arguments(
        old.posonlyargs, old.args, old.vararg, old.kwonlyargs, [None] * len(old.kwonlyargs), old.kwarg, []
    )
    place: Any = {"lineno": 1, "col_offset": 0, "end_lineno": 1, "end_col_offset": 0}
    here: Any = {name: getattr(tree, name) for name in place}
    statement: ast.stmt
    if isinstance(tree, ast.Lambda):
        alone: Any = ast.Lambda(arguments, tree.body, **here)
        statement = ast.Assign([ast.Name("_", ast.Store(), **place)], alone, **place)
    else:
        statement = type(tree)(tree.name, arguments, tree.body, [], None, **here)
        if hasattr(tree, "type_params"):
            statement.type_params = []  # pyright: ignore[reportAttributeAccessIssue]
    variables = [ast.arg(name, **place) for name in code.co_freevars if name != "__class__"]
    named = ast.ClassDef(around, [], [], [statement], [], **place)
    hidden = ast.ClassDef(_PLACE, [], [], [named], [], **place)  # the names in a class are not those of its functions
    outer = ast.FunctionDef(_PLACE, ast.arguments([], variables, None, [], [], None, []), [hidden], [], **place)
    if hasattr(ast, "TypeVar"):
        for part in (named, hidden, outer):
            part.type_params = []  # pyright: ignore[reportAttributeAccessIssue]
    body: list[ast.stmt] = [outer]
    if imported := file.imported.intersection(code.co_names):  # a call of a module's function is compiled in its way
        body.insert(0, ast.Import([ast.alias("_", name, **place) for name in sorted(imported)], **place))
    try:
        compiled = compile(ast.Module(body, []), code.co_filename, "exec", code.co_flags & _FUTURE, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for name in (_PLACE, _PLACE, around, code.co_name):
        inner = [part for part in compiled.co_consts if isinstance(part, CodeType) and part.co_name == name]
        if len(inner) != 1:
            return None
        compiled = inner[0]
    return compiled


def _are_equal(one: CodeType, other: CodeType) -> bool:
    """Whether two codes do the same, wherever they are."""
    return (
        all(getattr(one, name, None) == getattr(other, name, None) for name in _EXACT)
        and (one.co_flags ^ other.co_flags) & _KINDS == 0
        and _are_same(one.co_consts, other.co_consts)
    )


def _are_same(one: Any, other: Any) -> bool:
    """Whether two constants are the same, types and signs of zeros included. Recursive in the nesting of constants."""
    if type(one) is not type(other):
        return False
    if isinstance(one, CodeType):
        return _are_equal(one, other)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_are_same, one, other))
    if isinstance(one, frozenset):
        return {(type(item), item) for item in one} == {(type(item), item) for item in other}
    if isinstance(one, str) and one.startswith(_PLACE):  # the full name of a function or class inside
        return other.endswith(one.rpartition(f"{_PLACE}.")[2].partition(".")[2])
    return repr(one) == repr(other) if isinstance(one, float | complex) else one == other


MUTATORS = frozenset(
    {"append", "appendleft", "add", "clear", "discard", "extend", "insert", "pop", "popitem", "popleft", "remove"}
    | {"setdefault", "sort", "subtract", "update"}
)
"""Methods by which containers are changed."""


def _changed(node: ast.AST) -> Iterator[str]:
    """The variables whose object a node of a tree changes, if it does."""
    target: ast.expr | None = None
    if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
        target = node.value
    elif isinstance(node, ast.AugAssign):
        target = node.target
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MUTATORS:
        target = node.func.value
    while isinstance(target, ast.Subscript | ast.Attribute):
        if isinstance(target, ast.Attribute):
            yield target.attr
        target = target.value
    if isinstance(target, ast.Name):
        yield target.id
