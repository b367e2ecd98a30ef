"""The native functions beside what they stand in for."""

from __future__ import annotations

import builtins
import gzip
import json
import subprocess
import sys
from datetime import timezone
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock import _native
from penstock.common import Configuration, Row, Types
from penstock.datastream import StreamExecutionEnvironment
from penstock.errors import TypeInfoError
from penstock.runtime import native
from penstock.runtime.aggregators import ComparableAggregator, SumAggregator
from penstock.runtime.buffers.codec import Buffer
from penstock.runtime.exchange.selectors import channel_selector, splitter
from penstock.runtime.keys.key_types import KeyHash, native_code
from penstock.runtime.keys.keygroups import ChannelAssigner
from penstock.runtime.keys.partition import KeyPartition
from tests.runtime.keys.test_keygroups import declared_type, value_of

GOLDEN = json.loads(gzip.decompress((Path(__file__).parents[2] / "golden" / "keygroups.json.gz").read_bytes()))

TEXT = st.text(max_size=5) | st.sampled_from(["\ud800", "größe", "😀x"])
INT = st.integers(-(2**31) - 1, 2**31) | st.integers(-(2**64), 2**64)
DAY, CLOCK = st.dates(), st.times() | st.times(timezones=st.just(timezone.utc))
TIME = (
    st.datetimes() | st.datetimes(timezones=st.just(timezone.utc)) | st.datetimes().map(lambda at: at.replace(fold=1))
)
KEY = st.recursive(
    st.one_of(TEXT, INT, st.booleans(), st.floats(), st.none(), st.decimals(allow_nan=False), DAY, TIME, CLOCK),
    lambda strategy: st.one_of(
        st.lists(strategy, max_size=3), st.lists(strategy, max_size=4).map(tuple), strategy.map(Row)
    ),
    max_leaves=5,
)
SCALAR_TYPES = {
    "STRING": (Types.STRING(), TEXT),
    "BYTE": (Types.BYTE(), st.integers(-129, 128)),
    "SHORT": (Types.SHORT(), st.integers(-(2**15) - 1, 2**15)),
    "INT": (Types.INT(), INT),
    "LONG": (Types.LONG(), INT),
    "BIG_INT": (Types.BIG_INT(), INT),
    "BOOLEAN": (Types.BOOLEAN(), st.booleans() | st.integers(0, 1)),
    "DOUBLE": (Types.DOUBLE(), st.floats() | st.integers(0, 9)),
    "FLOAT": (Types.FLOAT(), st.floats() | st.integers(0, 9)),
    "DATE": (Types.SQL_DATE(), DAY | TIME),
    "TIMESTAMP": (Types.SQL_TIMESTAMP(), DAY | TIME),
    "TIME": (Types.SQL_TIME(), CLOCK | TIME),
}
DECLARED = st.recursive(
    st.sampled_from(list(SCALAR_TYPES.values())),
    lambda kind: st.lists(kind, min_size=1, max_size=3).map(
        lambda fields: (Types.TUPLE([t for t, _ in fields]), st.tuples(*(st.none() | v for _, v in fields)))
    ),
    max_leaves=4,
)


def outcome(call):
    """What a call gives or raises."""
    try:
        return call()
    except Exception as error:
        return type(error), str(error)


def one_by_one(keys, key_type, maximum, channels):
    assigner, parts = ChannelAssigner(KeyHash(key_type), maximum, channels), {}
    for index, key in enumerate(keys):
        parts.setdefault(assigner.assign(key), []).append(index)
    return parts


def at_once(keys, key_type, maximum, channels):
    assign = ChannelAssigner(KeyHash(key_type), maximum, channels).assign
    router = _native.KeyRouter(native_code(key_type) or b"u", maximum, channels)
    places = list(range(len(keys)))
    parts = router.split(keys, places, assign, [str(place) for place in places])[0]
    assert [list(map(str, part)) for _, part, _ in parts] == [times for _, _, times in parts]
    return {channel: part for channel, part, _ in parts}


CHANNELS = st.tuples(st.sampled_from([1, 7, 128, 32768]), st.integers(1, 9)).filter(lambda pair: pair[1] <= pair[0])


@settings(max_examples=4 * settings().max_examples)
@given(keys=st.lists(KEY, max_size=4), channels=CHANNELS)
def test_undeclared_keys_go_where_they_go_one_by_one(keys, channels):
    assert outcome(lambda: at_once(keys, None, *channels)) == outcome(lambda: one_by_one(keys, None, *channels))


