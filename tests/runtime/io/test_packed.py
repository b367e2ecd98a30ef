"""Collections on their way to a task: what comes out of the pieces is what went in, whatever packs them."""

from __future__ import annotations

import math
import pickle
from collections import namedtuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import _native
from penstock.runtime.io.packed import PIECE, PackedRecords, packed
from penstock.runtime.io.sources import CollectionSource
from penstock.runtime.native import ColumnarRecords

Pair = namedtuple("Pair", "a b")


class Text(str):
    """A text of a class of its own."""


FORMS = pytest.mark.parametrize("functions", [None, _native], ids=["python", "native"])
ATOMS = st.none() | st.text(max_size=3) | st.integers() | st.floats() | st.booleans() | st.binary(max_size=3)


def typed(value):
    """A value with its types, and NaN equal to itself."""
    if isinstance(value, tuple):
        return tuple(map(typed, value))
    return type(value), repr(value)


def travelled(records, native=True):
    return pickle.loads(pickle.dumps(CollectionSource(records, native=native)))


@FORMS
@pytest.mark.parametrize("count", [1, 7, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 5])
def test_pieces_have_all_records_in_order(functions, count):
    records = [(f"key{i % 7}", i, i / 2, i % 2 == 0, None) for i in range(count)]
    pieces = packed(records, functions)
    assert len(pieces) == count
    assert list(pieces) == records
    assert [len(batch) for batch in pieces.batches()][:-1] == [PIECE] * ((count - 1) // PIECE)
    assert all(isinstance(batch, ColumnarRecords) is (functions is not None) for batch in pieces.batches())


@FORMS
@given(records=st.lists(ATOMS | st.tuples(ATOMS, ATOMS), max_size=9) | st.lists(st.tuples(st.text(), st.integers())))
def test_values_and_types_are_the_same(functions, records):
    pieces = packed(records, functions)
    if pieces is not None:
        assert list(map(typed, pieces)) == list(map(typed, records))
    assert list(map(typed, travelled(records, functions is not None).elements)) == list(map(typed, records))


@FORMS
def test_extremes(functions):
    records = [(-(2**63), -0.0), (2**63 - 1, math.nan), (0, math.inf)]
    assert list(map(typed, packed(records, functions))) == list(map(typed, records))


@pytest.mark.parametrize(
    "record",
    [["a"], {"a": 1}, {1}, Pair("a", 1), (Pair("a", 1),), Text("a"), ("a", Text("b")), ("a", [1]), object, 1j],
    ids=repr,
)
@FORMS
def test_other_records_travel_as_they_are(functions, record):
    assert packed([("a", 1), record], functions) is None
    elements = travelled([("a", 1), record, record], functions is not None).elements
    assert elements == [("a", 1), record, record]
    assert type(elements[1]) is type(record)
    assert elements[1] is elements[2]  # one object before, one object there


@pytest.mark.parametrize("native", [True, False])
def test_a_task_has_a_source_of_pieces(native):
    records = [(f"key{i}", i) for i in range(PIECE + 3)]
    source = travelled(records, native)
    assert type(source.elements) is PackedRecords
    batches = list(source.batches(0, 1))
    assert [isinstance(batch, ColumnarRecords) for batch in batches] == [native, native]
    assert [record for batch in batches for record in batch[:]] == records
    assert list(source.batches(0, 1))[1][1:] == records[PIECE + 1 :]  # from the start, again
    assert list(travelled(list(source.elements), native).elements) == records
    if native:
        assert [record for batch in batches for record in batch.columns(_native).objects()] == records


def test_an_empty_collection_stays_one():
    assert list(travelled([]).batches(0, 1)) == []
