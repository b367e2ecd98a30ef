"""The plain data that programs, planner and runtime share."""

from __future__ import annotations

import copy
import pickle

import pytest

from penstock.common import (
    Duration,
    Instant,
    JobExecutionResult,
    OutputTag,
    Row,
    RowKind,
    Time,
    Types,
    WatermarkStrategy,
)
from penstock.common.time import milliseconds_of
from penstock.datastream import CloseableIterator
from penstock.errors import InvalidProgramError, TypeInfoError, UnknownFieldError

ALL_TYPES = [
    *(getattr(Types, name)() for name in ("STRING", "BYTE", "BOOLEAN", "SHORT", "INT", "LONG", "FLOAT", "DOUBLE")),
    *(getattr(Types, name)() for name in ("CHAR", "BIG_INT", "BIG_DEC", "INSTANT", "SQL_DATE", "SQL_TIME")),
    *(getattr(Types, name)() for name in ("SQL_TIMESTAMP", "PICKLED_BYTE_ARRAY")),
    Types.TUPLE([Types.STRING(), Types.LONG()]),
    Types.ROW([Types.STRING()]),
    Types.ROW_NAMED(["a", "b"], [Types.STRING(), Types.LIST(Types.INT())]),
    Types.MAP(Types.STRING(), Types.DOUBLE()),
    Types.PRIMITIVE_ARRAY(Types.INT()),
    Types.BASIC_ARRAY(Types.STRING()),
    Types.OBJECT_ARRAY(Types.TUPLE([Types.INT()])),
]


@pytest.mark.parametrize("type_info", ALL_TYPES, ids=repr)
def test_types_are_values(type_info) -> None:
    again = pickle.loads(pickle.dumps(type_info))
    assert again == type_info
    assert hash(again) == hash(type_info)
    assert eval(repr(type_info), {"Types": Types}) == type_info
    assert sum(other == type_info for other in ALL_TYPES) == 1


def test_types_print_as_pyflink_prints_them_and_know_their_java_name() -> None:
    record = Types.TUPLE([Types.STRING(), Types.INT(), Types.LONG()])
    assert str(record) == "TupleTypeInfo(String, Integer, Long)"
    assert record.java_name == "Java Tuple3<String, Integer, Long>"
    named = Types.ROW_NAMED(["a"], [Types.BIG_DEC()])
    assert (str(named), named.java_name) == ("RowTypeInfo(a: BigDecimal)", "Row(a: BigDecimal)")


def test_records_are_read_one_by_one() -> None:
    records = CloseableIterator([1, 2, 3])
    assert (records.next(), next(records)) == (1, 2)
    records.close()
    with pytest.raises(StopIteration):
        records.next()


def test_an_instant_is_a_moment() -> None:
    for millis in (0, 1, 1_999, -1, -1_000, -2_001):
        assert Instant.of_epoch_milli(millis).to_epoch_milli() == millis
    assert repr(Instant.of_epoch_milli(-1)) == "Instant<-1, 999000000>"
    assert Instant(1, 2) == Instant(1, 2) < Instant(1, 3)
    assert Duration.of_nanos(2_999_999) == Duration.of_millis(2)


def test_rows_have_positions_and_names() -> None:
    row = Row(word="a", count=1)
    row.count = 2
    row["word"] = "b"
    assert (row[0], row.count, row["count"], len(row), list(row)) == ("b", 2, 2, 2, ["b", 2])
    assert ("word" in row, 2 in row, 2 in Row("b", 2), "word" in Row("b", 2)) == (True, False, True, False)
    assert row.as_dict() == {"word": "b", "count": 2}
    assert Row(inner=Row(x=1), rows=[Row(y=2)]).as_dict(recursive=True) == {"inner": {"x": 1}, "rows": [{"y": 2}]}
    assert row == Row(count=2, word="b")
    assert hash(row) == hash(Row(count=2, word="b"))
    assert row != Row("b", 2)
    assert row != Row(word="b", number=2)
    assert row != Row(word="b", count=3)
    assert Row("b", 2) == Row("b", 2) != Row(2, "b")
    assert (repr(row), repr(Row("b", 2))) == ("Row(word='b', count=2)", "<Row('b', 2)>")
    row.set_field_names(["w", "c"])
    assert row.get_fields_by_names(["c", "w"]) == [2, "b"]