@settings(max_examples=4 * settings().max_examples)
@given(st.data(), DECLARED, CHANNELS)
def test_declared_keys_go_where_they_go_one_by_one(data, declared, channels):
    key_type, values = declared
    keys = data.draw(st.lists(st.one_of(values, values, values, KEY), max_size=4))
    if native_code(key_type) is None:
        return
    assert outcome(lambda: at_once(keys, key_type, *channels)) == outcome(lambda: one_by_one(keys, key_type, *channels))


@pytest.mark.parametrize("channels", [1, 2, 5])
@pytest.mark.parametrize(
    ("key_type", "keys"),
    [
        (Types.BOOLEAN(), [False, []]),
        (Types.BOOLEAN(), [True, "x"]),
        (Types.LONG(), [1, 1.0]),
        (Types.DOUBLE(), [1.0, True, "1"]),
        (Types.TUPLE([Types.LONG(), Types.BOOLEAN()]), [(1, False), (1.0, False)]),
        (Types.TUPLE([Types.LONG(), Types.BOOLEAN()]), [(1, False), (1, ())]),
        (Types.ROW([Types.LONG()]), [Row(1), Row(1.0)]),
        (Types.LIST(Types.LONG()), [[1], [1.0]]),
    ],
)
def test_a_key_of_another_type_is_refused_whatever_came_before(key_type, keys, channels):
    ways = [one_by_one] if native_code(key_type) is None else [one_by_one, at_once]
    for way in ways:
        assert way(keys[:-1], key_type, 128, channels)
        with pytest.raises(TypeInfoError, match="declared as"):
            way(keys, key_type, 128, channels)


def test_every_vector_goes_to_its_subtask():
    checked = 0
    for vector in GOLDEN["vectors"]:
        key_type, key = declared_type(vector), value_of(vector)
        if key_type is None or native_code(key_type) is None:
            continue
        for p, subtask in vector["subtask"].items():
            parallelism, maximum = (int(x.split("=")[1]) for x in p.split(","))
            assert at_once([key], key_type, maximum, parallelism) == {subtask: [0]}, vector
            checked += 1
    assert checked > 400


def test_plain_keys_need_no_help():
    keys = ["a", "größe", 1, -1, 2**40, 1.5, True, ("a", (1, None)), ()]
    router = _native.KeyRouter(b"u", 128, 3)
    parts, field = router.split(keys, keys, lambda key: pytest.fail(f"{key!r} was not known"))
    assert {c: part for c, part, _ in parts} == {
        c: [keys[i] for i in places] for c, places in one_by_one(keys, None, 128, 3).items()
    }
    assert field == 254


def test_wrong_arguments_are_refused():
    for arguments in [(b"x", 128, 2), (b"u", 0, 2), (b"u", 128, 0)]:
        with pytest.raises(ValueError, match="key type"):
            _native.KeyRouter(*arguments)
    router = _native.KeyRouter(b"u", 128, 2)
    with pytest.raises(ValueError, match="as many keys"):
        router.split(["a"], [], len)
    with pytest.raises(ValueError, match="as many timestamps"):
        router.split(["a"], ["a"], len, [])
    with pytest.raises(ValueError, match="channel"):
        router.split([[1]], [1], lambda key: 2)
    with pytest.raises(TypeInfoError, match="None"):
        router.split([None], [1], ChannelAssigner(KeyHash(), 128, 2).assign)


@pytest.mark.parametrize("kind", ["REBALANCE", "RESCALE", "SHUFFLE", "HASH"])
@pytest.mark.parametrize("functions", [None, _native], ids=["python", "native"])
@settings(max_examples=settings().max_examples // 2)
@given(sizes=st.lists(st.integers(0, 9), max_size=5), n=st.integers(1, 5), timed=st.booleans())
def test_batches_are_split_as_records_are_selected(kind, functions, sizes, n, timed):
    partition = KeyPartition(lambda value: value) if kind == "HASH" else None
    arguments = kind, partition, 128, n
    select, other = channel_selector(*arguments, 3), channel_selector(*arguments, 3)
    split = splitter(*arguments, other, functions)
    for size in sizes:
        values, expected = list(range(size)), {}
        for value in values:
            expected.setdefault(select(value), []).append(value)
        if timed:
            parts = split(values, [-value for value in values])[0]
            assert all(times == [-value for value in part] for _, part, times in parts)
        else:
            parts = split(values, None)[0]
            assert all(times is None for *_, times in parts)
        assert {channel: part for channel, part, _ in parts} == expected
        if kind != "HASH":
            assert other(None) == select(None)


# --- keys ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "own_forms"),
    [
        (["a", 1, ("a", 1, None)], True),
        ([], True),
        ([None], False),
        ([True], False),
        ([1.0], False),
        ([((1,),)], False),
    ],
)
def test_own_forms(keys, own_forms):
    assert _native.are_own_forms(keys) is own_forms
    if own_forms:
        assert all(KeyHash().canonical(key) is key for key in keys)


