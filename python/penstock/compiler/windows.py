"""Functions that see windows: a window is a tuple of its last time, its start and its end in a program, and one without
an end has its last time alone. Of the context of a ``process`` nothing else is known. Functions that ask the context
for more, or that use a window as a whole, stay in Python."""

from __future__ import annotations

import ast
import copy

from penstock.compiler.program import RefusedError
from penstock.compiler.trees import Tree

_LAST = 0
_ENDS = {"start": 1, "end": 2}


def with_window(tree: Tree, parameter: str, *, context: bool) -> Tree:
    """The same function, which takes a tuple in the place of its window, or of its ``context``."""
    return _Rewriting(tree, parameter, context).visit(copy.deepcopy(tree))


class _Rewriting(ast.NodeTransformer):
    def __init__(self, tree: Tree, parameter: str, context: bool) -> None:
        self._context = parameter if context else None
        self._windows = {parameter} - {self._context}
        if context:
            self._windows |= _named(tree, parameter)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if not self._is_window(node.value):
            return self.generic_visit(node)
        if node.attr not in _ENDS or not isinstance(node.ctx, ast.Load):
            raise RefusedError(f"{node.attr} of a window is known in Python only", node)
        return self._item(node, _ENDS[node.attr])

    def visit_Call(self, node: ast.Call) -> ast.AST:
        called = node.func
        if not isinstance(called, ast.Attribute) or called.attr != "max_timestamp" or node.args or node.keywords:
            return self.generic_visit(node)
        return self._item(called, _LAST) if self._is_window(called.value) else self.generic_visit(node)

    def _item(self, node: ast.Attribute, place: int) -> ast.expr:
        """An item of the tuple that a program has for the window that an attribute is of."""
        name = ast.Name(self._name_of(node.value), ast.Load())
        return self._placed(ast.Subscript(name, ast.Constant(place), ast.Load()), node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        if not self._asks(node.value) or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
            return self.generic_visit(node)
        if node.targets[0].id not in self._windows or self._context is None:
            raise RefusedError("a variable is a window, and something else", node)
        node.value = self._placed(ast.Name(self._context, ast.Load()), node.value)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id == self._context:
            raise RefusedError("the context is used for more than start and end of the window", node)
        if node.id in self._windows:
            raise RefusedError("a window is used for more than its start and its end", node)
        return node

    def _is_window(self, node: ast.expr) -> bool:
        return self._asks(node) or (isinstance(node, ast.Name) and node.id in self._windows)

    def _asks(self, node: ast.expr) -> bool:
        """Whether it is ``context.window()``."""
        if not isinstance(node, ast.Call) or node.args or node.keywords or not isinstance(node.func, ast.Attribute):
            return False
        of = node.func.value
        return node.func.attr == "window" and isinstance(of, ast.Name) and of.id == self._context

    def _name_of(self, node: ast.expr) -> str:
        return node.id if isinstance(node, ast.Name) else self._context or ""

    def _placed(self, new: ast.expr, old: ast.AST) -> ast.expr:
        return ast.fix_missing_locations(ast.copy_location(new, old))


def _named(tree: Tree, context: str) -> set[str]:
    """The variables that are ``context.window()`` and nothing else."""
    asked = f"{context}.window()"
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Assign) and ast.unparse(node.value) == asked]
    targets = [node.targets[0] for node in nodes if len(node.targets) == 1]
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    stored = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    stored += [node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)]
    return {name for name in names if stored.count(name) == 1}
