from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.common import Types
from penstock.common.settings.settings import Settings
from penstock.runtime import native
from penstock.runtime.buffers.buffer_size import MOST_COLUMNS, MOST_RECORDS
from penstock.runtime.buffers.codec import decode, dumps, encode, freeze
from penstock.runtime.buffers.row import Row
from penstock.runtime.buffers.stamps import pack, timestamps
from penstock.runtime.config.tasks import (
    Destination,
    InputEdge,
    NetworkOutput,
    pointwise_consumers,
    pointwise_producers,
)
from penstock.runtime.exchange import channel
from penstock.runtime.exchange import writer as writing
from penstock.runtime.exchange.gate import ExchangeError, InputGate
from penstock.runtime.exchange.selectors import channel_selector, seed_of
from penstock.runtime.exchange.writer import RecordWriter, Sender
from penstock.runtime.keys.partition import CustomPartition, KeyPartition
from tests.reference.execution_graph import exact_pointwise

GOLDEN = json.loads(gzip.decompress((Path(__file__).parents[2] / "golden" / "keygroups.json.gz").read_bytes()))


ONE = (Destination(4, 2, 10),)


def fail(error):
    return error


def writer(rows, kind="GLOBAL", parallelism=1, destinations=ONE, options=Settings()):  # noqa: B008
    partition = PARTITIONS.get(kind)
    pickled = None if partition is None else dumps(partition)
    output = NetworkOutput(None, kind, pickled, parallelism, 128, "seed", tuple(destinations), None)
    return RecordWriter(output, Sender(1, 0, rows.append, fail, options))


PARTITIONS = {
    "HASH": KeyPartition(lambda v: str(v)[-2:]),
    "CUSTOM": CustomPartition(lambda key, n: len(key) % n, str),
}


def buffers(rows):
    """What is in the rows of each channel; writers may fill channels in different orders."""
    return {row._replace(data=b""): decode(row.data)[:3] for row in rows}


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_channel_selectors_are_those_of_flink(n):
    golden = GOLDEN["channel_selectors"][f"n={n}"]
    specs = {
        "CUSTOM (key % n of 0,1,2,...)": ("CUSTOM", CustomPartition(lambda key, m: key % m, lambda v: v)),
        "HASH (Long keys 0,1,2,..., max 128)": ("HASH", KeyPartition(lambda v: v)),
    }
    checked = 0
    for label, expected in golden.items():
        kind, spec = specs.get(label, (label, None))
        if kind == "BROADCAST":
            continue
        select = channel_selector(kind, spec, 128, n, seed_of("x"))
        channels = [select(i) for i in range(12)]
        checked += 1
        if isinstance(expected, list):
            assert channels == expected, label
        elif kind == "REBALANCE":
            assert channels == [(channels[0] + i) % n for i in range(12)]
        else:
            assert set(channels) <= set(expected["channels_seen"])
    assert checked == 7


def test_rebalance_starts_differ_between_senders():
    starts = {channel_selector("REBALANCE", None, 128, 4, seed_of("edge", i))(0) for i in range(50)}
    assert starts == {0, 1, 2, 3}


def test_shuffle_is_even_and_repeatable():
    first, second = (channel_selector("SHUFFLE", None, 128, 4, 7) for _ in range(2))
    channels = [first(None) for _ in range(4000)]
    assert channels == [second(None) for _ in range(4000)]
    assert all(900 < channels.count(c) < 1100 for c in range(4))


def test_pointwise_connections():
    for n in range(1, 40):
        for m in range(1, 40):
            consumers = [pointwise_consumers(n, m, i) for i in range(n)]
            assert all(consumers), (n, m)
            pairs = {(p, c) for c in range(m) for p in pointwise_producers(n, m, c)}
            assert pairs == {(p, c) for p in range(n) for c in consumers[p]}
            assert {p for p, _ in pairs} == set(range(n))
    assert [list(pointwise_producers(2, 4, i)) for i in range(4)] == [[0], [0], [1], [1]]
    assert [list(pointwise_producers(4, 2, i)) for i in range(2)] == [[0, 1], [2, 3]]
    assert [list(pointwise_producers(5, 2, i)) for i in range(2)] == [[0, 1], [2, 3, 4]]


