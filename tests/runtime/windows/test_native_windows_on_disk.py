"""Windows and interval joins in native code whose state is on disk, against the operators in Python: native code has
the state while all of it fits into memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakSet

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock import _native
from penstock.errors import StateError
from penstock.runtime.operators.window import WindowOperator
from penstock.runtime.state.disk import memory as shares
from penstock.runtime.state.disk import whole
from penstock.runtime.state.disk.table import DiskTable
from penstock.runtime.usercode.failure import OperatorFailure
from penstock.runtime.windows.assigners import GlobalWindows
from penstock.runtime.windows.triggers import EventTimeTrigger
from tests.effort import examples
from tests.runtime.operators import test_native_join as joins
from tests.runtime.operators.on_disk import MEMORY, alone_on_disk, state_of
from tests.runtime.operators.operators_alone import Alone
from tests.runtime.operators.test_native_process import steps_of
from tests.runtime.windows import test_native_counts as counts
from tests.runtime.windows import test_native_numbered as numbered
from tests.runtime.windows import test_native_triggers as triggers
from tests.runtime.windows.test_native_windows import (
    BY_CLOCK,
    BY_EVENT_TIME,
    DOUBTFUL,
    FUNCTIONS,
    KEY,
    STEPS,
    Both,
    follow,
)


@pytest.fixture(autouse=True)
def all_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """No state that other tests have left has a share of it, and memory is looked at often."""
    monkeypatch.setattr(shares, "_USERS", WeakSet[Any]())
    monkeypatch.setattr(whole, "_LEAST", 5)


class OnDisk:
    """Native code has its state on disk."""

    memory: int = 1

    def __post_init__(self: Any) -> None:
        self.python = Alone(self.spec, tracked=self.tracked)
        self.native = alone_on_disk(self.spec, self.memory, tracked=self.tracked)
        self._enter()

    def check_state(self: Any) -> None:
        assert self.native.state.is_empty() == self.python.state.is_empty()
        self.native.state.settle()
        if not (isinstance(self.spec, WindowOperator) and self.spec.assigner.merging):
            assert self.native.state.size() == len(list(self.native.state.entries()))
        assert state_of(self.native) == state_of(self.python)
        if self.tracked:
            before, after = self.before or {}, state_of(self.native)[0]
            changed = {(place, slot) for place, slots in self.native.state.changes for slot in slots}
            assert {place for place in before | after if before.get(place) != after.get(place)} <= changed

    def change_sides(self: Any) -> None:
        super().change_sides()  # type: ignore[misc]
        self.before = state_of(self.python)[0]


@dataclass
class WindowsOnDisk(OnDisk, Both):
    memory: int = 1


@dataclass
class JoinsOnDisk(OnDisk, joins.BothJoins):
    memory: int = 1


ROOM = st.sampled_from(MEMORY)


@pytest.mark.parametrize("function", ["sum", "max by", "aggregate", "sum, seen", "seen", "largest", "all, with ends"])
@pytest.mark.parametrize("assigner", BY_EVENT_TIME)
@settings(max_examples=examples(40), deadline=None)
@given(steps=STEPS | DOUBTFUL, lateness=st.sampled_from([0, 4]), tracked=st.booleans(), memory=ROOM)
def test_event_time(assigner: str, function: str, steps: Any, lateness: int, tracked: bool, memory: int) -> None:
    windows = BY_EVENT_TIME[assigner]
    spec = WindowOperator(windows, EventTimeTrigger(), None, FUNCTIONS[function], lateness, "late", keyed=KEY)
    follow(WindowsOnDisk(spec, tracked, memory=memory), steps)


@pytest.mark.parametrize("assigner", BY_CLOCK)
@settings(max_examples=examples(40), deadline=None)
@given(function=st.sampled_from(["sum", "aggregate", "seen"]), steps=STEPS, memory=ROOM)
def test_the_clock(assigner: str, function: str, steps: Any, memory: int) -> None:
    windows = BY_CLOCK[assigner]
    spec = WindowOperator(windows, windows.default_trigger(), None, FUNCTIONS[function], keyed=KEY)
    follow(WindowsOnDisk(spec, memory=memory), steps)


@pytest.mark.parametrize("assigner", BY_EVENT_TIME)
@settings(max_examples=examples(100), deadline=None)
@given(data=st.data(), steps=STEPS, tracked=st.booleans(), memory=ROOM)
def test_triggers(assigner: str, data: st.DataObject, steps: Any, tracked: bool, memory: int) -> None:
    trigger = data.draw(st.sampled_from(triggers.names_of(assigner)))
    evictor = data.draw(st.sampled_from([None, *triggers.EVICTORS]))
    function = triggers.functions_of(data, trigger)
    spec = triggers.spec_of(BY_EVENT_TIME[assigner], trigger, function, evictor, lateness=4, late_tag="late")
    follow(WindowsOnDisk(spec, tracked, memory=memory), steps)


@pytest.mark.parametrize("trigger", triggers.ENDLESS)
@settings(max_examples=examples(20), deadline=None)
@given(data=st.data(), steps=STEPS, tracked=st.booleans(), memory=ROOM)
def test_the_global_window(trigger: str, data: st.DataObject, steps: Any, tracked: bool, memory: int) -> None:
    function = triggers.ENDLESS_FUNCTIONS[data.draw(st.sampled_from(["sum", "min", "aggregate", "largest"]))]
    follow(WindowsOnDisk(triggers.spec_of(GlobalWindows(), trigger, function), tracked, memory=memory), steps)


@pytest.mark.parametrize("trigger", counts.TRIGGERS)
@settings(max_examples=examples(40), deadline=None)
@given(function=st.sampled_from(list(counts.REDUCING)), steps=counts.DOUBTFUL, tracked=st.booleans(), memory=ROOM)
def test_windows_by_count(trigger: str, function: str, steps: Any, tracked: bool, memory: int) -> None:
    follow(WindowsOnDisk(counts.spec_of(trigger, function), tracked, memory=memory), steps)


@pytest.mark.parametrize("assigner", numbered.ASSIGNERS)
@settings(max_examples=examples(20), deadline=None)
@given(function=st.sampled_from(["sum", "aggregate", "applied"]), steps=counts.STEPS, memory=ROOM)
def test_windows_with_numbers(assigner: str, function: str, steps: Any, memory: int) -> None:
    follow(WindowsOnDisk(numbered.spec_of(assigner, function), memory=memory), steps)


@pytest.mark.parametrize("function", joins.FUNCTIONS)
@settings(max_examples=examples(60), deadline=None)
@given(bounds=joins.BOUNDS, steps=steps_of(joins.RECORD | joins.RARE, 20), tracked=st.booleans(), memory=ROOM)
def test_joins(function: str, bounds: Any, steps: Any, tracked: bool, memory: int) -> None:
    spec = joins.operator(joins.FUNCTIONS[function](), *bounds)
    follow(JoinsOnDisk(spec, tracked, memory=memory), steps)


@pytest.mark.parametrize(("assigner", "function"), [("tumbling", "sum"), ("sessions", "sum"), ("sliding", "aggregate")])
def test_the_state_goes_to_the_file_when_it_grows_and_comes_back_when_it_shrinks(assigner: str, function: str) -> None:
    spec = WindowOperator(BY_EVENT_TIME[assigner], EventTimeTrigger(), None, FUNCTIONS[function], keyed=KEY)
    both, expected = WindowsOnDisk(spec, memory=400_000), Alone(spec)
    here, most = list[bool](), 0
    for turn in range(60):
        keys = 3 if turn < 5 or turn > 25 else 1_000
        records = [(f"key {number % keys}", turn) for number in range(1_000)]
        both.segment.take_all(_native.Batch.of(records, [turn * 2] * 1_000))
        for record in records:
            expected.take(record, turn * 2)
        here.append(both.stage.here)
        most = max(most, both.stage._windows.memory())
        for side in (both.native, expected):
            side.watermark(turn * 2 - 20)
    assert all(here[:5])
    assert not all(here[5:26])
    assert here[-1]
    assert most < 300_000
    assert sorted(map(repr, both.native.results)) == sorted(map(repr, expected.results))


@pytest.mark.parametrize("call", ["items", "take_over"])
def test_a_failure_of_the_disk_is_one_of_the_operator(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = WindowOperator(BY_EVENT_TIME["tumbling"], EventTimeTrigger(), None, FUNCTIONS["sum"], keyed=KEY)
    both = WindowsOnDisk(spec, memory=1)
    both.native.state.table("window-contents", "w")  # so that there is something to read

    def full(*_: Any) -> None:
        raise StateError("The disk is full.")

    monkeypatch.setattr(DiskTable, call, full)
    with pytest.raises(OperatorFailure, match="The disk is full"):
        both.take([(("a", 1), 0)])
