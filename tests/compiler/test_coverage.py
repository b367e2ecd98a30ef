"""How many functions of programs that users write are compiled: the page says it, and it is most of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.compiler.coverage import PAGE, Passed, compiled, of_program, page, passed, tables

LEAST = 80
"""In percent."""


@pytest.fixture(scope="module")
def functions() -> list[Passed]:
    return passed()


@pytest.mark.skipif(sys.version_info < (3, 11), reason="one program needs a newer Python")
def test_the_page_is_as_it_is_written(functions: list[Passed]) -> None:
    assert PAGE.read_text(encoding="utf-8") == page(functions), "write it by: python -m tests.compiler.coverage --write"


def test_most_functions_are_compiled(functions: list[Passed]) -> None:
    assert 100 * compiled(functions) >= LEAST * len(functions)


def test_each_function_that_is_passed_is_counted_once(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        """
from pyflink.datastream import MapFunction, StreamExecutionEnvironment

class Counted(MapFunction):
    def open(self, runtime_context):
        self.seen = runtime_context
    def map(self, value):
        return value

env = StreamExecutionEnvironment.get_execution_environment()
stream = env.from_collection([1, 2])
for _ in range(2):
    stream = stream.map(lambda value: value + 1)
stream.map(Counted()).filter(lambda value: print(value)).key_by(lambda value: value).print()
env.execute()
"""
    )
    functions = of_program(program)
    assert [(function.call, function.refusal is None) for function in functions] == [
        ("map", True),
        ("map", False),
        ("filter", False),
        ("key_by", True),
    ]
    assert "| all | 4 | 2 (50 %) |" in tables(functions)
    assert "| 1 | the class has its own `open()` or `close()` |" in tables(functions)
