"""A tree is that of the code that runs, or there is none."""

from __future__ import annotations

import ast
import json
import linecache
import random
import sys
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from penstock.compiler.trees import CHANGED, NO_SOURCE, Absence, Trees

COUNT = 0


def load(text: str, path: Path | None = None) -> dict[str, Any]:
    """The variables of a program, whose source is a file or a cell of a notebook."""
    global COUNT
    COUNT += 1
    name = f"<cell {COUNT}>" if path is None else str(path)
    if path is None:
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    else:
        path.write_text(text)
    variables: dict[str, Any] = {"__name__": "program"}
    exec(compile(text, name, "exec"), variables)
    return variables


def unparsed(function: FunctionType, trees: Trees | None = None) -> str:
    tree = (trees or Trees()).of(function)
    assert not isinstance(tree, Absence), tree
    return ast.unparse(tree)


def test_lambdas_of_one_line_are_told_apart() -> None:
    variables = load("f, g = lambda x: x + 1, lambda x: x + 2\nh, i = lambda x: x + True, lambda x: x + 1.0\n")
    assert [unparsed(variables[name]) for name in "fghi"] == [
        "lambda x: x + 1",
        "lambda x: x + 2",
        "lambda x: x + True",
        "lambda x: x + 1.0",
    ]


def test_lambdas_of_equal_code_are_interchangeable() -> None:
    variables = load("f, g = lambda x: x + 1, lambda x: x + 1\nh = lambda: 0.0, lambda: -0.0\n")
    assert unparsed(variables["f"]) == unparsed(variables["g"])
    assert [unparsed(part) for part in variables["h"]] == ["lambda: 0.0", "lambda: -0.0"]


def test_a_file_that_was_edited_since(tmp_path: Path) -> None:
    trees = Trees()
    path = tmp_path / "program.py"
    function = load("f = lambda x: x + 1\n", path)["f"]
    assert unparsed(function, trees) == "lambda x: x + 1"
    path.write_text("f = lambda x: x + 2000\n")
    assert trees.of(function) == CHANGED
    path.write_text("\n\nf = lambda x: x + 1\n")
    assert trees.of(function) == CHANGED
    path.unlink()
    assert trees.of(function) == NO_SOURCE


def test_without_source() -> None:
    variables: dict[str, Any] = {}
    exec("f = lambda x: x", variables)
    assert Trees().of(variables["f"]) == NO_SOURCE


def test_names_of_enclosing_functions_and_classes() -> None:
    variables = load(
        "def outer(a):\n"
        "    def inner(b): return inner(a) + b\n"
        "    class Local:\n"
        "        __private = 1\n"
        "        def method(self): return super().method() + self.__private + a\n"
        "    return inner, Local.method\n"
        "inner, method = outer(1)\n"
    )
    assert unparsed(variables["inner"]).startswith("def inner(b)")
    assert unparsed(variables["method"]).startswith("def method(self)")


def test_decorated_functions_and_defaults() -> None:
    variables = load(
        "from __future__ import annotations\n"
        "same = lambda f: f\n"
        "@same\n"
        "@(lambda f: f)\n"
        "def f(x: int = (lambda: 1)(), *, k=lambda: 2) -> int:\n"
        "    '''Text.'''\n"
        "    return [y for y in range(x) if (z := y)]\n"
    )
    assert "range(x)" in unparsed(variables["f"])


@pytest.mark.parametrize("module", [random, json.decoder, ast])
def test_functions_of_python_itself(module: Any) -> None:
    trees, count = Trees(), 0
    owners = [module, *(value for value in vars(module).values() if isinstance(value, type))]
    for owner in owners:
        for value in vars(owner).values():
            if isinstance(value, FunctionType) and value.__code__.co_filename == module.__file__:
                count += 1
                assert not isinstance(trees.of(value), Absence), value
    assert count > 5


def test_a_file_is_parsed_once() -> None:
    trees = Trees()
    function = load("f = lambda x: x\n")["f"]
    file = trees.file(function.__code__.co_filename)
    assert trees.of(function) is trees.of(function)
    assert trees.file(function.__code__.co_filename) is file
    assert file is not None
    assert sys.getrefcount(file) > 1
