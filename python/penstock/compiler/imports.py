"""The modules and functions that functions import at their beginning."""

from __future__ import annotations

import ast
import importlib
import sys
from types import ModuleType

from penstock.compiler.names import Static
from penstock.compiler.trees import Tree

_IMPORTABLE = frozenset({"datetime", "functools", "itertools", "json", "math", "operator", "re", "string"})
_OURS = frozenset({"penstock", "pyflink"})


def stored_names(node: ast.AST) -> tuple[str, ...]:
    """The name that a node assigns, or deletes."""
    return (node.id,) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del) else ()


def imports_of(tree: Tree, stored: set[str]) -> dict[str, Static]:
    """The imports at the beginning of a function, of modules of Python's library that are without effects."""
    statics: dict[str, Static] = {}
    for node in () if isinstance(tree, ast.Lambda) else tree.body:
        names = node.names if isinstance(node, ast.Import | ast.ImportFrom) else []
        for alias in names:
            name = alias.asname or alias.name
            module = alias.name if isinstance(node, ast.Import) else getattr(node, "module", None) or ""
            if not _is_importable(module) or name in stored:
                continue
            loaded: ModuleType = importlib.import_module(module)
            value = loaded if isinstance(node, ast.Import) else vars(loaded).get(alias.name)
            if "." not in name and value is not None:
                statics[name] = Static(value, name)
    return statics


def _is_importable(module: str) -> bool:
    """Whether a module is everywhere the same, so not one that the user ships with a program."""
    return module in _IMPORTABLE or (module.partition(".")[0] in _OURS and module in sys.modules)
