"""Running reductions whose state is in native code, against the same in Python."""

from __future__ import annotations

import io
import math
import pickle
from datetime import date
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import Row, Types
from penstock.runtime import native
from penstock.runtime.aggregators import ComparableAggregator
from penstock.runtime.keys.key_types import KeyHash, native_code
from penstock.runtime.state import sections
from penstock.runtime.state.class_changes import Reading
from penstock.runtime.state.files import LOG, SNAPSHOT, AboutOperator, Header, StateReader, pack
from penstock.runtime.state.keyed import VOID, KeyedState
from penstock.runtime.state.native_table import NativeTable
from penstock.runtime.state.replay import note_touched
from penstock.runtime.state.sections import Earlier, log_of, snapshot_of
from tests.runtime.snapshots import restore

functions: Any = native.functions()
pytestmark = pytest.mark.skipif(functions is None, reason="there is no native module")

STATE = "_op_state"
KEY = (
    '{"v": 1, "functions": [{"params": 1, "locals": 1, "body": [["return", ["index", ["local", 0], ["const", %d]]]]}]}'
)
FOLDS = {
    "sum": lambda old, new: old + new,
    "min": lambda old, new: old if old < new else new,
    "max": lambda old, new: old if old > new else new,
}
INTS = st.integers(-3, 3) | st.sampled_from([2**62, 2**63 - 1, -(2**63)])
FLOATS = st.floats(width=64) | st.sampled_from([0.0, -0.0, math.nan, math.inf])
KEYS = st.sampled_from(["a", "b", "", "ü"])


def state(tracked: bool = True) -> KeyedState:
    keyed = KeyedState(KeyHash(Types.STRING()), 128)
    if tracked:
        keyed.track()
    return keyed


def entries(keyed: KeyedState) -> list[str]:
    return sorted(map(repr, keyed.entries()))


def reduced(records: list[Any], kind: str, position: int) -> list[Any]:
    """The reduction after each record, until one is beyond 64 bits."""
    so_far: dict[Any, Any] = {}
    results = []
    for record in records:
        old = so_far.get(record[1])
        if old is not None:
            fields = list(old)
            fields[position] = FOLDS[kind](old[position], record[position])
            if isinstance(fields[position], int) and not -(2**63) <= fields[position] < 2**63:
                break
            record = tuple(fields) if isinstance(record, tuple) else Row(*fields)
        so_far[record[1]] = record
        results.append(record)
    return results


@given(
    st.lists(st.tuples(INTS, KEYS, st.sampled_from(["x", "y"]), FLOATS), max_size=30),
    st.sampled_from(sorted(FOLDS)),
    st.sampled_from([0, 3]),
    st.sampled_from(["tuples", "rows", "out of buffers"]),
    st.integers(1, 30),
)
def test_a_fold_of_a_field(records: list[Any], kind: str, position: int, form: str, size: int) -> None:
    records = [Row(*record) for record in records] if form == "rows" else records
    stage = functions.KeyedReduce(functions.Program(KEY % 1), (kind, position), functions.KeyedTable())
    results: list[Any] = []
    for start in range(0, len(records), size):
        batch = functions.Batch.of(records[start : start + size], list(range(len(records[start : start + size]))))
        if form == "out of buffers":  # which know of texts that repeat
            batch = functions.Batch.of_buffer(batch.encode(0, b""))[0]
        out, counts, end, in_doubt = stage.run(batch, 0, len(batch))
        results += [] if out is None else out.objects()
        assert counts == [0 if out is None else len(out)] == [end]
        assert out is None or out.times == (None if form == "out of buffers" else list(range(end)))
        if in_doubt:
            break
    assert repr(results) == repr(reduced(records, kind, position))


@given(
    st.lists(st.tuples(st.sampled_from([3, 3, 4, -1]), KEYS, st.sampled_from(["x", "y"]), FLOATS), max_size=30),
    st.sampled_from(["min", "max"]),
    st.booleans(),
    st.sampled_from([0, 2, 3]),
    st.booleans(),
)
def test_the_best_record_of_a_key(records: list[Any], kind: Any, first: bool, position: int, rows: bool) -> None:
    records = [Row(*record) for record in records] if rows else records
    reducer = ComparableAggregator(position, kind, by=True, first=first)
    so_far: dict[Any, Any] = {}
    expected = []
    for record in records:
        before = so_far.get(record[1])
        so_far[record[1]] = record if before is None else reducer.reduce(before, record)
        expected.append(so_far[record[1]])
    table = functions.KeyedTable()
    stage = functions.KeyedReduce(functions.Program(KEY % 1), (reducer.native_fold, position), table)
    results: list[Any] = []
    for start in range(0, len(records), 4):
        batch = functions.Batch.of(records[start : start + 4])
        out, _, end, in_doubt = stage.run(batch, 0, len(batch))
        assert (end, in_doubt) == (len(batch), False)
        results += out.objects()
    assert repr(results) == repr(expected)
    assert repr(dict(zip(*table.items(0, len(table)), strict=True))) == repr(so_far)


