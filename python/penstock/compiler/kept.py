"""Attributes that a function keeps from record to record: a sink that counts, or remembers the last value.

They are parameters and results of the program: it takes them in front of its record, and gives them as a tuple. The
object has them again before other code of the user runs."""

from __future__ import annotations

import ast
import copy
from types import FunctionType
from typing import Any

from penstock.compiler.names import is_users, written
from penstock.compiler.program import RefusedError
from penstock.compiler.trees import Tree


def kept_by(owner: Any, tree: Tree, itself: str) -> tuple[tuple[str, ...], int]:
    """The attributes of an object that a method of it keeps: first those that it assigns, and their number, then those
    that it reads and another method assigns. ``itself`` is the parameter that is the object."""
    if any(
        isinstance(node, ast.Name) and node.id == itself and not isinstance(node.ctx, ast.Load)
        for node in ast.walk(tree)
    ):
        raise RefusedError(f"assigns {itself}", tree)
    cls = type(owner)
    if not is_users(cls) or cls.__setattr__ is not object.__setattr__:
        return (), 0
    lasting = written(cls)
    nodes = [node for node in _attributes(tree, itself) if node.attr in lasting and not _is_of_class(cls, node.attr)]
    assigned = {node.attr: None for node in nodes if not isinstance(node.ctx, ast.Load)}
    return (*assigned, *dict.fromkeys(node.attr for node in nodes if node.attr not in assigned)), len(assigned)


def with_kept(tree: Tree, itself: str, names: tuple[str, ...]) -> Tree:
    """The same method, which has these attributes as variables, and gives them where it ends."""
    if isinstance(tree, ast.Lambda):
        raise RefusedError("a lambda does nothing with its records, or has an effect", tree)
    return _Rewriting(itself, names).visit(copy.deepcopy(tree))


def variable(itself: str, name: str) -> str:
    """The variable that an attribute is; no variable of a program is called so."""
    return f"{itself}.{name}"


class _Rewriting(ast.NodeTransformer):
    def __init__(self, itself: str, names: tuple[str, ...]) -> None:
        self._itself, self._names = itself, names

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if not _is_attribute(node, self._itself) or node.attr not in self._names:
            return self.generic_visit(node)
        if isinstance(node.ctx, ast.Del):
            raise RefusedError(f"deletes {self._itself}.{node.attr}", node)
        return ast.copy_location(ast.Name(variable(self._itself, node.attr), node.ctx), node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.body.append(self._give(node.body[-1]))
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        if node.value is not None and not isinstance(node.value, ast.Constant):
            raise RefusedError("returns a value that is lost", node)
        return self._give(node)

    def _give(self, node: ast.AST) -> ast.Return:
        parts: list[ast.expr] = [ast.Name(variable(self._itself, name), ast.Load()) for name in self._names]
        return ast.fix_missing_locations(ast.copy_location(ast.Return(ast.Tuple(parts, ast.Load())), node))


def _attributes(tree: Tree, itself: str) -> list[ast.Attribute]:
    """Where attributes of the object stand, in the order of the source."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and _is_attribute(node, itself)]
    return sorted(nodes, key=lambda node: (node.lineno, node.col_offset))


def _is_attribute(node: ast.Attribute, itself: str) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == itself


def _is_of_class(cls: type, name: str) -> bool:
    """Whether a class decides what an attribute of its objects is: by a method or a property."""
    members = [vars(base)[name] for base in cls.__mro__ if name in vars(base)]
    return bool(members) and (isinstance(members[0], FunctionType) or hasattr(type(members[0]), "__get__"))
