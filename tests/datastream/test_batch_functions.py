"""Functions of batches in programs: which functions are ones, plans, both forms, both modes, steps, loops, refusals."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from penstock.common import Configuration, RuntimeExecutionMode, Types, WatermarkStrategy
from penstock.datastream import (
    DataStream,
    FilterFunction,
    FlatMapFunction,
    MapFunction,
    ProcessFunction,
    StreamExecutionEnvironment,
)
from penstock.datastream.connectors import NumberSequenceSource
from penstock.datastream.program.batch_functions import annotated
from penstock.errors import InvalidProgramError, JobExecutionError, TypeInfoError, UnsupportedError

if TYPE_CHECKING:
    import numpy.typing as npt

LONG, DOUBLE = Types.LONG(), Types.DOUBLE()
PAIR = Types.TUPLE([Types.STRING(), LONG])
FORMS = ["fused", "listed"]


def environment(**settings: str) -> StreamExecutionEnvironment:
    texts = {key.replace("__", ".").replace("_", "-"): text for key, text in settings.items()}
    return StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(texts), executor="local")


def results(stream: DataStream[Any]) -> list[Any]:
    with stream.execute_and_collect() as collected:
        return list(collected)


def plus(batch: pa.Array) -> pa.Array:
    return pc.add(batch, 10)


def large(batch: pd.Series) -> pd.Series:  # type: ignore[type-arg]
    return batch > 12


def twice(batch: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    return np.repeat(batch, 2)


def table(batch: pl.DataFrame) -> pl.DataFrame:
    return batch.with_columns(f1=pl.col("f1") * 2)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", ["1", "2", "1000"])
def test_annotated_functions_of_map_filter_and_flat_map_take_batches(form: str, size: str) -> None:
    env = environment(penstock__runtime__form=form, penstock__batches__size=size)
    numbers = env.from_collection([1, 2, 3, 4, 5], LONG)
    stream = numbers.map(plus, LONG).filter(large).flat_map(twice, DOUBLE)
    assert results(stream) == [float(value) for value in (13, 13, 14, 14, 15, 15)]
    pairs = env.from_collection([("a", 1), ("b", None)], PAIR)
    assert results(pairs.map(table, output_type=PAIR)) == [("a", 2), ("b", None)]


def test_pyflinks_name_of_the_setting_counts() -> None:
    env = environment(python__fn_execution__arrow__batch__size="3")
    sizes = env.from_collection(list(range(7)), LONG).flat_map_batches(lambda batch: pa.array([len(batch)]), LONG)
    assert results(sizes) == [3, 3, 1]
    sizes = env.from_collection(list(range(7)), LONG).flat_map_batches(lambda b: pa.array([len(b)]), LONG, batch_size=5)
    assert results(sizes) == [5, 2]


class Plus(MapFunction[Any, Any]):
    def open(self, runtime_context: Any) -> None:
        self.more = 10

    def map(self, value: pa.Array) -> pa.Array:
        return pc.add(value, self.more)


class Large(FilterFunction[Any]):
    def filter(self, value: pl.Series) -> Any:
        return value > 12


class Twice(FlatMapFunction[Any, Any]):
    def flat_map(self, value: pa.RecordBatch) -> Any:
        yield value
        yield value


def test_function_objects_take_batches() -> None:
    numbers = environment().from_collection([1, 2, 3], LONG)
    assert results(numbers.map(Plus(), LONG).filter(Large()).flat_map(Twice(), LONG)) == [13, 13]
    keyed = numbers.key_by(lambda value: value % 2)
    assert results(keyed.map_batches(Plus(), LONG).filter_batches(Large())) == [13]


def quoted(batch: pa.RecordBatch) -> None: ...
def numbers_only(batch: npt.NDArray[np.int64], more: int = 0) -> None: ...
def by_name(batch: Mapping[str, pa.Array]) -> None: ...
def by_text(batch: dict[str, pl.Series]) -> None: ...
def integers(batch: pa.Int64Array) -> None: ...
def record(value: int) -> None: ...
def nothing(value) -> None: ...  # type: ignore[no-untyped-def]
def second(value: int, batch: pa.Array) -> None: ...
def chunks(batch: pa.ChunkedArray) -> None: ...
def texts(value: dict[str, str]) -> None: ...


class Called:
    def __call__(self, batch: pd.DataFrame) -> None: ...

    def method(self, batch: pd.Series) -> None: ...  # type: ignore[type-arg]


def for_checkers_only() -> dict[str, Any]:
    """Functions of a module that imports the libraries for type checkers only."""
    namespace: dict[str, Any] = {}
    exec(
        "def batch(b: 'pa.RecordBatch'): ...\n"
        "def alone(b: 'RecordBatch'): ...\n"
        "def frame(b: 'pd.DataFrame'): ...\n"
        "def column(b: 'Dict[str, pl.Series]'): ...\n"
        "def numbers(b: 'npt.NDArray[np.float64]'): ...\n"
        "def unknown(b: 'DataFrame'): ...\n"
        "def other(b: 'pyspark.sql.DataFrame'): ...\n"
        "def either(b: 'int | None'): ...\n",
        namespace,
    )
    return namespace


def with_classes() -> dict[str, Any]:
    """Functions whose annotations are classes, not texts."""
    namespace: dict[str, Any] = {"pa": pa, "np": np, "pl": pl, "pd": pd, "Mapping": Mapping}
    exec(
        "def array(b: pa.Int64Array): ...\n"
        "def batch(b: pa.RecordBatch): ...\n"
        "def numbers(b: np.ndarray): ...\n"
        "def generic(b: np.ndarray[tuple[int], np.dtype[np.int64]]): ...\n"
        "def columns(b: Mapping[str, pd.Series]): ...\n"
        "def whole(b: int): ...\n"
        "def words(b: dict[str, str]): ...\n",
        namespace,
    )
    return namespace


@pytest.mark.parametrize(
    ("func", "form"),
    [
        (plus, "pa.Array"),
        (quoted, "pa.RecordBatch"),
        (numbers_only, "numpy.ndarray"),
        (by_name, "dict[str, pa.Array]"),
        (by_text, "dict[str, polars.Series]"),
        (integers, "pa.Array"),
        (Called(), "pandas.DataFrame"),
        (Called().method, "pandas.Series"),
        (Plus(), "pa.Array"),
        (functools.partial(second, 1), "pa.Array"),
        *((with_classes()[name], form) for name, form in (("array", "pa.Array"), ("batch", "pa.RecordBatch"))),
        *((with_classes()[name], "numpy.ndarray") for name in ("numbers", "generic")),
        (with_classes()["columns"], "dict[str, pandas.Series]"),
        *((func, "None") for func in (record, nothing, second, chunks, texts, len, str, print, Called)),
        *((with_classes()[name], "None") for name in ("whole", "words")),
        *((for_checkers_only()[name], "pa.RecordBatch") for name in ("batch", "alone")),
        (for_checkers_only()["frame"], "pandas.DataFrame"),
        (for_checkers_only()["column"], "dict[str, polars.Series]"),
        (for_checkers_only()["numbers"], "numpy.ndarray"),
        *((for_checkers_only()[name], "None") for name in ("unknown", "other", "either")),
    ],
)
def test_the_annotation_of_the_first_argument_says_the_form(func: Any, form: str) -> None:
    assert str(annotated(func, "map")) == form


def test_functions_of_records_that_are_such_objects_stay_functions_of_records() -> None:
    def total(values: np.ndarray) -> float:  # type: ignore[type-arg]
        return float(np.sum(values))

    env = environment()
    arrays = env.from_collection([np.array([1, 2]), np.array([3])])
    assert results(arrays.map(total, DOUBLE)) == [3.0, 3.0]
    lists = env.from_collection([[1, 2], [3]], Types.LIST(LONG))
    assert results(lists.map(total, DOUBLE)) == [3.0, 3.0]


@pytest.mark.parametrize("chained", [True, False])
def test_a_plan_is_that_of_functions_of_records(chained: bool) -> None:
    def plan(batches: bool) -> Any:
        env = environment()
        if not chained:
            env.disable_operator_chaining()
        numbers = env.from_collection([1, 2, 3], LONG)
        if batches:
            stream = numbers.map_batches(plus, LONG).filter_batches(large).flat_map_batches(twice, DOUBLE)
        else:
            kept = numbers.map(lambda value: value, LONG).filter(lambda value: True)
            stream = kept.flat_map(lambda value: [value], DOUBLE)
        stream.key_by(lambda value: value).map(lambda value: value).print()
        graph = env.get_stream_graph().job_graph()
        tables = graph.operators_table(), graph.vertices_table(), graph.edges_table()
        return [graph.json_plan(), *(pa.table(table).to_pylist() for table in tables)]

    assert json.dumps(plan(True)) == json.dumps(plan(False))


class Late(ProcessFunction[Any, Any]):
    """Each record with its timestamp, and the watermark before it."""

    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value, ctx.timestamp(), ctx.timer_service().current_watermark()


@pytest.mark.parametrize("form", FORMS)
def test_time_is_that_of_functions_of_records(form: str) -> None:
    def run(step: Callable[[DataStream[Any]], DataStream[Any]]) -> list[Any]:
        env = environment(penstock__runtime__form=form, penstock__batches__size="4")
        strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: value)
        times = env.from_collection([5, 3, 8, 8, 20, 21], LONG).assign_timestamps_and_watermarks(strategy)
        return results(step(times).process(Late()))

    by_record = run(lambda times: times.map(lambda value: value + 10, LONG).filter(lambda value: value != 18))
    by_batch = run(lambda times: times.map(plus, LONG).filter_batches(lambda batch: pc.not_equal(batch, 18)))
    assert by_batch == by_record


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("parallelism", [1, 3])
@pytest.mark.parametrize("mode", [RuntimeExecutionMode.STREAMING, RuntimeExecutionMode.BATCH])
def test_both_modes_give_what_functions_of_records_give(form: str, parallelism: int, mode: Any) -> None:
    def run(*functions: Any) -> list[Any]:
        env = environment(penstock__runtime__form=form, penstock__batches__size="7")
        env.set_runtime_mode(mode)
        env.set_parallelism(parallelism)
        numbers = env.generate_sequence(1, 100).map(functions[0], LONG)
        keyed = numbers.key_by(lambda value: value % 5, LONG).filter(functions[1])
        sums = keyed.key_by(lambda value: value % 5, LONG).reduce(lambda a, b: a + b)
        return sorted(results(sums))

    def even(batch: pa.Array) -> pa.Array:
        return pc.equal(pc.bit_wise_and(batch, 1), 0)

    assert run(plus, even) == run(lambda value: value + 10, lambda value: value % 2 == 0)


def test_nothing_is_kept_over_a_step(tmp_path: Any) -> None:
    """In steps of three records batches have no more; another life begins with the next record."""

    def sizes(batch: pa.Array) -> pa.Array:
        return pa.array([len(batch)] * len(batch), pa.int64())

    env = environment(
        execution__checkpointing__dir=str(tmp_path), penstock__step__records="3", penstock__step__available_now="true"
    )
    numbers = env.from_source(NumberSequenceSource(1, 8), WatermarkStrategy.no_watermarks(), "numbers")
    assert results(numbers.map_batches(sizes, LONG)) == [3, 3, 3, 3, 3, 3, 2, 2]


@pytest.mark.parametrize("form", FORMS)
def test_batches_go_round_in_a_loop(form: str) -> None:
    env = environment(penstock__runtime__form=form, penstock__batches__size="4")
    loop = env.from_collection(list(range(20)), LONG).iterate()
    less = loop.map_batches(lambda batch: pc.subtract(batch, 3), LONG)
    loop.close_with(less.filter(lambda value: value > 0))
    expected = sorted(-((-value) % 3) if value > 0 else value - 3 for value in range(20))
    assert sorted(results(less.filter(lambda value: value <= 0))) == expected


def test_a_failure_names_the_operator_and_keeps_the_cause() -> None:
    def fails(batch: pa.Array) -> pa.Array:
        raise KeyError("mine")

    stream = environment().from_collection([1], LONG).map(fails, LONG).name("scores")
    with pytest.raises(JobExecutionError, match="Operator 'scores'") as caught:
        results(stream)
    assert isinstance(caught.value.__cause__, KeyError)
    short = environment().from_collection([1, 2], LONG).map_batches(lambda batch: batch[:1], LONG)
    with pytest.raises(JobExecutionError, match=r"(?s)Operator 'Map'.*batch of 2 records and returned 1 rows"):
        results(short)


def identity(batch: Any) -> Any:
    return batch


def calls(env: StreamExecutionEnvironment) -> dict[str, Callable[[], Any]]:
    numbers, pairs, anything = (
        env.from_collection([1], LONG),
        env.from_collection([("a", 1)], PAIR),
        env.from_collection([1]),
    )
    return {
        "map_batches.. was called on a stream of undeclared type": lambda: anything.map_batches(identity, LONG),
        "map_batches.. needs the type of its results": lambda: numbers.map(plus),
        "flat_map_batches.. needs the type of its results": lambda: numbers.flat_map(twice, Types.PICKLED_BYTE_ARRAY()),
        "batch_format.* one of arrow, pandas, polars, numpy": lambda: numbers.map_batches(
            identity, LONG, batch_format="list"
        ),  # type: ignore[arg-type]
        "is annotated with pa.Array. Change one": lambda: numbers.map_batches(plus, LONG, batch_format="pandas"),
        "a pandas.Series, but the records": lambda: pairs.filter(large),
        "filter_batches.. was given 0 as batch_size": lambda: numbers.filter_batches(large, batch_size=0),
        "map_batches.. needs a callable": lambda: numbers.map_batches(5, LONG),  # type: ignore[arg-type]
        "map_batches.. was given a lambda, which takes": lambda: numbers.map_batches(lambda: 1, LONG),  # type: ignore[arg-type,misc]
    }


@pytest.mark.parametrize("message", calls(environment()))
def test_wrong_calls(message: str) -> None:
    with pytest.raises(InvalidProgramError, match=message):
        calls(environment())[message]()


def test_types_without_columns_are_refused() -> None:
    numbers = environment().from_collection([1], LONG)
    mixed = Types.TUPLE([LONG, Types.PICKLED_BYTE_ARRAY()])
    with pytest.raises(UnsupportedError, match=r"map_batches\(\) cannot have Types.TUPLE.* as the type of its output"):
        numbers.map_batches(plus, mixed)
    with pytest.raises(TypeInfoError, match=r"map_batches\(\) was given the class int as output_type"):
        numbers.map_batches(plus, int)  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match="as the type of its input"):
        numbers.map(lambda value: (value, value), mixed).filter_batches(lambda batch: batch)
