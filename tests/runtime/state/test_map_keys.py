"""NaN as a key of maps that functions hold: one key, however often it is made, before and after a restore."""

from __future__ import annotations

import math
from collections import namedtuple

import pytest

from penstock.common import Row
from penstock.runtime.checkpoint.state_series import save
from penstock.runtime.operators.broadcast import BroadcastState
from penstock.runtime.state.handles import key_in
from penstock.runtime.state.store import handle_of
from tests.runtime.state.evolving import ABOUT, entries, fresh, living, reopened

Point = namedtuple("Point", "x y")


def nan():
    """Another object each time."""
    return float("nan")


KEYS = {
    "alone": nan,
    "in a tuple": lambda: (nan(), "a"),
    "deep in tuples": lambda: (1, (2, nan())),
    "in a named tuple": lambda: Point(nan(), 1),
    "in a row": lambda: Row(nan(), 1),
    "in a row by name": lambda: Row(a=nan(), b=(1, nan())),
}


@pytest.fixture(params=[False, True], ids=["memory", "disk"])
def disk(request):
    return request.param


def handle(keyed, alive):
    state_handle = handle_of(keyed, living(entries()) if alive else entries())
    keyed.enter("k")
    return state_handle


@pytest.mark.parametrize("alive", [False, True], ids=["for ever", "to live"])
@pytest.mark.parametrize("make", KEYS.values(), ids=KEYS)
def test_a_key_with_nan_is_one_key(tmp_path, disk, make, alive):
    keyed, chain = fresh(disk), ()
    for version in range(1, 5):  # each time after a restore
        state = handle(keyed, alive)
        for number in range(3):
            state.put(make(), (version, number))
            state.put_all({make(): (version, number), "other": version})
        assert len(list(state.keys())) == 2
        assert state.get(make()) == state[make()] == (version, 2)
        assert make() in state
        assert state.contains(make())
        chain = save(str(tmp_path), keyed, None, ABOUT, chain, version)
        keyed = reopened(tmp_path, chain, disk)
    state = handle(keyed, alive)
    state.remove(make())
    assert make() not in state
    assert dict(state.items()) == {"other": 4}


def test_a_map_with_nan_only_is_gone_with_it(disk):
    state = handle(fresh(disk), alive=False)
    state[nan()] = 1
    state.remove(nan())
    assert state.is_empty()


@pytest.mark.parametrize("make", KEYS.values(), ids=KEYS)
def test_in_broadcast_state_too(make):
    state = BroadcastState({})
    for number in range(3):
        state.put(make(), number)
        state.put_all({make(): number})
    assert (len(list(state.keys())), state.get(make()), make() in state) == (1, 2, True)
    state.remove(make())
    assert state.is_empty()


def test_keys_that_differ_stay_apart():
    state = BroadcastState({})
    for key in (nan(), (nan(), 1), (nan(), 2), (1, nan()), "nan", Row(nan())):
        state.put(key, key)
    assert len(list(state.keys())) == 6


def test_all_other_keys_are_pythons():
    state = BroadcastState({})
    for key in (0.0, -0.0, 0, False, 1.5, (0.0,), (-0.0,)):
        state.put(key, key)
    assert [math.copysign(1, state.get(0)), len(list(state.keys()))] == [1.0, 3]
    for key in (5, "a", None, (1, "a"), 1.5):
        assert key_in({}, key) is key


def test_of_what_former_versions_have_left_the_last_one_counts():
    state = BroadcastState({nan(): 1, "a": 0, nan(): 2})
    assert state.get(nan()) == 2
