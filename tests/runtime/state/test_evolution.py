"""What is kept of state whose descriptor has changed, what is converted, what is refused, and that it is done once."""

from __future__ import annotations

from datetime import date, datetime, time, timezone
from decimal import Decimal

import pytest

from penstock.common import Instant, Row
from penstock.datastream import (
    ValueStateDescriptor,
)
from penstock.errors import InvalidProgramError
from penstock.runtime.checkpoint.state_series import save
from penstock.runtime.state.evolution import MIGRATION
from penstock.runtime.state.store import handle_of
from tests.runtime.state.evolving import (
    ABOUT,
    PLACE,
    SIZED,
    T,
    elements,
    entries,
    fresh,
    gained,
    living,
    mean,
    reduction,
    reopened,
    shown,
    value,
    written,
)

KEPT = {
    "INT to LONG": (value(T.INT()), value(T.LONG()), 7, 7),
    "BYTE to BIG_INT": (value(T.BYTE()), value(T.BIG_INT()), 7, 7),
    "SHORT to INT in a list": (elements(T.SHORT()), elements(T.INT()), [1, 2], [1, 2]),
    "INT to DOUBLE": (value(T.INT()), value(T.DOUBLE()), 7, 7.0),
    "LONG to DOUBLE, of few digits": (value(T.LONG()), value(T.DOUBLE()), 1 << 60, float(1 << 60)),
    "INT to FLOAT, of few digits": (value(T.INT()), value(T.FLOAT()), 1 << 24, float(1 << 24)),
    "FLOAT to DOUBLE": (value(T.FLOAT()), value(T.DOUBLE()), 0.5, 0.5),
    "INT to BIG_DEC": (value(T.INT()), value(T.BIG_DEC()), 7, Decimal(7)),
    "CHAR to STRING": (value(T.CHAR()), value(T.STRING()), "a", "a"),
    "undeclared to INT": (value(), value(T.INT()), 7, 7),
    "pickled to a row": (value(T.PICKLED_BYTE_ARRAY()), value(PLACE), Row(city="Rom"), Row(city="Rom")),
    "INT to undeclared": (value(T.INT()), value(), 7, 7),
    "a default of the descriptor": (value(T.INT()), ValueStateDescriptor("x", T.INT(), 5), 7, 7),
    "a row gained a field": (
        value(PLACE), gained(value(SIZED), size=0), Row(city="Rom"), Row(city="Rom", size=0)),
    "a row by position gained a field": (value(PLACE), gained(value(SIZED), size=0), Row("Rom"), Row("Rom", 0)),
    "a row gained a field with a list": (
        value(PLACE), gained(value(T.ROW_NAMED(["city", "all"], [T.STRING(), T.LIST(T.INT())])), all=[]),
        Row(city="Rom"), Row(city="Rom", all=[])),
    "a row lost a field": (value(SIZED), value(PLACE), Row(city="Rom", size=3), Row(city="Rom")),
    "a row in another order": (
        value(T.ROW_NAMED(["a", "b"], [T.INT(), T.STRING()])), value(T.ROW_NAMED(["b", "a"], [T.STRING(), T.INT()])),
        Row(a=1, b="x"), Row(b="x", a=1)),
    "a row by position in another order": (
        value(T.ROW_NAMED(["a", "b"], [T.INT(), T.STRING()])), value(T.ROW_NAMED(["b", "a"], [T.STRING(), T.INT()])),
        Row(1, "x"), Row("x", 1)),
    "a field of a row widened": (
        value(SIZED), value(T.ROW_NAMED(["city", "size"], [T.STRING(), T.DOUBLE()])),
        Row(city="Rom", size=3), Row(city="Rom", size=3.0)),
    "a row within a row gained a field": (
        value(T.ROW_NAMED(["home"], [PLACE])), gained(value(T.ROW_NAMED(["home"], [SIZED])), home__size=9),
        Row(home=Row(city="Rom")), Row(home=Row(city="Rom", size=9))),
    "rows in a list gained a field": (
        elements(PLACE), gained(elements(SIZED), size=0), [Row(city="Rom")], [Row(city="Rom", size=0)]),
    "rows in a list in a value": (
        value(T.LIST(PLACE)), gained(value(T.LIST(SIZED)), size=0), [Row(city="Rom")], [Row(city="Rom", size=0)]),
    "rows in a map gained a field": (
        entries(T.STRING(), PLACE), gained(entries(T.STRING(), SIZED), size=0),
        {"a": Row(city="Rom")}, {"a": Row(city="Rom", size=0)}),
    "keys of a map widened": (entries(T.INT(), T.INT()), entries(T.DOUBLE(), T.LONG()), {1: 2}, {1.0: 2}),
    "a map in a value": (
        value(T.MAP(T.STRING(), T.INT())), value(T.MAP(T.STRING(), T.DOUBLE())), {"a": 1}, {"a": 1.0}),
    "a dict as a row": (value(PLACE), gained(value(SIZED), size=0), {"city": "Rom"}, {"city": "Rom", "size": 0}),
    "a tuple gained a field": (
        value(T.TUPLE([T.INT()])), gained(value(T.TUPLE([T.INT(), T.STRING()])), f1="-"), (1,), (1, "-")),
    "a tuple lost its last field": (value(T.TUPLE([T.INT(), T.STRING()])), value(T.TUPLE([T.INT()])), (1, "x"), (1,)),
    "a tuple with a wider field": (value(T.TUPLE([T.INT()])), value(T.TUPLE([T.DOUBLE()])), (1,), (1.0,)),
    "an array widened": (value(T.BASIC_ARRAY(T.INT())), value(T.BASIC_ARRAY(T.DOUBLE())), [1], [1.0]),
    "a list to an array": (value(T.LIST(T.INT())), value(T.PRIMITIVE_ARRAY(T.LONG())), [1, 2], [1, 2]),
    "an array to a list": (value(T.OBJECT_ARRAY(T.INT())), value(T.LIST(T.DOUBLE())), [1, None], [1.0, None]),
    "a row whose fields had no names": (
        value(T.ROW([T.STRING(), T.INT()])), value(SIZED), Row("Rom", 3), Row("Rom", 3)),
    "a row whose fields had the usual names": (
        value(T.ROW([T.STRING(), T.INT()])), value(SIZED), Row(f0="Rom", f1=3), Row(city="Rom", size=3)),
    "a moment to a timestamp": (
        value(T.INSTANT()), value(T.SQL_TIMESTAMP()), Instant(86_401, 5_000), datetime(1970, 1, 2, 0, 0, 1, 5)),
    "a moment with a zone to a timestamp": (
        value(T.INSTANT()), value(T.SQL_TIMESTAMP()), datetime(2026, 1, 1, tzinfo=timezone.utc), datetime(2026, 1, 1)),
    "a moment to a day": (value(T.INSTANT()), value(T.SQL_DATE()), Instant(86_400, 0), date(1970, 1, 2)),
    "a moment to a time": (value(T.INSTANT()), value(T.SQL_TIME()), Instant(3_661, 0), time(1, 1, 1)),
    "a reduction widened": (reduction(T.INT()), reduction(T.DOUBLE()), 7, 7.0),
    "an accumulator gained a field": (
        mean(T.TUPLE([T.INT(), T.INT()])), gained(mean(T.TUPLE([T.INT(), T.INT(), T.INT()])), f2=0), 7, (7, 1, 0)),
    "a migrated value": (value(T.INT()), value(T.STRING()).migrated_by(str), 7, "7"),
    "migrated elements": (elements(T.INT()), elements(T.STRING()).migrated_by(str), [1, 2], ["1", "2"]),
    "migrated elements, some forgotten": (elements(), elements().migrated_by(lambda n: n - 1 or None), [1, 2], [1]),
    "migrated values of a map": (
        entries(T.STRING(), T.INT()), entries(T.STRING(), T.STRING()).migrated_by(str), {"a": 1}, {"a": "1"}),
    "a migrated accumulator": (mean(), mean().migrated_by(lambda old: (*old, 0)), 7, (7, 1, 0)),
    "a migration where no type has changed": (value(T.INT()), value(T.INT()).migrated_by(lambda n: 2 * n), 7, 14),
    "all later migrations": (
        value(), value().migrated_by(lambda n: n + 1).migrated_by(lambda n: n * 10, version=2), 7, 80),
    "the later migrations alone": (
        value().migrated_by(abs), value().migrated_by(abs).migrated_by(str, version=5), 7, "7"),
    "a value to a list": (value(T.INT()), elements(T.INT()).migrated_by(lambda n: [n, n]), 7, [7, 7]),
    "a list to a map": (elements(), entries().migrated_by(lambda old: dict.fromkeys(old, True)), [1], {1: True}),
    "a map to a value": (entries(), value().migrated_by(len), {1: 1, 2: 2}, 2),
    "a value to a reduction": (value(), reduction().migrated_by(lambda n: n), 7, 7),
    "a time to live": (value(T.INT()), living(value(T.INT())), 7, 7),
    "no time to live any more": (living(value()), value(), 7, 7),
    "another time to live": (living(value()), living(value(), 5), 7, 7),
    "a time to live of elements": (elements(), living(elements()), [1, 2], [1, 2]),
    "no time to live of elements any more": (living(elements()), elements(), [1, 2], [1, 2]),
    "a time to live of a map": (entries(), living(entries()), {1: 2}, {1: 2}),
    "no time to live of a map any more": (living(entries()), entries(), {1: 2}, {1: 2}),
    "a time to live of a reduction": (reduction(), living(reduction()), 7, 7),
    "a time to live and a wider type": (value(T.INT()), living(value(T.DOUBLE())), 7, 7.0),
    "a list with a time to live to a value": (living(elements()), value().migrated_by(sum), [1, 2], 3),
    "a value to a list with a time to live": (value(), living(elements()).migrated_by(lambda n: [n]), 7, [7]),
}  # fmt: skip
REFUSED = {
    "LONG to DOUBLE, of many digits": (
        value(T.LONG()), value(T.DOUBLE()), (1 << 60) + 1, "for the key 'a', 1152921504606846977 .* would lose digits"),
    "INT to FLOAT, of many digits": (value(T.INT()), value(T.FLOAT()), (1 << 24) + 1, "does not fit a FLOAT"),
    "BIG_INT to FLOAT, beyond its range": (value(T.BIG_INT()), value(T.FLOAT()), 1 << 200, "does not fit a FLOAT"),
    "BIG_INT to DOUBLE, beyond its range": (value(T.BIG_INT()), value(T.DOUBLE()), 1 << 2000, "does not fit a DOUBLE"),
    "LONG to INT": (value(T.LONG()), value(T.INT()), 7, r"Types.INT\(\) holds fewer numbers than Types.LONG\(\)"),
    "DOUBLE to FLOAT": (value(T.DOUBLE()), value(T.FLOAT()), 0.5, "does not hold the values of"),
    "DOUBLE to LONG": (value(T.DOUBLE()), value(T.LONG()), 1.0, "does not hold the values of"),
    "STRING to INT": (
        value(T.STRING()), value(T.INT()), "7",
        r"'x' was written as a ValueState \(Types.STRING\(\)\), and is asked for as a ValueState \(Types.INT\(\)\)"),
    "BOOLEAN to INT": (value(T.BOOLEAN()), value(T.INT()), True, "does not hold the values of"),
    "SQL_DATE to SQL_TIMESTAMP": (value(T.SQL_DATE()), value(T.SQL_TIMESTAMP()), date(2026, 1, 1), "does not hold"),
    "a moment within a day to a day": (
        value(T.INSTANT()), value(T.SQL_DATE()), Instant(86_401, 0), r"Instant<86401, 0> is not a day in UTC"),
    "a moment of nanoseconds to a timestamp": (
        value(T.INSTANT()), value(T.SQL_TIMESTAMP()), Instant(0, 1), "is not a moment of whole microseconds in UTC"),
    "a moment of another day to a time": (
        value(T.INSTANT()), value(T.SQL_TIME()), Instant(86_400, 0), "is not a time of 1970-01-01 in UTC"),
    "a moment of a year that Python lacks": (
        value(T.INSTANT()), value(T.SQL_DATE()), Instant(1 << 40, 0), "is not a day in UTC"),
    "a list with None to an array of primitives": (
        value(T.LIST(T.INT())), value(T.PRIMITIVE_ARRAY(T.INT())), [1, None], "an element is None"),
    "a list to bytes": (
        value(T.LIST(T.BYTE())), value(T.PRIMITIVE_ARRAY(T.BYTE())), [1], "have different kinds of values"),
    "undeclared to a type that does not fit": (
        value(), value(T.INT()), "7", "for the key 'a', .*it is a str, not an int"),
    "a row gained a field without a default": (
        value(PLACE), value(SIZED), Row(city="Rom"), "the field 'size' is new and has no default"),
    "a field of a row renamed": (
        value(PLACE), value(T.ROW_NAMED(["town"], [T.STRING()])), Row(city="Rom"), "if it is what 'city' was"),
    "a row within a row gained a field without a default": (
        value(T.ROW_NAMED(["home"], [PLACE])), gained(value(T.ROW_NAMED(["home"], [SIZED])), size=9),
        Row(home=Row(city="Rom")), "the field 'home.size' is new"),
    "a field of a row narrowed": (
        value(SIZED), value(T.ROW_NAMED(["city", "size"], [T.STRING(), T.BYTE()])),
        Row(city="Rom", size=3), "in size, "),
    "a tuple gained a field without a default": (
        value(T.TUPLE([T.INT()])), value(T.TUPLE([T.INT(), T.INT()])), (1,), "the field 'f1' is new"),
    "a tuple to a row": (
        value(T.TUPLE([T.STRING()])), value(PLACE), ("Rom",), "have different kinds of values"),
    "a list to a map in a value": (
        value(T.LIST(T.INT())), value(T.MAP(T.INT(), T.INT())), [1], "have different kinds of values"),
    "keys of a map to another type": (entries(T.INT(), T.INT()), entries(T.STRING(), T.INT()), {1: 1}, "in key, "),
    "a value to a list": (value(T.INT()), elements(T.INT()), 7, "a ValueState is not a ListState"),
    "a list to a value": (elements(T.INT()), value(T.INT()), [7], "a ListState is not a ValueState"),
    "a value to a map that is none": (
        value(), entries().migrated_by(str), 7, "returned '7', and a MapState is a dict"),
    "a migration to another type than the declared one": (
        value(), value(T.INT()).migrated_by(str), 7, "it is a str, not an int"),
    "a migration that is not there any more": (
        value().migrated_by(str, version=3), value(), 7, "version 3, and the program has no migration to that"),
    "values that do not fit what they were declared as": (
        value(T.TUPLE([T.INT()])), value(T.TUPLE([T.DOUBLE()])), (1, 2), "has 2 fields, and its type said 1"),
}  # fmt: skip


