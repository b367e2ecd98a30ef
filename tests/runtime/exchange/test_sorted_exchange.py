"""Rows sorted by key: what a writer sends and what a merge gives back, against sorting everything in one list."""

from __future__ import annotations

import random
from itertools import groupby
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.common import Types
from penstock.common.settings.settings import Settings
from penstock.errors import TypeInfoError
from penstock.job.pickled_code import pickle_operator
from penstock.runtime.aggregators import ComparableAggregator, SumAggregator
from penstock.runtime.config.tasks import Destination, NetworkOutput
from penstock.runtime.exchange import sorted_rows, sorted_writer
from penstock.runtime.exchange.combiner import combinable, combiner
from penstock.runtime.exchange.gate import ExchangeError
from penstock.runtime.exchange.selectors import hashed
from penstock.runtime.exchange.sorted_merge import KeyMerge
from penstock.runtime.exchange.sorted_rows import NO_TIME, SORTED, sort_key, unpack
from penstock.runtime.exchange.sorted_writer import SortedWriter
from penstock.runtime.exchange.writer import Sender
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.usercode.failure import FunctionFailure
from tests.effort import examples

COLLIDING = ["plumless", "buckeroo", "codding", "gnu", "a", "b", "c", "ü", "\ud800"]
"""The first two and the next two have one rank each."""
BY_FIRST = KeyPartition(lambda value: value[0])
PACKED = pickle_operator(BY_FIRST, "key")
PAIR = Types.TUPLE([Types.STRING(), Types.INT()])
MIN = -(2**63)


def fail(error):
    return error.error if isinstance(error, FunctionFailure) else error


def output(edge=0, parallelism=1, combined=None, record_type=None, partitioner="HASH"):
    to = (Destination(edge, 1, 0),)
    return NetworkOutput(None, partitioner, PACKED, parallelism, 128, "", to, record_type, False, True, combined)


def send(records, *, buffer=2000, sender=0, batch=False, **kwargs):
    """The rows of a writer for (value, timestamp) records."""
    rows: list[Any] = []
    writer = SortedWriter(output(**kwargs), Sender(3, sender, rows.append, fail, Settings(buffer_records=buffer)))
    if batch:
        for time, group in groupby(records, key=lambda record: record[1]):
            writer.write_batch([value for value, _ in group], time)
    else:
        for value, time in records:
            writer.write(value, time)
    writer.finish()
    return rows


def slots_of(values):
    return [value[0] for value in values]


def merged(rows, edges=(0,)):
    """(edge, value, timestamp) by key, as a merge gives them from rows in order."""
    merge = KeyMerge(dict.fromkeys(edges, slots_of))
    keys: list[list[Any]] = [[]]
    runs = [run for row in sorted(rows, key=lambda row: (row.sequence, row.data)) for run in merge.add(row)]
    for run in [*runs, *merge.finish()]:
        times = run.times or [NO_TIME] * len(run.values)
        keys[-1] += [(run.edge, v, None if t == NO_TIME else t) for v, t in zip(run.values, times, strict=True)]
        if run.last:
            keys.append([])
    assert keys.pop() == []
    return keys


def naive(sent):
    """The same from {(edge, sender): records}: by hash, and within a key by (timestamp, edge, sender, arrival)."""
    keys: dict[str, list[Any]] = {}
    for (edge, sender), records in sorted(sent.items()):
        for arrival, (value, time) in enumerate(records):
            place = (MIN if time is None else time, edge, sender, arrival)
            keys.setdefault(value[0], []).append((place, (edge, value, time)))
    return {
        key: (
            sorted_rows.key_ranks([key], KeyHash())[0],
            [record for _, record in sorted(records, key=lambda pair: pair[0])],
        )
        for key, records in keys.items()
    }


RECORDS = st.lists(
    st.tuples(
        st.tuples(st.sampled_from(COLLIDING), st.integers(0, 999)),
        st.one_of(st.none(), st.integers(-3, 3), st.sampled_from([MIN + 1, 2**63 - 1])),
    ),
    max_size=30,
)


