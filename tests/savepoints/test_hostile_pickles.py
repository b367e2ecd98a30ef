"""A pickle that a stranger wrote runs nothing, changes nothing and takes little memory, whatever it says."""

from __future__ import annotations

import collections
import contextlib
import copyreg
import datetime
import io
import pickle
import random
import struct
import tracemalloc
import uuid
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from penstock.common import Row, RowKind, Types
from penstock.common.time import Instant
from penstock.datastream import ValueStateDescriptor
from penstock.errors import SavepointError
from penstock.runtime.operators.interval_join import _Buffer
from penstock.runtime.state.classes import Noted
from penstock.runtime.windows.evictors import TimestampedValue
from penstock.runtime.windows.time_window import GLOBAL_WINDOW, CountWindow, TimeWindow
from penstock.savepoints import SavepointWriter
from penstock.savepoints.pickles import PlainReading, Unmade, unmade_in

BUFFER = _Buffer()
BUFFER.add(5, "a")
PLAIN: list[Any] = [
    *(None, True, False, 0, 1, -1, 255, 256, 65_535, 65_536, -(2**31), 2**31, 2**63, -(2**2100), 0.5, float("inf")),
    *("", "é" * 200, "x" * 70_000, "\ud800", b"", b"a" * 300, b"b" * 70_000, bytearray(b"abc"), 1 + 2j),
    *(
        (),
        (1,),
        (1, 2),
        (1, 2, 3),
        (1, 2, 3, 4),
        [],
        [1, [2, [3]]],
        {},
        {"a": {1: (2,)}},
        set(),
        {1, 2},
        frozenset("ab"),
    ),
    *(range(3), slice(1, None, 2), collections.Counter("aab"), collections.OrderedDict(b=1, a=2)),
    *(collections.deque([1, 2], 5), collections.deque([1]), Decimal("1.50"), uuid.UUID(int=7)),
    *(
        datetime.date(2026, 1, 2),
        datetime.datetime(2026, 1, 2, 3, 4, 5, 6),
        datetime.time(1, 2),
        datetime.timedelta(1, 2, 3),
    ),
    *(datetime.datetime(2026, 1, 2, tzinfo=datetime.timezone.utc), datetime.timezone(datetime.timedelta(hours=1), "X")),
    *(Row(1, "a"), Row(a=Row(1), b=[(1, 2)]), Row.of_kind(RowKind.DELETE, 1), RowKind.UPDATE_AFTER, Instant(1, 2)),
    *(TimestampedValue((1, "a"), None), TimeWindow(1, 2), CountWindow(3), GLOBAL_WINDOW, [list(range(3000))] * 2),
]


def fast(value):
    target = io.BytesIO()
    pickler = pickle.Pickler(target, 5)
    pickler.fast = True
    pickler.dump(value)
    return target.getvalue()


@pytest.mark.parametrize("dumps", [fast, partial(pickle.dumps, protocol=5), partial(pickle.dumps, protocol=4)])
@pytest.mark.parametrize(
    "value", PLAIN, ids=[f"{number} {type(example).__name__}" for number, example in enumerate(PLAIN)]
)
def test_plain_values_come_back(value, dumps):
    reading = PlainReading()
    value_read = reading.loads(dumps(value))
    assert (type(value_read), value_read) == (type(value), value)
    assert reading.unmade == {}


def test_a_side_of_a_join_comes_back():
    value_read = PlainReading().loads(fast(BUFFER))
    assert (type(value_read), value_read.times, value_read.buckets) == (_Buffer, BUFFER.times, BUFFER.buckets)


def test_random_plain_values_come_back():
    chance = random.Random(3)

    def value(depth):
        kind = chance.randrange(8 if depth else 4)
        if kind < 4:
            return (chance.getrandbits(chance.choice([3, 20, 80])), chance.random(), "ab" * chance.randrange(3), None)[
                kind
            ]
        parts = [value(depth - 1) for _ in range(chance.randrange(4))]
        return (parts, tuple(parts), {str(part): part for part in parts}, Row(*parts))[kind - 4]

    for _ in range(300):
        plain = value(5)
        for data in (fast(plain), pickle.dumps(plain, 5)):
            assert PlainReading().loads(data) == plain


# --- hostile ones ----------------------------------------------------------------------------------------------------


def text(value: str) -> bytes:
    data = value.encode()
    return b"\x8c" + bytes([len(data)]) + data


def name(module: str, qualname: str) -> bytes:
    return text(module) + text(qualname) + b"\x93"


def size(count: int) -> bytes:
    return struct.pack("<Q", count)


ROW = name("penstock.common.row", "Row")
COUNTER = name("collections", "Counter")
A_COUNTER = COUNTER + b")R"
STATE = b"}" + text("as_dict") + text("x") + text("__init__") + text("y") + b"uN\x86"
ATTRIBUTES = b"}(" + text("as_dict") + text("x") + text("update") + text("y") + text("__class__") + ROW + b"u"

