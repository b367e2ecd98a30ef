"""Batches that go to the owners of their keys: as if each record were selected alone, with its errors."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import _native
from penstock.common import Types
from penstock.runtime.exchange.selectors import channel_selector, splitter
from penstock.runtime.keys.partition import KeyPartition

FORMS = pytest.mark.parametrize("functions", [None, _native], ids=["python", "native"])
KEYS = {
    "undeclared": (None, st.text(max_size=2) | st.integers(-5, 5) | st.booleans() | st.tuples(st.integers(0, 3))),
    "texts": (Types.STRING(), st.text(max_size=2) | st.integers(0, 1)),
    "characters": (Types.CHAR(), st.sampled_from(["a", "b", "ab", ""])),
    "longs": (Types.LONG(), st.integers(-4, 4) | st.sampled_from([2**63 - 1, -(2**63), 2**63, True, "a"])),
    "bytes": (Types.BYTE(), st.sampled_from([-128, 127, 128, -129, 0, 5])),
    "numbers of any size": (Types.BIG_INT(), st.integers(-5, 5) | st.just(2**70)),
    "doubles": (Types.DOUBLE(), st.sampled_from([0.0, -0.0, float("nan"), 1.5])),
    "pairs": (Types.TUPLE([Types.STRING(), Types.LONG()]), st.tuples(st.sampled_from("ab"), st.integers(0, 3))),
}


def called(record):
    """A selector that is no expression, and fails for some records."""
    if record[0] == "fails":
        raise LookupError(record)
    return record[0]


def split_alone(select, values):
    """The records of each channel, or the text of the first error."""
    parts = {}
    for value in values:
        try:
            parts.setdefault(select(value), []).append(value)
        except Exception as error:
            return str(error)
    return sorted(parts.items())


def split_together(split, values):
    try:
        parts = split(values, list(range(len(values))))[0]
    except Exception as error:
        return str(error)
    for _, part, times in parts:
        assert [values[time] for time in times] == part
    return sorted((channel, part) for channel, part, _ in parts)


@FORMS
@pytest.mark.parametrize("selector", [lambda record: record[0], called], ids=["expression", "call"])
@pytest.mark.parametrize("name", KEYS)
@given(data=st.data(), channels=st.integers(1, 3))
def test_records_go_where_they_would_alone(name, selector, functions, data, channels):
    key_type, keys = KEYS[name]
    partition = KeyPartition(selector, key_type)
    arguments = "HASH", partition, 128, channels
    select = channel_selector(*arguments, 0)
    split = splitter(*arguments, channel_selector(*arguments, 0), functions)
    for batch in data.draw(st.lists(st.lists(keys, max_size=6), min_size=1, max_size=3)):
        values = [(key,) for key in batch]
        assert repr(split_together(split, values)) == repr(split_alone(select, values))


@pytest.mark.parametrize("channels", [1, 2])
def test_the_error_of_the_first_record_that_has_one_counts(channels):
    arguments = "HASH", KeyPartition(called, Types.STRING()), 128, channels
    split = splitter(*arguments, channel_selector(*arguments, 0), None)
    with pytest.raises(Exception, match="The key None is a NoneType"):
        split([("a",), (None,), ("fails",)], None)
    with pytest.raises(Exception, match="LookupError"):
        split([("a",), ("fails",), (None,)], None)


def test_a_selector_is_called_once_for_each_record():
    calls = []
    arguments = "HASH", KeyPartition(lambda record: calls.append(record) or record, Types.STRING()), 128, 2
    split = splitter(*arguments, channel_selector(*arguments, 0), None)
    split(["a", "b"], None)
    split(["b", "c"], None)
    assert calls == ["a", "b", "b", "c"]
