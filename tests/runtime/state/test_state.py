"""Keyed state moves between subtasks by key group."""

from __future__ import annotations

import pytest

from penstock.common import Types
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.keys.keygroups import key_group_of_hash
from penstock.runtime.state.keyed import KeyedState
from tests.runtime.snapshots import carry_over, sections


@pytest.mark.parametrize(
    ("key_type", "keys"),
    [(Types.STRING(), [f"word{i}" for i in range(300)]), (None, [1, 1.0, True, "1", (1,), (1.0,)])],
    ids=["text", "equal in Python"],
)
def test_sections_hold_everything_under_the_key_group_of_its_key(key_type, keys):
    key_hash = KeyHash(key_type)
    state = KeyedState(key_hash, 128)
    for number, key in enumerate(keys):
        slot = state.enter(key)
        state.table("last")[slot] = number
        state.table("windows", (0, 10))[slot] = -number
    values = {}
    for group, tables in sections(state).items():
        for (name, namespace), table in tables.items():
            for key, value in table:
                assert group == key_group_of_hash(key_hash.hash(key), 128)
                values[name, namespace, value] = (type(key), key)
    expected = {("last", None, number): (type(key), key) for number, key in enumerate(keys)}
    expected |= {("windows", (0, 10), -number): (type(key), key) for number, key in enumerate(keys)}
    assert values == expected


def test_keys_without_state_are_forgotten(monkeypatch):
    """Also many of them beside much state: then a look at all of it has to be rare."""
    looks = []
    original = KeyedState._forget_keys

    def forget(self):
        original(self)
        looks.append(self._most_keys - len(self._keys))

    monkeypatch.setattr(KeyedState, "_forget_keys", forget)
    state = KeyedState(KeyHash(None), 128)
    for number in range(2_000):  # live ones, of state or of a timer
        slot = state.enter(float(number))
        if number % 2:
            for window in range(10):
                state.table("windows", window)[slot] = number
        else:
            state.event_timers.add(5, slot, state.current_key, None)
    for number in range(50_000):  # they come and go
        slot = state.enter(number + 0.5)
        state.table("last")[slot] = number
        state.drop("last")
        assert len(state._keys) < 6_000
    assert 5 < len(looks) < 30
    assert sum(looks) > 40_000
    restored = KeyedState(KeyHash(None), 128)
    carry_over(state, restored)
    kept = {key for _, _, key, _ in restored.entries()}
    assert kept | {timer.key for timer in restored.event_timers} == {float(number) for number in range(2_000)}
    state.enter(0.25)
    state.table("last")[state.slot] = 1
    assert [key for key, _ in state.keys("last")] == [0.25]
