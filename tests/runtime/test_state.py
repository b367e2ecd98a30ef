"""Keyed state moves between subtasks by key group."""

from __future__ import annotations

import pytest

from penstock.common import Types
from penstock.runtime.javahash import KeyHash
from penstock.runtime.keygroups import key_group_of_hash
from penstock.runtime.state import KeyedState


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
    sections = state.sections()
    found = {}
    for group, tables in sections.items():
        for (name, namespace), table in tables.items():
            for key, value in table:
                assert group == key_group_of_hash(key_hash.hash(key), 128)
                found[name, namespace, value] = (type(key), key)
    expected = {("last", None, number): (type(key), key) for number, key in enumerate(keys)}
    expected |= {("windows", (0, 10), -number): (type(key), key) for number, key in enumerate(keys)}
    assert found == expected