SETTING = {
    "attributes of a class": ROW + ATTRIBUTES + b"b",
    "slots of a class": ROW + b"N" + ATTRIBUTES + b"\x86b",
    "attributes of a class that is plain": COUNTER + ATTRIBUTES + b"b",
    "attributes of an object": A_COUNTER + ATTRIBUTES + b"b",
    "slots of an object": A_COUNTER + b"N" + ATTRIBUTES + b"\x86b",
    "slots of a row": ROW + b"K\x01\x85RN}" + text("_names") + text("x") + b"s\x86b",
    "attributes of an ordered map": name("collections", "OrderedDict") + b")R" + ATTRIBUTES + b"b",
    "attributes of a date": name("datetime", "timedelta") + b")R" + ATTRIBUTES + b"b",
    "attributes of a function": name("penstock.common.row", "_row") + ATTRIBUTES + b"b",
    "attributes of a method": name("penstock.common.row", "Row.of_values") + ATTRIBUTES + b"b",
    "attributes of the one window": name("penstock.runtime.windows.time_window", "GLOBAL_WINDOW") + ATTRIBUTES + b"b",
    "more attributes of a UUID": name("uuid", "UUID") + b")\x81" + ATTRIBUTES + b"b",
    "more state of an instant": name("penstock.common.time", "Instant") + b")\x81](K\x01K\x02K\x03eb",
    "another state of an instant": name("penstock.common.time", "Instant") + b")\x81" + ATTRIBUTES + b"b",
    "a member of an enum": name("penstock.common.row", "RowKind") + b"K\x00\x85R" + ATTRIBUTES + b"b",
    "items of a row": ROW + b"K\x01\x85RK\x00K\x02s",
    "items of a class": ROW + text("as_dict") + text("x") + b"s",
    "an append to a class": COUNTER + b"K\x01a",
    "an append to a text": text("a") + b"K\x01a",
}
CALLING = {
    "bytes by a number": name("builtins", "bytes") + b"\x8a\x05" + (1 << 32).to_bytes(5, "little") + b"\x85R",
    "eval": name("builtins", "eval") + text("1/0") + b"\x85R",
    "a method of a known class": name("collections", "Counter.fromkeys") + b"]\x85R",
    "globals of a known function": name("penstock.common.row", "Row.__init__.__globals__") + b")R",
    "an import of a known module": name("penstock.common.row", "import_module") + text("this") + b"\x85R",
    "getattr": name("builtins", "getattr") + ROW + text("of_values") + b"\x86R",
    "what is no class": b"K\x01)R",
    "by another class": name("os", "system") + name("builtins", "bytearray") + b"\x85R",
    "a new object of eval": name("builtins", "eval") + text("1/0") + b"\x85\x81",
    "with named arguments": COUNTER + b")}" + text("a") + b"K\x01s\x92",
}
MUCH = 1 << 40
LARGE = {
    "bytearray by a number": name("builtins", "bytearray") + b"\x8a\x05" + (1 << 32).to_bytes(5, "little") + b"\x85R",
    "a set of a range": name("builtins", "set")
    + name("builtins", "range")
    + b"\x8a\x06"
    + MUCH.to_bytes(6, "little")
    + b"\x85R\x85R",
    "a deque of a range": name("collections", "deque")
    + name("builtins", "range")
    + b"\x8a\x06"
    + MUCH.to_bytes(6, "little")
    + b"\x85R\x85R",
    "a row of a range": name("penstock.common.row", "_row")
    + name("builtins", "range")
    + b"\x8a\x06"
    + MUCH.to_bytes(6, "little")
    + b"\x85RN\x86R",
    "BYTEARRAY8": b"\x96" + size(1 << 32) + b"abc",
    "BINBYTES8": b"\x8e" + size(1 << 33) + b"abc",
    "BINBYTES": b"B" + struct.pack("<I", (1 << 32) - 1) + b"abc",
    "BINUNICODE8": b"\x8d" + size(1 << 62) + b"abc",
    "BINUNICODE": b"X" + struct.pack("<I", (1 << 32) - 1) + b"abc",
    "LONG4": b"\x8b" + struct.pack("<i", 2**31 - 1) + b"abc",
    "LONG4 below zero": b"\x8b" + struct.pack("<i", -1) + b"abc",
    "FRAME": b"\x95" + size(1 << 40) + b"N",
    "LONG_BINPUT": b"Nr" + struct.pack("<I", (1 << 32) - 1),
    "BINPUT": b"Nq\xff",
    "LONG_BINGET": b"Nj" + struct.pack("<I", (1 << 32) - 1),
    "a list in many sets": b"](" + b"K\x01" * 20_000 + b"e\x940" + (name("builtins", "set") + b"h\x00\x85R") * 5_000,
    "a text in many numbers": b"X"
    + struct.pack("<I", 100_000)
    + b"1" * 100_000
    + b"\x940"
    + (name("decimal", "Decimal") + b"h\x00\x85R") * 5_000,
    "tuples of the same tuples": b"N\x85\x94" + b"".join(b"h" + bytes([number]) + b"\x86\x94" for number in range(60)),
    "tuples within tuples": b")" + b"\x85" * 200_000,
    "frozen sets within frozen sets": b"(" * 5_000 + b"N" + b"\x91" * 5_000,
}
OTHER = {
    "EXT1": b"\x82\x01",
    "EXT2": b"\x83\x01\x00",
    "EXT4": b"\x84\x01\x00\x00\x00",
    "PERSID": b"Pabc\n",
    "BINPERSID": text("abc") + b"Q",
    "NEXT_BUFFER": b"\x97",
    "READONLY_BUFFER": b"\x98",
    "GLOBAL": b"cos\nsystem\n",
    "INST": b"(S'a'\nios\nsystem\n",
    "OBJ": b"(" + name("os", "system") + b"o",
    "DUP": b"N2",
    "a name that is no text": b"K\x01K\x02\x93",
    "nothing": b"",
    "an end without a value": b".",
    "an end within a list": b"](K\x01",
    "a mark that is not there": b"e",
    "an object without state": name("penstock.common.time", "Instant") + b")\x81",
    "a key that cannot be one": b"}]Ns",
    "items without a value": b"}(K\x01u",
}
HOSTILE = {**SETTING, **CALLING, **LARGE, **OTHER}


