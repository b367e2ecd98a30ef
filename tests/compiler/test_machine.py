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
from penstock.compiler.program import Compiled, Refusal, program_text
from penstock.compiler.signatures import BUILTINS, LIBRARY, METHODS, OPERATORS
from penstock.compiler.statements import IN_PLACE
from tests.compiler.generator import Function, functions, records
from tests.compiler.test_functions import ONE_RECORD, shown
from tests.compiler.test_random_functions import outcome

DOUBT = object()
RAISED = "an exception of the function"


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


def together(pipeline: Pipeline, function: Any, kind: str, rows: list[Any]) -> list[Any] | None:
    """The results of records of one batch, where those in doubt are Python's; None if they have no columns."""
    batch = Batch.of(rows)
    if batch is None:
        return None
    results: list[Any] = []
    at = 0
    while at < len(rows):
        output, _, end, doubtful = pipeline.run(batch, at, len(rows))
        results += [] if output is None else output.objects()
        at = end + doubtful
        if doubtful:
            results += of_python(function, kind, batch[end])
    return results


def of_python(function: Any, kind: str, record: Any) -> list[Any]:
    """What an operator emits for a record; RAISED if its function raises."""
    try:
        result = function(record)
        if kind == "filter":
            return [record] if result else []
        return list(result) if kind == "flat_map" else [result]
    except Exception:
        return [RAISED]


@given(functions(), st.lists(records(), min_size=2, max_size=12))
def test_many_records_at_a_time_give_what_the_function_gives(written: Function, rows: list[Any]) -> None:
    note(written.source)
    function = written.load()
    compiled = compile_function(function, written.kind)
    if isinstance(compiled, Refusal):
        return
    results = together(Pipeline([(written.kind, Program(compiled.program))]), function, written.kind, rows)
    expected = [result for row in rows for result in of_python(function, written.kind, row)]
    assert results is None or shown(results) == shown(expected)


def returns_in_a_branch(x: int) -> str:
    if x > 0:  # noqa: SIM102
        if x > 5:
            return "high"
    return "rest"


def returns_before_the_end_of_a_branch(x: int) -> tuple[int, str] | None:
    y = 0
    if x > 0:
        if x > 5:
            return x, "high"
        y = x
    else:
        if x < -5:
            return x, "low"
    if y:
        return y, "some"
    return None


def returns_in_the_first_branch(x: int) -> int | None:  # noqa: RET503
    if x > 0:
        if x > 5:
            return 1
        else:  # noqa: RET505
            if x > 2:
                return 2


@pytest.mark.parametrize(
    "function", [returns_in_a_branch, returns_before_the_end_of_a_branch, returns_in_the_first_branch]
)
def test_a_function_goes_on_behind_a_branch_that_may_return(function: Any) -> None:
    compiled = compile_function(function, "map")
    assert isinstance(compiled, Compiled)
    rows = [1, 7, -3, 3, -9, 0, 6]
    assert together(Pipeline([("map", Program(compiled.program))]), function, "map", rows) == list(map(function, rows))


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
