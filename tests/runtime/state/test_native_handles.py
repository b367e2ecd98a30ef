"""Native state against the state in Python: the same calls on both, and everything that can be seen is compared."""

from __future__ import annotations

import gc
import math
import weakref
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import Time, Types
from penstock.common.functions import state as api
from penstock.datastream import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from penstock.errors import InvalidProgramError, PenstockError
from penstock.runtime import native
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.state import handles
from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.state.native_handles import with_native_timers
from penstock.runtime.state.operator_time import Clock
from penstock.runtime.state.store import handle_of
from penstock.runtime.state.timers import TimerQueue
from tests.runtime.state.test_ttl import HIDE, READ, SHOW, WRITE, Digits

functions = native.functions()
pytestmark = pytest.mark.skipif(functions is None, reason="there is no native module")


def folded(one: Any, other: Any) -> Any:
    if other == 13:
        raise ValueError(other)
    return [one, other] if other == 7 else one


DESCRIPTORS = {
    "value": lambda: ValueStateDescriptor("state", None),
    "value with a default": lambda: ValueStateDescriptor("state", None, [0]),
    "list": lambda: ListStateDescriptor("state", None),
    "reducing": lambda: ReducingStateDescriptor("state", folded, None),
    "aggregating": lambda: AggregatingStateDescriptor("state", Digits()),
    "map": lambda: MapStateDescriptor("state", None, None),
}
CALLS = {
    "value": ("value", "update", "clear"),
    "list": ("get", "add", "add_all", "update", "clear", "__iter__"),
    "reducing": ("get", "add", "clear"),
    "aggregating": ("get", "add", "clear"),
    "map": (
        "get", "__getitem__", "contains", "__contains__", "put", "__setitem__", "put_all", "remove", "__delitem__",
        "is_empty", "keys", "values", "items", "clear", "__iter__",
    ),
}  # fmt: skip
TWO, PAIRS = {"put", "__setitem__"}, {"put_all"}
MANY = {"add_all"}
ONE = {"add", "get", "__getitem__", "contains", "__contains__", "remove", "__delitem__", "update"}
PLAIN = [None, 0, 1, 7, 13, True, 1.0, -0.0, 2.5, math.inf, math.nan, "a", b"a", 1 << 70]
NESTED = [(1, "a"), (1, (2, [3])), (math.nan, 1), (1, ((math.nan,),)), ((((((1,),),),),),), [1], {}, {"a": [1]}]
VALUES = st.sampled_from([*PLAIN, *NESTED])
STEPS = st.lists(st.tuples(st.integers(0, 100), VALUES, VALUES, st.sampled_from("abc")), max_size=30)


def keyed_state(on: bool, tracked: bool, clock: Clock | None = None) -> KeyedState:
    keyed = KeyedState(KeyHash(Types.STRING()), 128, clock or Clock(lambda: 0))
    keyed.functions = functions if on else None
    if tracked:
        keyed.track()
    return keyed


def seen(keyed: KeyedState, handle: Any, name: str, passed: Any) -> Any:
    """What a call gives, and what has become of the state."""
    try:
        result = getattr(handle, name)(*passed)
        result = list(result) if hasattr(result, "__next__") else result
    except Exception as error:
        result = type(error), str(error), type(error.__cause__), str(error.__cause__), repr(error.__context__)
    tables = {name: dict(namespaces) for name, namespaces in keyed.tables()}
    changes = None if keyed.changes is None else [(place, sorted(slots)) for place, slots in keyed.changes]
    return repr((result, tables, changes))


