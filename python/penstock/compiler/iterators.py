"""Variables that have an iterator, which is gone through once: ``values = self.values.get()``, ``pairs = zip(a, b)``. A
program has a list in its place, as it was when the iterator was made."""

from __future__ import annotations

import ast

from penstock.compiler.names import body_of
from penstock.compiler.trees import Tree

_GIVING = ("zip", "enumerate", "reversed")
_TAKING = ("list", "tuple", "sorted", "sum", "min", "max", "any", "all", "set", *_GIVING)
_LATER = ast.GeneratorExp | ast.Lambda  # runs only when the iterator is gone through
_AGAIN = ast.For | ast.While | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp | ast.Lambda


def iterators_of(tree: Tree, growing: frozenset[str]) -> frozenset[str]:
    """The variables of a function that are assigned once, and read once to go through what they have, neither of it in
    a loop. ``growing`` are lists that could change meanwhile."""
    assigned: dict[str, list[ast.expr]] = {}
    uses: dict[str, int] = {}
    taken: set[str] = set()
    pending: list[tuple[ast.AST, bool]] = [(node, False) for node in body_of(tree)]
    while pending:
        node, again = pending.pop()
        if isinstance(node, ast.Name):
            uses[node.id] = uses.get(node.id, 0) + 1
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            assigned.setdefault(node.targets[0].id, []).append(ast.Constant(None) if again else node.value)
        if not again:
            taken.update(part.id for part in _gone_through(node) if isinstance(part, ast.Name))
        for name, value in ast.iter_fields(node):
            parts = value if isinstance(value, list) else [value]
            inner = again or (isinstance(node, _AGAIN) and not (isinstance(node, ast.For) and name == "iter"))
            pending += [(part, inner) for part in parts if isinstance(part, ast.AST)]
    once = {name for name, values in assigned.items() if len(values) == 1 and uses.get(name) == 2}
    return frozenset(name for name in once & taken if _gives(assigned[name][0], growing))


def _gone_through(node: ast.AST) -> list[ast.expr]:
    """The expressions that a node goes through."""
    if isinstance(node, ast.For):
        return [node.iter]
    if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        return [node.generators[0].iter]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _TAKING:
        return node.args[:1] if len(node.args) == 1 else []
    return []


def _gives(node: ast.expr, growing: frozenset[str]) -> bool:
    """Whether an expression may give an iterator of what nobody changes meanwhile."""
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute):
        return node.func.attr == "get" and not node.args and not node.keywords
    parts = list(ast.walk(node))
    changes = any(isinstance(part, _LATER) or (isinstance(part, ast.Name) and part.id in growing) for part in parts)
    return isinstance(node.func, ast.Name) and node.func.id in _GIVING and not changes
