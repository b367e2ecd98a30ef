"""Attributes that ``open`` assigns, as constants in the task: which they are, and what becomes of them."""

from __future__ import annotations

import json
import linecache
from typing import Any

import pytest

from penstock.compiler.functions import compile_function
from penstock.compiler.program import Compiled, Refusal
from penstock.runtime.constants import NotPlainError, constant, filled, opened

COUNT = 0
CLASS = """\
import json, threading
from penstock.datastream.functions import MapFunction
SHARED = {}
class C(MapFunction):
    def __init__(self):
        self.path = "p"
    def open(self, context):
        OPEN
    def map(self, x):
        MAP
    OTHER = 1
f = C()
"""


def load(opening: str, mapping: str = "return self.table[x]", other: str = "OTHER") -> Any:
    global COUNT
    COUNT += 1
    name = f"<opened {COUNT}>"
    text = CLASS.replace("OPEN", opening).replace("MAP", mapping).replace("OTHER = 1", other).replace("OTHER", "pass")
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    variables: dict[str, Any] = {"__name__": "program"}
    exec(compile(text, name, "exec"), variables)
    return variables["f"]


@pytest.mark.parametrize(
    "opening",
    [
        "self.table = {'a': 1}",
        "self.table = {k: 1 for k in 'ab'}",
        "self.table = dict(a=1)",
        "self.table = json.loads('{}')",
        "self.table = context.get_index_of_this_subtask()",
        "with open(self.path) as file:\n            self.table = dict(line.split(',') for line in file)",
    ],
)
def test_an_attribute_that_open_assigns_is_a_constant_of_the_task(opening: str) -> None:
    result = compile_function(load(opening), "map")
    assert isinstance(result, Compiled), result
    assert '["opened","table",false]' in result.program


@pytest.mark.parametrize(
    ("opening", "other"),
    [
        ("self.table = SHARED", ""),
        ("self.table = other = {}", ""),
        ("self.table = {}\n        self.table['a'] = 1", ""),
        ("self.table = {}\n        SHARED['x'] = self.table", ""),
        ("self.table = {}\n        SHARED['x'] = self", ""),
        ("self.table = {}\n        threading.Thread(target=self.refresh)", "def refresh(self): pass"),
        ("self.table = {}\n        threading.Thread(target=lambda: self.path)", ""),
        ("self.table = {}\n        self.__dict__['table'] = SHARED", ""),
        ("self.table = {}", "def refresh(self): self.table = {}"),
        ("self.table = {}", "def refresh(self): self.table.clear()"),
        ("self.table = {}", "def close(self): print(1)"),
        ("dict = lambda: SHARED\n        self.table = dict()", ""),
        ("self.table = {}\n        self.table = SHARED", ""),
    ],
)
def test_what_others_may_change_stays_in_python(opening: str, other: str) -> None:
    assert isinstance(compile_function(load(opening, other=other or "OTHER"), "map"), Refusal)


def test_a_key_selector_with_an_open_stays_in_python() -> None:
    function = load("self.table = {}", other="def get_key(self, x): return self.table[x]")
    assert isinstance(compile_function(function, "key"), Refusal)


def test_the_object_itself_is_not_kept_by_a_result() -> None:
    result = compile_function(load("self.table = {}", "return x, self.table"), "map")
    assert isinstance(result, Compiled)
    with pytest.raises(NotPlainError):
        filled(result.program, lambda name, keeps: opened({"table": {}}, name, keeps))


@pytest.mark.parametrize(
    "value", [{"a": []}, {1: 2, "a": 3} | dict.fromkeys(map(float, range(99))), [1], object(), {"a": "\ud800"}, 2**63]
)
def test_data_that_is_not_plain_or_slow_is_refused(value: Any) -> None:
    with pytest.raises(NotPlainError):
        opened({"a": value}, "a", False)


def test_only_attributes_are_filled_in() -> None:
    row = ["row", ["opened", "x", "y"], ["const", {"t": ["opened", "x", True]}]]
    body = [["return", ["tuple", ["opened", "x", False], row]]]
    program = json.dumps({"v": 1, "functions": [{"body": body}]}, separators=(",", ":"))
    expected = program.replace('["opened","x",false]', '["const",5]')
    assert filled(program, lambda name, keeps: constant(5)) == expected
