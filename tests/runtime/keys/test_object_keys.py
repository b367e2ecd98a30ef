"""Keys that are dates, moments, bytes, members of enumerations, dataclasses: hash codes that Java 17 has printed."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections import namedtuple
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta, timezone
from enum import Enum, Flag, IntEnum
from itertools import combinations
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import Row, RowKind, Types
from penstock.common.time import Instant
from penstock.errors import TypeInfoError
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.keys.keygroups import ChannelAssigner, assign_to_key_group
from penstock.runtime.keys.pyflink_keys import InRow, hash_pickled, pickled, pickled_form
from tests.reference.keys import reference_date_hash, reference_group


class Color(Enum):
    RED = 1
    BLUE = "b"


class Level(IntEnum):
    LOW = 1


class Access(Flag):
    READ = 1
    WRITE = 2


@dataclass(frozen=True)
class Point:
    a: int
    b: str


@dataclass(frozen=True)
class Wide:
    a: int
    p: Point
    none: str | None = None
    note: str = field(default="", compare=False)


Pair = namedtuple("Pair", "a b")
NAMED = Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.SQL_DATE()])
JAVA: list[tuple[Any, Any, int]] = [
    (Types.SQL_DATE(), date(2020, 1, 2), 1670202735),
    (Types.SQL_DATE(), date(1960, 5, 6), -209878087),
    (Types.SQL_DATE(), date(2024, 2, 29), -232183411),
    (Types.SQL_TIME(), time(3, 4, 5, 678999), 11045678),
    (Types.SQL_TIME(), time(0), 0),
    (Types.SQL_TIME(), time(23, 59, 59, 999999), 86399999),
    (Types.SQL_TIMESTAMP(), datetime(2020, 1, 2, 3, 4, 5, 678901), 1681247809),
    (Types.SQL_TIMESTAMP(), datetime(2020, 1, 2, 4, 4, 5, 678901, timezone(timedelta(hours=1))), 1681247809),
    (Types.SQL_TIMESTAMP(), datetime(1960, 1, 1, 0, 0, 0, 1000), 2086587319),
    (Types.SQL_TIMESTAMP(), datetime(1970, 1, 1), 0),
    (Types.INSTANT(), Instant(1, 123456789), 2001328944),
    (Types.INSTANT(), Instant.of_epoch_milli(-1500), -269803775),
    (None, timedelta(days=1, hours=1, minutes=1, seconds=1, microseconds=5), 345061),
    (None, timedelta(milliseconds=-1500), -269803775),
    (None, UUID("12345678-9abc-def0-8123-456789abcdef"), -2147483648),
    (None, Point(1, "x"), 151),
    (None, Wide(-1, Point(7, "y"), note="not equal"), 10478),
    (None, b"a\xff\0", 122977),
    (None, bytearray(b"a\xff\0"), 122977),
    (Types.MAP(Types.STRING(), Types.INT()), {"b": 2, "a": 1}, 192),
]


@pytest.mark.parametrize(("key_type", "key", "java"), JAVA)
def test_an_object_hashes_as_in_java(key_type: Any, key: Any, java: int) -> None:
    assert KeyHash(key_type).hash(key) == java
    if not isinstance(key, dict):
        assert KeyHash().hash(key) == java
    ways = [ChannelAssigner(KeyHash(kind), 128, 4).assign for kind in (key_type, InRow(key_type))]
    assert [way(key) for way in ways] == [way(key) for way in ways]


def test_members_hash_their_names() -> None:
    hash_code = KeyHash().hash
    assert hash_code(Color.RED) == hash_code("RED")
    assert hash_code(Access.READ | Access.WRITE) == hash_code((Access.READ | Access.WRITE).name or 3)
    assert hash_code(Level.LOW) == hash_code(1)


def test_keys_that_differ_have_forms_that_differ() -> None:
    keys = [
        Color.RED,
        Color.BLUE,
        "RED",
        Point(1, "x"),
        Point(2, "x"),
        (1, "x"),
        ("Point", 1, "x"),
        b"a",
        "a",
        date(2020, 1, 2),
        datetime(2020, 1, 2),
        datetime(2020, 1, 2, tzinfo=timezone.utc),
        time(1),
        timedelta(hours=1),
        Instant(1, 0),
        Row(date(2020, 1, 2)),
        UUID(int=1),
        1,
        None,
    ]
    for key_type in (None, InRow(None)):
        canonical = KeyHash(key_type).canonical
        assert all(canonical(left) != canonical(right) for left, right in combinations(keys, 2))
        assert [canonical(pickle.loads(pickle.dumps(key))) for key in keys] == list(map(canonical, keys))


def test_a_declared_date_is_its_day() -> None:
    day = KeyHash(Types.SQL_DATE())
    assert day.checked(datetime(2020, 1, 2, 3)) == day.checked(date(2020, 1, 2)) == date(2020, 1, 2)
    assert day.hash(datetime(2020, 1, 2, 3)) == day.hash(date(2020, 1, 2))


@pytest.mark.parametrize(
    ("key_type", "key"),
    [
        (Types.SQL_DATE(), "2020-01-02"),
        (Types.SQL_TIMESTAMP(), date(2020, 1, 2)),
        (Types.INSTANT(), 5),
        (Types.MAP(Types.STRING(), Types.INT()), [1]),
        (NAMED, (1, "2020-01-02")),
    ],
)
def test_a_key_of_another_class_is_refused(key_type: Any, key: Any) -> None:
    for form in (KeyHash(key_type).hash, KeyHash(key_type).checked, ChannelAssigner(KeyHash(key_type), 128, 3).assign):
        with pytest.raises(TypeInfoError, match=r"The key .* but the key type is declared as Types\."):
            form(key)


def test_none_is_a_key_for_pyflink_only() -> None:
    for key_type in (None, Types.STRING(), Types.INT(), NAMED):
        assert assign_to_key_group(None, 128, KeyHash(InRow(key_type))) == reference_group(31, 128)
        with pytest.raises(TypeInfoError, match="returned None"):
            assign_to_key_group(None, 128, KeyHash(key_type))


def test_a_class_of_the_program_itself_is_pickled_by_name() -> None:
    """The same in a process that has the class by value only, as the tasks of another machine."""
    module, name = Point.__module__, Point.__qualname__
    by_reference = hash_pickled(Point(1, "x"))
    copy = type("Point", (), {"__slots__": ("a", "b"), "__module__": module, "__qualname__": name})
    with pytest.raises(pickle.PicklingError):
        pickle.dumps(copy)
    assert b"Point" in pickled(copy)
    assert hash_pickled(copy) == hash_pickled(Point) != by_reference


PICKLES = [
    (
        Row(1, "x"),
        "80059549000000000000008c147079666c696e6b2e636f6d6d6f6e2e7479706573948c0b5f6372656174655f726f779493944e4b018c017894869468008c07526f774b696e649493944b0085945294879452942e",
    ),
    (
        Row(a=1, b="x"),
        "80059554000000000000008c147079666c696e6b2e636f6d6d6f6e2e7479706573948c0b5f6372656174655f726f779493945d94288c0161948c016294654b018c017894869468008c07526f774b696e649493944b0085945294879452942e",
    ),
    (
        Row.of_kind(RowKind.DELETE, 1, None),
        "80059546000000000000008c147079666c696e6b2e636f6d6d6f6e2e7479706573948c0b5f6372656174655f726f779493944e4b014e869468008c07526f774b696e649493944b0385945294879452942e",
    ),
]
"""What PyFlink 2.3.0 pickles these rows to."""


@pytest.mark.parametrize(("row", "theirs"), PICKLES, ids=["plain", "named", "deleted"])
def test_a_row_is_pickled_as_pyflinks(row: Row, theirs: str) -> None:
    assert pickled(row).hex() == theirs
    assert pickled_form(row) == (bytes, bytes.fromhex(theirs))


def test_hashes_are_those_of_other_processes() -> None:
    program = """
