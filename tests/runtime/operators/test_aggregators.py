from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass

import pytest

from penstock.common import Row, RowKind
from penstock.errors import TypeInfoError
from penstock.runtime.aggregators import ComparableAggregator, SumAggregator

Named = namedtuple("Named", ["word", "count"])


@dataclass(frozen=True)
class Plain:
    word: str
    count: int


@pytest.mark.parametrize(
    ("first", "second", "position", "expected"),
    [
        (("a", 1), ("b", 2), 1, ("a", 3)),
        (("a", 1), ("b", 2), "f1", ("a", 3)),
        (["a", 1], ["b", 2], 1, ["a", 3]),
        (Row("a", 1), Row("b", 2), 1, Row("a", 3)),
        (Row("a", 1), Row("b", 2), "f1", Row("a", 3)),
        (Row(word="a", count=1), Row(word="b", count=2), "count", Row(word="a", count=3)),
        (Named("a", 1), Named("b", 2), "count", Named("a", 3)),
        (Plain("a", 1), Plain("b", 2), "count", Plain("a", 3)),
        (1, 2, 0, 3),
        (1.5, 2, 0, 3.5),
    ],
)
def test_sums_of_every_kind_of_record(first, second, position, expected):
    before = repr(first)
    result = SumAggregator(position).reduce(first, second)
    assert result == expected
    assert type(result) is type(expected)
    assert repr(first) == before
    assert ComparableAggregator(position, "max", by=True).reduce(first, second) is second


def test_rows_keep_their_names_and_kind():
    row = Row.of_kind(RowKind.UPDATE_AFTER, word="a", count=1)
    result = SumAggregator("count").reduce(row, Row(word="b", count=2))
    assert result == Row.of_kind(RowKind.UPDATE_AFTER, word="a", count=3)
    assert result.field_names == ("word", "count")


@pytest.mark.parametrize(
    ("record", "position"),
    [(("a", 1), 2), (("a", 1), -1), (("a", 1), "count"), (Row("a"), "b"), (Row("a"), 1), (5, 1), ([], 0)],
)
def test_fields_that_do_not_exist(record, position):
    with pytest.raises(TypeInfoError, match="field"):
        SumAggregator(position).reduce(record, record)