def can_be_key(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def arguments(name: str, kind: str, first: Any, second: Any) -> tuple[Any, ...]:
    if name in TWO:
        return first, second
    if name in PAIRS:
        return ({first: second} if can_be_key(first) else {},)
    if name in MANY or (name == "update" and kind == "list"):
        return (None if first is None else [] if first == 0 else [first, second],)
    return (first,) if name in ONE and not (name == "get" and kind != "map") else ()


@pytest.mark.parametrize("tracked", [False, True])
@pytest.mark.parametrize("kind", DESCRIPTORS)
@given(steps=STEPS)
def test_native_handles_do_what_those_in_python_do(kind: str, tracked: bool, steps: list[Any]) -> None:
    states = [keyed_state(on, tracked) for on in (False, True)]
    both = [(state, handle_of(state, DESCRIPTORS[kind]())) for state in states]
    assert type(both[1][1]).__name__ == f"Native{type(both[0][1]).__name__}"
    names = CALLS[kind.partition(" ")[0]]
    for number, first, second, key in steps:
        name = names[number % len(names)]
        passed = arguments(name, kind, first, second)
        for state, _ in both:
            state.enter(key)
        one, other = (seen(*pair, name, passed) for pair in both)
        assert one == other, name
        if number == 100:
            for state, _ in both:
                state.written()


@pytest.mark.parametrize("kind", DESCRIPTORS)
def test_without_a_key_and_in_windows_python_does_it(kind: str) -> None:
    for name in CALLS[kind.partition(" ")[0]]:
        results = []
        for on in (False, True):
            state = keyed_state(on, False)
            handle = handle_of(state, DESCRIPTORS[kind]())
            passed = arguments(name, kind, 1, 2)
            without = seen(state, handle, name, passed)
            state.enter("a")
            handle = handle_of(state, DESCRIPTORS[kind](), "window")
            results.append((without, seen(state, handle, name, passed)))
        assert results[0] == results[1]


@pytest.mark.parametrize("kind", DESCRIPTORS)
def test_native_handles_are_states_of_the_public_classes(kind: str) -> None:
    state = keyed_state(True, False)
    handle = handle_of(state, DESCRIPTORS[kind]())
    public = handle.kind
    assert isinstance(handle, getattr(api, public))
    assert isinstance(handle, getattr(handles, public))
    assert repr(handle) == f"<{public} 'state'>"
    assert handle_of(state, DESCRIPTORS[kind]()) is handle
    with pytest.raises(InvalidProgramError, match="no key is current"):
        handle.clear()


def test_an_error_of_a_function_has_its_cause() -> None:
    state = keyed_state(True, False)
    handle = handle_of(state, DESCRIPTORS["reducing"]())
    state.enter("a")
    handle.add(1)
    with pytest.raises(PenstockError, match="ReduceFunction") as caught:
        handle.add(13)
    assert isinstance(caught.value.__cause__, ValueError)
    assert caught.value.__context__ is caught.value.__cause__
    assert caught.value.__suppress_context__


def test_a_function_may_use_its_state_while_it_is_called() -> None:
    state = keyed_state(True, False)
    handle: Any = None

    def reduce(one: int, other: int) -> int:
        state.enter("b")
        handle_of(state, descriptor)
        if other < 5:
            handle.add(other + 1)
        return one + other

    descriptor = ReducingStateDescriptor("state", reduce, None)
    handle = handle_of(state, descriptor)
    for key in "ab":
        state.enter(key)
        handle.add(1)
    state.enter("a")
    handle.add(2)
    assert state.find("state") == {"a": 1, "b": 3}


def test_state_with_native_handles_can_be_collected() -> None:
    state = keyed_state(True, True)
    handle_of(state, ValueStateDescriptor("one", None))
    handle_of(state, MapStateDescriptor("other", None, None))
    gone = weakref.ref(state)
    del state
    gc.collect()
    assert gone() is None


TTL_STEPS = st.lists(
    st.tuples(st.sampled_from(["read", "write", "clear", "wait"]), st.integers(0, 3), st.sampled_from("abcdefgh")),
    max_size=60,
)


@pytest.mark.parametrize("tracked", [False, True])
@pytest.mark.parametrize("kind", ["value", "list", "map"])
@given(
    steps=TTL_STEPS, update=st.sampled_from([READ, WRITE]), show=st.sampled_from([SHOW, HIDE]), size=st.integers(1, 6)
)
def test_native_times_to_live(kind: str, tracked: bool, steps: list[Any], update: Any, show: Any, size: int) -> None:
    """Which values are looked at, and when, is the same too: tables and changes are, after each call."""
    now = 0
    builder = StateTtlConfig.new_builder(Time.milliseconds(4)).set_update_type(update).set_state_visibility(show)
    config = builder.cleanup_incrementally(size, False).build()
    both = []
    for on in (False, True):
        state = keyed_state(on, tracked, Clock(lambda: now))
        descriptor: Any = DESCRIPTORS[kind]()
        descriptor.enable_time_to_live(config)
        both.append((state, handle_of(state, descriptor)))
    reads = {"value": "value", "list": "get", "map": "items"}
    writes = {"value": ("update", 1), "list": ("add", 1), "map": ("put", 2)}
    for step, number, key in steps:
        if step == "wait":
            now += number
            continue
        name, count = (reads[kind], 0) if step == "read" else ("clear", 0) if step == "clear" else writes[kind]
        for state, _ in both:
            state.enter(key)
        passed = (number,) * count
        one, other = (seen(*pair, name, passed) for pair in both)
        assert one == other, step


MOVES = st.lists(
    st.tuples(
        st.sampled_from([*["add"] * 6, *["remove"] * 2, "poll", "due", "enter", "until", "postpone", "written"]),
        st.integers(0, 12),
        st.sampled_from(["a", "b", 1, (1, "a"), True]),
        st.sampled_from([None, "window"]),
    ),
    max_size=200,
)


def native_queue(tracked: bool) -> Any:
    state = keyed_state(True, tracked)
    with_native_timers(state, None)
    assert isinstance(state.event_timers, TimerQueue)
    assert type(state.event_timers) is not TimerQueue
    return state.event_timers


def plain(timer: Any) -> Any:
    return None if timer is None else (timer.time, timer.slot, timer.key, timer.namespace)


def shown(queue: Any) -> Any:
    noted = None if queue.noted is None else [(added, *plain(timer)) for added, timer in queue.noted]
    return len(queue), [plain(timer) for timer in queue], plain(queue.first()), noted, queue.all_new, queue.moves


@pytest.mark.parametrize("tracked", [False, True])
@given(moves=MOVES)
def test_native_timers_move_as_those_in_python_do(tracked: bool, moves: list[Any]) -> None:
    queues, keyed = [TimerQueue(), native_queue(tracked)], keyed_state(False, False)
    if tracked:
        queues[0].track()
    for move, time, slot, namespace in moves:
        results = []
        for queue in queues:
            if move == "add":
                results.append(queue.add(time, slot, f"key {slot}", namespace))
            elif move == "remove":
                results.append(queue.remove(time, slot, namespace))
            elif move == "written":
                results.append(queue.written())
            elif move == "due":
                results.append(plain(queue.due(time)))
            elif move == "until":
                results.append(queue.poll_until(time))
            elif move == "postpone":
                first, later = queue.find(time, slot, namespace), queue.find(time + 2, slot, namespace)
                moves_on = first is not None and later is None
                results.append((plain(first), moves_on and plain(queue.postpone(first, time + 2, namespace))))
            elif move == "enter":
                keyed.resume(None, None)
                results.append((queue.enter_due(time, keyed), keyed.current_key, keyed.slot))
            elif len(queue):
                results.append(plain(queue.poll()))
        assert results[:1] == results[1:]
        assert shown(queues[0]) == shown(queues[1])
    again = [queue.another() for queue in queues]
    for queue, other in zip(queues, again, strict=True):
        other.fill(queue)
    assert shown(again[0]) == shown(again[1])


def test_many_moves_make_all_timers_new() -> None:
    queues: list[Any] = [TimerQueue(), native_queue(True)]
    queues[0].track()
    for queue in queues:
        for time in range(300):
            queue.add(time % 7, "a", "a", None)
            queue.poll()
    assert shown(queues[0]) == shown(queues[1])
    assert queues[1].all_new


def test_what_is_no_time_is_refused() -> None:
    with pytest.raises(TypeError):
        native_queue(False).add("soon", "a", "a", None)
    with pytest.raises(IndexError):
        native_queue(False).poll()
