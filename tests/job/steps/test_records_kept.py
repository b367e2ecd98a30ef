"""What operators keep themselves, records and what is made of them, becomes what a changed program has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import pytest

from penstock.common import Row, Types
from penstock.datastream import AggregateFunction, ProcessWindowFunction
from penstock.datastream.evictor import CountEvictor
from penstock.datastream.window import CountTrigger, GlobalWindows
from penstock.errors import InvalidProgramError
from tests.job.steps.evolving import PAIR, environment, fed
from tests.running import collected

FIRST = [("a", 1), ("b", 2), ("c", 3)]
MORE = [*FIRST, *((key, 0) for key in "abcd")]
INT, DOUBLE = Types.INT(), Types.DOUBLE()
PAIR_OF_DOUBLES = Types.TUPLE([Types.STRING(), DOUBLE])


def reduced(folder, records, record_type):
    keyed = fed(environment(folder), folder, records, record_type).key_by(lambda record: record[0], Types.STRING())
    return sorted(collected(keyed.reduce(lambda one, other: (one[0], one[1] + other[1])).uid("kept")))


def test_what_a_reduction_keeps(tmp_path):
    folder = tmp_path / "job"
    reduced(folder, FIRST, PAIR)
    records = reduced(folder, MORE, PAIR_OF_DOUBLES)
    assert repr(records) == "[('a', 1.0), ('b', 2.0), ('c', 3.0), ('d', 0)]"
    with pytest.raises(InvalidProgramError, match=r"'_op_state' was written as a table of reductions \(Types.TUPLE"):
        reduced(folder, [*MORE, ("a", "x")], Types.TUPLE([Types.STRING(), Types.STRING()]))


class All(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield list(elements)


def windowed(folder, records, record_type, apply):
    keyed = fed(environment(folder), folder, records, record_type).key_by(lambda record: record[0], Types.STRING())
    window = keyed.window(GlobalWindows.create()).trigger(CountTrigger.of(2))
    return sorted(map(repr, collected(apply(window).uid("kept"))))


def test_what_windows_keep(tmp_path):
    folder = tmp_path / "job"

    def all_of(window):
        return window.process(All(), Types.PICKLED_BYTE_ARRAY())

    windowed(folder, FIRST, PAIR, all_of)
    records = windowed(folder, [*FIRST, ("a", 5.0)], PAIR_OF_DOUBLES, all_of)
    assert records == ["[('a', 1.0), ('a', 5.0)]"]
    with pytest.raises(InvalidProgramError, match="a table of elements is not a table of reductions"):
        windowed(folder, MORE, PAIR_OF_DOUBLES, lambda window: window.reduce(lambda one, other: one))


def by_city(folder, records, record_type, apply, **settings):
    env = environment(folder, **settings)
    keyed = fed(env, folder, records, record_type).key_by(lambda row: row.city, Types.STRING())
    return sorted(map(repr, collected(apply(keyed).uid("kept"))))


def in_windows(apply, evicted=False):
    def windowed_by_two(keyed):
        window = keyed.window(GlobalWindows.create()).trigger(CountTrigger.of(2))
        return apply(window.evictor(CountEvictor.of(5)) if evicted else window)

    return windowed_by_two


class Sizes(AggregateFunction):
    """Its accumulator is the last row."""

    def create_accumulator(self):
        return None

    def add(self, value, accumulator):
        return value if accumulator is None else Row(**{**accumulator.as_dict(), "city": value.city})

    def get_result(self, accumulator):
        return accumulator

    def merge(self, one, other):
        return one


CITY = Types.ROW_NAMED(["city", "old"], [Types.STRING(), INT])
SIZED = Types.ROW_NAMED(["size", "city"], [INT, Types.STRING()])
KEEPERS = {
    "reduction": lambda keyed: keyed.reduce(lambda one, other: one),
    "minimum": lambda keyed: keyed.min_by("city"),
    "elements": in_windows(lambda window: window.process(All(), Types.PICKLED_BYTE_ARRAY())),
    "elements with an evictor": in_windows(lambda window: window.process(All(), Types.PICKLED_BYTE_ARRAY()), True),
    "reduction of a window": in_windows(lambda window: window.reduce(lambda one, other: one)),
    "evicted reduction": in_windows(lambda window: window.reduce(lambda one, other: one), True),
    "maximum of a window": in_windows(lambda window: window.max_by("city")),
}


@pytest.mark.parametrize("keeper", KEEPERS)
def test_rows_that_gained_lost_and_reordered_fields(tmp_path, keeper):
    folder, apply = tmp_path / "job", KEEPERS[keeper]
    old, new = [Row(city="Rom", old=7)], [Row(city="Rom", old=7), Row(size=2, city="Rom")]
    by_city(folder, old, CITY, apply)
    with pytest.raises(InvalidProgramError, match=r"'size' is new and has no default. .*with_field_defaults"):
        by_city(folder, new, SIZED, apply)
    records = by_city(folder, new, SIZED, lambda keyed: apply(keyed).with_field_defaults({"size": 1}), parallelism=3)
    rows = "Row(size=1, city='Rom')"
    assert records == ([f"[{rows}, Row(size=2, city='Rom')]"] if "elements" in keeper else [rows])
    assert by_city(folder, new, SIZED, apply) == []  # nothing is left to say


def test_accumulators_of_a_declared_type(tmp_path):
    folder = tmp_path / "job"

    def apply(accumulator_type, defaults):
        windowed = in_windows(lambda window: window.aggregate(Sizes(), accumulator_type=accumulator_type))
        return lambda keyed: windowed(keyed).with_field_defaults(defaults)

    old, new = [Row(city="Rom", old=7)], [Row(city="Rom", old=7), Row(size=2, city="Rom")]
    by_city(folder, old, CITY, apply(CITY, {}))
    with pytest.raises(InvalidProgramError, match="'size' is new and has no default"):
        by_city(folder, new, SIZED, apply(SIZED, {}))
    assert by_city(folder, new, SIZED, apply(SIZED, {"size": 1})) == ["Row(size=1, city='Rom')"]


@dataclass
class Town:
    """A record; tests give it other fields."""

    city: str
    old: int


class Village(NamedTuple):
    """Another one."""

    city: str
    old: int


@pytest.mark.parametrize("keeper", [name for name in KEEPERS if "imum" not in name])
@pytest.mark.parametrize("old", [Town, Village])
def test_objects_that_gained_lost_and_reordered_fields(tmp_path, monkeypatch, keeper, old):
    folder, apply = tmp_path / "job", KEEPERS[keeper]
    by_city(folder, [old("Rom", 7)], None, apply)

    @dataclass
    class Newer:
        size: int = 1
        city: str = ""

    class Younger(NamedTuple):
        size: int = 1
        city: str = ""

    new = Newer if old is Town else Younger
    new.__qualname__ = new.__name__ = old.__name__
    monkeypatch.setitem(globals(), old.__name__, new)
    records = by_city(folder, [old, new(2, "Rom")], None, apply)
    row = f"{old.__name__}(size=1, city='Rom')"
    assert records == ([f"[{row}, {row.replace('1', '2')}]"] if "elements" in keeper else [row])


def test_fields_have_defaults_where_records_are_kept_only(tmp_path):
    stream = environment(tmp_path).from_collection([1], Types.LONG())
    with pytest.raises(InvalidProgramError, match="its state has no records of its input"):
        stream.map(lambda number: number).with_field_defaults({"f0": 1})
    with pytest.raises(InvalidProgramError, match="Give a dict"):
        stream.key_by(lambda number: number).reduce(max).with_field_defaults({0: 1})
