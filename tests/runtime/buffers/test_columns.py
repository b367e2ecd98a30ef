"""Typed columns: exact round trips, and the native functions equal to the reference."""

from __future__ import annotations

import gc
import math
import struct
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from enum import IntEnum
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock import _native
from penstock.common import Types
from penstock.common.settings.settings import Settings
from penstock.runtime.buffers import columns
from penstock.runtime.buffers.codec import Encoder, decode, encode, freeze, is_immutable, text_size
from penstock.runtime.buffers.columns import TAG, UNKNOWN

_NONE, _INTS, _FLOATS, _BOOLS, _TEXTS, _CODED, _BYTES, _TUPLES, _DAYS, _TIMES, _CLOCKS = range(11)
_FIRST, _MICROSECOND = datetime(1970, 1, 1), timedelta(microseconds=1)
_NULLABLE = 0x80
_DEPTH = 8
_MAX_COUNT = 1 << 24
_SAMPLE = 256
"""So many texts decide whether a column is coded."""
_UNSIGNED = {1: "B", 2: "H", 4: "I", 8: "Q"}


class _Misfit(Exception):
    """A value that no column can hold."""


def reference(values: list[Any], key: int = UNKNOWN, extras: bytes = b"") -> bytes | None:
    """Records as typed columns, as the native module should write them.

    Integers are differences to the smallest in as few bytes as that takes; texts that repeat are written once. What is
    not exactly one of the plain types (a subclass, a lone surrogate, a field now an int, now a float) does not fit.
    """
    if len(values) > _MAX_COUNT:
        return None
    try:
        column = _column(values, _DEPTH)
    except (_Misfit, UnicodeEncodeError):
        return None
    return struct.pack("<BBII", TAG, key, len(values), len(extras)) + extras + column


def _column(values: list[Any], depth: int) -> bytes:
    """A column. Recursive, to the depth of the tuples."""
    some = [value for value in values if value is not None]
    if not some:
        return bytes([_NONE])
    kinds = set(map(type, some))
    write = _WRITE.get(kinds.pop())
    if write is None or kinds:
        raise _Misfit
    kind, content = write(some, depth)
    if len(some) == len(values):
        return bytes([kind]) + content
    return bytes([kind | _NULLABLE, *(value is not None for value in values)]) + content


def _tuples(values: list[tuple], depth: int) -> tuple[int, bytes]:
    arity = len(values[0])
    if depth == 0 or arity > 255 or any(len(value) != arity for value in values):
        raise _Misfit
    fields = (_column(list(field), depth - 1) for field in zip(*values, strict=True))
    return _TUPLES, bytes([arity]) + b"".join(fields)


def _texts(values: list[str], _: int) -> tuple[int, bytes]:
    texts = [value.encode() for value in values]
    sample = texts[:_SAMPLE]
    if len(set(sample)) * 4 > len(sample) * 3:
        return _TEXTS, _strings(texts)
    codes = {text: code for code, text in enumerate(dict.fromkeys(texts))}
    return _CODED, struct.pack("<I", len(codes)) + _strings(list(codes)) + _ints([codes[text] for text in texts])


def _strings(values: list[bytes]) -> bytes:
    return _ints(list(map(len, values))) + b"".join(values)


def _ints(values: list[int]) -> bytes:
    base, top = min(values), max(values)
    if base < -(1 << 63) or top >= 1 << 63:
        raise _Misfit
    bits = (top - base).bit_length()
    if not bits:
        return struct.pack("<qB", base, 0)
    width = next(w for w in _UNSIGNED if bits <= 8 * w)
    return struct.pack(f"<qB{len(values)}{_UNSIGNED[width]}", base, width, *(value - base for value in values))