@settings(max_examples=3 * settings().max_examples // 2)
@given(
    st.dictionaries(st.tuples(st.integers(0, 1), st.integers(0, 2)), RECORDS, max_size=4),
    st.sampled_from([1, 2, 3, 2000]),
    st.sampled_from([1, 400, 1500, 32 << 20]),
    st.booleans(),
)
def test_rows_of_many_senders_become_keys_in_order(sent, buffer, gathered, batch):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorted_writer, "GATHERED_BYTES", gathered)
        rows = []
        for (edge, sender), records in sent.items():
            rows += send(records, buffer=buffer, sender=sender, edge=edge, batch=batch)
    actual = merged(rows, edges=(0, 1))
    expected = naive(sent)
    assert len(actual) == len(expected)
    ranks = []
    for key in actual:
        name = key[0][1][0]
        ranks.append(expected[name][0])
        assert key == expected[name][1]
    assert ranks == sorted(ranks)


def test_some_texts_have_one_rank():
    ranks = sorted_rows.key_ranks(COLLIDING, KeyHash())
    assert ranks[0] == ranks[1]
    assert ranks[2] == ranks[3]
    assert len(set(ranks)) == len(COLLIDING) - 2


@pytest.mark.parametrize("keys", [[1, -1, 2**40], [True, 1, 1.0], [("a", 1), ("a", 2)], ["a", 1, 2.5]])
def test_keys_of_other_types_are_ranked_by_their_hash(keys):
    values = [(key, i) for i, key in enumerate(keys * 2)]
    rows = send([(value, None) for value in values])
    canonical = KeyHash().canonical
    merge = KeyMerge({0: lambda some: [canonical(value[0]) for value in some]})
    runs = [run for row in sorted(rows, key=lambda row: (row.sequence, row.data)) for run in merge.add(row)]
    actual = [run.values for run in [*runs, *merge.finish()]]
    expected = [[values[i], values[i + len(keys)]] for i in range(len(keys))]
    assert sorted(map(repr, actual)) == sorted(map(repr, expected))


