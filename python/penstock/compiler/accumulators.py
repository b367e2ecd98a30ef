"""Accumulators of aggregating state that ``add`` changes: a list or dict that it gets, changes where it is, and gives.

Nobody else may have such an accumulator: a result does not have it, only what is in it. (That it begins as a new one is
what any function of a program must see to.)"""

from __future__ import annotations

import ast
from types import FunctionType

from penstock.compiler.lists import changed_list
from penstock.compiler.names import body_of, own_nodes
from penstock.compiler.trees import Trees

_LOOKS = frozenset({"len", "sum", "min", "max", "sorted", "list", "dict", "tuple", "any", "all", "bool", "str", "repr"})
_READS = (ast.Compare, ast.BinOp, ast.UnaryOp, ast.FormattedValue, ast.comprehension)


def is_changed(function: FunctionType | None, trees: Trees) -> bool:
    """Whether ``add`` changes its accumulator, the last parameter, by more than ``+=``, which numbers have, too."""
    tree = None if function is None else trees.of(function)
    if not isinstance(tree, ast.FunctionDef) or not tree.args.args:
        return False
    name = tree.args.args[-1].arg
    nodes = [node for node in own_nodes(body_of(tree)) if not isinstance(node, ast.AugAssign)]
    return any(changed_list(node) == name for node in nodes)


def is_shown(function: FunctionType | None, trees: Trees) -> bool:
    """Whether a result may have a changed accumulator, the last parameter of ``get_result``."""
    tree = None if function is None else trees.of(function)
    return not isinstance(tree, ast.FunctionDef) or not tree.args.args or _escapes(tree, tree.args.args[-1].arg)


def _escapes(tree: ast.FunctionDef, name: str) -> bool:
    """Whether a function may give what a variable has to something else."""
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    uses = (node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == name)
    return any(not _is_looked_at(use, parents[use]) for use in uses)


def _is_looked_at(use: ast.Name, parent: ast.AST) -> bool:
    """Whether an expression only reads what a variable has."""
    if not isinstance(use.ctx, ast.Load):
        return False
    if isinstance(parent, ast.Call):
        called = parent.func.id if isinstance(parent.func, ast.Name) else ""
        return called in _LOOKS and (called not in ("min", "max") or len(parent.args) == 1)
    if isinstance(parent, ast.Subscript | ast.Attribute):
        return parent.value is use and isinstance(parent.ctx, ast.Load)
    if isinstance(parent, ast.If | ast.IfExp):
        return parent.test is use
    return isinstance(parent, _READS) or (isinstance(parent, ast.For) and parent.iter is use)