# --- the loader ------------------------------------------------------------------------------------------------------


def test_without_the_wheel_there_are_no_native_functions(monkeypatch):
    monkeypatch.setattr(native, "functions", native.functions.__wrapped__)
    real = builtins.__import__

    def without(name, globals=None, locals=None, fromlist=(), level=0):
        if "_native" in (fromlist or ()):
            raise ImportError(name)
        return real(name, globals, locals, fromlist, level)

    assert native.functions() is sys.modules["penstock._native"]
    assert native.functions(False) is None
    monkeypatch.setattr(builtins, "__import__", without)
    assert native.functions() is None


def test_an_executor_without_the_wheel_reads_what_another_wrote():
    values = [("größe", n % 3, None if n % 7 else 1.5) for n in range(1000)]
    data = _native.encode_columns(values, 0, b"")
    code = f"""
import sys
sys.modules["penstock._native"] = None
from penstock.runtime.buffers.codec import decode
from penstock.runtime.native import functions
functions = functions()
print(functions, ascii(decode({data!r}, functions)))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == f"None {Buffer(values, [], [], [value[0] for value in values])!a}\n"


@pytest.mark.parametrize("functions", ["auto", "off"])
@pytest.mark.parametrize("codec", ["auto", "pickle", "columns"])
@pytest.mark.parametrize("records", ["3", "2000"])
def test_results_are_the_same(functions, codec, records):
    settings = {
        "penstock.runtime.native": functions,
        "penstock.exchange.codec": codec,
        "penstock.exchange.buffer-records": records,
    }
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings), executor="local")
    env.set_parallelism(2)
    words = ["to", "be", "or", "not", "to", "be", "that", "is", "the", "question"] * 20
    lines = env.from_collection([(word, index, [index]) for index, word in enumerate(words)])
    pairs = lines.flat_map(lambda value: [(value[0], 1), (value[0], Decimal(len(value[2])))])
    sums = pairs.key_by(lambda pair: pair[0]).sum(1).rebalance().map(lambda pair: (*pair, pair[0] == "be"))
    with sums.execute_and_collect() as results:
        last = {}
        for word, count, is_be in results:
            assert is_be is (word == "be")
            last[word] = max(count, last.get(word, 0))
    assert last == {word: 2 * words.count(word) for word in words}


NUMBERS = st.one_of(st.integers(-3, 3), st.sampled_from([2**62, 2**63 - 1, -(2**63), 2**70, True, 0.5, "text", None]))
FOLDED = st.one_of(
    st.tuples(st.sampled_from(["a", "b", "a key that does not lie in the table itself"]), NUMBERS),
    st.tuples(st.sampled_from([1, 2, 2**40, 2**80]), NUMBERS),
    st.tuples(st.sampled_from([("a", 1), "\ud800"]), NUMBERS),
    st.tuples(st.sampled_from(["a", 1]), NUMBERS, st.text(max_size=2)),
    st.tuples(st.sampled_from(["a", 1])),
)


def reduced(table, keys, values, reduce, results):
    for key, value in zip(keys, values, strict=True):
        table[key] = value if key not in table else reduce(table[key], value)
        results.append(table[key])


@settings(max_examples=4 * settings().max_examples)
@given(
    st.lists(st.tuples(st.lists(FOLDED, max_size=12), st.booleans()), max_size=5),
    st.sampled_from(["sum", "min", "max"]),
)
def test_folds_are_what_the_aggregators_make(batches, kind):
    """Also when the table is read, and written by somebody else, between two batches."""
    reduce = (SumAggregator(1) if kind == "sum" else ComparableAggregator(1, kind)).reduce
    one, other = {}, {}
    fold = _native.KeyedFold(one, kind, 1, reduce)
    for values, read in batches:
        keys = [value[0] for value in values]
        got, expected = [], []
        error = outcome(lambda: fold.add(keys, values, got))  # noqa: B023
        assert repr(error) == repr(outcome(lambda: reduced(other, keys, values, reduce, expected)))  # noqa: B023
        assert repr(got) == repr(expected)
        if read:
            fold.flush()
            assert sorted(map(repr, one.items())) == sorted(map(repr, other.items()))
            other["b"] = one["b"] = ("b", 7)
    fold.flush()
    assert sorted(map(repr, one.items())) == sorted(map(repr, other.items()))


def test_other_fields_are_those_of_the_first_record():
    table, results = {}, []
    fold = _native.KeyedFold(table, "sum", 2, SumAggregator(2).reduce)
    fold.add(["k"] * 3, [("k", "first", 1), ("k", "second", 2), ("k", "third", 3)], results)
    assert results == [("k", "first", 1), ("k", "first", 3), ("k", "first", 6)]
    assert table == {}
    fold.flush()
    assert table == {"k": ("k", "first", 6)}
    with pytest.raises(ValueError, match="sum, min or max"):
        _native.KeyedFold(table, "mean", 0, None)


PAIRS = st.tuples(st.sampled_from(["a", "b", "a key that does not lie in the table itself", ""]), st.integers(-5, 5))
ODD = st.one_of(
    FOLDED, st.tuples(st.integers(0, 3), st.text(max_size=1)), st.tuples(st.text(max_size=1), st.just(2**63 - 1))
)


@settings(max_examples=4 * settings().max_examples)
@given(
    st.lists(st.lists(PAIRS, min_size=1, max_size=12) | st.lists(ODD, min_size=1, max_size=4), max_size=6),
    st.sampled_from(["sum", "min", "max"]),
    st.integers(0, 1),
)
def test_buffers_of_pairs_are_folded_as_their_records_are(batches, kind, position):
    """A buffer either gives what its records give one by one, or changes nothing."""
    reduce = (SumAggregator(position) if kind == "sum" else ComparableAggregator(position, kind)).reduce
    one, other = {}, {}
    fold, twin = (_native.KeyedFold(table, kind, position, reduce) for table in (one, other))
    for values in batches:
        values = [value[::-1] for value in values] if position == 0 else values
        keys = [value[1 - position] if len(value) > 1 else value[0] for value in values]
        data = _native.encode_columns(values, 1 - position, b"")
        results = None if data is None else fold.add_columns(data)
        expected, got = [], []
        error = outcome(lambda: twin.add(keys, values, expected))  # noqa: B023
        if results is None:
            assert repr(outcome(lambda: fold.add(keys, values, got))) == repr(error)  # noqa: B023
            assert repr(got) == repr(expected)
        else:
            assert error is None
            assert repr(results) == repr(expected)
    fold.flush()
    twin.flush()
    assert sorted(map(repr, one.items())) == sorted(map(repr, other.items()))


def test_a_buffer_of_pairs_is_folded_at_once():
    fold = _native.KeyedFold({}, "sum", 1, SumAggregator(1).reduce)
    values = [("a", 1), ("b", 2), ("a", 3)]
    assert fold.add_columns(_native.encode_columns(values, 0, b"")) == [("a", 1), ("b", 2), ("a", 4)]
    assert fold.add_columns(_native.encode_columns(values, 0, b"extra")) is None
    assert fold.add_columns(_native.encode_columns([("a", 2**63 - 1)], 0, b"")) is None
    assert fold.add_columns(_native.encode_columns([("a", 1)], 0, b"")) == [("a", 5)]
    with pytest.raises(ValueError, match="no buffer"):
        fold.add_columns(_native.encode_columns(values, 0, b"")[:-1])


@settings(max_examples=2 * settings().max_examples)
@given(st.lists(FOLDED, max_size=12), st.integers(0, 2), st.integers(1, 3))
def test_records_are_distributed_by_a_field_as_by_their_keys(values, field, channels):
    router = _native.KeyRouter(native_code(None), 128, channels)
    assign = ChannelAssigner(KeyHash(None), 128, channels).assign
    fits = all(len(value) > field for value in values)
    times = list(range(len(values))) if len(values) % 2 else None
    got = outcome(lambda: router.split_by_field(field, values, assign, times))
    if fits:
        keys = [value[field] for value in values]
        expected = outcome(lambda: router.split(keys, values, assign, times)[0])
        assert repr(got) == repr(expected)
    else:
        assert got is None
