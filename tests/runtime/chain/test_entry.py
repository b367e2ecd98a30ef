"""The way into a chain: whatever the form, an input's records and signals arrive in their order, with pauses."""

from __future__ import annotations

import pytest

from penstock.common import Types
from penstock.common.settings.settings import Settings
from penstock.job.deployment import deploy
from penstock.runtime.aggregators import SumAggregator
from penstock.runtime.buffers.codec import Encoder, decode, encode
from penstock.runtime.buffers.signals import STATUS, WATERMARK
from penstock.runtime.buffers.stamps import pack, timestamps
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.chain.entry import Fused, Listed, Native
from penstock.runtime.chain.operator_chain import OperatorChain
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.operators.elementwise import StreamMap
from penstock.runtime.operators.reduce import GroupedReduce
from tests.job.programs import Program

KEY = KeyPartition(lambda value: value[0])
PAIR = Types.TUPLE([Types.STRING(), Types.INT()])
CHANNEL = (0, 0)
WAYS = {Listed: ("listed", "auto"), Fused: ("fused", "off"), Native: ("fused", "auto")}
VALUES = [("a" if i % 3 else "b", i) for i in range(600)]
SUMS = [(key, sum(n for k, n in VALUES[: i + 1] if k == key)) for i, (key, _) in enumerate(VALUES)]


class Summing:
    """A running sum by key, all of whose output leaves over the exchange."""

    def __init__(self, way: type, *, busy: bool = False) -> None:
        form, native = WAYS[way]
        settings = {"penstock.runtime.form": form, "penstock.runtime.native": native, "penstock.native": "off"}
        program = Program(settings=settings)
        reduced = GroupedReduce(SumAggregator(1), keyed=KEY)
        node = program.add(reduced, program.source([]), partitioner="HASH", spec=KEY, chain="HEAD", type=PAIR)
        program.collect(program.add(StreamMap(str), node, partitioner="REBALANCE"))
        deployment = deploy(program.pipeline())
        vertex, subtask = deployment.slot(1, 0)
        self.rows, self.toggles = [], []

        def context(config):
            return OperatorContext(deployment.job, vertex, config, subtask, 0, lambda kind, data: None)

        self.chain = OperatorChain(vertex, subtask, context, self.rows.append)
        self.entry = self.chain.entry(0, [CHANNEL], self.toggles.append, lambda: busy)
        self.chain.open()

    def take(self, data: bytes) -> int:
        """The number of pauses."""
        return sum(1 for _ in self.entry.take(CHANNEL, data))

    def sent(self):
        """Records with their timestamps, and watermarks by how many records stand before them."""
        self.chain.send()
        records, signals = [], []
        for row in self.rows:
            values, stamps, some, _ = decode(row.data)
            signals += [(len(records) + index, kind, payload) for index, kind, payload in some]
            records += zip(values, timestamps(stamps, len(values)), strict=True)
        return records, signals


@pytest.mark.parametrize("way", WAYS)
def test_a_form_has_its_way(way):
    entry = Summing(way).chain.entry(0, [], lambda active: None, lambda: False)
    assert type(entry.put.__self__) is way


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("codec", ["pickle", "columns"])
@pytest.mark.parametrize("timed", [False, True])
def test_a_buffer_is_read_whole(way, codec, timed):
    summing, times = Summing(way), [i // 2 if timed else None for i in range(len(VALUES))]
    data = Encoder(PAIR, Settings(codec=codec)).encode(VALUES, pack(times) if timed else [], [], 0)
    pauses = summing.take(data)
    assert summing.sent() == (list(zip(SUMS, times, strict=True)), [])
    assert (summing.entry.records, summing.entry.bytes) == (len(VALUES), len(data))
    assert pauses == 10  # after 1, 2, 4, … records
    assert summing.take(data) == 2


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("timed", [False, True])
def test_signals_stand_between_their_records(way, timed):
    summing, times = Summing(way), list(range(30)) if timed else []
    signals = [(0, WATERMARK, 3), (10, WATERMARK, 9), (20, STATUS, 0), (25, STATUS, 1), (30, WATERMARK, 99)]
    summing.take(encode(VALUES[:30], pack(times), signals))
    records, sent = summing.sent()
    assert records == list(zip(SUMS[:30], times or [None] * 30, strict=True))
    assert sent == [signals[0], signals[1], signals[4]]
    assert summing.toggles == [False, True]
    assert summing.entry.records == 30


@pytest.mark.parametrize("way", WAYS)
def test_there_is_a_pause_after_each_record_while_rows_pile_up(way):
    assert Summing(way, busy=True).take(encode(VALUES[:50], [])) == 50
