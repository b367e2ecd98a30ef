"""Columns of records: objects there and back, parts of them, and the bytes of an exchange."""

from __future__ import annotations

import struct
from collections import namedtuple
from dataclasses import dataclass, field, make_dataclass
from datetime import datetime, time, timezone
from enum import IntEnum
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import _native
from penstock._native import Batch
from penstock.common.row import Row, RowKind
from penstock.runtime.buffers.codec import text_size


@dataclass
class Point:
    x: Any
    y: Any = None
    origin: ClassVar[int] = 0


@dataclass(frozen=True)
class Frozen:
    name: Any


@dataclass(slots=True)
class Slotted:
    a: Any
    b: Any = field(default=3, kw_only=True)


@dataclass
class Empty:
    pass


@dataclass
class Checked:
    x: int

    def __post_init__(self) -> None:
        raise RuntimeError("an object that comes back is not checked again")


def exact(value: Any) -> Any:
    """Something that is equal for equal values of the same classes, NaN and -0.0 included."""
    if type(value) is float:
        return float, struct.pack("d", value)
    if type(value) in (tuple, list):
        return type(value), [exact(item) for item in value]
    if type(value) is Row:
        return Row, exact(value.field_names), value.get_row_kind(), [exact(item) for item in value]
    if type(value) in (Point, Frozen, Slotted, Empty, Checked):
        names = type(value).__dataclass_fields__
        return type(value), [exact(getattr(value, name)) for name in names if name != "origin"]
    return type(value), value, getattr(value, "fold", 0)


INTS = st.one_of(
    st.integers(-(2**63), 2**63 - 1), st.sampled_from([0, 255, 256, 2**31, 2**63 - 1, -(2**63)]), st.integers(-3, 3)
)
FLOATS = st.one_of(st.floats(), st.sampled_from([-0.0, float("nan"), float("inf"), 5e-324]))
TEXTS = st.one_of(st.sampled_from(["", "a", "ab", "\0", "ß", "🦀"]), st.text(st.characters(codec="utf-8")))
TIMES = st.dates(), *(times.map(lambda at: at.replace(fold=0)) for times in (st.datetimes(), st.times()))
KINDS = st.sampled_from(
    [INTS, FLOATS, st.booleans(), TEXTS, st.binary(max_size=5), st.none(), st.sampled_from(["x", "y"]), *TIMES]
)


def nested(inner: st.SearchStrategy[st.SearchStrategy[Any]]) -> st.SearchStrategy[st.SearchStrategy[Any]]:
    """Strategies of values that hold others, all of one type."""
    fields = st.lists(inner, max_size=3)
    pair = st.tuples(inner, inner)
    return st.one_of(
        fields.map(lambda all_fields: st.tuples(*all_fields)),
        inner.map(lambda items: st.lists(items, max_size=3)),
        inner.map(lambda items: st.none() | items),
        pair.map(lambda two: st.builds(lambda a, b: Row(a=a, b=b), *two)),
        fields.map(lambda all_fields: st.builds(Row, *all_fields)),
        pair.map(lambda two: st.builds(Point, *two)),
        pair.map(lambda two: st.builds(lambda a, b: Slotted(a, b=b), *two)),
        inner.map(lambda items: st.builds(Frozen, items)),
    )


TYPES = st.recursive(KINDS, nested, max_leaves=6)
RECORDS = TYPES.flatmap(lambda values: st.lists(values, max_size=20))
PLAIN = st.recursive(
    KINDS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda fields: st.tuples(*fields)), inner.map(lambda items: st.none() | items)
    ),
    max_leaves=6,
)
ADVERSARIAL = st.one_of(
    INTS,
    FLOATS,
    st.booleans(),
    TEXTS,
    st.none(),
    st.just(2**63),
    st.just("\ud800"),
    st.just(IntEnum("One", "a")(1)),
    st.just(bytearray(b"a")),
    st.just({1: 2}),
    st.dates(),
    st.datetimes(timezones=st.sampled_from([None, timezone.utc])) | st.just(datetime(2024, 1, 1, fold=1)),
    st.times() | st.just(time(1, fold=1)),
    st.just(object),
    st.builds(Row, INTS),
    st.builds(Point, INTS),
)
ANYTHING = st.recursive(
    ADVERSARIAL,
    lambda inner: st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple) | st.builds(Point, inner, inner),
)


def batch_of(values: list[Any], times: list[int | None] | None = None) -> Batch:
    batch = Batch.of(values, times)
    assert batch is not None
    return batch


@given(RECORDS)
def test_objects_of_one_type_come_back(values: list[Any]) -> None:
    batch = batch_of(values)
    assert len(batch) == len(values)
    assert exact(batch.objects()) == exact(values)
    assert exact(list(batch)) == exact(values)


@given(st.lists(ANYTHING, max_size=8))
def test_what_is_taken_comes_back_and_the_rest_is_refused(values: list[Any]) -> None:
    batch = Batch.of(values)
    if batch is not None:
        assert exact(batch.objects()) == exact(values)


