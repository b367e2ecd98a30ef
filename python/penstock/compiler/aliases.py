"""Variables that are a state of the function."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from penstock.compiler.names import Scope
from penstock.compiler.trees import Tree
from penstock.compiler.trigger_states import asked_state


def aliases_of(scope: Scope, values: Mapping[str, list[ast.expr | None]], tree: Tree) -> dict[str, ast.expr]:
    """The variables of a function that are a state: assigned once, in every call, before they are used."""
    aliases: dict[str, ast.expr] = {}
    for node in [] if isinstance(tree, ast.Lambda) else tree.body:
        if not isinstance(node, ast.Assign) or not _is_state(node.value, scope):
            continue
        names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        if len(names) != 1 or len(node.targets) != 1 or values.get(names[0]) != [node.value]:
            continue
        uses = [part for part in ast.walk(tree) if isinstance(part, ast.Name) and part.id == names[0]]
        if all(part.lineno > node.lineno for part in uses if part is not node.targets[0]):
            aliases[names[0]] = node.value
    return aliases


def _is_state(node: ast.expr, scope: Scope) -> bool:
    if scope.states is not None and scope.states.asked:
        return asked_state(node, scope) is not None
    return isinstance(node, ast.Attribute) and scope.is_state(node)
