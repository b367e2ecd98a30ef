"""The stub of the native module names what the module has, with the same docstrings."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import penstock
from penstock import _native

STUB = ast.parse((Path(penstock.__file__).parent / "_native.pyi").read_text())
CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")}
FUNCTIONS = {node.name: node for node in STUB.body if isinstance(node, ast.FunctionDef)}


def public(names: list[str]) -> set[str]:
    return {name for name in names if not name.startswith("_")}


def stubbed(node: ast.ClassDef) -> set[str]:
    methods = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
    fields = {
        item.target.id for item in node.body if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
    }
    return public([*methods, *fields])


def test_the_stub_and_the_module_have_the_same_names() -> None:
    assert public(dir(_native)) == CLASSES.keys() | FUNCTIONS.keys()
    for name, node in CLASSES.items():
        assert stubbed(node) == public(dir(getattr(_native, name))), name
    assert len(CLASSES) > 15


def test_docstrings_are_the_same_in_both() -> None:
    looked_at = 0
    for name, node in CLASSES.items():
        assert inspect.getdoc(getattr(_native, name)) == ast.get_docstring(node), name
        for item in node.body:
            if isinstance(item, ast.FunctionDef) and not item.name.startswith("__"):
                looked_at += 1
                assert ast.get_docstring(item), f"{name}.{item.name} has no docstring"
                assert inspect.getdoc(getattr(getattr(_native, name), item.name)) == ast.get_docstring(item), item.name
    assert looked_at > 80
