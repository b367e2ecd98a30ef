"""What functions hold of state: a map is one, a list is one, and each says what it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import Time, Types
from penstock.datastream import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from penstock.errors import InvalidProgramError
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.operators.broadcast import BroadcastState, ReadOnlyBroadcastState
from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.state.operator_time import Clock
from penstock.runtime.state.store import KeyedStateStore, handle_of
from tests.runtime.state.test_ttl import Digits

FOREVER = StateTtlConfig.new_builder(Time.days(1)).build()
DESCRIPTORS = {
    "ValueState": lambda: ValueStateDescriptor("mine", Types.INT()),
    "ListState": lambda: ListStateDescriptor("mine", Types.INT()),
    "MapState": lambda: MapStateDescriptor("mine", Types.STRING(), Types.INT()),
    "ReducingState": lambda: ReducingStateDescriptor("mine", max, Types.INT()),
    "AggregatingState": lambda: AggregatingStateDescriptor("mine", Digits(), Types.INT()),
}


def keyed() -> KeyedState:
    state = KeyedState(KeyHash(Types.STRING()), 128, Clock(lambda: 0))
    state.enter("a")
    return state


def handle(kind, ttl=None, state=None):
    descriptor = DESCRIPTORS[kind]()
    if ttl is not None:
        descriptor.enable_time_to_live(ttl)
    return handle_of(state or keyed(), descriptor)


MAPS = {
    "MapState": lambda: handle("MapState"),
    "MapState with a time to live": lambda: handle("MapState", FOREVER),
    "BroadcastState": lambda: BroadcastState({}),
}
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["put", "set", "put_all", "put_pairs", "remove", "del", "clear"]),
        st.sampled_from("xyz"),
        st.one_of(st.none(), st.integers(0, 3)),
    ),
    max_size=20,
)


def change(state, expected, name, key, value):
    if name == "put":
        state.put(key, value)
    elif name == "set":
        state[key] = value
    elif name == "put_all":
        state.put_all({key: value})
    elif name == "put_pairs":
        state.put_all({key: value}.items())
    elif name == "remove":
        state.remove(key)
    elif name == "del":
        del state[key]
    else:
        state.clear()
        expected.clear()
    if name in ("put", "set", "put_all", "put_pairs"):
        expected[key] = value
    elif name != "clear":
        expected.pop(key, None)


@pytest.mark.parametrize("kind", MAPS)
@given(steps=STEPS)
def test_a_map_state_is_a_map(kind, steps):
    state, expected = MAPS[kind](), {}
    for step in steps:
        change(state, expected, *step)
        assert list(state) == list(state.keys()) == list(expected)
        assert list(state.values()) == list(expected.values())
        assert list(state.items()) == list(expected.items())
        assert state.is_empty() is not bool(expected)
        for key in "xyz":
            assert state[key] == state.get(key) == expected.get(key)
            assert (key in state) is state.contains(key) is (key in expected)


def test_what_is_read_of_a_broadcast_state_can_be_read_by_brackets():
    state = ReadOnlyBroadcastState({"x": 1})
    assert (state["x"], state["y"], "x" in state, list(state)) == (1, None, True, ["x"])
    with pytest.raises(TypeError):
        state["x"] = 2  # type: ignore[index]


def test_a_map_is_its_own_internal_state():
    state = handle("MapState")
    state.put("x", 1)
    assert state.get_internal_state().get("x") == 1


@pytest.mark.parametrize("ttl", [None, FOREVER], ids=["for ever", "with a time to live"])
def test_a_list_state_is_a_list(ttl):
    state = handle("ListState", ttl)
    state.add(1)
    given_list = [2, 3]
    state.add_all(given_list)
    state.add_all([])
    given_list.append(9)
    assert list(state.get()) == list(state) == [1, 2, 3]
    state.update(given_list)
    given_list.append(9)
    state.add(4)
    assert list(state) == [2, 3, 9, 4]
    state.update([])
    assert list(state) == []


@pytest.mark.parametrize("ttl", [None, FOREVER], ids=["for ever", "with a time to live"])
@pytest.mark.parametrize("call", ["update", "add_all"])
def test_a_list_state_takes_lists(call, ttl):
    with pytest.raises(InvalidProgramError, match=rf"{call}\(\) of the list state 'mine' was given None"):
        getattr(handle("ListState", ttl), call)(None)


@pytest.mark.parametrize("ttl", [None, FOREVER], ids=["for ever", "with a time to live"])
@pytest.mark.parametrize("kind", DESCRIPTORS)
def test_what_was_cleared_is_as_if_new(kind, ttl):
    state = keyed()
    state_handle = handle(kind, ttl, state)
    read = state_handle.value if kind == "ValueState" else state_handle.keys if kind == "MapState" else state_handle.get
    write = {"ValueState": "update", "MapState": "put"}.get(kind, "add")
    arguments = ("x", 1) if kind == "MapState" else (1,)
    new = read() if kind not in ("ListState", "MapState") else list(read())
    getattr(state_handle, write)(*arguments)
    assert read() is not None
    state_handle.clear()
    assert (read() if kind not in ("ListState", "MapState") else list(read())) == new
    assert not list(state.entries())


@pytest.mark.parametrize("kind", DESCRIPTORS)
def test_a_state_says_what_it_is(kind):
    assert repr(handle(kind)) == f"<{kind} 'mine'>"
    assert repr(handle(kind, FOREVER)) == f"<{kind} 'mine', 86400000 ms to live>"


@pytest.mark.parametrize("kind", DESCRIPTORS)
@pytest.mark.parametrize("ttl", [None, FOREVER], ids=["for ever", "with a time to live"])
def test_a_name_has_one_kind(kind, ttl):
    state = keyed()
    state_handle = handle(kind, ttl, state)
    other = next(other for other in DESCRIPTORS if other != kind)
    with pytest.raises(InvalidProgramError, match=f"The state 'mine' is a {kind} and was asked for as {other}"):
        handle(other, None, state)
    assert handle(kind, None, state) is state_handle


def test_a_store_says_whose_it_is():
    assert repr(KeyedStateStore(keyed())) == "<KeyedStateStore of all windows>"
    assert repr(KeyedStateStore(keyed(), (0, 5))) == "<KeyedStateStore of (0, 5)>"


@pytest.mark.parametrize("ttl", [None, FOREVER], ids=["no time to live", "a day"])
def test_a_value_that_can_change_is_noted_when_it_is_read(ttl):
    """A text, a number, or a tuple of them is not: nobody can change it."""
    state = keyed()
    state.track()
    value = handle("ValueState", ttl, state)
    for stored, noted in [(1, 0), ("a", 0), ((1, ("a",)), 0), ([1], 1), ((1, [2]), 1), ({}, 1)]:
        value.update(stored)
        state.written()
        assert value.value() == stored
        assert state.changed_entries() == noted, stored


def test_a_value_needs_a_key():
    state = keyed()
    value = handle("ValueState", state=state)
    state.resume(None, None)
    for use in (value.value, lambda: value.update(1), lambda: value.update(None)):
        with pytest.raises(InvalidProgramError, match="no key is current"):
            use()


def test_a_default_is_copied():
    value = handle_of(keyed(), ValueStateDescriptor("mine", Types.PICKLED_BYTE_ARRAY(), []))
    value.value().append(1)
    assert value.value() == []


def test_a_value_belongs_to_key_and_window():
    state = keyed()
    value = handle("ValueState", state=state)
    assert value.value() is None
    value.update(1)
    value.in_namespace("window")
    assert value.value() is None
    value.update(2)
    state.enter("b")
    assert value.value() is None
    value.in_namespace(None)
    assert value.value() is None
    value.update(3)
    state.enter("a")
    assert value.value() == 1
    value.update(None)
    assert value.value() is None
    assert state.size() == 2  # of the window, and of the other key
