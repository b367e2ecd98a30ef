"""The behaviour of a function by its syntax tree: its results, its changes, the methods of its object that it calls.

Functions that are defined inside of the function are not looked into. Where a tree is not conclusive, the answer is the
one that leads to no finding. All is O(nodes of the tree).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from penstock.compiler.trees import MUTATORS, Tree
from penstock.lint.sources import Source

HOOKS: Mapping[str, str] = {
    **dict.fromkeys(("map", "map1", "map2", "reduce", "get_key", "extract_timestamp"), "one"),
    **dict.fromkeys(("add", "create_accumulator", "get_result", "merge", "fold"), "one"),
    "filter": "test",
    **dict.fromkeys(("flat_map", "flat_map1", "flat_map2"), "many"),
    **dict.fromkeys(("process_element", "process_element1", "process_element2", "process_broadcast_element"), "yield"),
    **dict.fromkeys(("on_timer", "process", "apply"), "yield"),
    "invoke": "nothing",
}
"""The methods that are called with records, and what they return: one record, a boolean, any number of records, any
number by ``yield``, nothing."""
CONTAINERS = frozenset({"dict", "list", "set", "defaultdict", "Counter", "deque", "OrderedDict"})
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def own_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function in the order of the source, without those of functions and classes defined in it."""
    pending: list[ast.AST] = [tree.body] if isinstance(tree, ast.Lambda) else [*getattr(tree, "body", ())]
    pending.reverse()
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, _SCOPES):
            pending.extend(reversed(list(ast.iter_child_nodes(node))))


def results(tree: Tree) -> list[ast.expr | None]:
    """The values of all ``return`` of a function; None for one without a value."""
    if isinstance(tree, ast.Lambda):
        return [tree.body]
    return [node.value for node in own_nodes(tree) if isinstance(node, ast.Return)]


def may_end(tree: Tree) -> bool:
    """Whether a function may end without a ``return``."""
    return not isinstance(tree, ast.Lambda) and _passes(tree.body)


def _passes(statements: Iterable[ast.stmt]) -> bool:
    """Whether the end of some statements may be reached. Recursive in the nesting of statements."""
    return all(_statement_passes(statement) for statement in statements)


def _statement_passes(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Return | ast.Raise | ast.Continue | ast.Break):
        return False
    if isinstance(statement, ast.If):
        return _passes(statement.body) or _passes(statement.orelse)
    if isinstance(statement, ast.With | ast.AsyncWith):
        return _passes(statement.body)
    if isinstance(statement, ast.While | ast.For | ast.AsyncFor):
        if any(isinstance(node, ast.Break) for node in own_nodes(statement)):
            return True
        test = statement.test if isinstance(statement, ast.While) else None
        endless = isinstance(test, ast.Constant) and bool(test.value)
        return not endless and _passes(statement.orelse)
    if isinstance(statement, ast.Try):
        ways = [[*statement.body, *statement.orelse], *(handler.body for handler in statement.handlers)]
        return _passes(statement.finalbody) and any(map(_passes, ways))
    if isinstance(statement, ast.Match):
        whole = any(isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None for case in statement.cases)
        return not whole or any(_passes(case.body) for case in statement.cases)
    if isinstance(statement, ast.Assert):
        return not (isinstance(statement.test, ast.Constant) and not statement.test.value)
    return True


def is_none(node: ast.AST | None) -> bool:
    """Whether an expression is certainly None."""
    if node is None or isinstance(node, ast.Constant):
        return node is None or node.value is None
    called = method_called(node)
    return function_called(node) == "print" if called is None else called[1] in _GIVES_NONE


_GIVES_NONE = frozenset({"append", "extend", "insert", "reverse", "sort"})
"""Methods, of lists for instance, that return nothing."""


def always_none(source: Source) -> bool:
    """Whether a function always returns None; one that only raises does not."""
    returned = results(source.tree)
    return all(map(is_none, returned)) and (bool(returned) or may_end(source.tree))


def names_in(node: ast.AST) -> set[str]:
    """The names that are read in an expression."""
    return {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}


def attribute_of_self(node: ast.AST) -> str | None:
    """The attribute of the object in an expression: ``x`` of ``self.x[0].y``."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            return node.attr
        node = node.value
    return None


def method_called(node: ast.AST) -> tuple[ast.expr, str] | None:
    """The object and the name of a call of a method."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.value, node.func.attr
    return None


def calls(tree: ast.AST, *names: str) -> Iterator[tuple[ast.Call, ast.expr, str]]:
    """The calls of methods in a function, with object and method; of some methods only, if names are given."""
    for node in own_nodes(tree):
        called = method_called(node)
        if called is not None and isinstance(node, ast.Call) and (not names or called[1] in names):
            yield node, *called


