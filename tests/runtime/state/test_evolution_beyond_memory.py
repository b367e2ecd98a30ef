"""State whose form has changed and that is more than memory holds: read once in order, and written in order."""

from __future__ import annotations

import pytest

from penstock.common import Types
from penstock.datastream import ValueStateDescriptor
from penstock.runtime.checkpoint.state_series import load, save
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.state.disk.keyed import DiskKeyedState
from penstock.runtime.state.store import handle_of
from tests.runtime.state.evolving import ABOUT

KEYS = [(number, float(number)) for number in range(1_500)]  # which are not their own canonical forms
PLACES = {None: 1_500, "w1": 400, "w2": 300}
OLD = ValueStateDescriptor("x", Types.INT())


def fresh():
    keyed = DiskKeyedState(KeyHash(None), 128, None, 1 << 16)
    keyed.track()
    return keyed


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder, keyed = str(tmp_path_factory.mktemp("state")), fresh()
    for window, count in PLACES.items():
        handle = handle_of(keyed, OLD, window)
        for key in KEYS[:count]:
            keyed.enter(key)
            handle.update(int(key[0]))
    return folder, save(folder, keyed, None, ABOUT, (), 1)


@pytest.mark.parametrize("name", ["x", "y"])
def test_all_values_are_converted_and_some_forgotten(written, name):
    folder, chain = written
    new = ValueStateDescriptor(name, Types.STRING()).migrated_by(lambda n: f"<{n}>" if n % 3 else None)
    if name != "x":
        new.renamed_from("x")
    keyed = fresh()
    load(folder, [chain], keyed, None, ABOUT)
    handle_of(keyed, new)
    assert keyed.changed_entries() < 500  # those in memory
    chain = save(folder, keyed, None, ABOUT, chain, 2)
    assert (len(chain), chain[0].keys) == (1, sum(2 * count // 3 for count in PLACES.values()))
    again = fresh()
    load(folder, [chain], again, None, ABOUT)
    for window, count in PLACES.items():
        for state in (keyed, again):
            handle = handle_of(state, new, window)
            for key in KEYS[:count:7]:
                state.enter(key)
                assert handle.value() == (f"<{key[0]}>" if key[0] % 3 else None)
    assert not again.rewrite
