"""State whose descriptor has changed: times to live, names, migrations, windows, and calls that are wrong."""

from __future__ import annotations

import re

import pytest

from penstock.common import Row
from penstock.datastream import (
    ListStateDescriptor,
    ValueStateDescriptor,
)
from penstock.errors import InvalidProgramError, StateError
from penstock.runtime.checkpoint.state_series import load, save
from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.state.operator_state import OperatorState
from penstock.runtime.state.store import handle_of
from tests.runtime.state.evolving import (
    ABOUT,
    PLACE,
    SIZED,
    T,
    elements,
    fresh,
    gained,
    living,
    reopened,
    shown,
    value,
    written,
)


def test_state_that_has_not_changed_is_not_looked_at(tmp_path, monkeypatch):
    chain = written(tmp_path, value(SIZED), {"a": Row(city="Rom", size=3)})
    keyed = reopened(tmp_path, chain)
    monkeypatch.setattr(KeyedState, "places", None)
    monkeypatch.setattr(KeyedState, "convert", None)
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
    with pytest.raises(InvalidProgramError, match="'x' is declared as the former 'old', and both have values"):
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
    chains = [written(tmp_path, value(kind), {key: 1}) for key, kind in (("a", T.INT()), ("b", T.LONG()))]
    with pytest.raises(InvalidProgramError, match=re.escape("the state 'x' is in two forms")):
        load(str(tmp_path), chains, fresh(), None, ABOUT)


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
