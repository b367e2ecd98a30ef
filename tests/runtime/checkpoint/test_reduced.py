"""A running reduction notes what changes in all the forms it runs in: listed, fused, and native."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock import _native
from penstock.common import Types
from penstock.common.settings.settings import Settings
from penstock.runtime.aggregators import ComparableAggregator, SumAggregator
from penstock.runtime.buffers.codec import Encoder
from penstock.runtime.checkpoint.state_series import load, save
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.operators.reduce import STATE, GroupedReduce
from tests.effort import examples
from tests.runtime.checkpoint.test_steps import ABOUT, empty, same
from tests.runtime.operators.operators_alone import Alone

TEXT_KEY = KeyPartition(lambda record: record[0], Types.STRING())
ANY_KEY = KeyPartition(lambda record: record[0], None)
NUMBERS = st.one_of(st.integers(-5, 5), st.just(2**62), st.just(2**80), st.just(0.5))
RECORDS = st.lists(st.tuples(st.one_of(st.sampled_from("abcdef"), st.integers(0, 5)), NUMBERS), max_size=20)
TEXTS = st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(-5, 5)), min_size=1, max_size=20)


def listed(alone):
    return lambda records: [alone.take(record) for record in records]


def fused(alone):
    """The lines of the operator's fragment, alone in a function."""
    fragment = alone.live.fragment()
    names = {"v": "v", "t": "t", "o": "o", "r": "r", **{name: name for name in fragment.bindings}}
    lines = [f" {line}".format_map(names) for line in fragment.lines]
    text = "\n".join([f"def run(v, t, {', '.join(fragment.bindings)}):", *lines, " return o"])
    namespace = {}
    exec(text, namespace)
    return lambda records: [
        alone.results.append((namespace["run"](record, None, **fragment.bindings), None)) for record in records
    ]


def native(alone, batch=None):
    """Many at a time; what it cannot goes one by one, as in a task."""
    batch, single = batch or alone.live.batch(_native), listed(alone)

    def run(records):
        results = []
        if batch.run(list(records), None, results):
            alone.results += [(result, None) for result in results]
        else:
            single(records)

    return run


def columns(alone):
    """Whole buffers."""
    batch = alone.live.batch(_native)
    single = native(alone, batch)
    encoder = Encoder(Types.TUPLE([Types.STRING(), Types.LONG()]), Settings())

    def run(records):
        results = batch.columns(encoder.encode(list(records), [], [], 0)) if records else None
        if results is None:
            single(records)
        else:
            alone.results += [(result, None) for result in results]

    return run


REDUCERS = {"sum": SumAggregator(1), "min": ComparableAggregator(1, "min"), "max": ComparableAggregator(1, "max")}


@pytest.mark.parametrize("way", [listed, fused, native, columns])
@pytest.mark.parametrize("name", REDUCERS)
@settings(max_examples=examples(40))
@given(steps=st.lists(st.one_of(RECORDS, TEXTS), min_size=1, max_size=5))
def test_what_is_written_is_what_there_is(tmp_path_factory, way, name, steps):
    folder, chain = str(tmp_path_factory.mktemp("state")), ()
    operator = GroupedReduce(REDUCERS[name], keyed=ANY_KEY)
    alone, plain = Alone(operator, tracked=True), Alone(operator)
    run = way(alone)
    for version, records in enumerate(steps):
        run(records)
        listed(plain)(records)
        alone.state.settle()
        touched = {alone.state.enter(key) for key, _ in records}
        assert {slot for _, slots in alone.state.changes for slot in slots} == touched
        chain = save(folder, alone.state, None, ABOUT, chain, version)
        loaded = empty(alone.state)
        load(folder, [chain], loaded, None, ABOUT)
        same(loaded, alone.state)
        assert loaded.table(STATE) == plain.state.table(STATE)
    assert alone.results == plain.results


def test_the_columns_are_taken_where_they_fit():
    alone = Alone(GroupedReduce(SumAggregator(1), keyed=TEXT_KEY), tracked=True)
    data = Encoder(Types.TUPLE([Types.STRING(), Types.LONG()]), Settings()).encode([("a", 1)] * 9, [], [], 0)
    assert alone.live.batch(_native).columns(data) == [("a", n) for n in range(1, 10)]
