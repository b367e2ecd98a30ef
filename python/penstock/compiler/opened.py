"""Attributes that ``open`` of a user's object assigns, as far as they are constants of its function in the task.

Such an attribute is assigned in ``open`` alone, something that is new there - a dict, what JSON holds, a number - and
nobody else gets hold of it: ``open`` does not read it, passes neither the object nor its methods on, and nothing in the
file changes it."""

from __future__ import annotations

import ast
import builtins
import json
from collections.abc import Iterator
from types import FunctionType
from typing import Any

from penstock.compiler.names import Opened, attributes_of, is_users, written
from penstock.compiler.trees import ParsedFile

_NEW = frozenset({"bool", "dict", "float", "int", "len", "str"})
_PLAIN_OF_CONTEXT = frozenset(
    {
        *(
            "get_attempt_number",
            "get_index_of_this_subtask",
            "get_job_parameter",
            "get_max_number_of_parallel_subtasks",
        ),
        *("get_number_of_parallel_subtasks", "get_task_name", "get_task_name_with_subtasks"),
    }
)
"""Methods of a runtime context that give what cannot be changed."""
_CLOSED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Global, ast.Nonlocal)


def opened_by(owner: Any, function: Any, tree: ast.FunctionDef, file: ParsedFile) -> Opened | None:
    """The attributes of an object that its ``open`` assigns and the task may read natively; None if there is none, or
    ``open`` may do more with the object."""
    arguments = [*tree.args.posonlyargs, *tree.args.args]
    if not is_users(type(owner)) or not arguments or tree.decorator_list:
        return None
    itself, attributes = arguments[0].arg, attributes_of(owner)
    stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    context = next((argument.arg for argument in arguments[1:2] if argument.arg not in stored), None)
    targets: dict[str, bool] = {}  # whether all that it is assigned is new
    alone: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, _CLOSED) and node is not tree:
            return None
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            name = _own_attribute(node.targets[0], itself)
            if name is not None:
                targets[name] = targets.get(name, True) and _is_new(node.value, function, context)
                alone.add(id(node.targets[0]))
    for node, name in _uses(tree, itself):
        if name is None or name.startswith("__"):
            return None
        if id(node) not in alone and (not isinstance(node.ctx, ast.Load) or name in targets or name not in attributes):
            return None
    elsewhere = written(type(owner), function) | file.changed
    names = frozenset(
        name
        for name, new in targets.items()
        if new and name not in elsewhere and not any(name in vars(base) for base in type(owner).__mro__)
    )
    return Opened(owner, names) if names else None


def _uses(tree: ast.FunctionDef, itself: str) -> Iterator[tuple[Any, str | None]]:
    """Where the object is used: its attributes, None where it is used itself."""
    owners = {id(node.value): node for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == itself:
            attribute = owners.get(id(node))
            yield attribute, None if attribute is None else attribute.attr


def _own_attribute(node: ast.expr, itself: str) -> str | None:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == itself:
        return node.attr
    return None


def _is_new(node: ast.expr, function: FunctionType, context: str | None) -> bool:
    """Whether an expression makes an object that nobody else has, or one that cannot be changed; ``context`` is the
    variable that is the runtime context."""
    if isinstance(node, ast.Constant | ast.JoinedStr | ast.Dict | ast.DictComp):
        return True
    if not isinstance(node, ast.Call):
        return False
    called, variables = node.func, function.__globals__
    if isinstance(called, ast.Name):
        code = function.__code__
        local = called.id in code.co_varnames or called.id in code.co_cellvars or called.id in code.co_freevars
        return called.id in _NEW and not local and called.id not in variables and hasattr(builtins, called.id)
    if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
        if called.value.id == context:
            return called.attr in _PLAIN_OF_CONTEXT
        return called.attr in ("load", "loads") and variables.get(called.value.id) is json and not node.keywords
    return False
