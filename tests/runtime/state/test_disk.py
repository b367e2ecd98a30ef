"""State beyond memory: its tables are dicts, its timers a queue, its snapshots those of state in memory, however little
memory there is."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from penstock.common import Types
from penstock.errors import StateError
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.state import sections as sections_module
from penstock.runtime.state.disk.keyed import DiskKeyedState
from penstock.runtime.state.disk.memory import size_of
from penstock.runtime.state.disk.timers import DiskTimerQueue
from penstock.runtime.state.keyed import VOID, KeyedState
from penstock.runtime.state.timers import Timer, TimerQueue
from tests.effort import examples
from tests.runtime.snapshots import carry_over, sections

ALIKE = [-1, -2, 2**61 - 2, 2**61 - 3, 0, 2**61 - 1, 1, 1.0, True, "", "a", ("a", 1), (-1,), (-2,), 7.5, b"x"]
"""Keys, many with the hash of another one."""
KEYS = st.sampled_from(ALIKE) | st.integers(0, 60)
NAMESPACES = st.sampled_from([VOID, VOID, -1, -2, (0, 10)])
VALUES = st.none() | st.integers() | st.tuples(st.text(max_size=3), st.integers()) | st.lists(st.integers(), max_size=3)
CALLS = st.sampled_from(["set", "set", "get", "in", "pop", "del", "setdefault", "change", "drop"])
TINY = 1
"""Bytes of memory: every table holds a few entries, whatever they are."""


def disk_state(groups: int = 2, memory: int = TINY) -> DiskKeyedState:
    return DiskKeyedState(KeyHash(), groups, None, memory)


def outcome(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except KeyError:
        return KeyError


def do(state: KeyedState, what: str, key: Any, namespace: Any, value: Any) -> Any:
    """Do something to a table of the state; what comes of it."""
    slot = state.enter(key)
    table = state.table("name", namespace)
    if what == "set":
        table[slot] = value
    elif what == "del":
        return outcome(lambda: table.__delitem__(slot))
    elif what == "change":
        current = table.get(slot)
        if isinstance(current, list):
            current.append(key)
    elif what == "drop":
        return state.drop("name", namespace)
    else:
        calls: dict[str, Callable[[], Any]] = {
            "get": lambda: (table.get(slot, 5), outcome(lambda: table[slot])),
            "in": lambda: slot in table,
            "pop": lambda: (table.pop(slot, 5), outcome(lambda: table.pop(slot))),
            "setdefault": lambda: table.setdefault(slot, value),
        }
        return calls[what]()
    return None


def content(state: KeyedState) -> dict[Any, Any]:
    return {
        group: {place: {repr(pair) for pair in pairs} for place, pairs in tables.items()}
        for group, tables in sections(state).items()
    }


@settings(max_examples=examples(300))
@given(st.lists(st.tuples(CALLS, KEYS, NAMESPACES, VALUES), max_size=150))
def test_its_tables_are_dicts(calls: list[Any]) -> None:
    memory, disk = KeyedState(KeyHash(), 2), disk_state()
    for what, key, namespace, value in calls:
        copies = [list(value) if isinstance(value, list) else value for _ in range(2)]
        assert do(disk, what, key, namespace, copies[0]) == do(memory, what, key, namespace, copies[1])
    assert content(disk) == content(memory)
    for namespace in (VOID, -1, -2, (0, 10)):
        one, other = disk.table("name", namespace), memory.table("name", namespace)
        assert (dict(one.items()), len(one), set(one)) == (other, len(other), set(other))
    assert sorted(map(repr, disk.places("name"))) == sorted(map(repr, memory.places("name")))
    assert sorted(map(repr, disk.keys("name"))) == sorted(map(repr, memory.keys("name")))


@settings(max_examples=examples(100))
@given(st.lists(st.tuples(KEYS, NAMESPACES, VALUES, st.integers(0, 5)), max_size=80), st.integers(1, 4))
def test_a_snapshot_goes_from_either_to_either(entries: list[Any], piece: int) -> None:
    first = KeyedState(KeyHash(), 3)
    for key, namespace, value, time in entries:
        slot = first.enter(key)
        first.table("name", namespace)[slot] = value
        first.event_timers.add(time, slot, key, namespace)
    disk, memory = disk_state(3), KeyedState(KeyHash(), 3)
    for _ in range(2):
        carry_over(first, disk)
    assert len(disk.table("name")) == len(first.table("name"))
    streamed = disk_state(3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sections_module, "SECTION_BYTES", piece)
        carry_over(disk, memory)
        carry_over(disk, streamed)
    assert content(first) == content(disk) == content(memory) == content(streamed)
    timers = [
        {repr((t.time, t.key, t.namespace)) for t in backend.event_timers}
        for backend in (first, disk, memory, streamed)
    ]
    assert timers[0] == timers[1] == timers[2] == timers[3]


def test_what_a_reader_changes_counts() -> None:
    state = disk_state()
    state.table("lists")[state.enter("a")] = []
    for number in range(500):
        state.table("lists").get(state.enter("a")).append(number)
        for other in range(40):
            state.table("lists").get(state.enter(other))
    assert state.table("lists")[state.enter("a")] == list(range(500))


def test_nothing_of_the_current_key_goes_while_it_is_used() -> None:
    state = disk_state()
    held = state.table("lists").setdefault(state.enter("a"), [])
    for window in range(5_000):
        state.table("windows", window)[state.slot] = window
    held.append(1)
    state.enter("b")
    for window in range(5_000):
        state.table("windows", window)[state.slot] = window
    assert state.table("lists")[state.enter("a")] == [1]


@pytest.mark.slow
def test_it_takes_the_memory_it_is_given() -> None:
    state = disk_state(128, 4 << 20)
    table = state.table("name")
    for key in range(40_000):
        table[state.enter(key)] = "x" * 1_000
    assert len(table) == 40_000
    held = sum(size_of(table.newest(10**6)) for table in state._memory.tables)
    assert held + 1_000 * len(table._young) < 4 << 20
    assert all(table[state.enter(key)] == "x" * 1_000 for key in (0, 1, 39_999, 20_000))


def test_large_values_are_few() -> None:
    state = disk_state(128, 4 << 20)
    table = state.table("name")
    for key in range(300):
        table[state.enter(key)] = "x" * 1_000_000
    assert len(table._young) + len(table._old) <= 40


@pytest.mark.parametrize(
    ("key_type", "some"),
    [
        (Types.STRING(), ["ä", "b", ""]),
        (Types.DOUBLE(), [0.0, -0.0, 1.5]),
        (Types.TUPLE([Types.LONG(), Types.STRING()]), [(n, str(n)) for n in range(-2, 3)]),
        (None, ALIKE),
    ],
)
@pytest.mark.parametrize("functions", [True, False])
def test_entries_lie_in_the_group_of_their_key(key_type: Any, some: list[Any], functions: bool) -> None:
    states = KeyedState(KeyHash(key_type), 16), DiskKeyedState(KeyHash(key_type), 16, None, TINY, functions)
    for state in states:
        for key in some:
            state.table("name")[state.enter(key)] = 1
    assert content(states[0]) == content(states[1])
    assert sections(states[0]).keys() == sections(states[1]).keys()


# --- timers -----------------------------------------------------------------------------------------------------------

TIMERS = st.tuples(
    st.sampled_from(["add", "add", "add", "remove", "poll"]),
    st.integers(0, 6),
    st.sampled_from(ALIKE),
    st.integers(0, 1),
)


@settings(max_examples=examples(300))
@example([("add", 0, -1, 0), ("add", 1, -1, 1), ("add", 1, -1, 0), ("add", 1, -2, 0)], 2)  # at the time of the horizon
@given(st.lists(TIMERS, max_size=120), st.integers(2, 12))
def test_its_timers_are_a_queue(calls: list[Any], most: int) -> None:
    state = disk_state()
    queue = DiskTimerQueue(state._file, state._file.next_queue(), state._timer_number, state._key, most)
    known: dict[Any, Any] = {}
    for what, time, key, namespace in calls:
        slot = state.enter(key)
        name = time, slot, namespace
        if what == "add":
            queue.add(time, slot, key, namespace)
            known[name] = key
        elif what == "remove":
            queue.remove(time, slot, namespace)
            known.pop(name, None)
        else:
            first = queue.first()
            assert (first is None) == (not known)
            if first is not None:
                assert first.time == min(time for time, _, _ in known)
                assert queue.poll() is first
                assert repr(known.pop((first.time, first.slot, first.namespace))) == repr(first.key)
        assert super(DiskTimerQueue, queue).__len__() <= most
    assert len(queue) == len(known)
    assert sorted(map(named, queue)) == sorted(repr((t, k, n)) for (t, _, n), k in known.items())


def named(timer: Timer) -> str:
    return repr((timer.time, timer.key, timer.namespace))


def test_timers_that_fit_come_in_flinks_order() -> None:
    state, heap = disk_state(), TimerQueue()
    queue = DiskTimerQueue(state._file, state._file.next_queue(), state._timer_number, state._key, 1_000)
    for number in range(900):
        for timers in (queue, heap):
            timers.add(number % 7, number, number, None)
    assert [named(queue.poll()) for _ in range(900)] == [named(heap.poll()) for _ in range(900)]
    assert queue.first() is None


# --- the file ---------------------------------------------------------------------------------------------------------


def test_nothing_is_left_of_the_file(tmp_path: Path) -> None:
    state = DiskKeyedState(KeyHash(), 2, None, TINY, folder=str(tmp_path))
    for key in range(1_000):
        state.table("name")[state.enter(key)] = key
    assert not list(tmp_path.iterdir())
    assert any(str(tmp_path) in target for target in open_files())
    del state
    gc.collect()
    assert not any(str(tmp_path) in target for target in open_files())


def open_files() -> list[str]:
    folder = Path("/proc/self/fd")
    if not folder.exists():
        pytest.skip("only Linux tells which files are open")
    return [os.readlink(link) for link in folder.iterdir() if link.is_symlink()]


def test_a_full_disk_is_named() -> None:
    state = disk_state()
    state._file.execute("pragma max_page_count=20")
    with pytest.raises(StateError, match=r"Its disk is full: free some space, set TMPDIR") as raised:
        fill(state, "x" * 100)
    assert state._file.folder in str(raised.value)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StateError, match=r"nowhere, and that failed: .* It cannot be used"):
        DiskKeyedState(KeyHash(), 2, folder=str(tmp_path / "nowhere"))


def test_a_value_that_cannot_be_pickled_is_refused_by_the_name_of_its_state() -> None:
    state = disk_state()
    with pytest.raises(StateError, match=r"A value of the state 'name' cannot be written to disk: .*memory\.$"):
        fill(state, (char for char in "ab"))


def fill(state: KeyedState, value: Any) -> None:
    for key in range(10_000):
        state.table("name")[state.enter(key)] = value


def test_it_knows_how_much_there_is() -> None:
    """A job whose state is empty may go on without it."""
    state = disk_state()
    assert state.is_empty()
    for number in range(50):
        state.enter(number)
        state.table("x")[number] = number
        state.table("w", (0, 10))[number] = number
    assert (state.size(), state.is_empty()) == (100, False)
    for number in range(50):
        del state.table("x")[number]
        del state.table("w", (0, 10))[number]
    assert (state.size(), state.is_empty()) == (0, True)