from datetime import date
from tests.runtime.keys.test_object_keys import Color, Point
from penstock.runtime.keys.key_types import KeyHash
print([KeyHash().hash(key) for key in (Color.BLUE, Point(3, "z"), b"q", date(2021, 3, 4))])
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    here = [KeyHash().hash(key) for key in (Color.BLUE, Point(3, "z"), b"q", date(2021, 3, 4))]
    assert run.stdout.strip() == str(here)


MOMENTS = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31))
KEYS = st.one_of(MOMENTS, st.dates(), st.times(), st.binary(max_size=4), st.sampled_from(Color), st.timedeltas())


@given(MOMENTS, st.sampled_from([1, 2, 3, 7]))
def test_dates_go_where_the_reference_sends_them(moment: datetime, channels: int) -> None:
    for key_type, key in ((Types.SQL_DATE(), moment.date()), (Types.SQL_TIMESTAMP(), moment), (None, moment)):
        subtask = ChannelAssigner(KeyHash(key_type), 128, channels).assign(key)
        assert subtask == reference_group(reference_date_hash(key), 128) * channels // 128


@given(st.lists(st.tuples(KEYS, st.integers(0, 2)), max_size=8))
def test_equal_keys_and_no_others_have_one_form(pairs: list[tuple[Any, int]]) -> None:
    canonical, hash_code = KeyHash().canonical, KeyHash().hash
    for left, right in combinations([*pairs, *pairs], 2):
        same = left == right and type(left[0]) is type(right[0]) and str(left) == str(right)
        assert (canonical(left) == canonical(right)) is same
        if canonical(left) == canonical(right):
            assert hash_code(left) == hash_code(right)