@given(RECORDS, st.data())
def test_parts_are_those_of_lists(values: list[Any], data: st.DataObject) -> None:
    times = data.draw(st.lists(st.none() | INTS, min_size=len(values), max_size=len(values)))
    batch = batch_of(values, times)
    end = data.draw(st.integers(0, len(values)))
    start = data.draw(st.integers(0, end))
    part = batch.slice(start, end)
    assert exact(part.objects()) == exact(values[start:end])
    assert part.times == times[start:end]
    assert exact(batch.objects(start, end)) == exact(values[start:end])
    key = data.draw(st.slices(len(values)))
    assert exact(batch[key]) == exact(values[key])
    indices = data.draw(st.lists(st.integers(0, len(values) - 1), max_size=30)) if values else []
    taken = batch.take(indices)
    assert exact(taken.objects()) == exact([values[index] for index in indices])
    assert taken.times == [times[index] for index in indices]
    whole = Batch.concat([batch.slice(0, start), part, batch.slice(end, len(values))])
    assert whole is not None
    assert exact(whole.objects()) == exact(values)
    assert whole.times == times
    for index in {-1, 0, len(values) - 1} if values else ():
        assert exact(batch[index]) == exact(values[index])
    step = data.draw(st.integers(1, 4))
    assert batch.text_size(start, end, step) == sum(map(text_size, values[start:end:step]))


@given(PLAIN.flatmap(lambda values: st.lists(values, max_size=30)), st.integers(0, 255), st.binary(max_size=4))
def test_buffers_are_those_of_the_encoder(values: list[Any], key: int, extras: bytes) -> None:
    expected = _native.encode_columns(values, key, extras)
    assert batch_of(values).encode(key, extras) == expected
    if expected is not None:
        batch, read_key, read_extras = Batch.of_buffer(expected)
        assert (read_key, read_extras) == (key, extras)
        assert exact(batch.objects()) == exact(values)
        assert batch.encode(key, extras) == expected
        assert batch.times is None


@given(RECORDS)
def test_rows_and_lists_are_no_buffers(values: list[Any]) -> None:
    batch = batch_of(values)
    assert batch.encode(255, b"") == _native.encode_columns(batch.objects(), 255, b"")


def test_texts_that_repeat_are_coded_in_both() -> None:
    values = [(f"k{n % 7}", n, None if n % 3 else "x") for n in range(1000)]
    buffer = _native.encode_columns(values, 0, b"")
    assert batch_of(values).encode(0, b"") == buffer
    assert buffer is not None
    assert Batch.of_buffer(buffer)[0].objects() == values


def test_bytes_that_are_no_buffer_are_refused() -> None:
    buffer = _native.encode_columns([1, 2], 255, b"")
    assert buffer is not None
    for data in (b"", b"\x01", buffer[:-1], buffer + b"a", b"\x02" + buffer[1:]):
        with pytest.raises(ValueError, match="no buffer"):
            Batch.of_buffer(data)


Named = namedtuple("Named", "a b")
Text = type("Text", (str,), {})


class Child(Point):
    """A class that is not a dataclass itself."""


class Plain:
    """A class of which objects are their attributes."""

    def __init__(self, b: Any, a: Any) -> None:
        self.b = b
        self.a = a


class Pickling(Plain):
    def __init__(self) -> None:
        super().__init__(1, 2)

    def __reduce__(self) -> Any:
        return Plain, (3, 4)


class Stating(Plain):
    def __init__(self) -> None:
        super().__init__(1, 2)

    def __setstate__(self, state: Any) -> None:
        self.__dict__ = state


class Ending(Plain):
    def __init__(self) -> None:
        super().__init__(1, 2)

    def __del__(self) -> None:
        pass


class Bare:
    pass


class Meta(metaclass=type("Metaclass", (type,), {})):  # type: ignore[misc]
    def __init__(self) -> None:
        self.a = 1


@dataclass
class Shadowed:
    x: int

    @property
    def y(self) -> int:
        return 1


Shadowing = make_dataclass("Shadowing", [("x", int)])
Shadowing.x = property(lambda self: 1, lambda self, value: None)


@dataclass
class Listed(list):  # type: ignore[type-arg]
    x: int


@dataclass
class Made:
    x: int

    def __new__(cls, x: int) -> Made:
        return object.__new__(cls)


@dataclass
class Looking:
    x: int

    def __getattribute__(self, name: str) -> Any:
        return object.__getattribute__(self, name)


def with_extra() -> Point:
    point = Point(1, 2)
    point.z = 3  # type: ignore[attr-defined]
    return point


def without() -> Point:
    point = Point(1, 2)
    del point.x
    return point


def unset() -> Slotted:
    slotted = Slotted(1)
    del slotted.a
    return slotted


