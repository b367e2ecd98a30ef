"""Running reductions in native code, whose state is in memory as far as it fits, and beyond that in a file: results and
written state are those of Python, and memory is bounded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from weakref import WeakSet

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.common import Types
from penstock.errors import StateError
from penstock.runtime import native
from penstock.runtime.aggregators import ComparableAggregator, SumAggregator
from penstock.runtime.chain import context
from penstock.runtime.checkpoint.state_series import load, repair, save
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.operators.reduce import STATE, GroupedReduce
from penstock.runtime.state.disk import cells, memory, turns
from penstock.runtime.state.disk.keyed import DiskKeyedState
from penstock.runtime.state.disk.table import DiskTable
from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.usercode.failure import OperatorFailure
from tests.effort import examples
from tests.runtime.checkpoint.test_disk_steps import ABOUT, empty
from tests.runtime.operators.operators_alone import Alone

functions: Any = native.functions()
pytestmark = pytest.mark.skipif(functions is None, reason="there is no native module")


@pytest.fixture(autouse=True)
def all_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """No state that other tests have left has a share of it."""
    monkeypatch.setattr(memory, "_USERS", WeakSet[Any]())


FIRST = ["index", ["local", 0], ["const", 0]]
KEY = json.dumps({"v": 1, "functions": [{"params": 1, "locals": 1, "body": [["return", FIRST]]}]})
KEYS = {
    "text": (Types.STRING(), lambda number: f"key {number} " + number % 3 * "long"),
    "number": (Types.LONG(), lambda number: number),
    "pair": (Types.TUPLE([Types.LONG(), Types.STRING()]), lambda number: (number, str(number))),
    "undeclared": (None, lambda number: number),
}
REDUCERS = {
    "sum": SumAggregator(1),
    "max_by": ComparableAggregator(1, "max_by"),
    "function": lambda old, new: (old[0], old[1] + new[1]),
}
SUM = ["add", *(["index", ["local", number], ["const", 1]] for number in range(2))]
FUNCTION = {"params": 2, "locals": 2, "body": [["return", ["tuple", FIRST, SUM]]]}
PROGRAMS = {"function": json.dumps({"v": 1, "functions": [FUNCTION]})}
MEMORY = [1, 10_000, 1 << 20]
"""For none, for some, and for all."""

NUMBERS = st.integers(-5, 5) | st.sampled_from([2**62, 2**80, 0.5])
"""Some that native code does not take."""
STEPS = st.lists(st.lists(st.tuples(st.integers(0, 40), NUMBERS), max_size=60), min_size=1, max_size=5)


def disk(memory: int) -> Any:
    return lambda key_hash, groups, clock=None: DiskKeyedState(key_hash, groups, clock, memory)


def operator_of(name: str, kind: str) -> GroupedReduce:
    key = KeyPartition(lambda record: record[0], KEYS[kind][0], program=KEY)
    return GroupedReduce(REDUCERS[name], program=PROGRAMS.get(name), keyed=key)


class Native:
    """An operator that takes records as a segment gives them to it."""

    def __init__(self, operator: GroupedReduce, memory: int, state: KeyedState | None = None) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(context, "KeyedState", (lambda *_: state) if state is not None else disk(memory))
            self.alone = Alone(operator, tracked=state is None)
        self.state: Any = self.alone.state
        self.stage: Any = self.alone.live.keyed_stage(functions, 0)
        self.turns = self.native = 0

    def take(self, records: list[Any]) -> None:
        self.turns += 1
        batch = functions.Batch.of(records, None) if records else None
        if batch is None:
            self.stage.flush()
            for record in records:
                self.alone.take(record)
            return
        start = 0
        while start < len(records):
            if left := self.stage.leave(len(records) - start):
                for record in records[start : start + left]:
                    self.alone.take(record)
                start += left
                continue
            before = start
            out, counts, start, in_doubt = self.stage.run(batch, start, len(records))
            assert (0 if out is None else len(out)) == counts[0] == start - before
            self.native += start - before
            if out is not None:
                self.alone.results += [(value, None) for value in out.objects()]
            if in_doubt:
                self.stage.flush()
                self.alone.take(records[start])
                start += 1


def entries(keyed: KeyedState) -> list[str]:
    return sorted(repr((group, place, key, value)) for group, place, key, value in keyed.entries())


@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("name", REDUCERS)
@settings(max_examples=examples(40))
@given(steps=STEPS, memory=st.sampled_from(MEMORY), turn=st.sampled_from([3, 4_096]))
def test_what_is_written_is_what_there_is(
    tmp_path_factory: Any, name: str, kind: str, steps: list[Any], memory: int, turn: int
) -> None:
    folder, chain = str(tmp_path_factory.mktemp("state")), ()
    operator, of_number = operator_of(name, kind), KEYS[kind][1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(turns, "_MOST", turn)
        ours, plain = Native(operator, memory), Alone(operator)
        late, before = None, None
        for version, numbers in enumerate(steps):
            records = [(of_number(key), number) for key, number in numbers]
            ours.take(records)
            for record in records:
                plain.take(record)
            assert [(repr(value), time) for value, time in ours.alone.results] == [
                (repr(value), time) for value, time in plain.results
            ]
            assert ours.state.size() == plain.state.size()
            chain = save(folder, ours.state, None, ABOUT, chain, version)
            assert not ours.state.has_changed()
            for state in (disk(memory), KeyedState):
                loaded = empty(ours.state, state)
                load(folder, [chain], loaded, None, ABOUT)
                assert entries(loaded) == entries(ours.state) == entries(plain.state)
            if late is not None and before in {file.name for file in chain}:
                repair(folder, chain, late, None, ABOUT, before)
            else:
                late = empty(ours.state, disk(memory))
                load(folder, [chain], late, None, ABOUT)
            before = chain[-1].name if chain else None
            assert entries(late) == entries(plain.state)


@given(STEPS, st.sampled_from(MEMORY))
@settings(max_examples=examples(30))
def test_state_passes_between_native_code_and_python(steps: list[Any], memory: int) -> None:
    """A step at a time, in one object and by a snapshot."""
    operator = operator_of("sum", "number")
    ours, plain, state = Native(operator, memory), Alone(operator), None
    results = []
    for number, records in enumerate(steps):
        if number:
            ours.state.release()
            if number % 2:
                state = ours.state
            else:
                state = DiskKeyedState(KeyHash(Types.LONG()), 128, None, memory)
                state.fill(
                    STATE, None, *zip(*((key, value) for _, _, key, value in ours.state.entries()), strict=True)
                ) if (ours.state.size()) else None
            ours = Native(operator, memory, state)
        if number % 3 == 2:
            ours.stage.flush()
            for record in records:
                ours.alone.take(record)
        else:
            ours.take(records)
        results += ours.alone.results
        for record in records:
            plain.take(record)
    assert repr(results) == repr(plain.results)
    assert entries(ours.state) == entries(plain.state)


def test_places_that_share_a_row() -> None:
    """Python's hash of a key alone decides on the row within its key group."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cells, "_LOW", 3)
        operator = operator_of("sum", "number")
        ours, plain = Native(operator, 1), Alone(operator)
        for turn in range(20):
            records = [(key * 7 % 300, turn) for key in range(turn * 40, turn * 40 + 100)]
            ours.take(records)
            for record in records:
                plain.take(record)
        assert ours.alone.results == plain.results
        assert (ours.state.size(), entries(ours.state)) == (300, entries(plain.state))


