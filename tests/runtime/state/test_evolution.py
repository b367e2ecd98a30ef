"""State whose descriptor has changed: what is kept, what is converted, what is refused, and that it is done once."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal

import pytest

from penstock.common import Row, Time, Types
from penstock.datastream import (
    AggregateFunction,
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from penstock.errors import InvalidProgramError, StateError
from penstock.runtime.checkpoint.saving import load, save
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.state.disk.keyed import DiskKeyedState
from penstock.runtime.state.evolution import MIGRATION
from penstock.runtime.state.files import AboutOperator
from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.state.operator_state import OperatorState
from penstock.runtime.state.store import handle_of
from penstock.runtime.state.timers import Clock

ABOUT = AboutOperator("ab" * 16, "count", "my-uid", 0, 1, 128)
T = Types
STRING = T.STRING()
PERSON = T.ROW_NAMED(["name", "age"], [T.STRING(), T.INT()])
PLACE = T.ROW_NAMED(["city"], [T.STRING()])
SIZED = T.ROW_NAMED(["city", "size"], [T.STRING(), T.INT()])


class FixedClock(Clock):
    """Which stands."""

    def __init__(self):
        self.time = 1_000_000
        super().__init__(lambda: self.time)


class Mean(AggregateFunction):
    """Of (sum, count)."""

    def create_accumulator(self):
        return (0, 0)

    def add(self, value, accumulator):
        return (accumulator[0] + value, accumulator[1] + 1)

    def get_result(self, accumulator):
        return accumulator


def value(declared=None):
    return ValueStateDescriptor("x", declared)


def elements(declared=None):
    return ListStateDescriptor("x", declared)


def entries(key=None, declared=None):
    return MapStateDescriptor("x", key, declared)


def reduction(declared=None):
    return ReducingStateDescriptor("x", max, declared)


def mean(declared=None):
    return AggregatingStateDescriptor("x", Mean(), declared)


def living(descriptor, seconds=100):
    descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.seconds(seconds)).build())
    return descriptor


def fresh(disk=False, key_type=STRING):
    keyed = (DiskKeyedState if disk else KeyedState)(KeyHash(key_type), 128, FixedClock())
    keyed.track()
    return keyed


def put(handle, found):
    if handle.kind == "ListState":
        handle.update(found)
    elif handle.kind == "MapState":
        handle.put_all(found)
    elif handle.kind == "ValueState":
        handle.update(found)
    else:
        handle.add(found)


def get(handle):
    if handle.kind == "ListState":
        return list(handle.get())
    if handle.kind == "MapState":
        return dict(handle.items())
    return handle.value() if handle.kind == "ValueState" else handle.get()


def written(folder, descriptor, values, disk=False, key_type=STRING, namespace=None):
    keyed = fresh(disk, key_type)
    handle = handle_of(keyed, descriptor, namespace)
    for key, found in values.items():
        keyed.enter(key)
        put(handle, found)
    return save(str(folder), keyed, None, ABOUT, (), 1)


def reopened(folder, chain, disk=False, key_type=STRING):
    keyed = fresh(disk, key_type)
    load(str(folder), [chain], keyed, None, ABOUT)
    return keyed


def shown(keyed, descriptor, keys, namespace=None):
    handle, found = handle_of(keyed, descriptor, namespace), {}
    for key in keys:
        keyed.enter(key)
        found[key] = get(handle)
    return found


def gained(descriptor, **defaults):
    return descriptor.with_field_defaults({name.replace("__", "."): each for name, each in defaults.items()})


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
    "a reduction widened": (reduction(T.INT()), reduction(T.DOUBLE()), 7, 7.0),
    "an accumulator gained a field": (
        mean(T.TUPLE([T.INT(), T.INT()])), gained(mean(T.TUPLE([T.INT(), T.INT(), T.INT()])), f2=0), 7, (7, 1, 0)),
    "a migrated value": (value(T.INT()), value(T.STRING()).migrated_by(str), 7, "7"),
    "migrated elements": (elements(T.INT()), elements(T.STRING()).migrated_by(str), [1, 2], ["1", "2"]),
    "migrated elements, some forgotten": (elements(), elements().migrated_by(lambda n: n - 1 or None), [1, 2], [1]),
    "migrated values of a map": (
        entries(T.STRING(), T.INT()), entries(T.STRING(), T.STRING()).migrated_by(str), {"a": 1}, {"a": "1"}),
    "a migrated accumulator": (mean(), mean().migrated_by(lambda each: (*each, 0)), 7, (7, 1, 0)),
    "a migration where no type has changed": (value(T.INT()), value(T.INT()).migrated_by(lambda n: 2 * n), 7, 14),
    "all later migrations": (
        value(), value().migrated_by(lambda n: n + 1).migrated_by(lambda n: n * 10, version=2), 7, 80),
    "the later migrations alone": (
        value().migrated_by(abs), value().migrated_by(abs).migrated_by(str, version=5), 7, "7"),
    "a value to a list": (value(T.INT()), elements(T.INT()).migrated_by(lambda n: [n, n]), 7, [7, 7]),
    "a list to a map": (elements(), entries().migrated_by(lambda each: dict.fromkeys(each, True)), [1], {1: True}),
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
    "INT to FLOAT, of many digits": (value(T.INT()), value(T.FLOAT()), (1 << 24) + 1, "no number of a FLOAT"),
    "LONG to INT": (value(T.LONG()), value(T.INT()), 7, r"Types.INT\(\) holds fewer numbers than Types.LONG\(\)"),
    "DOUBLE to FLOAT": (value(T.DOUBLE()), value(T.FLOAT()), 0.5, "does not hold the values of"),
    "DOUBLE to LONG": (value(T.DOUBLE()), value(T.LONG()), 1.0, "does not hold the values of"),
    "STRING to INT": (
        value(T.STRING()), value(T.INT()), "7",
        r"'x' was written as a ValueState \(Types.STRING\(\)\), and is asked for as a ValueState \(Types.INT\(\)\)"),
    "BOOLEAN to INT": (value(T.BOOLEAN()), value(T.INT()), True, "does not hold the values of"),
    "SQL_DATE to SQL_TIMESTAMP": (value(T.SQL_DATE()), value(T.SQL_TIMESTAMP()), date(2026, 1, 1), "does not hold"),
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
    "a value to a list": (value(T.INT()), elements(T.INT()), 7, "a ValueState is no ListState"),
    "a list to a value": (elements(T.INT()), value(T.INT()), [7], "a ListState is no ValueState"),
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
    found = shown(keyed, new, "abc")
    nothing = shown(fresh(disk), new, "c")["c"]
    assert found == {"a": after, "b": after, "c": nothing}
    assert [type(each) for each in found.values()] == [type(after), type(after), type(nothing)]


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


def test_state_that_has_not_changed_is_not_looked_at(tmp_path, monkeypatch):
    chain = written(tmp_path, value(SIZED), {"a": Row(city="Rom", size=3)})
    keyed = reopened(tmp_path, chain)
    monkeypatch.setattr(KeyedState, "places", None)
    monkeypatch.setattr(KeyedState, "revise", None)
    assert shown(keyed, value(SIZED), "a") == {"a": Row(city="Rom", size=3)}
    assert not keyed.rewrite


def test_values_that_nobody_asks_for_are_carried_along_as_they_were(tmp_path):
    chain = written(tmp_path, living(value(T.INT())).migrated_by(abs, version=4), {"a": 7})
    keyed = reopened(tmp_path, chain)
    handle = handle_of(keyed, ListStateDescriptor("other", T.INT()))
    keyed.enter("a")
    handle.add(1)
    chain = save(str(tmp_path), keyed, None, ABOUT, (), 2)
    keyed = reopened(tmp_path, chain)
    assert shown(keyed, living(value(T.INT())).migrated_by(abs, version=4), "a") == {"a": 7}
    assert not keyed.rewrite
    with pytest.raises(InvalidProgramError, match=r"ValueState \(Types.INT\(\), with a time to live, version 4\)"):
        handle_of(reopened(tmp_path, chain), elements())


def test_a_time_to_live_begins_with_the_restore(tmp_path):
    keyed = reopened(tmp_path, written(tmp_path, value(), {"a": 7}))
    handle = handle_of(keyed, living(value(), 100))
    keyed.enter("a")
    keyed.clock.time += 99_000
    assert handle.value() == 7
    keyed.clock.time += 2_000
    assert handle.value() is None


def test_a_shorter_time_to_live_counts_from_the_last_access(tmp_path):
    keyed = reopened(tmp_path, written(tmp_path, living(value(), 1000), {"a": 7}))
    keyed.clock.time += 50_000
    handle = handle_of(keyed, living(value(), 10))
    keyed.enter("a")
    assert handle.value() is None


@pytest.mark.parametrize("disk", [False, True], ids=["memory", "disk"])
def test_a_renamed_state(tmp_path, disk):
    chain = written(tmp_path, ValueStateDescriptor("old", T.INT()), {"a": 7, "b": 8}, disk)
    new = value(T.DOUBLE()).renamed_from("older", "old")
    keyed = reopened(tmp_path, chain, disk)
    assert shown(keyed, new, "abc") == {"a": 7.0, "b": 8.0, "c": None}
    assert shown(keyed, ValueStateDescriptor("old", T.INT()), "a") == {"a": None}
    chain = save(str(tmp_path), keyed, None, ABOUT, chain, 2)
    assert len(chain) == 1
    assert shown(reopened(tmp_path, chain, disk), new, "a") == {"a": 7.0}


def test_a_renamed_state_whose_name_is_taken(tmp_path):
    keyed = fresh()
    for name in ("x", "old"):
        handle = handle_of(keyed, ValueStateDescriptor(name, T.INT()))
        keyed.enter("a")
        handle.update(1)
    keyed = reopened(tmp_path, save(str(tmp_path), keyed, None, ABOUT, (), 1))
    with pytest.raises(InvalidProgramError, match="'x' is said to be the former 'old', and there are values of both"):
        handle_of(keyed, value(T.INT()).renamed_from("old"))


@pytest.mark.parametrize("disk", [False, True], ids=["memory", "disk"])
def test_state_of_windows_in_every_one(tmp_path, disk):
    keyed = fresh(disk)
    for window in ("w1", "w2", None):
        handle = handle_of(keyed, ValueStateDescriptor("x", T.INT()), window)
        for key in "ab":
            keyed.enter(key)
            handle.update(7)
    keyed = reopened(tmp_path, save(str(tmp_path), keyed, None, ABOUT, (), 1), disk)
    new = value(T.STRING()).migrated_by(lambda n: f"<{n}>")
    assert [shown(keyed, new, "ab", window) for window in ("w2", None, "w1")] == [{"a": "<7>", "b": "<7>"}] * 3


def test_a_migration_that_fails_names_state_and_key(tmp_path):
    keyed = reopened(tmp_path, written(tmp_path, value(T.INT()), {"k7": 0}))
    with pytest.raises(StateError) as failure:
        handle_of(keyed, value().migrated_by(lambda n: 1 // n, version=3))
    text = "migration of the state 'x' to version 3 has failed for the key 'k7': ZeroDivisionError"
    assert text in str(failure.value)
    assert isinstance(failure.value.__cause__, ZeroDivisionError)


def test_values_that_a_migration_forgets(tmp_path):
    chain = written(tmp_path, value(T.INT()), {"a": 0, "b": 1})
    keyed = reopened(tmp_path, chain)
    new = value(T.INT()).migrated_by(lambda n: n or None)
    assert shown(keyed, new, "ab") == {"a": None, "b": 1}
    again = reopened(tmp_path, save(str(tmp_path), keyed, None, ABOUT, chain, 2))
    assert again.size() == 1


def test_values_that_are_all_forgotten_do_not_come_back(tmp_path):
    chain = written(tmp_path, value(T.INT()), {"a": 0})
    keyed = reopened(tmp_path, chain)
    handle_of(keyed, value(T.INT()).migrated_by(lambda n: None))
    then = save(str(tmp_path), keyed, OperatorState(), ABOUT, chain, 2)
    assert then not in ((), chain)
    assert reopened(tmp_path, then).size() == 0


def test_defaults_are_not_shared(tmp_path):
    keyed = reopened(tmp_path, written(tmp_path, value(PLACE), {"a": Row(city="Rom"), "b": Row(city="Rom")}))
    new = gained(value(T.ROW_NAMED(["city", "all"], [T.STRING(), T.LIST(T.INT())])), all=[])
    one, other = shown(keyed, new, "ab").values()
    one.all.append(1)
    assert other.all == []


def test_subtasks_that_left_a_state_in_two_forms_are_told_so(tmp_path):
    chains = [written(tmp_path, value(each), {key: 1}) for key, each in (("a", T.INT()), ("b", T.LONG()))]
    with pytest.raises(InvalidProgramError, match=re.escape("the state 'x' is in two forms")):
        load(str(tmp_path), chains, fresh(), None, ABOUT)


@pytest.mark.parametrize(
    ("old", "new", "keys"),
    [
        (None, T.STRING(), ["a", "b"]),
        (None, T.LONG(), [1, -5]),
        (T.STRING(), None, ["a"]),
        (T.INT(), T.LONG(), [1, 5]),
        (None, T.TUPLE([T.STRING(), T.LONG()]), [("a", 1)]),
    ],
)
def test_a_key_type_under_which_keys_stay_where_they_are(tmp_path, old, new, keys):
    chain = written(tmp_path, value(), dict.fromkeys(keys, 7), key_type=old)
    keyed = reopened(tmp_path, chain, key_type=new)
    assert shown(keyed, value(), keys) == dict.fromkeys(keys, 7)
    then = save(str(tmp_path), keyed, None, ABOUT, chain, 2)
    assert len(then) == 1
    assert not reopened(tmp_path, then, key_type=new).rewrite


@pytest.mark.parametrize(
    ("old", "new", "key", "why"),
    [
        (T.INT(), T.LONG(), -5, "the key -5 would be another, in another key group"),
        (T.INT(), T.STRING(), 5, "and the key 5 is none"),
        (None, T.STRING(), 5, "and the key 5 is none"),
        (T.STRING(), T.TUPLE([T.STRING()]), "a", r"declared Types.STRING\(\) and are Types.TUPLE"),
        (T.TUPLE([T.INT()]), T.TUPLE([T.INT(), T.INT()]), (1,), "the keys were declared"),
        (PERSON, T.ROW_NAMED(["age", "name"], [T.INT(), T.STRING()]), Row(name="x", age=1), "the keys were declared"),
        (None, T.ROW_NAMED(["b", "a"], [T.LONG(), T.LONG()]), Row(a=1, b=1), "would be another"),
    ],
)
def test_a_key_type_under_which_keys_would_move(tmp_path, old, new, key, why):
    chain = written(tmp_path, value(), {key: 7}, key_type=old)
    with pytest.raises(InvalidProgramError, match=why) as failure:
        reopened(tmp_path, chain, key_type=new)
    assert failure.value.flink_class == MIGRATION
    assert "operator 'count'" in str(failure.value)


def test_keys_of_timers_are_looked_at_too(tmp_path):
    keyed = fresh(key_type=T.INT())
    keyed.event_timers.add(5, keyed.enter(-5), -5, None)
    chain = save(str(tmp_path), keyed, None, ABOUT, (), 1)
    with pytest.raises(InvalidProgramError, match="the key -5 would be another"):
        reopened(tmp_path, chain, key_type=T.LONG())


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda: value().renamed_from(), "Give the names that it had before"),
        (lambda: value().renamed_from("x"), "Give the names that it had before"),
        (lambda: value().renamed_from(5), "a text is needed"),
        (lambda: value().migrated_by(5), "Give a function"),
        (lambda: value().migrated_by(str, version=0), "greater than 0"),
        (lambda: value().migrated_by(str, version=2).migrated_by(str, version=2), "greater than 2"),
        (lambda: value().migrated_by(str, version=True), "a whole number"),
        (lambda: value().with_field_defaults([1]), "Give a dict"),
        (lambda: value().with_field_defaults({1: 1}), "Give a dict"),
    ],
)
def test_wrong_calls(call, why):
    with pytest.raises(InvalidProgramError, match=why):
        call()