def test_a_field_hides_what_rows_call_so() -> None:
    row = Row(values=1, field_names="x", count=2)
    assert (row.values, row.field_names, row.count, tuple(row)) == (1, "x", 2, (1, "x", 2))
    assert Row(1, 2).values == (1, 2)
    assert hash(Row(1, "a")) == hash((1, "a"))
    assert not hasattr(Row(1), "_fields")
    assert Row(a=1)._fields == ["a"]


def test_a_row_is_a_class_of_rows() -> None:
    point = Row("x", "y")
    assert repr(point(1, 2)) == "Row(x=1, y=2)"
    assert point(1, 2).y == 2
    assert repr(point(1)) == "Row(x=1)"
    assert Row.of_kind(RowKind.DELETE, "x")(1).get_row_kind() is RowKind.DELETE
    with pytest.raises(TypeInfoError, match=r"<Row\('x', 'y'\)> was called for a row of its fields, 2 of them, with 3"):
        point(1, 2, 3)


def test_rows_of_another_kind_differ() -> None:
    deleted = Row.of_kind(RowKind.DELETE, "a")
    assert deleted != Row("a")
    assert deleted.get_row_kind() is RowKind.DELETE
    assert [str(kind) for kind in RowKind] == ["+I", "-U", "+U", "-D"]


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda row: pickle.loads(pickle.dumps(row))])
def test_rows_are_copied_whole(duplicate) -> None:
    row = Row.of_kind(RowKind.UPDATE_AFTER, a=[1], b=None)
    again = duplicate(row)
    assert (again, again.field_names, again.get_row_kind()) == (row, ("a", "b"), RowKind.UPDATE_AFTER)


def test_rows_say_which_fields_they_have() -> None:
    with pytest.raises(AttributeError, match=r"no field 'c': it has the fields \['a'\]"):
        _ = Row(a=1).c
    for kind in (AttributeError, KeyError, ValueError):
        with pytest.raises(kind, match="no field names"):
            _ = Row(1)["a"]
    with pytest.raises(AttributeError, match=r"no field 'y': it has the fields \['x'\]"):
        _ = Row("x", "y")(1).y
    with pytest.raises(UnknownFieldError, match="no field 'b'"):
        Row(a=1).b = 2
    for kind in (TypeInfoError, TypeError, ValueError):
        with pytest.raises(kind, match="no dict form"):
            Row(1).as_dict()
    with pytest.raises(TypeInfoError, match="2 fields"):
        Row(1, 2).set_field_names(["a"])


def test_tags_are_their_ids() -> None:
    assert OutputTag("late") == OutputTag("late", Types.INT())
    assert len({OutputTag("late"), OutputTag("late", Types.INT()), OutputTag("odd")}) == 2
    assert OutputTag("rows", [Types.INT()]).type_info == Types.ROW([Types.INT()])
    assert pickle.loads(pickle.dumps(OutputTag("late", Types.INT()))).type_info == Types.INT()
    with pytest.raises(InvalidProgramError, match="non-empty"):
        OutputTag("")


def test_spans_of_time_are_milliseconds() -> None:
    assert Time.seconds(2) == Time.milliseconds(2000)
    assert (Time.hours(1).to_milliseconds(), Duration.of_minutes(1).milliseconds) == (3_600_000, 60_000)
    assert [milliseconds_of(span, "f", "x") for span in (Time.days(1), Duration.of_days(1), 5)] == [86_400_000] * 2 + [
        5
    ]
    with pytest.raises(InvalidProgramError, match=r"Time.seconds\(5\)"):
        milliseconds_of("5 s", "f", "x")  # type: ignore[arg-type]


def test_watermark_strategies_are_values() -> None:
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(3)).with_idleness(
        Duration.of_minutes(1)
    )
    assert strategy == WatermarkStrategy("bounded", 3000, None, 60_000)
    assert WatermarkStrategy.no_watermarks() != WatermarkStrategy.for_monotonous_timestamps()
    with pytest.raises(InvalidProgramError, match="cannot be negative"):
        WatermarkStrategy.for_bounded_out_of_orderness(Duration(-1))


def test_a_result_is_frozen_plain_data() -> None:
    result = JobExecutionResult("job", 5, {"collect-1": [1]})
    assert (result.get_net_runtime(), result.is_job_execution_result(), result.collected["collect-1"]) == (5, True, [1])