@pytest.mark.parametrize("kind", ["text", "number"])
def test_memory_is_bounded(kind: str) -> None:
    """However many keys there are, and however long their values are."""
    memory, text = 1 << 20, "x" * 200
    operator, of_number = operator_of("max_by", kind), KEYS[kind][1]
    ours, plain = Native(operator, memory), Alone(operator)
    table = ours.state._cached.table
    sizes = []
    for turn in range(60):
        records = [(of_number(key), turn, text) for key in range(turn % 30 * 1_000, turn % 30 * 1_000 + 2_000)]
        ours.take(records)
        sizes.append((len(table), table.memory))
        for record in records:
            plain.take(record)
    assert ours.alone.results == plain.results
    assert ours.native == 60 * 2_000
    assert ours.state.size() == 31_000
    assert max(bytes_ for _, bytes_ in sizes) <= memory // 2
    assert 500 < max(count for count, _ in sizes) < memory // 2 // 200
    assert sum(len(entries) for entry in ours.state._memory.tables for entries in (entry._young, entry._old)) == 0


@pytest.mark.parametrize("kind", ["text", "pair"])
def test_a_checkpoint_leaves_the_state_to_native_code(kind: str, tmp_path: Path) -> None:
    operator, of_number = operator_of("sum", kind), KEYS[kind][1]
    ours, plain = Native(operator, 100_000), Alone(operator)
    chain: Any = ()
    for version in range(6):
        first = 1_000 * version if version < 4 else 0
        records = [(of_number(key), version) for key in range(first, first + 1_500)]
        ours.take(records)
        for record in records:
            plain.take(record)
        chain = save(str(tmp_path), ours.state, None, ABOUT, chain, version)
        late = empty(ours.state, KeyedState)
        load(str(tmp_path), [chain], late, None, ABOUT)
        assert entries(late) == entries(plain.state)
    assert ours.alone.results == plain.results
    assert ours.native == 6 * 1_500


