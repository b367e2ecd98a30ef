"""Attributes that a sink keeps: which they are, and what becomes of them in a program."""

from __future__ import annotations

import linecache
from typing import Any

import pytest

from penstock.compiler.functions import compile_function
from penstock.compiler.program import Compiled, Refusal

COUNT = 0
CLASS = """\
LIMIT = 5
class Sink:
    weight = 3
    def __init__(self):
        self.rows = self.total = 0
        self.path = "p"
    def open(self, context):
        self.factor = 2
    def invoke(self, value):
        INVOKE
    def close(self):
        print(self.rows)
    OTHER = 1
f = Sink()
"""


def load(invoke: str, other: str = "pass") -> Any:
    global COUNT
    COUNT += 1
    name = f"<kept {COUNT}>"
    text = CLASS.replace("INVOKE", invoke.replace("\n", "\n        ")).replace("OTHER = 1", other)
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    variables: dict[str, Any] = {"__name__": "program"}
    exec(compile(text, name, "exec"), variables)
    return variables["f"]


@pytest.mark.parametrize(
    ("invoke", "kept", "assigned"),
    [
        ("self.rows += 1", ("rows",), 1),
        ("self.rows += self.factor\nself.total = value * self.weight", ("rows", "total", "factor"), 2),
        ("if value > LIMIT:\n    self.rows += 1\n    return\nself.total += len(self.path)", ("rows", "total"), 2),
        ("x = [self.rows for _ in range(2)]\nself.rows = sum(x)", ("rows",), 1),
        ("x = value + 1", (), 0),
        ("self.new: int = value\nself.rows, self.total = self.total, self.new", ("new", "rows", "total"), 3),
    ],
)
def test_the_attributes_that_a_sink_keeps(invoke: str, kept: tuple[str, ...], assigned: int) -> None:
    result = compile_function(load(invoke), "invoke")
    assert isinstance(result, Compiled), result
    assert (result.kept, result.assigned) == (kept, assigned)


@pytest.mark.parametrize(
    ("invoke", "other", "reason"),
    [
        ("print(value)", "pass", "print() prints"),
        ("self.rows += 1\nreturn value", "pass", "returns a value that is lost"),
        ("del self.rows", "pass", "deletes self.rows"),
        ("self = value\nself.rows = 1", "pass", "assigns self"),
        (
            "self.rows += self.more()",
            "def more(self):\n        self.total += 1\n        return 1",
            "assigns an attribute",
        ),
        ("self.rows += self.more()", "def more(self):\n        return self.rows", "which a method of Sink assigns"),
        ("value.rows = 1", "pass", "assigns an attribute"),
        ("self.most = value", "@property\n    def most(self):\n        return 1", "assigns an attribute"),
        ("self.rows += 1", "def __setattr__(self, n, v):\n        super().__setattr__(n, v)", "assigns an attribute"),
    ],
)
def test_a_sink_that_does_more_stays_in_python(invoke: str, other: str, reason: str) -> None:
    result = compile_function(load(invoke, other), "invoke")
    assert isinstance(result, Refusal)
    assert reason in result.reason
    assert result.line is not None


def test_a_sink_that_is_no_object() -> None:
    assert isinstance(compile_function(lambda value: value, "invoke"), Refusal)
    assert isinstance(compile_function(print, "invoke"), Refusal)