def test_records_of_other_shapes_are_in_doubt() -> None:
    stage = functions.KeyedReduce(functions.Program(KEY % 0), ("sum", 1), functions.KeyedTable())

    def run(records: list[Any]) -> Any:
        return stage.run(functions.Batch.of(records), 0, len(records))

    assert run([("a", 1), ("a", 2)])[1:] == ([2], 2, False)
    for records in ([("a", 1.0)], [("a", None)], [("b", 1.0)], [("a",)], [(1.5, 1)], [None]):
        assert run(records) == (None, [0], 0, True)
    assert run([("a", 1, 2)])[0].objects() == [("a", 4)]  # as in Python
    assert run([("b", None)])[1:] == ([1], 1, False)  # the first of its key
    assert run([("b", 1)]) == (None, [0], 0, True)
    assert run([("a", 1)])[0].objects() == [("a", 5)]


COLUMNS = st.sampled_from([
    st.integers(-(2**63), 2**63 - 1) | st.sampled_from([sign * 2**bits - off for bits in range(8, 63, 8)
                                                       for sign in (1, -1) for off in (0, 1)]),
    FLOATS, st.booleans(), st.text(st.characters(exclude_categories=["Cs"])), st.binary(), st.just("x" * 300),
    st.just(b"x" * 300), st.none(), st.tuples(),
])  # fmt: skip
VALUES = st.lists(COLUMNS, max_size=5).map(lambda columns: st.tuples(*(st.none() | column for column in columns)))


@given(st.data(), st.sets(st.text(max_size=3), max_size=8))
def test_a_section_is_what_a_pickle_of_its_objects_is(data: st.DataObject, keys: set[str]) -> None:
    values, table = data.draw(VALUES), functions.KeyedTable()
    drawn = [data.draw(values) for _ in keys]
    if not table.load(list(keys), drawn):
        return
    order = table.order(native_code(Types.STRING()), 128)
    section = table.section(order, 0, len(order), b"names")
    expected = b"names", [(0, 0, *table.part(order, 0, len(order)), [])], [(), ()]
    assert repr(pickle.loads(section)) == repr(expected)


@pytest.mark.parametrize("value", [Row(1), Row(a=1), date(2020, 1, 1), (1, Row(2))])
def test_a_section_of_objects_is_left_to_pickle(value: Any) -> None:
    table = functions.KeyedTable()
    assert table.load(["a"], [value])
    order = table.order(native_code(Types.STRING()), 128)
    assert table.section(order, 0, 1, b"") is None
    with pytest.raises(IndexError):
        table.section(order, 0, 2, b"")


@given(st.lists(st.tuples(KEYS, st.integers(0, 9)), max_size=20), st.lists(st.sampled_from(["flush", "save", "take"])))
def test_files_are_those_of_a_dict(changes: list[tuple[str, int]], moves: list[str]) -> None:
    """Whatever has the state meanwhile."""
    ours, oracle, read = state(), state(), state()
    table = ours.native_table(functions, STATE)
    for number, (key, value) in enumerate(changes):
        oracle.table(STATE)[key] = (key, value)
        if table.take_over():
            assert table.table.load([key], [(key, value)])
            assert table.table.touch([key])
        move = moves[number] if number < len(moves) else ""
        if move == "flush":
            table.flush()
            assert dict(ours.table(STATE)) == dict(oracle.table(STATE))
        elif move == "save":
            assert (ours.size(), ours.has_changed()) == (oracle.size(), oracle.has_changed())
            assert ours.changed_entries() == oracle.changed_entries()
            assert log_of(ours, Earlier()).entries == log_of(oracle, Earlier()).entries
            ours.written()
            oracle.written()
    restore(read, snapshot_of(ours))
    assert entries(read) == entries(ours) == entries(oracle)


