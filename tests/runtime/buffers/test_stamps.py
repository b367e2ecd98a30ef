"""Timestamps arrive as they were sent, in the shorter of two forms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.runtime.buffers.codec import decode, encode
from penstock.runtime.buffers.stamps import pack, timestamps

TIMES = st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1), st.integers())
RUNS = st.lists(st.tuples(TIMES, st.integers(1, 40)))


@given(RUNS)
def test_all_arrive(runs):
    times = [time for time, count in runs for _ in range(count)]
    stamps = decode(encode([], pack(times))).stamps
    assert list(timestamps(stamps, len(times))) == times


@pytest.mark.parametrize(
    ("times", "most"),
    [
        ([5] * 2000, 60),
        ([1_600_000_000_000 + 100 * (i // 100) for i in range(2000)], 500),
        ([1_600_000_000_000 + i for i in range(2000)], 16_200),
        ([None] * 1000 + list(range(1000)), 9_000),
    ],
    ids=["one run", "long runs", "no runs", "some without"],
)
def test_they_are_small(times, most):
    assert len(encode([], pack(times))) < most


def test_a_stream_without_timestamps_has_none():
    assert list(timestamps([], 3)) == [None] * 3