@pytest.mark.parametrize(
    "value",
    [
        *(2**63, -(2**63) - 1, "\ud800", ("a", "\udfff"), Named(1, 2), Text("a"), {}, {1}, range(3), bytearray(b"a")),
        *(
            Shadowing(1),
            Pickling(),
            Stating(),
            Ending(),
            Bare(),
            Meta(),
            ValueError("a"),
            Listed(1),
            Made(1),
            Looking(1),
            with_extra(),
            without(),
            unset(),
            Point,
            RowKind.INSERT,
        ),
        *(
            Row.of_kind(RowKind.DELETE, 1),
            Row.of_values([1], ("a", "b")),
            type("Rows", (Row,), {})(1),
            1j,
            Plain(1, {1}),
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_would_not_come_back_is_refused(value: Any) -> None:
    assert Batch.of([value]) is None
    assert Batch.of([None, (value,)]) is None
    assert Batch.of([[value]]) is None


@pytest.mark.parametrize(
    "values",
    [
        *([1, True], [True, 1], [1, 1.0], [1.0, 1], [(1,), (1, 2)], [(1,), [1]], ["a", b"a"], [[1], ["a"]], [1, (1,)]),
        *([Row(1), Row(a=1)], [Row(a=1), Row(b=1)], [Row(1), Row(1, 2)], [Point(1), Slotted(1)], [Point(1), (1, None)]),
    ],
)
def test_mixtures_are_refused(values: list[Any]) -> None:
    assert Batch.of(values) is None


def test_objects_are_made_without_their_constructors() -> None:
    checked = object.__new__(Checked)
    checked.x = 1
    assert exact(batch_of([checked]).objects()) == exact([checked])
    assert exact(batch_of([Frozen("a"), None]).objects()) == exact([Frozen("a"), None])
    assert batch_of([Empty(), Empty()]).objects() == [Empty(), Empty()]
    assert batch_of([Shadowed(2)])[0].y == 1


def test_plain_objects_have_the_attributes_of_the_first_one() -> None:
    first, second = Plain(1, ["a"]), Plain(None, None)
    back = batch_of([first, None, second]).objects()
    assert [type(value) for value in back] == [Plain, type(None), Plain]
    assert [list(vars(value).items()) for value in (back[0], back[2])] == [
        [("b", 1), ("a", ["a"])],
        [("b", None), ("a", None)],
    ]
    assert back[0] is not first
    child = batch_of([Child(1), Child(2, 3)])[1]
    assert (type(child), child.x, child.y) == (Child, 2, 3)
    other = Plain(1, 2)
    other.c = 3  # type: ignore[attr-defined]
    assert Batch.of([first, other]) is None
    assert Batch.of([other]) is None
    assert Batch.of([first, second]) is not None


def test_rows_keep_their_names() -> None:
    rows = [Row(word="a", count=1), Row(word="b", count=None)]
    back = batch_of(rows).objects()
    assert back == rows
    assert back[1].word == "b"
    back[0].word = "c"
    assert rows[0].word == "a"
    assert exact(batch_of([Row(), Row()]).objects()) == exact([Row(), Row()])


def test_objects_are_new_and_lists_are_not_shared() -> None:
    items = [1, 2]
    batch = batch_of([items, items])
    items.append(3)
    first, second = batch.objects()
    assert first == second == [1, 2]
    assert first is not second


@pytest.mark.parametrize("depth", [8, 9])
def test_nesting_is_limited(depth: int) -> None:
    value: Any = 1
    for level in range(depth):
        value = (value,) if level % 2 else [value]
    assert (Batch.of([value]) is not None) is (depth == 8)
    endless: list[Any] = []
    endless.append(endless)
    assert Batch.of([endless]) is None


def test_timestamps() -> None:
    batch = batch_of(["a", "b"], [2**63 - 1, None])
    assert batch.times == [2**63 - 1, None]
    assert batch.with_times((1, 2)).times == [1, 2]
    assert batch.with_times(None).times is None
    assert batch_of(["a"], [None]).times == [None]
    joined = Batch.concat([batch, batch_of(["c"])])
    assert joined is not None
    assert joined.times == [2**63 - 1, None, None]
    assert Batch.of(["a"], [2**63]) is None
    assert Batch.of(["a"], [1.0]) is None  # type: ignore[list-item]
    with pytest.raises(ValueError, match="as many timestamps"):
        Batch.of(["a"], [])
    with pytest.raises(ValueError, match="as many timestamps"):
        batch.with_times([1])
    with pytest.raises(ValueError, match="64 bits"):
        batch.with_times([1, "a"])  # type: ignore[list-item]


def test_batches_of_different_types_are_not_put_together() -> None:
    assert Batch.concat([batch_of([1]), batch_of(["a"])]) is None
    whole = Batch.concat([batch_of([None]), batch_of([(1, None)]), batch_of([]), batch_of([(None, "a")])])
    assert whole is not None
    assert whole.objects() == [None, (1, None), (None, "a")]
    empty = Batch.concat([])
    assert empty is not None
    assert empty.objects() == []


def test_places_beyond_the_end_are_errors() -> None:
    batch = batch_of([1, 2])
    for call in (lambda: batch.slice(1, 3), lambda: batch.take([2]), lambda: batch.objects(2, 1)):
        with pytest.raises(ValueError, match="fewer records"):
            call()
    with pytest.raises(ValueError, match="step"):
        batch.text_size(0, 1, 0)
    with pytest.raises(IndexError):
        batch[2]
    with pytest.raises(TypeError):
        batch["a"]  # type: ignore[call-overload]
