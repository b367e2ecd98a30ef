"""Process functions in native code with state beyond memory against the operators in Python: results in order, timers,
and state; and how much of it is in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from weakref import WeakSet

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock import _native
from penstock.common import Time, Types
from penstock.datastream import (
    KeyedProcessFunction,
    ListStateDescriptor,
    MapStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from penstock.errors import StateError
from penstock.runtime.operators.native_process import NativeProcess
from penstock.runtime.operators.native_process_on_disk import NativeProcessOnDisk
from penstock.runtime.state.disk import memory, turns
from penstock.runtime.state.disk.table import DiskTable
from penstock.runtime.usercode.failure import OperatorFailure
from tests.runtime.operators.on_disk import MEMORY, alone_on_disk, state_of
from tests.runtime.operators.operators_alone import Alone
from tests.runtime.operators.process_functions import FUNCTIONS, LONG
from tests.runtime.operators.test_native_process import RARE, BothProcesses, operator, steps_of
from tests.runtime.operators.written_functions import BODY, written
from tests.runtime.windows.test_native_windows import changes_of, follow


@pytest.fixture(autouse=True)
def all_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """No state that other tests have left has a share of it."""
    monkeypatch.setattr(memory, "_USERS", WeakSet[Any]())


RECORD = st.tuples(st.tuples(st.sampled_from("abcdefgh"), st.integers(-5, 9)), st.integers(-20, 60))


@dataclass
class OnDisk(BothProcesses):
    """Native code has its state on disk."""

    memory: int = 1

    def __post_init__(self) -> None:
        self.python = Alone(self.spec, tracked=self.tracked)
        self.native = alone_on_disk(self.spec, self.memory, tracked=self.tracked)
        self._enter()

    @property
    def process(self) -> Any:
        return self.stage._process

    def check_state(self) -> None:
        assert isinstance(self.process, NativeProcessOnDisk)
        assert self.native.state.size() == self.python.state.size()
        assert self.native.state.is_empty() == self.python.state.is_empty()
        self.native.state.settle()
        assert state_of(self.native) == state_of(self.python)
        if self.tracked:
            (before, after), changed = (self.before or {}, state_of(self.native)[0]), changes_of(self.native)
            assert {place for place in before | after if before.get(place) != after.get(place)} <= changed

    def change_sides(self) -> None:
        super().change_sides()
        self.before = state_of(self.python)[0]


@pytest.mark.parametrize("function", FUNCTIONS)
@given(steps=steps_of(RECORD | RECORD | RARE), tracked=st.booleans(), memory=st.sampled_from(MEMORY))
def test_functions(function: str, steps: Any, tracked: bool, memory: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(turns, "_MOST", 3)
        follow(OnDisk(operator(FUNCTIONS[function]()), tracked, memory=memory), steps)


@pytest.mark.parametrize("both", [False, True])
@settings(deadline=None)
@given(data=st.data(), steps=steps_of(RECORD | RECORD | RARE), memory=st.sampled_from(MEMORY))
def test_written_functions(both: bool, data: Any, steps: Any, memory: int) -> None:
    names = ["process_element1", "process_element2"] if both else ["process_element"]
    spec = operator(written({name: data.draw(BODY) for name in [*names, "on_timer"]}))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(turns, "_MOST", 4)
        follow(OnDisk(spec, True, memory=memory), steps)


class Keeping(KeyedProcessFunction):
    """A value, a list and a map of each key, and a timer that shows and forgets some of it. Values may expire."""

    def __init__(self, expires: StateTtlConfig | None = None) -> None:
        self.expires = expires

    def open(self, runtime_context: Any) -> None:
        value = ValueStateDescriptor("value", LONG)
        items, entries = ListStateDescriptor("items", LONG), MapStateDescriptor("entries", LONG, LONG)
        if self.expires is not None:
            for descriptor in (value, items, entries):
                descriptor.enable_time_to_live(self.expires)
        self.value = runtime_context.get_state(value)
        self.items = runtime_context.get_list_state(items)
        self.entries = runtime_context.get_map_state(entries)

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        key, number = value
        self.value.update((self.value.value() or 0) + number)
        self.items.add(number)
        self.entries.put(number % 5, number)
        self.entries.remove((number + 1) % 5)
        if number % 7 == 3:
            ctx.timer_service().register_event_time_timer(ctx.timestamp() + 50)
        yield key, self.value.value()

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        yield ctx.get_current_key(), self.value.value(), list(self.items.get()), list(self.entries.items()), timestamp
        self.items.clear()
        if timestamp % 2:
            self.value.clear()
            self.entries.clear()


def expiring(cleanup: bool, shows: bool = False) -> StateTtlConfig:
    builder = StateTtlConfig.new_builder(Time.milliseconds(3))
    if shows:
        builder = builder.return_expired_if_not_cleaned_up()
    return (builder if cleanup else builder.disable_cleanup_in_background()).build()


@pytest.mark.parametrize("expires", [None, expiring(cleanup=False)], ids=["lasting", "expiring"])
def test_many_keys_in_little_memory(expires: StateTtlConfig | None) -> None:
    """Far more than are in memory, which stays within its bound; timers of keys that are not there fire."""
    memory, keys = 200_000, 4_000
    both = OnDisk(operator(Keeping(expires)), True, memory=memory)
    most = 0
    for turn in range(24):
        first = turn % 8 * (keys // 8)
        records = [((f"key {key}", key * 7 % 11 + turn), turn * 20) for key in range(first, first + 800)]
        both.take(records)
        most = max(most, both.process._windows.keys())
        both.watermark(turn * 20)
        both.wait_until(turn)
        both.check()
    assert both.process.here
    assert both.native.live.emitted > 24 * 800
    assert 50 < most < 1_500
    both.check_state()
    assert both.native.state.size() > keys


class Collecting(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.texts = runtime_context.get_list_state(ListStateDescriptor("texts", Types.STRING()))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        self.texts.add(value[0])
        yield len(list(self.texts.get()))


def test_values_that_grow_leave_memory() -> None:
    both = OnDisk(operator(Collecting()), memory=400_000)
    most = 0
    for turn in range(40):
        both.take([((f"{key}" + 100 * "x", 1), turn) for key in range(300)])
        most = max(most, both.process._windows.weight())
    both.check()
    both.check_state()
    assert both.process.here
    assert 300 < most < 2_000


def test_more_timers_than_fit_go_on_in_python() -> None:
    both = OnDisk(operator(Keeping()), memory=1)
    for turn in range(3):
        both.take([((f"key {key}", 3), key) for key in range(turn * 600, turn * 600 + 600)])
        assert both.process.here == (turn == 0)
    both.watermark(1_000)
    assert sorted(map(repr, both.native.results)) == sorted(map(repr, both.python.results))


@pytest.mark.parametrize("call", ["look", "take_over"])
def test_a_failure_of_the_disk_is_one_of_the_operator(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    both = OnDisk(operator(Collecting()))

    def full(*_: Any) -> None:
        raise StateError("The disk is full.")

    monkeypatch.setattr(DiskTable, call, full)
    with pytest.raises(OperatorFailure, match="The disk is full"):
        both.take([(("a", 1), 0)])


@pytest.mark.parametrize(
    ("cleanup", "shows", "kind"), [(False, True, NativeProcessOnDisk), (True, False, NativeProcess)]
)
def test_what_looks_at_other_keys_is_in_memory_as_a_whole(cleanup: bool, shows: bool, kind: type[Any]) -> None:
    both = OnDisk(operator(Keeping(expiring(cleanup, shows))), memory=1 << 20)
    for turn in range(5):
        both.take([((f"key {key}", key), turn * 20 + key) for key in range(turn * 10, turn * 10 + 40)])
        both.watermark(turn * 20)
        both.wait_until(2 * turn)
        both.check()
    assert both.process.here
    assert type(both.process) is kind
    both.native.state.settle()
    assert state_of(both.native) == state_of(both.python)


def test_what_shows_the_order_of_other_keys_stays_in_python() -> None:
    both = OnDisk(operator(Keeping(expiring(cleanup=True, shows=True))), memory=1 << 20)
    both.python.take(("a", 1), 0)
    both.segments[0].take_all(_native.Batch.of([("a", 1)], [0]))
    both.check()
    assert not both.stage.ready


class Replacing(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.text = runtime_context.get_state(ValueStateDescriptor("text", Types.STRING()))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        before = self.text.value()
        self.text.update(value[0] * 20_000)
        yield value[0], len(before or "")


def test_few_keys_come_at_a_time_where_each_has_much() -> None:
    """Values of 100 kB each, and memory for ten of them."""
    both = OnDisk(operator(Replacing()), memory=2_000_000)
    brought = []
    bring = both.process._bring
    both.process._bring = lambda keys: brought.append(len(keys)) or bring(keys)
    for turn in range(3):
        both.take([((f"k{key:04}", 1), turn) for key in range(300)])
    both.check()
    assert max(brought[4:]) <= 16
    assert both.process.here
