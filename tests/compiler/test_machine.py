"""Random functions on the machine give what CPython gives, or doubt; a machine that doubts everything is seen too."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from penstock._native import Batch, Pipeline, Program
from penstock.compiler.functions import compile_function
from penstock.compiler.program import Refusal
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
    try:
        pipeline = Pipeline([(written.kind, Program(compiled.program))])
    except ValueError as error:
        note(str(error))
        return
    for row in rows:
        result = on_machine(pipeline, written.kind, row)
        assert result is DOUBT or result == outcome(function, written.kind, row), row


@pytest.mark.parametrize("case", range(len(ONE_RECORD) - 1))
def test_the_machine_gives_what_expressions_give(case: int) -> None:
    function, rows = ONE_RECORD[case]
    compiled = compile_function(function, "map")
    assert not isinstance(compiled, Refusal)
    try:
        pipeline = Pipeline([("map", Program(compiled.program))])
    except ValueError as error:
        pytest.skip(str(error))
    for row in rows:
        result = on_machine(pipeline, "map", row)
        assert result is DOUBT or result == outcome(function, "map", row), row
