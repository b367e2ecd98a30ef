"""Operators of batches, one by one: which records are a batch, timestamps, forms, casts, refusals."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import Instant, Row, Types
from penstock.common.typeinfo import TypeInformation
from penstock.runtime.buffers.signals import MAX_WATERMARK
from penstock.runtime.chain.operator import Leaf
from penstock.runtime.columns.batches import BatchArgument, BatchResult, kept
from penstock.runtime.columns.forms import LIBRARIES, BatchForm, Shape
from penstock.runtime.operators.batches import StreamFilterBatches, StreamFlatMapBatches, StreamMapBatches
from penstock.runtime.usercode.failure import OperatorFailure
from tests.runtime.operators.operators_alone import Alone

LONG = Types.LONG()
PAIR = Types.TUPLE([Types.STRING(), LONG])
NAMED = Types.ROW_NAMED(["word", "count"], [Types.STRING(), LONG])
COLUMN, TABLE = BatchForm("arrow", "column"), BatchForm("arrow", "table")


def mapping(
    f: Any, type_info: Any = LONG, result: Any = LONG, *, form: BatchForm = COLUMN, size: int | None = 3
) -> Alone:
    return Alone(StreamMapBatches(f, form, type_info, size, output_type=result))


class Sizes:
    """A function that notes how many records its batches have."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def map(self, batch: Any) -> Any:
        self.sizes.append(len(batch))
        return batch


def test_a_batch_has_so_many_records_and_ends_at_a_watermark_a_round_a_step_and_the_end() -> None:
    alone = mapping(Sizes())
    sizes = alone.live.function.sizes
    for value in range(7):
        alone.take(value, 10 * value)
    assert sizes == [3, 3]
    alone.watermark(65)
    assert (sizes, alone.watermarks) == ([3, 3, 1], [65])
    alone.take(7, 70)
    alone.live.end_round()
    alone.take(8, 80)
    alone.live.end_step()
    alone.take(9, 90)
    alone.live.end_input()
    alone.watermark(MAX_WATERMARK)
    assert sizes == [3, 3, 1, 1, 1, 1]
    assert alone.results == [(value, 10 * value) for value in range(10)]
    assert alone.live.emitted == 10


def test_the_size_is_that_of_the_setting_unless_the_operator_has_one() -> None:
    alone = mapping(Sizes(), size=None)
    for value in range(2_500):
        alone.take(value)
    assert alone.live.function.sizes == [1_000, 1_000]


def test_records_that_come_many_at_a_time_make_the_same_batches() -> None:
    alone = mapping(Sizes())
    leaf = alone.live.fragment()
    assert isinstance(leaf, Leaf)
    leaf.write(0, 5)
    leaf.batch(list(range(1, 8)), 6)
    leaf.batch([], None)
    alone.live.end_input()
    assert alone.live.function.sizes == [3, 3, 2]
    assert alone.results == [(0, 5), *((value, 6) for value in range(1, 8))]


def test_a_filter_keeps_records_with_their_timestamps() -> None:
    alone = Alone(StreamFilterBatches(lambda batch: pc.not_equal(batch["f1"], 2), TABLE, PAIR, 2))
    records = [("a", 1), ("b", 2), ("c", None), ("d", 4)]
    for time, record in enumerate(records):
        alone.take(record, time)
    assert alone.results == [(("a", 1), 0), (("d", 4), 3)]  # None is not true
    assert alone.live.emitted == 2
    alone.live.end_input()


def test_a_flat_map_gives_any_number_with_the_largest_timestamp() -> None:
    def twice(batch: pa.Array) -> Iterator[Any]:
        yield pc.filter(batch, pc.greater(batch, 1))
        yield pa.array([], pa.int64())
        yield batch

    alone = Alone(StreamFlatMapBatches(twice, COLUMN, LONG, 3, output_type=LONG))
    for value, time in ((1, 7), (2, 9), (3, 8)):
        alone.take(value, time)
    assert alone.results == [(value, 9) for value in (2, 3, 1, 2, 3)]
    assert alone.live.emitted == 5
    alone.take(4)
    alone.live.end_input()
    assert alone.results[5:] == [(4, None), (4, None)]


def test_what_waits_does_not_change_with_what_the_program_changes() -> None:
    kinds: list[tuple[Any, Any, Any]] = [
        (Types.ROW([LONG]), Row(1), lambda row: row.__setitem__(0, 9)),
        (Types.ROW([Types.LIST(LONG)]), Row([1]), lambda row: row[0].append(2)),
        (Types.LIST(LONG), [1], lambda values: values.append(2)),
        (Types.MAP(LONG, LONG), {1: 1}, lambda values: values.update({1: 2})),
    ]
    for type_info, record, change in kinds:
        alone = mapping(lambda batch: batch, type_info, type_info, form=TABLE)
        alone.take(record)
        change(record)
        alone.live.end_input()
        [(result, _)] = alone.results
        assert result != record, type_info


