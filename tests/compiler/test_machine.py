"""Random functions on the machine give what CPython gives, or doubt; a machine that doubts everything is seen too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from penstock._native import Batch, Pipeline, Program
from penstock.compiler.expressions import BINARY, UNARY
from penstock.compiler.functions import compile_function
from penstock.compiler.program import Refusal, program_text
from penstock.compiler.signatures import BUILTINS, LIBRARY, METHODS, OPERATORS
from penstock.compiler.statements import IN_PLACE
from tests.compiler.generator import Function, functions, records
from tests.compiler.test_functions import ONE_RECORD, shown
from tests.compiler.test_random_functions import outcome

DOUBT = object()


def on_machine(pipeline: Pipeline, kind: str, record: Any) -> Any:
    """The result of a record, DOUBT if it is Python's to decide."""
    batch = Batch.of([record])
    if batch is None:
        return DOUBT
    output, _, end, doubtful = pipeline.run(batch, 0, 1)
    if doubtful:
        assert end == 0
        return DOUBT
    results = [] if output is None else output.objects()
    if kind == "filter":
        return shown(bool(results))
    return shown(results if kind == "flat_map" else results[0])


@given(functions(), st.lists(records(), min_size=1, max_size=6))
def test_the_machine_gives_what_the_function_gives(written: Function, rows: list[Any]) -> None:
    note(written.source)
    function = written.load()
    compiled = compile_function(function, written.kind)
    if isinstance(compiled, Refusal):
        return
    pipeline = Pipeline([(written.kind, Program(compiled.program))])
    for row in rows:
        result = on_machine(pipeline, written.kind, row)
        assert result is DOUBT or result == outcome(function, written.kind, row), row


@pytest.mark.parametrize("case", range(len(ONE_RECORD) - 1))
def test_the_machine_gives_what_expressions_give(case: int) -> None:
    function, rows = ONE_RECORD[case]
    compiled = compile_function(function, "map")
    assert not isinstance(compiled, Refusal)
    pipeline = Pipeline([("map", Program(compiled.program))])
    for row in rows:
        result = on_machine(pipeline, "map", row)
        assert result is DOUBT or result == outcome(function, "map", row), row


def calls() -> Iterator[tuple[str, str, int]]:
    """The kind, name and number of arguments of all calls that the compiler writes."""
    for kind, known in (("builtin", BUILTINS.values()), ("lib", LIBRARY.values())):
        for name, parameters in known:
            yield from ((kind, name, count) for count in range(parameters.required, parameters.most + 1))
    for name, parameters in METHODS.items():
        yield from (("method", name, 1 + count) for count in range(parameters.required, parameters.most + 1))


def is_known(kind: str, name: str, count: int) -> bool:
    """Whether the machine knows a call."""
    call = [kind, name, *[["local", 0]] * count]
    loop = ["for", 0, call, []]  # a result that is only gone through is right here, too
    try:
        Program(program_text([{"params": 1, "locals": 1, "body": [loop]}]))
    except ValueError:
        return False
    return True


def test_the_machine_knows_all_calls_that_the_compiler_writes() -> None:
    assert [call for call in calls() if not is_known(*call)] == []


def test_the_machine_knows_all_operators_that_the_compiler_writes() -> None:
    names = {*BINARY.values(), *UNARY.values(), *OPERATORS.values(), *IN_PLACE.values()}
    for name in names:
        operands = [["local", 0]] * (1 if name in UNARY.values() else 2)
        Program(program_text([{"params": 1, "locals": 1, "body": [["return", [name, *operands]]]}]))
