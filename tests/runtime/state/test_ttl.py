"""State with a time to live against a small model, over random operations and a clock that moves."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import Time, Types
from penstock.datastream import (
    AggregateFunction,
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.state.handles import MergingState, ValueState
from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.state.operator_time import Clock
from penstock.runtime.state.sections import snapshot_of
from penstock.runtime.state.store import handle_of
from penstock.runtime.state.ttl import TTL_CLASSES
from tests.runtime.snapshots import restore

TTL = 4
READ = StateTtlConfig.UpdateType.OnReadAndWrite
WRITE = StateTtlConfig.UpdateType.OnCreateAndWrite
SHOW = StateTtlConfig.StateVisibility.ReturnExpiredIfNotCleanedUp
HIDE = StateTtlConfig.StateVisibility.NeverReturnExpired
EVERYTHING = 1_000
"""So many values looked at by each access are all there are."""


class Digits(AggregateFunction):
    """Its accumulator is a list that it changes in place, its result a text."""

    def create_accumulator(self):
        return []

    def add(self, value, accumulator):
        accumulator.append(value)
        return accumulator

    def get_result(self, accumulator):
        return "".join(map(str, accumulator))

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


DESCRIPTORS = {
    "value": lambda: ValueStateDescriptor("state", Types.INT()),
    "list": lambda: ListStateDescriptor("state", Types.INT()),
    "reducing": lambda: ReducingStateDescriptor("state", lambda one, other: 10 * one + other, Types.INT()),
    "aggregating": lambda: AggregatingStateDescriptor("state", Digits()),
    "map": lambda: MapStateDescriptor("state", Types.STRING(), Types.INT()),
}


class World:
    """A state of one kind, and a clock."""

    def __init__(self, kind: str, update: Any = WRITE, visibility: Any = HIDE, cleanup: int | None = 5) -> None:
        builder = StateTtlConfig.new_builder(Time.milliseconds(TTL))
        builder.set_update_type(update).set_state_visibility(visibility).cleanup_full_snapshot()
        if cleanup is None:
            builder.disable_cleanup_in_background()
        elif cleanup != 5:
            builder.cleanup_incrementally(cleanup, False)
        self.now = 0
        self.descriptor = DESCRIPTORS[kind]()
        self.descriptor.enable_time_to_live(builder.build())
        self.begin()

    def begin(self) -> None:
        self.keyed = KeyedState(KeyHash(Types.STRING()), 128, Clock(lambda: self.now))
        self.handle = handle_of(self.keyed, self.descriptor)

    def resume(self) -> None:
        """Go on from a snapshot."""
        snapshot = snapshot_of(self.keyed)
        self.begin()
        restore(self.keyed, snapshot)

    def size(self) -> int:
        return len(self.keyed.table("state"))


class Model:
    """What a state should show, by definition. It is a list of [entry, value, time of the last access] per key: one for
    a value, a reduction or an aggregation, one for each element of a list or entry of a map."""

    def __init__(self, kind: str, update: Any, visibility: Any) -> None:
        self.kind, self.renews, self.shows = kind, update is READ, visibility is SHOW
        self.keys: dict[str, list[list[Any]]] = {}
        self.now = 0

    def over(self, part: list[Any]) -> bool:
        return part[2] + TTL <= self.now

    def forget_what_is_over(self) -> None:
        """What a cleanup of everything does."""
        self.keys = {key: [part for part in parts if not self.over(part)] for key, parts in self.keys.items()}

    def read(self, key: str, entry: Any = None) -> list[list[Any]]:
        """The parts that can be seen, of one entry or all; reading removes what is over, but for lists, where Flink
        only does so if nothing else is left, or if reading renews the rest."""
        parts = self.keys.get(key, [])
        asked = [part for part in parts if entry is None or part[0] == entry]
        live = [part for part in asked if not self.over(part)]
        seen = [list(part) for part in (asked if self.shows else live)]
        if self.kind != "list" or self.renews or not live:
            self.keys[key] = [part for part in parts if part in live or part not in asked]
        if self.renews:
            for part in live:
                part[2] = self.now
        return seen

    def usable(self, key: str) -> list[list[Any]]:
        parts = self.keys.get(key, [])
        return [part for part in parts if self.shows or not self.over(part)]


def values(state: Any, model: Model, key: str, step: Any) -> None:
    name, number = step
    if name == "write":
        state.update(number)
        model.keys[key] = [[None, number, model.now]]
    elif name == "remove":
        state.update(None)
        model.keys[key] = []
    else:
        assert [state.value()] == ([part[1] for part in model.read(key)] or [None])


def lists(state: Any, model: Model, key: str, step: Any) -> None:
    name, number = step
    if name == "write":
        state.add(number)
        model.keys.setdefault(key, []).append([None, number, model.now])
    elif name == "more":
        state.add_all([number, number + 1])
        model.keys.setdefault(key, []).extend([None, added, model.now] for added in (number, number + 1))
    elif name == "remove":
        state.update([number])
        model.keys[key] = [[None, number, model.now]]
    else:
        assert list(state.get()) == [part[1] for part in model.read(key)]


def sums(state: Any, model: Model, key: str, step: Any) -> None:
    """Reductions and aggregations: texts of digits and numbers of the same digits."""
    name, number = step
    if name in ("write", "more"):
        state.add(number)
        before = "".join(part[1] for part in model.usable(key))
        model.keys[key] = [[None, f"{before}{number}", model.now]]
    elif name == "remove":
        state.clear()
        model.keys[key] = []
    else:
        current = state.get()
        expected = [part[1] for part in model.read(key)]
        assert ([] if current is None else [int(current)]) == [int(total) for total in expected]


def maps(state: Any, model: Model, key: str, step: Any) -> None:
    name, number = step
    entry = "xy"[number % 2]
    others = [part for part in model.keys.get(key, []) if part[0] != entry]
    if name == "write":
        state.put(entry, number)
        model.keys[key] = [*others, [entry, number, model.now]]
    elif name == "remove":
        state.remove(entry)
        model.keys[key] = others
    elif name == "more":
        parts = model.usable(key)  # what cannot be seen any more may go
        assert state.is_empty() is not bool(parts)
        model.keys[key] = parts
    elif number % 3 == 0:
        assert dict(state.items()) == {part[0]: part[1] for part in model.read(key)}
    elif number % 3 == 1:
        assert state.contains(entry) is bool(model.read(key, entry))
    else:
        assert [state.get(entry)] == ([part[1] for part in model.read(key, entry)] or [None])


PLAY = {"value": values, "list": lists, "reducing": sums, "aggregating": sums, "map": maps}
ROUNDS = 250


@pytest.mark.parametrize("kind", DESCRIPTORS)
@given(
    draw=st.randoms(use_true_random=False),
    update=st.sampled_from([READ, WRITE]),
    visibility=st.sampled_from([SHOW, HIDE]),
    cleanup=st.sampled_from([None, 1, 5, EVERYTHING]),
)
def test_a_state_is_what_the_model_is(kind, draw, update, visibility, cleanup):
    if visibility is SHOW and cleanup in (1, 5):  # what is still seen depends on how far the cleanup has come
        cleanup = None
    random = Random(draw.getrandbits(32))
    world, model = World(kind, update, visibility, cleanup), Model(kind, update, visibility)
    for _ in range(ROUNDS):
        world.now = model.now = model.now + random.choice([0, 0, 1, 1, 2, TTL])
        if random.random() < 0.02:
            model.forget_what_is_over()
            world.resume()
        if cleanup == EVERYTHING:
            model.forget_what_is_over()
        key, name = random.choice("aab"), random.choice(["write", "more", "remove", "read", "read", "read", "read"])
        world.keyed.enter(key)
        PLAY[kind](world.handle, model, key, (name, random.randrange(10)))
        if cleanup is None:
            assert world.size() == sum(map(bool, model.keys.values()))


WRITES = {
    "value": lambda state, number: state.update(number),
    "list": lambda state, number: state.add(number),
    "reducing": lambda state, number: state.add(number),
    "aggregating": lambda state, number: state.add(number),
    "map": lambda state, number: state.put(str(number), number),
}
READS = {
    "value": lambda state: state.value(),
    "list": lambda state: list(state.get()),
    "reducing": lambda state: state.get(),
    "aggregating": lambda state: state.get(),
    "map": lambda state: list(state.items()),
}


@pytest.mark.parametrize("kind", DESCRIPTORS)
def test_keys_that_never_come_again_do_not_stay(kind):
    """Each access looks at five values more, so what is over is gone after a fifth as many accesses and a look at the
    rest."""
    sizes = {}
    for cleanup in (5, None):
        world = World(kind, cleanup=cleanup)
        for number in range(3_000):
            world.now = number // 10
            world.keyed.enter(f"key {number}")
            WRITES[kind](world.handle, number)
        sizes[cleanup] = world.size()
    assert sizes[None] == 3_000
    assert sizes[5] < 400


@pytest.mark.parametrize("kind", ["list", "map"])
def test_looking_at_long_ones_costs_no_more(kind):
    """Elements and entries are looked at about five at an access, however many there are in one list or map."""
    world, looked = World(kind), 0
    live = world.handle._life._live

    def counting(stored, over):
        nonlocal looked
        looked += len(stored)
        return live(stored, over)

    world.handle._life._live = counting
    world.keyed.enter("a")
    for number in range(3_000):
        WRITES[kind](world.handle, number)
    assert 3_000 < looked < 6 * 3_000
    world.now = TTL
    WRITES[kind](world.handle, 0)
    for _ in range(2 * 3_000 // 5):
        WRITES[kind](world.handle, 0)
    ((_, slot),) = world.keyed.places("state")
    assert len(world.keyed.table("state")[slot]) < 2_000


def test_asking_a_map_whether_it_is_empty_removes_what_it_meets():
    world = World("map", cleanup=None)
    world.keyed.enter("a")
    for key in "wxyz":
        world.handle.put(key, 1)
        world.now += 1
    world.now = TTL + 1  # w and x are over
    assert not world.handle.is_empty()
    assert list(world.keyed.table("state")["a"]) == ["y", "z"]
    world.now = 2 * TTL
    assert world.handle.is_empty()
    assert world.size() == 0


@pytest.mark.parametrize("kind", DESCRIPTORS)
def test_what_is_over_is_not_in_a_snapshot(kind):
    world = World(kind, visibility=SHOW, cleanup=None)
    for now, key in ((0, "old"), (2, "young")):
        world.now = now
        world.keyed.enter(key)
        WRITES[kind](world.handle, now)
    world.now = TTL
    assert [key for _, _, key, _ in world.keyed.entries()] == ["young"]
    world.keyed.enter("old")
    assert READS[kind](world.handle) not in (None, [])  # still in memory
    names = world.keyed.infos["state"].serializers
    assert names[-1].endswith("TtlSerializer")


MERGING = [kind for kind in DESCRIPTORS if kind in ("list", "reducing", "aggregating")]


@pytest.mark.parametrize("kind", MERGING)
@pytest.mark.parametrize(("visibility", "expected"), [(HIDE, "2"), (SHOW, "12")])
def test_namespaces_merge_without_what_is_over(kind, visibility, expected):
    world = World(kind, visibility=visibility, cleanup=None)
    for now, window in ((0, 1), (2, 2)):
        world.now = now
        world.keyed.enter("a")
        WRITES[kind](handle_of(world.keyed, world.descriptor, window), window)
    world.now = TTL
    handle = handle_of(world.keyed, world.descriptor, 3)
    assert isinstance(handle, MergingState)
    handle.merge_namespaces(3, [1, 2])
    shown = READS[kind](handle)
    assert "".join(map(str, shown if isinstance(shown, list) else [shown])) == expected
    world.now = TTL + 2 if kind == "list" else 2 * TTL  # what was merged is new; elements keep their times
    assert READS[kind](handle) in ([], None) or visibility is SHOW


def test_a_window_whose_last_value_is_over_takes_no_memory():
    world = World("value", cleanup=1)
    for window in range(100):
        world.now = window
        world.keyed.enter("a")
        handle_of(world.keyed, world.descriptor, window).update(window)
    assert len(world.keyed.places("state")) < 30
    assert len(world.keyed._tables["state"]) < 30


def test_reading_a_value_that_is_over_shows_it_once():
    world = World("value", visibility=SHOW, cleanup=None)
    world.keyed.enter("a")
    world.handle.update(7)
    world.now = TTL
    assert world.handle.value() == 7
    assert world.handle.value() is None
    assert world.size() == 0


def test_a_map_by_its_brackets():
    world = World("map")
    world.keyed.enter("a")
    world.handle.put("x", None)
    assert "x" in world.handle
    assert world.handle["x"] is None
    world.now = TTL
    assert "x" not in world.handle


def test_the_first_descriptor_of_a_name_counts():
    keyed = KeyedState(KeyHash(Types.STRING()), 128, Clock(lambda: 0))
    mortal = ValueStateDescriptor("first", Types.INT())
    mortal.enable_time_to_live(StateTtlConfig.new_builder(TTL).build())
    handle = handle_of(keyed, mortal)
    assert isinstance(handle, TTL_CLASSES[ValueState])
    assert handle_of(keyed, ValueStateDescriptor("first", Types.INT())) is handle
    plain = handle_of(keyed, ValueStateDescriptor("second", Types.INT()))
    assert type(plain).__name__ == "ValueState"


def test_a_disabled_config_changes_nothing():
    keyed = KeyedState(KeyHash(Types.STRING()), 128, Clock(lambda: 0))
    descriptor = ValueStateDescriptor("last", Types.INT(), 5)
    builder = StateTtlConfig.new_builder(TTL).set_update_type(StateTtlConfig.UpdateType.Disabled)
    descriptor.enable_time_to_live(builder.build())
    keyed.enter("a")
    assert handle_of(keyed, descriptor).value() == 5