def test_an_exception_is_that_of_the_operator() -> None:
    def fails(batch: pa.Array) -> Any:
        raise KeyError("mine")

    alone = mapping(fails)
    alone.take(1)
    with pytest.raises(OperatorFailure) as caught:
        alone.live.end_input()
    assert isinstance(caught.value.error, KeyError)
    assert caught.value.__cause__ is caught.value.error
    alone.live.dispose()

    def fails_later(batch: pa.Array) -> Iterator[Any]:
        yield batch
        raise KeyError("mine")

    alone = Alone(StreamFlatMapBatches(fails_later, COLUMN, LONG, 1, output_type=LONG))
    with pytest.raises(OperatorFailure) as caught:
        alone.take(1)
    assert isinstance(caught.value.error, KeyError)
    assert alone.results == [(1, None)]


VALUES: list[tuple[TypeInformation[Any], list[Any]]] = [
    (Types.STRING(), ["", "grüß", "\0", None]),
    (Types.BOOLEAN(), [True, False, None]),
    (Types.BYTE(), [-128, 127, None]),
    (Types.SHORT(), [-(2**15), 2**15 - 1, None]),
    (Types.INT(), [-(2**31), 2**31 - 1, None]),
    (Types.LONG(), [-(2**63), 2**53 + 1, 2**63 - 1, None]),
    (Types.FLOAT(), [1.5, -0.0, float("inf"), None]),
    (Types.DOUBLE(), [0.1, -0.0, float("-inf"), 1e300, None]),
    (Types.BIG_INT(), [10**30, -1, None]),
    (Types.BIG_DEC(), [Decimal("1.500"), Decimal(-7), None]),
    (Types.SQL_DATE(), [dt.date(1, 1, 1), dt.date(9999, 12, 31), None]),
    (Types.SQL_TIME(), [dt.time(0), dt.time(23, 59, 59, 999_999), None]),
    (Types.SQL_TIMESTAMP(), [dt.datetime(1970, 1, 1), dt.datetime(2026, 11, 24, 3, 4, 5, 6), None]),
    (Types.INSTANT(), [Instant(0, 0), Instant(1_700_000_000, 123_456_000), None]),
    (Types.PRIMITIVE_ARRAY(Types.BYTE()), [b"", b"\0\xff", None]),
    (Types.LIST(Types.LONG()), [[], [1, 2], None]),
]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("shape", ["table", "column", "columns"])
@pytest.mark.parametrize("type_info", [type_info for type_info, _ in VALUES], ids=str)
def test_values_cross_to_every_form_and_back(library: Any, shape: Shape, type_info: Any) -> None:
    [values] = [values for kind, values in VALUES if kind == type_info]
    for some in (values, values[:-1]):
        argument = BatchArgument(type_info, BatchForm(library, shape)).of(some)
        assert BatchResult(type_info, "").records(argument, len(some)) == some
        records = [(value, index) for index, value in enumerate(some)]
        pairs = Types.TUPLE([type_info, LONG])
        if (library, shape) not in (("pandas", "column"), ("numpy", "column")):  # refused, and a table
            argument = BatchArgument(pairs, BatchForm(library, shape)).of(records)
            assert BatchResult(pairs, "").records(argument, len(some)) == records


LONGS = st.integers(-(2**63), 2**63 - 1)


@given(st.lists(st.tuples(st.text(), st.none() | LONGS, st.none() | st.floats()), min_size=1))
def test_rows_cross_with_their_names(records: list[Any]) -> None:
    type_info = Types.ROW_NAMED(["a", "b", "c"], [Types.STRING(), LONG, Types.DOUBLE()])
    rows = [Row(a=a, b=b, c=c) for a, b, c in records]
    for library in ("arrow", "polars", "numpy"):  # NaN is a missing value in pandas
        argument = BatchArgument(type_info, BatchForm(library, "table")).of(rows)
        assert repr(BatchResult(type_info, "").records(argument)) == repr(rows)


