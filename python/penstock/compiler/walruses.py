"""Assignments within expressions as statements of their own, in front of the statement that they are in. That is the
same where nothing else is evaluated before them; others stay, and are refused."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from typing import Any, TypeVar

from penstock.compiler.trees import Tree

N = TypeVar("N", bound=ast.AST)


def with_plain_assignments(tree: Tree) -> Tree:
    """The same function. O(its size)."""
    if isinstance(tree, ast.Lambda) or not any(isinstance(node, ast.NamedExpr) for node in ast.walk(tree)):
        return tree
    return _Hoisting().visit(copy.deepcopy(tree))


class _Hoisting(ast.NodeTransformer):
    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        return self._behind(node, "value")

    def visit_AnnAssign(self, node: ast.AnnAssign) -> list[ast.stmt]:
        return self._behind(node, "value")

    def visit_Expr(self, node: ast.Expr) -> list[ast.stmt]:
        return self._behind(node, "value")

    def visit_Return(self, node: ast.Return) -> list[ast.stmt]:
        return self._behind(node, "value")

    def visit_If(self, node: ast.If) -> list[ast.stmt]:
        self.generic_visit(node)
        return self._behind(node, "test")

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        self.generic_visit(node)
        return self._behind(node, "iter")

    def visit_While(self, node: ast.While) -> ast.stmt:
        self.generic_visit(node)
        end = ast.If(ast.UnaryOp(ast.Not(), node.test), [ast.Break()], [])
        if node.orelse or _first(node, "test") is None:
            return node
        first = self._behind(_placed(end, node.test), "test")
        node.test, node.body = _placed(ast.Constant(True), node.test), [*first, *node.body]
        return node

    def _behind(self, node: ast.stmt, field: str) -> list[ast.stmt]:
        """A statement behind the assignments that are evaluated first in a field of it."""
        statements: list[ast.stmt] = []
        while (place := _first(node, field)) is not None:
            (parent, name, index), walrus = place, _at(place)
            statements += self._behind(_placed(ast.Assign([walrus.target], walrus.value), walrus), "value")
            read = _placed(ast.Name(walrus.target.id, ast.Load()), walrus)
            if index is None:
                setattr(parent, name, read)
            else:
                getattr(parent, name)[index] = read
        return [*statements, node]


Place = tuple[ast.AST, str, "int | None"]
"""A node, a field of it, and the place in that, if it is a list."""


def _first(parent: ast.AST, field: str) -> Place | None:
    """Where the assignment is that is evaluated before all else but names and constants."""
    pending: list[Place] = [(parent, field, None)]
    read: set[str] = set()
    while pending:
        place = pending.pop()
        node = _at(place)
        if isinstance(node, ast.NamedExpr):
            return None if node.target.id in read else place
        if isinstance(node, ast.Name):
            read.add(node.id)
        elif not isinstance(node, ast.Constant):
            pending = list(reversed(_in_order(node)))
    return None


def _at(place: Place) -> Any:
    """The node at a place."""
    parent, field, index = place
    return getattr(parent, field) if index is None else getattr(parent, field)[index]


def _in_order(node: ast.AST | None) -> Sequence[Place]:
    """The parts of an expression that are evaluated in any case, in order, and before the others."""
    if isinstance(node, ast.BinOp):
        return [(node, "left", None), (node, "right", None)]
    if isinstance(node, ast.Compare):
        return [(node, "left", None), (node, "comparators", 0)]
    if isinstance(node, ast.BoolOp):
        return [(node, "values", 0)]
    if isinstance(node, ast.IfExp):
        return [(node, "test", None)]
    if isinstance(node, ast.UnaryOp):
        return [(node, "operand", None)]
    if isinstance(node, ast.Subscript):
        return [(node, "value", None), (node, "slice", None)]
    if isinstance(node, ast.Attribute | ast.Yield | ast.YieldFrom):
        return [(node, "value", None)]
    if isinstance(node, ast.Tuple | ast.List):
        return [(node, "elts", index) for index in range(len(node.elts))]
    if isinstance(node, ast.Call):
        return [(node, "func", None), *((node, "args", index) for index in range(len(node.args)))]
    return []


def _placed(new: N, old: ast.AST) -> N:
    return ast.fix_missing_locations(ast.copy_location(new, old))