def known_attributes() -> dict[str, Any]:
    """What the classes and functions that a pickle can name are."""
    from penstock.savepoints import plain_values

    classes = [Row, RowKind, Instant, TimeWindow, CountWindow, TimestampedValue, _Buffer, type(GLOBAL_WINDOW), Unmade]
    mutable = {f"{cls.__qualname__}.{key}": value for cls in classes for key, value in vars(cls).items()}
    return {**mutable, **{f"maker {key}": value for key, value in plain_values._MAKERS.items()}}


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_hostile_pickle_is_refused_or_does_nothing(hostile):
    data = b"\x80\x05" + HOSTILE[hostile] + b"."
    before = known_attributes()
    tracemalloc.start()
    try:
        value_read = PlainReading().loads(data)
    except pickle.UnpicklingError:
        value_read = None
    finally:
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert most < 500 * len(data) + 100_000
    assert known_attributes() == before
    assert value_read is None or unmade_in(value_read) is not None
    assert not vars(GLOBAL_WINDOW) if hasattr(GLOBAL_WINDOW, "__dict__") else True


@pytest.mark.parametrize("hostile", [*LARGE, *OTHER])
def test_what_no_penstock_writes_is_an_error(hostile):
    with pytest.raises(pickle.UnpicklingError):
        PlainReading().loads(b"\x80\x05" + HOSTILE[hostile] + b".")


def test_a_registered_extension_is_not_looked_up():
    copyreg.add_extension("os", "system", 0x55)
    try:
        with pytest.raises(pickle.UnpicklingError, match="opcode 0x82"):
            PlainReading().loads(b"\x80\x05\x82\x55" + text("false") + b"\x85R.")
    finally:
        copyreg.remove_extension("os", "system", 0x55)


@pytest.mark.slow
def test_deep_lists_do_not_end_the_process():
    deep = PlainReading().loads(b"\x80\x05" + b"]" * 100_000 + b"a" * 99_999 + b".")
    assert unmade_in(deep) is None


@pytest.mark.parametrize("value", [Row, collections.Counter, [Row], {"a": datetime.date}, (1, _Buffer)])
def test_a_class_is_no_plain_value(value):
    reading = PlainReading()
    value_read = reading.loads(fast(value))
    assert reading.unmade
    assert unmade_in(value_read) is not None


def test_bytes_by_chance_never_do_more_than_raise():
    chance = random.Random(5)
    start = [fast(example) for example in PLAIN if len(fast(example)) < 300]
    for _ in range(20_000):
        data = bytearray(chance.choice(start))
        for _ in range(chance.randrange(1, 6)):
            at = chance.randrange(2, len(data) + 1)
            change = chance.randrange(3)
            if change == 0:
                data[at:at] = chance.choice(start)[2:-1]
            elif change == 1:
                del data[at : at + chance.randrange(1, 4)]
            elif at < len(data):
                data[at] = chance.randrange(256)
        with contextlib.suppress(pickle.UnpicklingError):
            PlainReading().loads(bytes(data))


def test_a_strangers_savepoint_with_hostile_values_is_an_error(tmp_path, monkeypatch):
    """In a state file, where the rest of the file is as it should be."""
    dumps = Noted.dumps

    def hostile(self, value, *, fast=True):
        data = dumps(self, value, fast=fast)
        at = data.find(text("hostile"))
        if at < 0:
            return data
        return b"\x80\x05" + data[11:at] + HOSTILE["bytearray by a number"] + data[at + len(text("hostile")) :]

    monkeypatch.setattr(Noted, "dumps", hostile)
    states: Any = {ValueStateDescriptor("evil"): lambda _: "hostile"}
    writer = SavepointWriter().with_keyed_state("stranger", ["a"], lambda row: row, Types.STRING(), states)
    stranger = writer.write(tmp_path / "stranger")
    monkeypatch.undo()
    for look in (
        lambda: stranger.read("stranger", "evil"),
        lambda: SavepointWriter(stranger).set_max_parallelism("stranger", 9).write(tmp_path / "2"),
    ):
        with pytest.raises(SavepointError, match="bytearray is made of int"):
            look()