def test_rows_are_cut_and_lie_above_all_unsorted_ones():
    rows = send([((str(i % 50), i), None) for i in range(1000)], buffer=7)
    assert all(row.sequence >= SORTED for row in rows)
    sizes = [len(unpack(row.data)[2]) for row in rows]
    assert max(sizes) == 7
    assert sum(sizes) == 1000
    assert len(rows) == -(-1000 // 7)
    assert [sort_key(row) for row in rows] == sorted(sort_key(row) for row in rows)


@pytest.mark.parametrize("p", [1, 2, 7])
def test_a_key_goes_where_the_unsorted_exchange_sends_it(p):
    values = [(str(i), i) for i in range(300)]
    rows = send([(value, None) for value in values], parallelism=p)
    select = hashed(BY_FIRST, 128, p)
    assert {(row.slot, v) for row in rows for v in unpack(row.data)[2]} == {(select(value), value) for value in values}


def test_what_is_gathered_is_bounded_by_bytes():
    big = "x" * (4 << 20)
    rows: list[Any] = []
    writer = SortedWriter(output(), Sender(1, 0, rows.append, fail))
    held = []
    for i in range(30):
        writer.write((f"k{i}", big), None)
        held.append(i + 1 - sum(len(unpack(row.data)[2]) for row in rows))
    assert max(held) <= sorted_writer.GATHERED_BYTES // len(big) + 1
    writer.finish()
    assert len(merged(rows)) == 30


def test_a_changed_object_is_sent_as_it_was():
    rows: list[Any] = []
    writer = SortedWriter(output(), Sender(1, 0, rows.append, fail))
    value = ["a", 1]
    writer.write(value, None)
    value[1] = 2
    writer.write(value, None)
    writer.finish()
    assert [value for _, value, _ in merged(rows)[0]] == [["a", 1], ["a", 2]]


def test_a_key_that_is_none_is_refused():
    with pytest.raises(TypeInfoError, match="must not be null"):
        send([((None, 1), None)])


@pytest.mark.parametrize("broken", [lambda rows: rows[1:], lambda rows: rows + rows[:1]])
def test_lost_and_repeated_rows_are_noticed(broken):
    rows = send([((str(i), i), None) for i in range(100)], buffer=10)
    with pytest.raises(ExchangeError, match="lost, repeated or swapped"):
        merged(broken(rows))


def test_a_key_of_many_rows_is_never_in_memory_as_a_whole():
    """Rows of one key that follow each other in time are open one at a time."""
    rows = []
    for sender in (0, 1):
        rows += send([(("k", i), i) for i in range(sender * 5000, sender * 5000 + 5000)], buffer=100, sender=sender)
    merge = KeyMerge({0: slots_of})
    most = count = 0
    for row in sorted(rows, key=lambda row: (row.sequence, row.data)):
        count += sum(len(run.values) for run in merge.add(row))
        most = max(most, len(merge._rows) + (len(merge._stream._heap) if merge._stream is not None else 0))
    count += sum(len(run.values) for run in merge.finish())
    assert count == 10_000
    assert most <= 2


# --- combining --------------------------------------------------------------------------------------------------------

REDUCERS = [
    SumAggregator(1),
    ComparableAggregator(1, "min"),
    ComparableAggregator(1, "max"),
    ComparableAggregator(1, "min", by=True),
    ComparableAggregator(1, "max", by=True),
    ComparableAggregator(1, "min", by=True, first=False),
    ComparableAggregator(1, "max", by=True, first=False),
]
TRIPLE = Types.TUPLE([Types.STRING(), Types.INT(), Types.INT()])


def reduced(rows, reducer):
    result = {}
    for key in merged(rows):
        values = [value for _, value, _ in key]
        while len(values) > 1:
            values[:2] = [reducer.reduce(values[0], values[1])]
        result[values[0][0]] = values[0]
    return result


@settings(max_examples=examples(80))
@given(
    st.lists(
        st.lists(
            st.tuples(st.sampled_from(COLLIDING), st.integers(-2, 2), st.one_of(st.none(), st.integers(0, 3))),
            max_size=25,
        ),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from(REDUCERS),
    st.sampled_from([1, 600, 32 << 20]),
)
def test_combining_changes_no_result(sent, reducer, gathered):
    """The third field tells records apart, so the winner among equals and the first record of a key are held too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorted_writer, "GATHERED_BYTES", gathered)
        with_it, without = [], []
        for sender, records in enumerate(sent):
            stamped = [((key, v, 100 * sender + i), t) for i, (key, v, t) in enumerate(records)]
            with_it += send(stamped, sender=sender, combined=reducer, record_type=TRIPLE)
            without += send(stamped, sender=sender, record_type=TRIPLE)
    assert reduced(with_it, reducer) == reduced(without, reducer)


def test_combining_sends_less():
    records = [((f"word {i % 10}", 1), None) for i in range(10_000)]
    with_it, without = (send(records, combined=c, record_type=PAIR) for c in (SumAggregator(1), None))
    assert [len(unpack(row.data)[2]) for row in with_it] == [10]
    assert sum(len(row.data) for row in with_it) * 20 < sum(len(row.data) for row in without)


@pytest.mark.parametrize(
    ("reducer", "record_type", "expected"),
    [
        (SumAggregator(1), PAIR, True),
        (SumAggregator(0), Types.LONG(), True),
        (SumAggregator(1), Types.TUPLE([Types.STRING(), Types.DOUBLE()]), False),
        (SumAggregator(1), Types.TUPLE([Types.STRING(), Types.BIG_DEC()]), False),
        (SumAggregator(1), None, False),
        (SumAggregator(1), Types.ROW([Types.STRING(), Types.INT()]), False),
        (SumAggregator(1), Types.TUPLE([Types.PICKLED_BYTE_ARRAY(), Types.INT()]), False),
        (ComparableAggregator(0, "min"), PAIR, True),
        (ComparableAggregator(1, "max", by=True), Types.TUPLE([Types.STRING(), Types.FLOAT()]), False),
        (lambda a, b: a, PAIR, False),
    ],
)
def test_what_is_combined(reducer, record_type, expected):
    assert combinable(reducer, record_type) is expected


@pytest.mark.parametrize("odd", [1.5, "text", True, None])
def test_values_that_are_not_of_the_declared_type_are_left_as_they_are(odd):
    values = [("a", 1), ("a", odd), ("a", 2)]
    times = [3, 2, 1]
    combiner(SumAggregator(1), PAIR)(values, times)
    assert values == [("a", 2), ("a", odd), ("a", 1)]
    assert times == [1, 2, 3]


def test_records_without_the_field_are_left_for_the_reduction_to_refuse():
    values: list[Any] = [("a", 1), ("a",), 5]
    combiner(SumAggregator(1), PAIR)(values, None)
    assert values == [("a", 1), ("a",), 5]


def test_random_order_of_arrival_gives_the_same_keys():
    rows = send([((str(i % 13), i), i % 5) for i in range(500)], buffer=9)
    shuffled = list(rows)
    random.Random(3).shuffle(shuffled)
    assert merged(shuffled) == merged(rows)