def test_forms_are_what_users_expect() -> None:
    pairs = [("a", 1), ("b", 2)]
    table = BatchArgument(PAIR, TABLE).of(pairs)
    assert table.equals(pa.record_batch({"f0": ["a", "b"], "f1": pa.array([1, 2], pa.int64())}))
    frame = BatchArgument(NAMED, BatchForm("pandas", "table")).of(pairs)
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["word", "count"]
    assert frame["count"].dtype == np.int64
    assert isinstance(BatchArgument(PAIR, BatchForm("polars", "table")).of(pairs), pl.DataFrame)
    structured = BatchArgument(NAMED, BatchForm("numpy", "table")).of(pairs)
    assert structured["count"].sum() == 3
    columns = BatchArgument(PAIR, BatchForm("numpy", "columns")).of(pairs)
    columns["f1"] += 1  # may be changed
    assert columns["f1"].tolist() == [2, 3]
    missing = BatchArgument(LONG, BatchForm("pandas", "column")).of([2**62 + 1, None])
    assert (missing + 1).dropna().tolist() == [2**62 + 2]  # not rounded
    assert BatchArgument(LONG, BatchForm("numpy", "column")).of([1, None]).tolist() == [1, None]
    assert BatchArgument(PAIR, COLUMN).of(pairs).type == table.to_struct_array().type


RESULTS: list[tuple[Any, Any, list[Any]]] = [
    (pa.array([1, 2]), LONG, [1, 2]),
    (pa.chunked_array([[1], [2]]), LONG, [1, 2]),
    (pa.array([1, 2], pa.int8()), LONG, [1, 2]),
    (pa.array([1.0, None]), LONG, [1, None]),
    (pa.array([1, 2]), Types.DOUBLE(), [1.0, 2.0]),
    (pa.array([True, None]), Types.BOOLEAN(), [True, None]),
    (pa.nulls(2), Types.STRING(), [None, None]),
    (pa.array(["x", "y"]).dictionary_encode(), Types.STRING(), ["x", "y"]),
    (pa.array([1, 2]), Types.BIG_DEC(), [1, 2]),
    (pa.array([Decimal("3.00")]), Types.INT(), [3]),
    (pa.array([dt.date(2026, 1, 2)]), Types.SQL_TIMESTAMP(), [dt.datetime(2026, 1, 2)]),
    (np.array([1, 2], np.int32), LONG, [1, 2]),
    (pd.Series([1.0, float("nan")]), Types.DOUBLE(), [1.0, None]),
    (np.array([1.0, 2.0]), Types.FLOAT(), [1.0, 2.0]),
    (pl.Series([1, None]), LONG, [1, None]),
    ({"any": pa.array([1])}, LONG, [1]),
    (pa.table({"a": ["x"], "b": [1]}), PAIR, [("x", 1)]),
    (pa.record_batch({"f1": [1], "f0": ["x"]}), PAIR, [("x", 1)]),
    (pd.DataFrame({"count": [1], "word": ["x"]}, index=[7]), NAMED, [Row(word="x", count=1)]),
    ({"count": np.array([1]), "word": pl.Series(["x"])}, NAMED, [Row(word="x", count=1)]),
    (pa.array([{"f0": "x", "f1": 1}]), PAIR, [("x", 1)]),
    (np.array([[1, 2], [3, 4]]), Types.TUPLE([LONG, Types.DOUBLE()]), [(1, 2.0), (3, 4.0)]),
    (np.array([[1, 2]]), Types.ROW_NAMED(["a", "b"], [LONG, LONG]), [Row(a=1, b=2)]),
]


@pytest.mark.parametrize(("result", "type_info", "records"), RESULTS, ids=lambda part: type(part).__name__)
def test_results_of_every_library_are_cast_where_nothing_changes(result: Any, type_info: Any, records: Any) -> None:
    rows = BatchResult(type_info, "").records(result, len(records))
    assert rows == records
    assert list(map(type, rows)) == list(map(type, records)) or type_info == Types.BIG_DEC()