@pytest.mark.parametrize("disk", [False, True], ids=["memory", "disk"])
@pytest.mark.parametrize("case", KEPT)
def test_what_is_kept(case, disk, tmp_path):
    old, new, before, after = KEPT[case]
    keyed = reopened(tmp_path, written(tmp_path, old, {"a": before, "b": before}, disk), disk)
    values = shown(keyed, new, "abc")
    nothing = shown(fresh(disk), new, "c")["c"]
    assert values == {"a": after, "b": after, "c": nothing}
    assert [type(result) for result in values.values()] == [type(after), type(after), type(nothing)]


@pytest.mark.parametrize("disk", [False, True], ids=["memory", "disk"])
@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case, disk, tmp_path):
    old, new, before, why = REFUSED[case]
    keyed = reopened(tmp_path, written(tmp_path, old, {"a": before}, disk), disk)
    with pytest.raises(InvalidProgramError, match=why) as failure:
        handle_of(keyed, new)
    assert failure.value.flink_class == MIGRATION
    assert "migrated_by(function, version=" in str(failure.value)


@pytest.mark.parametrize("disk", [False, True], ids=["memory", "disk"])
@pytest.mark.parametrize("case", KEPT)
def test_it_is_done_once(case, disk, tmp_path):
    """What is written afterwards is a snapshot, of the new form: whoever reads it has nothing to do."""
    old, new, before, after = KEPT[case]
    chain = written(tmp_path, old, {"a": before, "b": before}, disk)
    keyed = reopened(tmp_path, chain, disk)
    handle_of(keyed, new)
    changed = keyed.rewrite
    then = save(str(tmp_path), keyed, None, ABOUT, chain, 2)
    assert (len(then) == 1 and then != chain) if changed else then == chain
    assert save(str(tmp_path), keyed, None, ABOUT, then, 3) == then
    again = reopened(tmp_path, then, disk)
    assert shown(again, new, "a")["a"] == after
    assert not again.rewrite
