"""Random functions as programs give what CPython gives, whatever the records."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given, note
from hypothesis import strategies as st

from penstock.compiler.functions import compile_function
from penstock.compiler.program import Compiled, Refusal
from tests.compiler.generator import Function, functions, records
from tests.compiler.reference import Doubt, Program
from tests.compiler.test_functions import shown

IN_PLACE = re.compile('"i(add|mul|or_)"')
"""What a program doubts that CPython does: to change a list in place."""


def outcome(function: Any, kind: str, record: Any) -> Any:
    """What a function gives for a record; None if it raises."""
    try:
        return as_outcome(function(record), kind)
    except Exception:
        return None


def as_outcome(result: Any, kind: str) -> Any:
    """What an operator makes of the result of its function."""
    if kind == "flat_map":
        try:
            return shown(list(result))
        except TypeError as error:
            raise Doubt(str(error)) from error
    return shown(bool(result) if kind == "filter" else result)


@given(functions(), st.lists(records(), min_size=1, max_size=6))
def test_a_program_gives_what_the_function_gives(written: Function, rows: list[Any]) -> None:
    note(written.source)
    function = written.load()
    compiled = compile_function(function, written.kind)
    if isinstance(compiled, Refusal):
        note(str(compiled))
        assert compiled.line is not None
        return
    program = Program(compiled.program)
    for row in rows:
        expected = outcome(function, written.kind, row)
        try:
            result = as_outcome(program.run(row), written.kind)
        except Doubt:
            assert expected is None or IN_PLACE.search(compiled.program), row
            continue
        assert result == expected, row


@given(functions())
def test_most_random_functions_are_compiled(written: Function) -> None:
    """A translation that refuses everything would pass all other tests."""
    compiled = compile_function(written.load(), written.kind)
    assert isinstance(compiled, Compiled) or compiled.reason in REFUSED or PATTERN.match(compiled.reason), str(compiled)


REFUSED = {"this format with % cannot be translated", "only None, True and False can be compared with is"}
PATTERN = re.compile("a pattern .* is Python's to match$")