def test_32_bit_floats_show():
    """14 producers for 16 consumers: whole numbers, which Flink 2.3 takes, give another producer somewhere."""
    exact = [[i * 14 // 16] for i in range(16)]
    assert [list(pointwise_producers(14, 16, i)) for i in range(16)] != exact
    assert [list(pointwise_producers(14, 16, i, exact=True)) for i in range(16)] == exact


def test_exact_shares_are_those_of_the_reference():
    for n in range(1, 40):
        for m in range(1, 40):
            shares = [exact_pointwise(n, m, i) for i in range(m)]
            assert [list(pointwise_producers(n, m, i, exact=True)) for i in range(m)] == shares
            consumers = [pointwise_consumers(n, m, i, exact=True) for i in range(n)]
            assert consumers == [[i for i in range(m) if p in shares[i]] for p in range(n)]


@pytest.mark.parametrize("way", [False, True])
@pytest.mark.parametrize(
    ("record_type", "most"),
    [(Types.LONG(), MOST_COLUMNS), (None, MOST_RECORDS), (Types.PICKLED_BYTE_ARRAY(), MOST_RECORDS)],
)
def test_a_buffer_has_more_records_of_a_type_that_can_be_columns(way, record_type, most):
    for options, expected in ((Settings(native=way), most), (Settings(native=way, buffer_records=100), 100)):
        rows: list[Row] = []
        output = NetworkOutput(None, "GLOBAL", None, 1, 128, "seed", ONE, record_type)
        w = RecordWriter(output, Sender(1, 0, rows.append, fail, options))
        for number in range(30_000):
            w.write(number, None)
        w.finish()
        assert max(len(decode(row.data)[0]) for row in rows) == expected


def test_buffers_keep_order_and_timestamps():
    rows = []
    w = writer(rows)
    times = [None] * 100 + [5] * 3000 + list(range(50)) + [None]
    for i, t in enumerate(times):
        w.write(i, t)
    w.finish()
    values, read = [], []
    for row in rows:
        buffer, stamps, _, _ = decode(row.data)
        assert len(buffer) <= MOST_RECORDS
        values += buffer
        read += timestamps(stamps, len(buffer))
    assert values == list(range(len(times)))
    assert read == times
    assert [row.sequence for row in rows] == list(range(len(rows)))
    assert len(rows) > 2


VALUES = st.one_of(
    st.integers(),
    st.text(max_size=5),
    st.tuples(st.text(max_size=3), st.lists(st.integers(), max_size=3)),
    st.integers(1, 40).map(lambda n: "x" * 8000 * n),
)
BATCHES = st.lists(st.tuples(st.lists(VALUES, max_size=300), st.none() | st.integers(0, 3)), max_size=12)


@pytest.mark.parametrize("kind", ["GLOBAL", "REBALANCE", "SHUFFLE", "BROADCAST", "HASH", "CUSTOM"])
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(batches=BATCHES, n=st.integers(1, 4), most=st.sampled_from([1, 3, 100, 2000]), native=st.booleans())
def test_a_batch_is_written_as_its_records_are(kind, batches, n, most, native):
    options = Settings(buffer_records=most, codec="pickle", native=False)
    others = Settings(buffer_records=most, codec="columns", native=native)
    singly, at_once = [], []
    one, other = writer(singly, kind, n, options=options), writer(at_once, kind, n, options=others)
    for values, timestamp in batches:
        for value in values:
            one.write(value, timestamp)
        other.write_batch(list(values), timestamp)
        one.watermark(5)
        other.watermark(5)
    one.finish()
    other.finish()
    assert buffers(singly) == buffers(at_once)
    assert all(len(decode(row.data)[0]) <= most for row in at_once)


TIMES = st.none() | st.integers(0, 3) | st.integers(-(2**63), 2**63 - 1)
TIMED = st.lists(st.lists(st.tuples(VALUES, TIMES), max_size=300), max_size=12)


@pytest.mark.parametrize("kind", ["GLOBAL", "REBALANCE", "SHUFFLE", "BROADCAST", "HASH", "CUSTOM"])
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(batches=TIMED, n=st.integers(1, 4), most=st.sampled_from([1, 3, 100, 2000]), native=st.booleans())
def test_a_batch_with_timestamps_is_written_as_its_records_are(kind, batches, n, most, native):
    options = Settings(buffer_records=most, codec="pickle", native=False)
    others = Settings(buffer_records=most, codec="columns", native=native)
    singly, at_once = [], []
    one, other = writer(singly, kind, n, options=options), writer(at_once, kind, n, options=others)
    for number, batch in enumerate(batches):
        for value, timestamp in batch:
            one.write(value, timestamp)
        values, times = map(list, zip(*batch, strict=True)) if batch else ([], [])
        if number % 3 == 2 and batch:  # between them some of one timestamp
            for value in values:
                one.write(value, 7)
            other.write_timed(list(values), list(times))
            other.write_batch(values, 7)
        else:
            other.write_timed(values, times)
        one.watermark(5)
        other.watermark(5)
    one.finish()
    other.finish()
    expected, written = ({row: rest for row, *rest in map(whole, rows)} for rows in (singly, at_once))
    assert written == expected


PARTS = st.lists(
    st.one_of(
        st.tuples(st.just("timed"), st.lists(st.tuples(st.integers(0, 9), TIMES), min_size=1, max_size=60)),
        st.tuples(st.just("untimed"), st.lists(st.integers(0, 9), min_size=1, max_size=60)),
        st.tuples(st.just("texts"), st.lists(st.tuples(st.text("ab", max_size=2), TIMES), min_size=1, max_size=9)),
        st.tuples(st.just("object"), st.tuples(st.integers(0, 9), TIMES)),
        st.tuples(st.just("objects"), st.tuples(st.lists(st.integers(0, 9), min_size=1, max_size=30), TIMES)),
        st.tuples(st.just("watermark"), st.integers(0, 9)),
    ),
    max_size=12,
)


@pytest.mark.skipif(native.functions() is None, reason="needs the native module")
@settings(deadline=None)
@given(parts=PARTS, most=st.sampled_from([1, 3, 100, 2000]))
def test_columns_are_written_as_their_records_are(parts, most):
    functions = native.functions()
    options = Settings(buffer_records=most, codec="columns")
    singly, together = [], []
    one, other = (writer(rows, "GLOBAL", 1, options=options) for rows in (singly, together))
    for kind, part in parts:
        if kind == "watermark":
            one.watermark(part)
            other.watermark(part)
            continue
        if kind == "objects":
            other.write_batch(list(part[0]), part[1])
            records = [(value, part[1]) for value in part[0]]
        elif kind == "object":
            other.write(*part)
            records = [part]
        elif kind == "untimed":
            other.write_columns(functions.Batch.of(part))
            records = [(value, None) for value in part]
        else:
            values, times = map(list, zip(*part, strict=True))
            other.write_columns(functions.Batch.of(values, times))
            records = part
        for value, time in records:
            one.write(value, time)
    one.finish()
    other.finish()
    assert list(map(whole, singly)) == list(map(whole, together))


@pytest.mark.skipif(native.functions() is None, reason="needs the native module")
@pytest.mark.parametrize("longest", [0, 40, 3_000])
def test_buffers_of_many_columns_end_where_those_of_objects_do(longest):
    functions, draw = native.functions(), random.Random(longest)
    singly, together = [], []
    one, other = (writer(rows, "GLOBAL", 1, options=Settings(codec="columns")) for rows in (singly, together))
    for _ in range(30):
        texts = ["x" * draw.randrange(longest + 1) for _ in range(draw.choice([1, 100, 3_000]))]
        values = [(text, 7) for text in texts] if longest else list(range(len(texts)))
        other.write_columns(functions.Batch.of(values))
        for value in values:
            one.write(value, None)
    one.finish()
    other.finish()
    assert len(singly) > 3
    assert list(map(whole, singly)) == list(map(whole, together))


def whole(row):
    """What is in a row, with the timestamp of each record."""
    buffer = decode(row.data)
    times = list(timestamps(buffer.stamps, len(buffer.values))) if buffer.stamps else [None] * len(buffer.values)
    return row._replace(data=b""), list(buffer.values), times, buffer.signals


@pytest.mark.skipif(native.functions() is None, reason="needs the native module")
@given(st.lists(TIMES, min_size=1, max_size=60))
def test_native_stamps_are_those_of_python(times):
    batch = native.functions().Batch.of([0] * len(times), times)
    expected = pack(times)
    assert batch.stamps() == (expected if isinstance(expected, list) else expected.tobytes())
    again = native.functions().Batch.of([0] * len(times)).with_stamps(batch.stamps())
    assert list(again.times) == times
    assert [again.time(row) for row in range(len(times))] == times


def test_large_records_make_small_buffers(monkeypatch):
    rows = []
    w = writer(rows)
    for _ in range(200):
        w.write("x" * 100_000, None)
    w.finish()
    assert max(len(row.data) for row in rows[1:]) < 3 * writing.TARGET_BYTES
    monkeypatch.setattr(channel, "MAX_BYTES", 1000)
    rows.clear()
    w = writer(rows)
    for i in range(64):
        w.write(f"{i:300}", i)
    assert len(rows) >= 32
    assert [int(v) for row in rows for v in decode(row.data)[0]] == list(range(64))
    assert [t for row in rows for t in timestamps(decode(row.data)[1], len(decode(row.data)[0]))] == list(range(64))


@pytest.mark.parametrize(("kind", "n"), [("GLOBAL", 1), ("REBALANCE", 3)])
@pytest.mark.parametrize("large", ["x" * 100_000, ("k", "x" * 100_000), ["x" * 100_000]], ids=["text", "tuple", "list"])
def test_records_that_become_large_do_not_fill_a_buffer_for_two_thousand(kind, n, large):
    rows = []
    w = writer(rows, kind, n)
    for i in range(30_000):
        w.write(i, None)
    for _ in range(300):
        w.write(large, None)
    w.finish()
    assert max(len(row.data) for row in rows) < 160 * 100_000
    assert sum(len(decode(row.data)[0]) for row in rows) == 30_300


def test_a_first_record_that_is_giant_leaves_at_once():
    rows = []
    writer(rows).write("x" * writing.TARGET_BYTES, None)
    assert len(rows) == 1


def test_destinations_share_the_bytes():
    rows = []
    w = writer(rows, "BROADCAST", 3, [Destination(4, 2, 10), Destination(5, 3, 0)])
    w.write("a", None)
    w.finish()
    assert [row[:3] for row in rows] == [(2, 10, 4), (2, 11, 4), (2, 12, 4), (3, 0, 5), (3, 1, 5), (3, 2, 5)]
    assert len({id(row.data) for row in rows}) == 1


@pytest.mark.parametrize("memory", [0, 100, 1 << 20])
def test_a_gate_gives_a_fair_order_whatever_the_arrival(memory):
    rows = [
        Row(0, 0, edge, sender, seq, f"{edge}/{sender}/{seq}".encode())
        for edge in (3, 1)
        for sender in range(4)
        for seq in range(9)
    ]
    expected = sorted(rows, key=lambda row: (row.sequence, row.edge, row.sender))
    for trial in range(5):
        random.Random(trial).shuffle(rows)
        gate = InputGate([InputEdge(3, 0, 4), InputEdge(1, 0, 4)], memory=memory)
        for row in rows:
            gate.add(row)
        assert [(a.channel, a.data) for a in gate.drain()] == [((row.edge, row.sender), row.data) for row in expected]
    assert not gate.ordered
    assert InputGate([InputEdge(3, 0, 1)]).ordered


def test_records_that_need_protection():
    class Local:
        pass

    for value in (1, "a", (1, "a"), None, b"x"):
        assert freeze(value) is value
    shared = [1]
    values = [freeze(shared), freeze((shared,)), freeze(Local())]
    shared.append(2)
    read, _, _, _ = decode(encode(values, []))
    assert read[:2] == [[1], ([1],)]
    assert type(read[2]).__name__ == "Local"


def test_records_never_share_objects_after_an_exchange():
    one = ["x"]
    read, _, _, _ = decode(encode([one, one], []))
    assert read[0] is not read[1]


def test_cyclic_records_cross_too():
    cycle: list = [1]
    cycle.append(cycle)
    read, _, _, _ = decode(encode([cycle], []))
    assert read[0][1] is read[0]


@pytest.mark.parametrize("sequences", [[0, 2], [1], [0, 0]])
def test_lost_and_repeated_buffers_are_noticed(sequences):
    gate = InputGate([InputEdge(1, 0, 2)])
    for sequence in sequences:
        gate.add(Row(0, 0, 1, 0, sequence, b""))
    with pytest.raises(ExchangeError, match="defect"):
        list(gate.drain())
    gate = InputGate([InputEdge(1, 0, 1)])
    with pytest.raises(ExchangeError, match="defect"):
        list(gate.pass_on([Row(0, 0, 1, 0, sequence, b"") for sequence in sequences]))


@pytest.mark.slow
@pytest.mark.parametrize("batch", [1, 256])
@pytest.mark.parametrize(("channels", "width"), [(7, 4), (100, 4), (100, 1000), (1000, 300)])
def test_what_waits_in_all_channels_is_bounded(monkeypatch, channels, width, batch):
    memory = 300_000
    monkeypatch.setattr(writing, "UNSENT_BYTES", memory)
    rows = []
    w = writer(rows, "REBALANCE", channels)
    waiting = []
    for start in range(0, 40_960, batch):
        records = [f"{number:0{width}}" for number in range(start, start + batch)]
        if batch == 1:
            w.write(records[0], None)
        else:
            w.write_batch(records, None)
        if start % 256 == 0:
            waiting.append(sum(len(value) + 64 for channel in w._channels for value in channel.values))
    w.finish()
    assert max(waiting) < 2 * memory + (width + 64) * (256 + channels)
    assert sorted(int(value) for row in rows for value in decode(row.data)[0]) == list(range(40_960))


def test_watermarks_that_wait_in_all_channels_are_bounded(monkeypatch):
    monkeypatch.setattr(writing, "UNSENT_BYTES", 80_000)
    rows = []
    w = writer(rows, "REBALANCE", 100)
    waiting = []
    for time in range(100):
        w.watermark(time)
        waiting.append(sum(len(channel.signals) for channel in w._channels))
    assert max(waiting) <= 1_000
    assert len(rows) == 1_000