def test_keys_that_are_used_stay() -> None:
    ours = Native(operator_of("sum", "number"), 1 << 20)
    reads = []
    table = ours.state._named(STATE, False)
    look = table.look
    table.look = lambda slots: reads.append(len(slots)) or look(slots)
    hot = [(key, 1) for key in range(500)]
    for turn in range(50):
        ours.take([*hot, *((1_000 + turn * 1_000 + key, 1) for key in range(1_000))])
    assert sum(reads) == 500 + 50 * 1_000
    assert ours.state.size() == 50_500


def test_python_sees_no_value_of_before() -> None:
    """One that it has read for a file."""
    ours = Native(operator_of("sum", "number"), 1 << 20)
    ours.take([(1, 1)])
    ours.state.settle()
    assert ours.state.table(STATE)[1] == (1, 1)
    ours.take([(1, 1)])
    ours.stage.flush()
    assert ours.state.table(STATE)[1] == (1, 2)
    ours.state.table(STATE)[1] = (1, 5)
    assert ours.stage.leave(1) == 1
    ours.take([(1, 1)])
    assert ours.alone.results[-1] == ((1, 6), None)


@pytest.mark.parametrize("call", ["look", "take_over"])
def test_a_failure_of_the_disk_is_one_of_the_operator(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = Native(operator_of("sum", "number"), 1)

    def full(*_: Any) -> None:
        raise StateError("The disk is full.")

    monkeypatch.setattr(DiskTable, call, full)
    with pytest.raises(OperatorFailure, match="The disk is full"):
        ours.take([(1, 1)])


def test_a_key_that_is_not_as_declared_fails_as_in_python() -> None:
    key = KeyPartition(lambda record: record[0], Types.INT(), program=KEY)
    operator = GroupedReduce(SumAggregator(1), keyed=key)
    for records in ([(1, 1), ("a", 1)], [(1, 1), (1 << 40, 1)]):
        ours, plain = Native(operator, 1), Native(operator, 1)
        plain.alone.take(records[0])
        with pytest.raises(OperatorFailure) as expected:
            plain.alone.take(records[1])
        with pytest.raises(OperatorFailure) as raised:
            ours.take(records)
        assert str(raised.value) == str(expected.value)
        assert ours.alone.results == plain.alone.results