_WRITE: dict[type, Callable[[list[Any], int], tuple[int, bytes]]] = {
    int: lambda values, _: (_INTS, _ints(values)),
    float: lambda values, _: (_FLOATS, struct.pack(f"<{len(values)}d", *values)),
    bool: lambda values, _: (_BOOLS, bytes(values)),
    str: _texts,
    bytes: lambda values, _: (_BYTES, _strings(values)),
    tuple: _tuples,
    date: lambda values, _: (_DAYS, _ints([value.toordinal() - _FIRST.toordinal() for value in values])),
    datetime: lambda values, _: (_TIMES, _ints([(value - _FIRST) // _MICROSECOND for value in values])),
    time: lambda values, _: (_CLOCKS, _ints([(datetime.combine(_FIRST, v) - _FIRST) // _MICROSECOND for v in values])),
}
"""How values of a type are written: the kind of the column, and what follows that."""

TEXTS = st.one_of(st.text(max_size=6), st.sampled_from(["", "a", "größe", "😀", "the"]))
SCALARS = {
    "text": TEXTS,
    "int": st.one_of(st.integers(-300, 300), st.integers(-(2**63), 2**63 - 1)),
    "float": st.floats(),
    "bool": st.booleans(),
    "bytes": st.binary(max_size=5),
    "none": st.none(),
    "day": st.dates(),
    "time": st.datetimes().map(lambda at: at.replace(fold=0)),
    "clock": st.times().map(lambda at: at.replace(fold=0)),
}
COLUMN = st.sampled_from(list(SCALARS.values())).flatmap(lambda s: st.sampled_from([s, st.none() | s]))
RECORD = st.recursive(
    COLUMN, lambda field: st.lists(field, max_size=4).map(lambda fields: st.tuples(*fields)), max_leaves=6
)
BATCHES = RECORD.flatmap(lambda record: st.lists(record, max_size=40))


class Pair(NamedTuple):
    first: str
    second: int


class Small(IntEnum):
    ONE = 1


class Text(str):
    pass


def exact(value):
    """What equals exactly what has the same types and bits."""
    if isinstance(value, tuple):
        return type(value), *map(exact, value)
    if isinstance(value, float):
        return float, struct.pack("<d", value)
    return type(value), value


@settings(max_examples=3 * settings().max_examples)
@given(values=BATCHES, key=st.sampled_from([columns.UNKNOWN, columns.RECORD]), extras=st.binary(max_size=9))
def test_columns_come_back_exactly_and_both_ways_are_the_same(values, key, extras):
    data = reference(values, key, extras)
    assert data is not None
    assert _native.encode_columns(values, key, extras) == data
    for read in (columns.decode, _native.decode_columns):
        back, keys, bytes_beside = read(data)
        assert list(map(exact, back)) == list(map(exact, values))
        assert keys == (None if key == columns.UNKNOWN else back)
        assert bytes_beside == extras


MISFITS = {
    "mixed": [1, "a"],
    "int and float": [1, 1.0],
    "int and bool": [1, True],
    "beyond 64 bits": [1, 2**63],
    "below 64 bits": [-(2**63) - 1],
    "named tuple": [Pair("a", 1)],
    "enum": [Small.ONE],
    "subclass of str": [("a", Text("b"))],
    "surrogate": [("a",), ("\ud800",)],
    "lengths": [("a",), ("a", 1)],
    "list": [[1]],
    "dict in a tuple": [({},)],
    "complex": [1j],
    "bytearray": [bytearray(b"a")],
    "too deep": [((((((((((1,),),),),),),),),),)],
    "256 fields": [(1,) * 256],
    "late": [("a", 1)] * 3000 + [("a", "b")],
}


@pytest.mark.parametrize("name", MISFITS)
def test_what_does_not_fit_is_refused_by_both_and_pickled(name):
    values = MISFITS[name]
    assert reference(values) is None
    assert _native.encode_columns(values, columns.UNKNOWN, b"") is None
    for native in (True, False):
        data = Encoder(None, Settings(codec="columns", native=native)).encode(values, [], [])
        assert data == encode(values, [], [])
        assert list(map(exact, decode(data).values)) == list(map(exact, values))


def test_numpy_scalars_do_not_fit():
    numpy = pytest.importorskip("numpy")
    for value in (numpy.int64(1), numpy.float64(1.5), numpy.str_("a"), numpy.bool_(True)):
        assert reference([value]) is None
        assert _native.encode_columns([value], columns.UNKNOWN, b"") is None


@pytest.mark.parametrize("count", [1, 255, 256, 257, 5000])
@pytest.mark.parametrize("different", [1, 191, 192, 193, 10_000])
def test_texts_are_coded_by_what_the_first_are(count, different):
    values = [f"word {i % different}" for i in range(count)]
    data = reference(values)
    assert _native.encode_columns(values, columns.UNKNOWN, b"") == data
    for read in (columns.decode, _native.decode_columns):
        assert read(data)[0] == values
    coded = min(count, different, 256) * 4 <= min(count, 256) * 3
    assert data[10] == (5 if coded else 4)
    texts = _native.decode_columns(data)[0]
    assert not coded or len({id(text) for text in texts}) == len(set(values))


@pytest.mark.parametrize("step", [0, 1, 2**8 - 1, 2**8, 2**16 - 1, 2**16, 2**32 - 1, 2**32, 2**63 - 1])
@pytest.mark.parametrize("base", [0, -1, -(2**63), 2**62])
def test_integers_of_every_width(base, step):
    values = [v for v in (base, base + step, base + step // 2) if v < 2**63]
    data = reference(values)
    assert _native.encode_columns(values, columns.UNKNOWN, b"") == data
    assert columns.decode(data)[0] == _native.decode_columns(data)[0] == values


def test_floats_keep_their_bits():
    odd = struct.unpack("<d", bytes.fromhex("0100000000 00f87f".replace(" ", "").ljust(16, "0")))[0]
    values = [0.0, -0.0, math.inf, -math.inf, math.nan, odd, 5e-324]
    for write in (reference, lambda v: _native.encode_columns(v, 255, b"")):
        for read in (columns.decode, _native.decode_columns):
            assert list(map(exact, read(write(values))[0])) == list(map(exact, values))


@settings(max_examples=2 * settings().max_examples)
@given(st.data())
def test_other_bytes_are_refused_and_nothing_crashes(data):
    good = reference([("a", 1, None), ("b", 300, 1.5)], 0, b"x")
    at = data.draw(st.integers(0, len(good)))
    broken = data.draw(
        st.sampled_from([good[:at], good + b"x", good[:at] + data.draw(st.binary(max_size=4)) + good[at:]])
    )
    if broken == good:
        return
    results = []
    for read in (columns.decode, _native.decode_columns):
        try:
            results.append(exact(read(broken)))
        except (ValueError, OverflowError, MemoryError) as error:
            results.append(type(error) is ValueError or error)
    assert True in results or results[0] == results[1]


PLAIN = st.one_of(
    *SCALARS.values(), st.tuples(TEXTS, st.integers()), st.lists(st.integers(), max_size=2), st.just(Pair("a", 1))
)


@settings(max_examples=2 * settings().max_examples)
@given(st.lists(PLAIN | st.tuples(PLAIN, PLAIN) | st.tuples(st.tuples(st.tuples(PLAIN)), PLAIN), max_size=5))
def test_looking_at_a_batch_is_looking_at_each(values):
    assert _native.are_immutable(values) == all(freeze(value) is value for value in values)
    assert all(_native.is_immutable(value) == is_immutable(value) for value in values)
    size = _native.text_size(values)
    assert size is None or size == sum(map(text_size, values))
    assert size is not None or not _native.are_immutable(values)


def key_field(keys, values):
    """The first field that is every record's key."""
    if not values or keys[0] is values[0]:
        whole = bool(values) and all(key is value for key, value in zip(keys, values, strict=True))
        return columns.RECORD if whole else columns.UNKNOWN
    fields = (i for i in range(3) if all(value[i] is key for key, value in zip(keys, values, strict=True)))
    return next(fields, columns.UNKNOWN)


@settings(max_examples=2 * settings().max_examples)
@given(st.lists(st.tuples(st.sampled_from("ab"), TEXTS, st.integers(0, 1)), max_size=8), st.data())
def test_key_fields(values, data):
    field = data.draw(st.sampled_from([0, 1, 2, None]))
    keys = [value if field is None else value[field] for value in values]
    if keys and data.draw(st.booleans()):
        keys[data.draw(st.integers(0, len(keys) - 1))] = "other"
    place = _native.key_field(keys, values)
    assert place == key_field(keys, values)
    if place == columns.RECORD:
        assert all(key is value for key, value in zip(keys, values, strict=True))
    elif place != columns.UNKNOWN:
        assert all(key is value[place] for key, value in zip(keys, values, strict=True))
    elif values:
        assert "other" in keys
    assert _native.key_field(keys[1:], values) == columns.UNKNOWN
    assert _native.key_field(keys, [[value] for value in values]) == columns.UNKNOWN


def test_auto_goes_by_what_it_sees():
    encoder = Encoder(None, Settings())
    assert encoder.encode(["a"], [], [])[0] == columns.TAG
    tags = [encoder.encode([[1]], [], [])[0] for _ in range(3)] + [encoder.encode(["a"], [], [])[0] for _ in range(200)]
    assert tags[0] == tags[1] == 0x80
    assert tags[-1] == columns.TAG
    assert tags.count(0x80) < 10
    assert Encoder(Types.BIG_DEC(), Settings()).encode(["a"], [], [])[0] == 0x80
    assert Encoder(None, Settings(native=False)).encode(["a"], [], [])[0] == 0x80
    assert Encoder(None, Settings(codec="pickle")).encode(["a"], [], [])[0] == 0x80


def test_without_native_functions_columns_are_pickled():
    assert Encoder(None, Settings(codec="columns", native=False)).encode(["a"], [], [])[0] == 0x80


def test_stamps_and_signals_travel_with_columns():
    encoder = Encoder(None, Settings(codec="columns"))
    data = encoder.encode([("a", 1), ("b", 2)], [(1, 5)], [(0, 0, 7)], 0)
    for functions in (None, _native):
        assert decode(data, functions) == ([("a", 1), ("b", 2)], [(1, 5)], [(0, 0, 7)], ["a", "b"])


def test_the_collector_looks_at_no_tuple_of_plain_data() -> None:
    records = [(1, "a", (2.5, None), True, b"c"), (1, "b", (3.5, "d"), False, b"")]
    data = Encoder(None, Settings()).encode(records, [], [])
    assert data[0] == TAG
    decoded = decode(data, _native).values
    objects = _native.Batch.of(records, None).objects()
    with_lists = _native.Batch.of([(1, [2]), (3, [4, 5])], None).objects()
    for record in [*decoded, *objects]:
        assert not gc.is_tracked(record)
        assert not gc.is_tracked(record[2])
    assert all(map(gc.is_tracked, with_lists))