@pytest.mark.parametrize(
    ("result", "type_info", "message"),
    [
        (pa.array([1, 2, 3]), LONG, "a batch of 2 records and returned 3 rows. map_batches.. needs as many"),
        (pa.scalar(3), LONG, "returned a pyarrow Int64Scalar, but .* Types.LONG.., and pa.Array is needed"),
        (None, LONG, "returned None, but"),
        ([1, 2], LONG, r"returned \[1, 2\] \(list\), but"),
        (pa.array(["1", "2"]), LONG, "The result has the Arrow type string, which is not cast to the declared BIGINT"),
        (pa.array([1.0, 2.5]), LONG, "type double, has the value 2.5 in row 1 of the batch, .* declared BIGINT"),
        (pa.array([1, 2**40]), Types.INT(), f"type int64, has the value {2**40} in row 1 of the batch"),
        (pa.array([1, 2**53 + 1]), Types.DOUBLE(), "value 9007199254740993 in row 1"),
        (pa.array(["x", "y"]), PAIR, r"one column, but .* with the columns \['f0', 'f1'\]"),
        (pa.array([{"f0": "x", "f1": 1}, None]), PAIR, "a struct without a value"),
        (pa.record_batch({"a": [1, 2]}), PAIR, r"the columns \['a'\], and .* has \['f0', 'f1'\]"),
        (pa.record_batch({"a": ["x", "y"], "b": [1, 2]}), NAMED, r"columns \['a', 'b'\], and .* \['word', 'count'\]"),
        ({"f0": pa.array(["x"]), "f1": pa.array([1, 2])}, PAIR, "records and returned 1 and 2 rows"),
        ({"f0": "x", "f1": 1}, PAIR, r"returned 'x' \(str\) as the column 'f0'"),
        ({"f0": pd.Series(["x", 1]), "f1": np.array([1, 2])}, PAIR, "The column 'f0' of the result, .* one type"),
        (np.array([[1, 2, 3], [1, 2, 3]]), PAIR, "ndarray of 3 columns"),
    ],
)
def test_results_that_do_not_fit_are_refused(result: Any, type_info: Any, message: str) -> None:
    alone = mapping(lambda batch: result, LONG, type_info, size=2)
    alone.take(1)
    with pytest.raises(OperatorFailure) as caught:
        alone.take(2)
    assert caught.value.subject == "Operator 'under test'"
    with pytest.raises(type(caught.value.error), match=f"(?s){message}"):
        raise caught.value.error


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (pa.array([True]), "2 records and returned 1 truth values"),
        (pa.array([1, 0]), "returned a pyarrow Int64Array of the type int64. filter_batches.. needs a column of truth"),
        (pa.record_batch({"f0": [1], "f1": [2]}), "returned a pyarrow RecordBatch. .* use flat_map_batches"),
        (True, r"returned True \(bool\)"),
    ],
)
def test_a_filter_needs_a_truth_value_per_record(result: Any, message: str) -> None:
    with pytest.raises(Exception, match=message):
        kept(result, 2)


@pytest.mark.parametrize("result", [[True, None], np.array([True, False]), pl.Series([True, None])], ids=str)
def test_a_filter_takes_truth_values_of_every_library(result: Any) -> None:
    column = pa.array(result) if isinstance(result, list) else result
    assert [bool(keep) for keep in kept(column, 2)] == [True, False]
    assert [bool(keep) for keep in kept({"any": column}, 2)] == [True, False]
    assert [bool(keep) for keep in kept(pd.DataFrame({"any": [True, False]}), 2)] == [True, False]


@pytest.mark.parametrize(
    ("type_info", "record", "message"),
    [
        (LONG, "x", r"The value 'x' in the input does not fit its declared type BIGINT: .*Correct the type"),
        (LONG, 2**63, "does not fit its declared type BIGINT"),
        (LONG, 1.5, "does not fit its declared type BIGINT"),
        (PAIR, ("a", "b"), "The value 'b' of the field 'f1' in the input"),
        (PAIR, ("a", 1, 2), r"The record \('a', 1, 2\) of the input does not have the fields \['f0', 'f1'\]"),
        (PAIR, 5, "The record 5 of the input does not have the fields"),
        (PAIR, None, "The record None of the input does not have the fields"),
    ],
)
def test_records_that_do_not_fit_their_type_are_refused(type_info: Any, record: Any, message: str) -> None:
    good = 1 if type_info == LONG else ("a", 1)
    alone = mapping(lambda batch: batch, type_info, type_info, form=TABLE, size=2)
    alone.take(good)
    with pytest.raises(OperatorFailure) as caught:
        alone.take(record)
    with pytest.raises(Exception, match=f"(?s){message}"):
        raise caught.value.error


def test_a_library_that_is_not_there_is_named_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(OperatorFailure) as caught:
        mapping(lambda batch: batch, form=BatchForm("polars", "column"))
    assert "pip install polars" in str(caught.value.error)


def test_functions_of_batches_have_no_keyed_state() -> None:
    class Asks:
        def open(self, context: Any) -> None:
            assert context.get_index_of_this_subtask() == 0
            context.get_state(None)

        def map(self, batch: Any) -> Any:
            return batch

    with pytest.raises(OperatorFailure) as caught:
        mapping(Asks())
    assert "records of many keys" in str(caught.value.error)
