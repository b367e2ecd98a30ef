"""What a person at a keyboard waits for: imports, planning a usual program, compiling its functions, building a very
large one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from conftest import Measure, Record
from penstock.compiler.functions import compile_function
from penstock.compiler.program import Compiled
from penstock.compiler.trees import Trees
from penstock.datastream import StreamExecutionEnvironment
from test_memory import alone


def program(operators: int) -> StreamExecutionEnvironment:
    """A program with a source, a sink, and keyed blocks of five operators between them."""
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(4)
    stream = env.from_collection([1, 2, 3])
    for _ in range((operators - 2) // 5):
        stream = stream.map(lambda value: value).filter(lambda value: value > 0).key_by(lambda value: value % 7)
        stream = stream.reduce(lambda one, other: one + other).map(lambda value: value).flat_map(lambda value: [value])
    for _ in range((operators - 2) % 5):
        stream = stream.map(lambda value: value)
    stream.print()
    return env


@pytest.mark.parametrize("module", ["penstock", "penstock.plan", "penstock.datastream"])
def test_import(record: Record, tiny: bool, module: str) -> None:
    runs = [alone("import", module) for _ in range(1 if tiny else 9)]
    assert not {"pyspark", "pyarrow", "numpy"} & set(runs[0]["packages"])
    facts = {"phase": f"import {module}", "shape": "", "size": runs[0]["modules"], "peer": "Penstock"}
    record(**facts, seconds=[run["seconds"] for run in runs])


def planned(env: Any) -> Any:
    return env.get_stream_graph().job_graph().execution_graph()


def test_plan_a_program(measure: Measure) -> None:
    """100 operators: StreamGraph, JobGraph and ExecutionGraph of a program that has been written down."""
    facts = {"phase": "plan a program", "shape": "program", "size": 100, "rounds": 50}
    execution = measure(planned, lambda: program(100), **facts)
    assert len(execution.job_graph.stream_graph.nodes_table()) == 100


@pytest.mark.parametrize("step", ["write a program", "write a program, with its StreamGraph"])
def test_write_a_program(measure: Measure, tiny: bool, step: str) -> None:
    """100,000 operators through the DataStream API: a Python call and a Python object for each."""
    size = 102 if tiny else 100_000
    whole = step != "write a program"
    work = lambda size: program(size).get_stream_graph() if whole else program(size)  # noqa: E731
    result = measure(work, lambda: size, phase=step, shape="program", size=size)
    graph = result if whole else result.get_stream_graph()
    assert len(graph.nodes_table()) == size


def counted(line: str) -> Iterator[tuple[str, int]]:
    for word in line.lower().split():
        if word.isalpha() and word not in ("a", "the"):
            yield word, 1


def described(order: dict[str, Any]) -> tuple[str, str, float]:
    prices = sorted(order["prices"], key=lambda price: -price)
    total = sum(price for price in prices if price > 0)
    if total > 100:
        return order["name"], f"{order['city'].upper()}: {len(prices)} items", round(total * 0.9, 2)
    return order["name"], "small", float(total)


FUNCTIONS: list[tuple[str, Any]] = [
    ("map", lambda word: (word, 1)),
    ("filter", lambda pair: pair[1] > 0 and not pair[0].startswith("#")),
    ("key", lambda pair: pair[0]),
    ("reduce", lambda one, other: (one[0], one[1] + other[1])),
    ("flat_map", counted),
    ("map", described),
]


def with_this_file() -> Trees:
    """Trees that have parsed this file, and know what its functions change."""
    trees = Trees()
    file = trees.file(__file__)
    assert file is not None
    assert not file.changed & file.reassigned & file.imported
    return trees


@pytest.mark.parametrize("case", range(len(FUNCTIONS)))
def test_compile_a_function(measure: Measure, case: int) -> None:
    """One function of a user as a program for the native machine, after its file has been parsed: short ones, and one
    of ten lines."""
    kind, function = FUNCTIONS[case]
    facts = {"phase": "compile a function", "shape": f"{case}: {kind}", "size": 1, "rounds": 50}
    result = measure(lambda trees: compile_function(function, kind, trees), with_this_file, **facts)
    assert isinstance(result, Compiled), result
