"""The state in PyFlink's savepoints is what its programs have shown of it, and what a slow reference makes of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

import pytest

from penstock.common import Types
from penstock.common.functions.state_descriptor import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from penstock.flink import read_savepoint
from penstock.flink.pyflink import PythonEntry, read_python_state
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.keys.keygroups import assign_to_key_group
from penstock.runtime.keys.pyflink_keys import InRow
from penstock.savepoints.pyflink_pickles import loads_of_pyflink
from tests.pyflink_savepoints.golden import lines, loaded, operator_of, place
from tests.pyflink_savepoints.shown import Context, shown_of

P = loaded()
LONG, INT, STRING = Types.LONG(), Types.INT(), Types.STRING()
RECORD = Types.TUPLE([STRING, LONG, LONG])
CONTENTS = "window-contents"
FUNCTIONS: dict[str, dict[str, tuple[Any, Any]]] = {
    "kinds": {"kinds": (STRING, P.Kinds("kinds"))},
    "parallel": {"parallel": (STRING, P.Kinds("parallel"))},
    "pickled": {"pickled": (None, P.Pickled("pickled"))},
    "objects": {"objects": (None, P.Objects("objects"))},
    "ttl": {"ttl": (STRING, P.Living("ttl"))},
    "values": {"values": (STRING, P.Values("values"))},
    "thread_values": {"values": (STRING, P.ThreadValues("values"))},
    "collections": {"collections": (STRING, P.Collections("collections"))},
    "timers": {"timers": (STRING, P.Timers("timers"))},
    "keys": {uid: (kind, P.Counter(uid)) for uid, (kind, _) in P.key_types().items()},
}
"""Of the programs whose functions show their state: by uid the type of keys and a function."""


def ids(line: dict[str, Any]) -> str:
    return f"{line['flink']} {line['name']}"


def of(*programs: str) -> Any:
    """A test of the golden lines of some programs, in whatever way these are run."""
    return pytest.mark.parametrize("line", [line for line in lines() if program(line) in programs], ids=ids)


def program(line: dict[str, Any]) -> str:
    return P.PROGRAMS[line["name"]][0].__name__


def entries(line: dict[str, Any], uid: str, key_type: Any, descriptors: Iterable[Any]) -> list[PythonEntry]:
    savepoint = read_savepoint(place(line))
    return list(
        read_python_state(
            savepoint, operator_of(savepoint, uid), key_type, descriptors, loads=loads_of_pyflink(unpickle=True)
        )
    )


def by_key(read: list[PythonEntry]) -> dict[str, dict[str, Any]]:
    """The values of states by key and state."""
    values: dict[str, dict[str, Any]] = defaultdict(dict)
    for entry in read:
        if entry.kind != "timers":
            assert entry.namespace is None
            assert entry.state not in values[repr(entry.key)]
            values[repr(entry.key)][entry.state] = entry.value
    return dict(values)


@of(*FUNCTIONS)
def test_state_is_what_the_program_showed_last(line: dict[str, Any]) -> None:
    for uid, (key_type, function) in FUNCTIONS[program(line)].items():
        expected = {shown[1]: shown[2] for shown in line["before"] if shown[0] == uid}
        values = by_key(entries(line, uid, key_type, Context(function).descriptors))
        assert {key: shown_of(function, held) for key, held in values.items()} == expected
        assert len(expected) > 1


@of(*FUNCTIONS)
def test_keys_are_in_the_groups_that_penstock_gives_them(line: dict[str, Any]) -> None:
    """But for undeclared keys of thread mode, which has them pickled by protocol 4, where process mode has 5."""
    thread = "python.execution-mode" in line["settings"]
    for uid, (key_type, function) in FUNCTIONS[program(line)].items():
        key_hash, groups = KeyHash(InRow(key_type)), line["max_parallelism"]
        read = entries(line, uid, key_type, Context(function).descriptors)
        same = {it.key_group == assign_to_key_group(it.key, groups, key_hash) for it in read}
        assert same == ({False} if thread and key_type is None else {True}), uid


def timers(read: list[PythonEntry]) -> Counter[tuple[Any, ...]]:
    return Counter((it.state, repr(it.key), it.namespace, it.value) for it in read if it.kind == "timers")


def watermark(line: dict[str, Any]) -> int:
    return max(time for _, _, time in line["first"]) - 1


@of("timers")
def test_timers_are_those_that_wait(line: dict[str, Any]) -> None:
    expected: set[tuple[Any, ...]] = set()
    for key, number, time in line["first"]:
        for moment in ((time + 849) // 500 * 500, P.NEVER, P.NEVER + time):
            expected.add(("event", repr(key), None, moment))
        expected.discard(("event", repr(key), None, P.NEVER + time - 300))
        expected.add(("processing", repr(key), None, P.NEVER + number))
    waiting = Counter(it for it in expected if it[-1] > watermark(line))
    assert timers(entries(line, "timers", STRING, ())) == waiting
    assert len(waiting) < len(expected)


@of("keys")
def test_keys_of_all_types_have_their_timers(line: dict[str, Any]) -> None:
    for uid, (kind, key) in P.key_types().items():
        records = list(map(tuple, line["first"]))
        keys = {record: key(record) for record in records}
        if uid == "by_row":
            keys = {record: P.Row(f0=row[0], f1=row[1]) for record, row in keys.items()}
        expected = {("event", repr(keys[record]), None, P.NEVER + record[1]) for record in records}
        assert timers(entries(line, uid, kind, ())) == Counter(expected)


@of("ttl")
def test_times_of_last_access(line: dict[str, Any]) -> None:
    read = [it for it in entries(line, "ttl", STRING, Context(P.Living("ttl")).descriptors) if it.kind != "timers"]
    assert {it.kind for it in read} == {"value", "list", "map", "reducing", "aggregating"}
    for it in read:
        times = (
            it.last_access
            if it.kind == "list"
            else list(it.last_access.values())
            if it.kind == "map"
            else [it.last_access]
        )
        assert len(times) == (len(it.value) if it.kind in ("list", "map") else 1)
        assert all(1_790_000_000_000 < time < 2_000_000_000_000 for time in times)


@of("folds")
def test_reductions_have_names_of_their_own(line: dict[str, Any]) -> None:
    for uid in ("reduce", "sum"):
        expected = {it[1]: tuple(it[1:]) for it in line["before"] if it[0] == uid}
        descriptor = ReducingStateDescriptor("_reduce_state", lambda one, _: one, RECORD)
        read = entries(line, uid, STRING, [descriptor])
        assert {it.key: it.value for it in read} == expected
        assert {(it.state, it.kind) for it in read} == {("_reduce_state", "reducing")}


# --- windows ----------------------------------------------------------------------------------------------------------


def spans(time: int, size: int, slide: int) -> list[tuple[int, int]]:
    last = time // slide * slide
    return [(start, start + size) for start in range(last, last - size, -slide)]


def windows(line: dict[str, Any], size: int, slide: int, lateness: int = 0) -> dict[tuple[Any, ...], list[Any]]:
    """The records by key and window, of windows that still wait."""
    open_windows: dict[tuple[Any, ...], list[Any]] = defaultdict(list)
    for record in map(tuple, line["first"]):
        for start, end in spans(record[2], size, slide):
            if end - 1 + lateness > watermark(line):
                open_windows[record[0], (start, end)].append(record)
    return open_windows


def sessions(line: dict[str, Any], gap: int) -> dict[tuple[Any, ...], list[Any]]:
    groups: dict[str, list[list[Any]]] = defaultdict(list)
    for record in map(tuple, line["first"]):
        of_key = groups[record[0]]
        if of_key and record[2] <= of_key[-1][-1][2] + gap:
            of_key[-1].append(record)
        else:
            of_key.append([record])
    waiting = {(key, (group[0][2], group[-1][2] + gap)): group for key, its in groups.items() for group in its}
    return {window: group for window, group in waiting.items() if window[1][1] - 1 > watermark(line)}


def states(read: list[PythonEntry]) -> list[tuple[Any, ...]]:
    """The entries without timers, to compare, and with these as one of the states."""
    return sorted((it.state, it.key, it.namespace or (), it.value) for it in read if it.kind != "timers")


def contents(of_windows: dict[tuple[Any, ...], Any]) -> list[tuple[Any, ...]]:
    return sorted((CONTENTS, key, window, value) for (key, window), value in of_windows.items())


def ends(of_windows: Iterable[tuple[Any, ...]], lateness: int = 0) -> Counter[tuple[Any, ...]]:
    return Counter(("event", repr(key), (start, end), end - 1 + lateness) for key, (start, end) in of_windows)


def pair(records: list[Any]) -> tuple[int, int]:
    return sum(it[1] for it in records), len(records)


LISTED = ListStateDescriptor(CONTENTS, RECORD)
ACCUMULATED = AggregatingStateDescriptor(CONTENTS, P.MeanOfRecords())


@of("mapped")
def test_state_of_a_map_over_a_keyed_stream(line: dict[str, Any]) -> None:
    expected = {repr(key): {"count": count} for _, key, count in line["before"]}
    assert by_key(entries(line, "mapped", STRING, Context(P.Numbered()).descriptors)) == expected


@of("all_windows")
def test_windows_of_all_records_which_are_pickled(line: dict[str, Any]) -> None:
    waiting = [record for record in line["first"] if record[2] // 2_000 == watermark(line) // 2_000]
    (contents_of_all,) = states(entries(line, "all", None, [ListStateDescriptor(CONTENTS)]))
    assert contents_of_all == (CONTENTS, 0, (2_000, 4_000), waiting)


@of("parallel_windows")
def test_windows_of_several_subtasks(line: dict[str, Any]) -> None:
    expected = windows(line, 2_000, 2_000)
    read = entries(line, "tumbling", STRING, [LISTED])
    assert states(read) == contents(expected)
    assert timers(read) == ends(expected)
    assert len({it.subtask for it in read}) > 1
    assert max(it.key_group or 0 for it in read) > 127  # which takes two bytes


@of("tumbling")
def test_tumbling_windows(line: dict[str, Any]) -> None:
    expected = windows(line, 2_000, 2_000)
    read = entries(line, "tumbling", STRING, [LISTED])
    assert states(read) == contents(expected)
    assert timers(read) == ends(expected)
    reduced = {(key, window): (key, pair(its)[0], its[0][2]) for (key, window), its in expected.items()}
    descriptor = ReducingStateDescriptor(CONTENTS, lambda one, _: one, RECORD)
    assert states(entries(line, "reduced", STRING, [descriptor])) == contents(reduced)
    assert len(expected) == 3


@of("sliding")
def test_sliding_windows_with_pickled_accumulators(line: dict[str, Any]) -> None:
    expected = windows(line, 3_000, 1_000)
    read = entries(line, "sliding", STRING, [ACCUMULATED])
    assert states(read) == contents({window: pair(its) for window, its in expected.items()})
    assert timers(read) == ends(expected)
    assert len(expected) == 9


@of("typed_windows")
def test_windows_with_typed_accumulators(line: dict[str, Any]) -> None:
    by_number = {**line, "first": [[number % 3, number, time] for _, number, time in line["first"]]}
    expected = windows(by_number, 3_000, 1_000)
    typed = AggregatingStateDescriptor(CONTENTS, P.MeanOfRecords(), Types.TUPLE([LONG, INT]))
    read = entries(line, "typed", INT, [typed])
    assert states(read) == contents({window: pair(its) for window, its in expected.items()})


@of("sessions")
def test_sessions_and_what_they_have_become(line: dict[str, Any]) -> None:
    for uid, gap, descriptor in (("sessions", 350, LISTED), ("means", 550, ACCUMULATED)):
        expected = sessions(line, gap)
        read = entries(line, uid, STRING, [descriptor])
        merged = {it.key: it.value for it in read if it.state == "merging-window-set"}
        under = {(key, (start, end)): (start, start + gap) for key, (start, end) in expected}
        assert merged == {key: {window: state} for (key, window), state in under.items()}
        values = {(key, under[key, window]): its for (key, window), its in expected.items()}
        if uid == "means":
            values = {window: pair(its) for window, its in values.items()}
        assert states([it for it in read if it.state == CONTENTS]) == contents(values)
        assert timers(read) == ends(expected)
        assert len(expected) > 1


@of("count_windows")
def test_count_windows(line: dict[str, Any]) -> None:
    records: dict[str, list[Any]] = defaultdict(list)
    for record in map(tuple, line["first"]):
        records[record[0]].append(record)
    for uid, size, slide, name in (("counted", 4, 4, "tumble"), ("slid", 5, 2, "slide")):
        assigner = ValueStateDescriptor(f"{name}-count-assigner", LONG)
        count = ReducingStateDescriptor("count", lambda one, _: one, LONG)
        expected: list[tuple[Any, ...]] = []
        for key, its in records.items():
            expected.append((assigner.name, key, (), len(its)))
            for start in range(0, len(its), slide):  # PyFlink also keeps what has been given out
                expected.append((CONTENTS, key, (start // slide,), its[start : start + size]))
                if start + size > len(its):
                    expected.append(("count", key, (start // slide,), len(its) - start))
        read = entries(line, uid, STRING, [LISTED, assigner, count])
        assert states(read) == sorted(expected)
        assert not timers(read)


@of("window_states")
def test_states_of_windows_and_of_keys(line: dict[str, Any]) -> None:
    one, every = P.Remembered().descriptors()
    count = ReducingStateDescriptor("count", lambda one, _: one, LONG)
    expected: list[tuple[Any, ...]] = []
    fires: dict[str, list[int]] = defaultdict(list)
    numbers: Counter[tuple[str, int]] = Counter()
    for key, _, time in line["first"]:
        start = time // 2_000 * 2_000
        numbers[key, start] += 1
        if numbers[key, start] % 2 == 0:
            fires[key].append(start)
    for (key, window), its in windows(line, 2_000, 2_000).items():
        expected.append((CONTENTS, key, window, its))
        if len(its) > 1:
            expected.append(("fires", key, window, len(its) // 2))
        if len(its) % 2:
            expected.append(("count", key, window, 1))
    expected += [("all_fires", key, (), its) for key, its in fires.items()]
    read = entries(line, "windows", STRING, [LISTED, one, every, count])
    assert states(read) == sorted(expected)
    assert timers(read) == ends(windows(line, 2_000, 2_000))


@of("continuous")
def test_the_state_of_a_trigger(line: dict[str, Any]) -> None:
    expected = windows(line, 3_000, 3_000, lateness=500)
    fire_time = ReducingStateDescriptor("fire-time", lambda one, _: one, LONG)
    read = entries(line, "continuous", STRING, [LISTED, fire_time])
    following = (watermark(line) // 1_000 + 1) * 1_000
    assert states(read) == sorted([*contents(expected), *(("fire-time", *window, following) for window in expected)])


# --- two inputs -------------------------------------------------------------------------------------------------------


@of("co")
def test_two_inputs(line: dict[str, Any]) -> None:
    left: Counter[str] = Counter()
    right: dict[str, list[int]] = defaultdict(list)
    for key, number, _ in line["first"]:
        if number % 2:
            right[key].append(number)
        else:
            left[key] += number
    read = entries(line, "co", STRING, Context(P.Both()).descriptors)
    expected = [("left", key, (), total) for key, total in left.items()]
    assert states(read) == sorted([*expected, *(("right", key, (), its) for key, its in right.items())])
    assert timers(read) == Counter(("event", repr(key), None, P.NEVER) for key in left)


@of("broadcast")
def test_broadcast_state(line: dict[str, Any]) -> None:
    rules = {key: number for key, number, _ in line["first"] if number % 3 == 0}
    totals: Counter[str] = Counter()
    for key, number, _ in line["first"]:
        totals[key] += number if number % 3 else 0
    descriptors = [P.rules_descriptor(), *Context(P.Ruled()).descriptors]
    read = entries(line, "ruled", STRING, descriptors)
    assert {it.key: it.value for it in read if it.kind == "broadcast"} == rules
    assert {it.key: it.value for it in read if it.kind == "value"} == totals
    only = entries(line, "rules", None, descriptors)
    assert {it.key: it.value for it in only} == rules
    assert {(it.kind, it.state, it.key_group) for it in only} == {("broadcast", "rules", None)}