def test_sections_have_whole_key_groups() -> None:
    ours, oracle, read = state(), state(), state()
    table = ours.native_table(functions, STATE)
    values = {f"k{number}": (f"k{number}", number) for number in range(20_000)}
    oracle.table(STATE).update(values)
    assert table.take_over()
    assert table.table.load(list(values), list(values.values()))
    content = snapshot_of(ours)
    assert table.here
    assert content.entries == len(values)
    assert len(content.sections) > 5
    assert all(one.last < other.first for one, other in zip(content.sections, content.sections[1:], strict=False))
    restore(read, content)
    assert entries(read) == entries(oracle)


def test_a_log_that_replaces_others_has_their_keys() -> None:
    ours = state()
    table = ours.native_table(functions, STATE)
    assert table.take_over()
    assert table.table.load(["a", "b", "c"], [1, 2, 3])
    assert table.table.touch(["a"])
    earlier = Earlier()
    earlier.slots[STATE, None] = {"b"}
    assert log_of(ours, earlier).entries == 2


def test_the_keys_of_logs_that_are_merged_stay_in_the_table() -> None:
    """They are noted in it, and not as objects, of which there may be millions."""
    ours = state()
    table = ours.native_table(functions, STATE)
    assert table.take_over()
    assert table.table.load(["a", "b", "c"], [1, 2, 3])
    assert table.table.touch(["b"])
    log = log_of(ours, Earlier())
    ours.written()
    assert table.table.touch(["a"])
    header = Header(LOG, AboutOperator("id", "sum", None, 0, 1, 128), 1, "before", *log[:3], 1, (), None)
    earlier = Earlier()
    note_touched(earlier, ours, header, log.sections, Reading({}))
    assert not earlier.slots
    assert sorted(table.changed_keys()) == ["a", "b"]
    assert log_of(ours, earlier).entries == 2
    table.flush()
    note_touched(earlier, ours, header, log.sections, Reading({}))
    assert earlier.slots == {(STATE, VOID): {"b"}}


def test_a_table_says_what_it_takes() -> None:
    """And gives it back, unless another object has the state by then."""
    ours = state()
    table = ours.native_table(functions, STATE)
    ours.table(STATE).update({f"k{number}": (f"k{number}", number) for number in range(10_000)})
    assert ours.memory(1000) == 8000
    assert table.take_over()
    took = table.table.memory
    assert 16 + 16 + 8 < took / 10_000 < 100
    assert ours.memory(1000) == took + 1000
    ours.release()
    ours.dispose()
    assert (len(table), table.table.memory) == (10_000, took)
    ours.passed_on = False
    ours.dispose()
    assert (len(table), table.table.memory) == (0, 0)


@pytest.mark.parametrize("memory", [0, 70_000, 16 << 20])
def test_sections_wait_in_a_file(monkeypatch, memory) -> None:
    """Beyond some memory; the bytes of the state file are the same."""
    monkeypatch.setattr(sections, "SECTIONS_MEMORY", memory)
    ours = state()
    ours.table(STATE).update({f"k{number}": number for number in range(20_000)})
    content, about = snapshot_of(ours), AboutOperator("id", "sum", None, 0, 1, 128)
    header = Header(SNAPSHOT, about, 1, None, *content[:3], content.entries, (), None)
    parts, size, _ = pack(header, content.sections, b"operator state")
    data = b"".join(parts)
    assert len(data) == size > 200_000
    reader = StateReader("file", io.BytesIO(data), size, about)
    read = list(reader.sections(about.groups))
    assert reader.operator_state() == b"operator state"
    assert read == list(content.sections) == content.sections[:]
    assert len(read) > 3


def test_what_cannot_be_in_columns_stays_in_the_dict() -> None:
    ours = state()
    ours.table(STATE).update({"a": 1, "b": "other"})
    table = ours.native_table(functions, STATE)
    assert not table.take_over()
    assert (len(table), table.leave(10), ours.size()) == (0, 10, 2)
    ours.table(STATE)["b"] = 2
    assert table.take_over()
    assert dict(ours.table(STATE)) == {}
    ours.fill(STATE, None, ["c"], [object])  # a value that has no column
    assert not table.here
    assert dict(ours.table(STATE)) == {"a": 1, "b": 2, "c": object}


def test_others_see_what_is_in_it() -> None:
    for look in (
        KeyedState.entries,
        KeyedState.tables,
        partial(KeyedState.places, name=STATE),
        partial(KeyedState.keys, name=STATE),
    ):
        ours = state(tracked=False)
        table: NativeTable = ours.native_table(functions, STATE)
        ours.fill(STATE, None, ["a"], [1])
        assert table.here
        assert len(list(look(ours))) == 1
        assert not table.here
