"""Lists that fill up: by records, by bytes, and by what a look at a few records tells."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.runtime import native
from penstock.runtime.buffers.buffer_size import FIRST_RECORDS, TARGET_BYTES, Filling, room, sizes

PLAIN = st.one_of(st.text(max_size=9), st.binary(max_size=9), st.integers(-(2**70), 2**70), st.none(), st.floats())


def filled(values, **how):
    """The sizes of the full lists."""
    filling, counts = Filling(sizes(), **{"most": 2000, **how}), []
    for value in values:
        filling.values.append(value)
        if len(filling.values) >= filling.mark and filling.full():
            counts.append(len(filling.values))
            filling.values = []
    return counts


def test_lists_grow_eightfold_while_records_are_small():
    assert filled(range(10_000)) == [FIRST_RECORDS, 8 * FIRST_RECORDS, *[2000] * 4]
    assert filled(range(100), most=30) == [30, 30, 30]
    assert filled(range(5000), first=2000) == [2000, 2000]


def test_lists_shrink_to_the_size_of_their_records():
    large = ["x" * 10_000] * 1000
    counts = filled(large)
    assert counts[0] == FIRST_RECORDS
    assert set(counts[1:]) == {TARGET_BYTES // 10_000}
    assert filled(["x" * TARGET_BYTES] * 3) == [1, 1, 1]


def test_records_that_become_large_are_noticed_between_two_looks():
    counts = filled([*range(3000), *["x" * 100_000] * 200])
    assert sum(counts[-5:]) < 5 * (128 + TARGET_BYTES // 100_000)


def test_records_taken_before_they_are_enough_change_nothing_for_the_next_ones():
    filling = Filling(sizes(), 2000)
    filling.values += range(10)
    filling.values = []
    filling.adapt()
    assert (filling.count, filling.bytes) == (0, 0)
    filling.values += range(FIRST_RECORDS)
    assert filling.full()


@given(st.lists(st.one_of(PLAIN, st.tuples(PLAIN, PLAIN), st.lists(PLAIN, max_size=2)), max_size=20))
def test_estimates_are_the_same_natively(values):
    functions = native.functions()
    assert functions is not None
    assert sizes(functions)(values) == sizes()(values)


@pytest.mark.parametrize(("size", "before", "expected"), [(10, 1, 8), (10, 64, 512), (10, 512, 512), (1 << 20, 512, 1)])
def test_room_grows_by_what_was_seen(size, before, expected):
    assert room(size, before) == expected