def function_called(node: ast.AST) -> str:
    """The last name of what is called, such as ``defaultdict`` of ``collections.defaultdict(list)``."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def is_container(node: ast.AST | None) -> bool:
    """Whether an expression makes a dict, list or set that can be changed."""
    literal = isinstance(node, ast.Dict | ast.List | ast.Set | ast.DictComp | ast.ListComp | ast.SetComp)
    return literal or (node is not None and function_called(node) in CONTAINERS)


@dataclass(frozen=True)
class Change:
    """A change of an attribute of the object, or of a variable."""

    name: str
    node: ast.AST
    part: bool  # something in it is changed, otherwise it becomes another object
    value: ast.expr | None = None  # the new value or part, if it is one expression
    adds: bool = False  # the old value is part of the new one, as by ``+=``


def changes(tree: ast.AST, *, of_self: bool = True) -> Iterator[Change]:
    """The changes that a function makes to its object, or else to variables, in the order of the source."""

    def root(node: ast.AST) -> str | None:
        if of_self:
            return attribute_of_self(node)
        while isinstance(node, ast.Subscript):
            node = node.value
        return node.id if isinstance(node, ast.Name) else None

    for node in own_nodes(tree):
        called = method_called(node)
        mutates = called is not None and called[1] in MUTATORS
        if called is not None and isinstance(called[0], ast.Subscript) and called[1] in _OF_STATES:
            mutates = False  # an item may be a state
        if called is not None and mutates and (name := root(called[0])) is not None:
            arguments = node.args if isinstance(node, ast.Call) else []
            yield Change(name, node, True, arguments[-1] if arguments else None)
        elif isinstance(node, ast.AugAssign) and (name := root(node.target)) is not None:
            yield Change(name, node, isinstance(node.target, ast.Subscript), node.value, adds=True)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            parts = (target.elts if isinstance(target, ast.Tuple | ast.List) else [target] for target in targets)
            for target in chain.from_iterable(parts):
                if (name := root(target)) is not None and node.value is not None:
                    yield Change(name, node, isinstance(target, ast.Subscript), node.value)
        elif isinstance(node, ast.Delete):
            for target in node.targets:
                if isinstance(target, ast.Subscript) and (name := root(target)) is not None:
                    yield Change(name, node, True)


_OF_STATES = frozenset({"add", "clear", "remove", "update"})


def reached(sources: Mapping[str, Source], start: Iterable[str]) -> list[str]:
    """The methods that are called, by way of ``self``, from some methods, with these, in order of discovery."""
    methods = [name for name in start if name in sources]
    for name in methods:  # grows while it is gone through
        for _, owner, method in calls(sources[name].tree, *sources):
            if isinstance(owner, ast.Name) and owner.id == "self" and method not in methods:
                methods.append(method)
    return methods


def meaning(node: ast.AST, source: Source) -> Any:
    """The value of a name, or of an attribute of a named module, outside of a function; None if unknown."""
    if isinstance(node, ast.Name):
        return source.variables.get(node.id)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        owner = source.variables.get(node.value.id)
        return vars(owner).get(node.attr) if type(owner).__name__ == "module" else None
    return None


_TEXT_METHODS = frozenset(
    {"upper", "lower", "strip", "lstrip", "rstrip", "casefold", "capitalize", "title", "swapcase", "zfill"}
)


def is_text(node: ast.AST | None, source: Source, *, texts: frozenset[str] = frozenset()) -> bool:
    """Whether an expression is certainly a text; ``texts`` are the parameters that are."""
    for _ in range(len(source.parameters) + 20):  # assignments that are followed
        if isinstance(node, ast.Constant | ast.JoinedStr):
            return isinstance(node, ast.JoinedStr) or isinstance(node.value, str)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
            node = node.left if not isinstance(node.op, ast.Add) or _plainly_text(node.left) else node.right
            continue
        called = None if node is None else method_called(node)
        if called is not None:
            owner, method = called
            return method in _TEXT_METHODS or (method in ("join", "format") and _plainly_text(owner))
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            return name in ("str", "repr") and name not in source.variables
        if not isinstance(node, ast.Name):
            return False
        values = assigned(source.tree, node.id)
        if not values:
            return node.id in texts
        if len(values) > 1 or values[0] is None:
            return False
        node = values[0]
    return False


def _plainly_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def assigned(tree: Tree, name: str) -> list[ast.expr | None]:
    """The values that a variable of a function is assigned, in order; None for other than plain expressions."""
    plain: list[ast.expr | None] = []
    stored = 0
    for node in own_nodes(tree):
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets):
            plain.append(node.value)
        stored += isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
    return plain if stored == len(plain) else [*plain, None]


def assigned_once(tree: Tree, node: ast.expr) -> ast.expr | None:
    """The value of a variable that is assigned once, None if that is not so; other expressions as they are."""
    if not isinstance(node, ast.Name):
        return node
    values = assigned(tree, node.id)
    return values[0] if len(values) == 1 else None
