"""Penstock's watermarks in a generated function are where they are record by record: in every channel, after the same
records, with the same timestamps, and so from step to step."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import Duration, Types, WatermarkStrategy
from penstock.job.deployment import deploy
from penstock.runtime.buffers.codec import decode, encode
from penstock.runtime.buffers.stamps import pack, timestamps
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.chain.operator_chain import OperatorChain
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.operators import watermarks
from penstock.runtime.operators.elementwise import StreamFilter, StreamFlatMap, StreamMap
from penstock.runtime.operators.watermarks import TimestampsAndWatermarks
from penstock.runtime.usercode.failure import OperatorFailure
from tests.job.programs import Program

CHANNEL = (0, 0)
KEY = KeyPartition(lambda value: value % 3)
FORMS = [("listed", "auto"), ("fused", "auto"), ("fused", "off")]
BOUNDED = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(2))
STRATEGIES = {
    "assigned": BOUNDED.with_timestamp_assigner(lambda value, before: value // 2),
    "from before": BOUNDED.with_timestamp_assigner(lambda value, before: max(before, value)),
    "kept": BOUNDED,
    "no watermarks": WatermarkStrategy.no_watermarks().with_timestamp_assigner(lambda value, before: value),
    "idle": BOUNDED.with_idleness(Duration.of_millis(1)),
}
RECORDS = st.lists(st.tuples(st.integers(0, 90), st.none() | st.integers(-5, 60)), min_size=1, max_size=25)


class Chain:
    """exchange → any number of records → timestamps and watermarks → filter → map → exchange by key, and to one."""

    def __init__(self, form, native, strategy, head=False):
        program = Program(
            settings={"penstock.runtime.form": form, "penstock.runtime.native": native, "penstock.native": "off"}
        )
        source, way = program.source([]), {"partitioner": "REBALANCE", "chain": "HEAD", "type": Types.LONG()}
        if head:
            timed = program.add(TimestampsAndWatermarks(strategy), source, **way)
        else:
            flat = program.add(StreamFlatMap(lambda value: [value] * (value % 4)), source, **way)
            timed = program.add(TimestampsAndWatermarks(strategy), flat, type=Types.LONG())
        kept = program.add(StreamFilter(lambda value: value % 5 > 0), timed, type=Types.LONG())
        mapped = program.add(StreamMap(lambda value: 100 // (value - 7)), kept, type=Types.LONG())
        program.collect(mapped, partitioner="HASH", spec=KEY, p=2)
        program.collect(timed, id="all", partitioner="GLOBAL", chain="HEAD")
        deployment = deploy(program.pipeline())
        vertex, subtask = deployment.slot(1, 0)
        self.rows = []

        def context(config):
            return OperatorContext(deployment.job, vertex, config, subtask, 0, lambda kind, data: None)

        self.chain = OperatorChain(vertex, subtask, context, self.rows.append)
        self.entry = self.chain.entry(0, [CHANNEL], lambda active: None, lambda: False)

    def take(self, records):
        values, times = map(list, zip(*records, strict=True))
        for _ in self.entry.take(CHANNEL, encode(values, pack(times) if any(times) else [])):
            pass

    def sent(self):
        """By channel: records with their timestamps, and watermarks by how many records stand before them."""
        sent = {}
        for row in self.rows:
            values, stamps, some, _ = decode(row.data)
            records, signals = sent.setdefault((row.edge, row.slot), ([], []))
            signals += [(len(records) + index, kind, payload) for index, kind, payload in some]
            records += zip(values, timestamps(stamps, len(values)), strict=True)
        return sent


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(steps=st.lists(st.lists(RECORDS, max_size=3), max_size=3), period=st.sampled_from([1, 2, 7, 100]))
def test_they_come_as_record_by_record(strategy, steps, period):
    outcomes = []
    for form, native in FORMS:
        with patch.object(watermarks, "PERIOD", period):
            outcomes.append(outcome(steps, lambda form=form, native=native: Chain(form, native, STRATEGIES[strategy])))
    assert outcomes[1] == outcomes[2] == outcomes[0]


def outcome(steps, build):
    """What is sent, step by step, each in a chain of its own that knows what the one before has known; and failures."""
    volatile, parts = None, []
    for step in steps:
        chain = build()
        if volatile is not None:
            chain.chain.resume(volatile)
        chain.chain.open()
        try:
            for records in step:
                chain.take(records)
            chain.chain.end_step()
        except OperatorFailure as failure:
            chain.chain.send()
            return [*parts, chain.sent(), str(failure), repr(failure.error), repr(failure.error.__cause__)]
        parts.append(chain.sent())
        volatile = chain.chain.volatile()
    return parts


@pytest.mark.parametrize(("form", "native"), FORMS)
def test_the_head_of_a_chain_goes_on_from_the_step_before(form, native):
    """Also where the generated function was there before what it goes on from."""
    with patch.object(watermarks, "PERIOD", 3):
        first, second = (Chain(form, native, BOUNDED, head=True) for _ in range(2))
        first.chain.open()
        first.take([(11, 50), (12, 20)])
        first.chain.end_step()
        second.chain.resume(first.chain.volatile())
        second.chain.open()
        second.take([(13, 30), (14, 60), (16, 61)])
        second.chain.end_step()
    assert {payload for _, signals in first.sent().values() for _, _, payload in signals} == {47}
    assert {payload for _, signals in second.sent().values() for _, _, payload in signals} == {58}
