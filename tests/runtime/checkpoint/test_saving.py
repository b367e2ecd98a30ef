"""State in files: what is written when, whom it goes to, and what it costs."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.common import Types
from penstock.datastream import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from penstock.errors import StateError
from penstock.runtime.buffers.codec import dumps
from penstock.runtime.checkpoint import state_series
from penstock.runtime.checkpoint.state_series import load, repair, save
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.state.files import AboutOperator
from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.state.operator_state import OperatorState
from penstock.runtime.state.store import KeyedStateStore
from penstock.runtime.task.task import Held
from tests.effort import examples, one_of
from tests.runtime.checkpoint.programs import tables, timers

LONG = Types.LONG()
TYPES = {"long": LONG, "text": Types.STRING(), "undeclared": None, "floats": Types.DOUBLE()}
KEYS = {"long": int, "text": str, "undeclared": lambda n: (n, float(n), str(n), n % 2 == 0)[n % 4], "floats": float}


def about(subtask=0, parallelism=1):
    return AboutOperator("ab" * 16, "count", "my-uid", subtask, parallelism, 128)


def fresh(key_type=LONG):
    keyed = KeyedState(KeyHash(key_type), 128)
    keyed.track()
    return keyed


def fill(keyed, keys, name="sum", value=lambda key: (key, 1)):
    for key in keys:
        keyed.table(name)[keyed.enter(key)] = value(key)


def owned(keyed, keys, who):
    return [key for key in keys if keyed.group(key) in who.groups]


def test_a_step_writes_a_log_until_logs_outgrow_the_snapshot(tmp_path):
    keyed, chain, kinds = fresh(), (), []
    fill(keyed, range(2_000))
    chain = save(str(tmp_path), keyed, None, about(), chain, 1)
    for version in range(2, 40):
        fill(keyed, range(200 * version, 200 * version + 200))
        chain = save(str(tmp_path), keyed, None, about(), chain, version)
        kinds.append(len(chain))
        assert sum(file.bytes for file in chain[1:]) <= chain[0].bytes
    assert 1 in kinds
    assert max(kinds) > 5
    assert [file.kind for file in chain] == ["snapshot", *["log"] * (len(chain) - 1)]
    written = sum(path.stat().st_size for path in tmp_path.iterdir())
    assert written < 3 * len(dumps([(key, (key, 1)) for key in range(8_000)])) + 40 * 1_000
    assert {file.name for file in chain} <= {path.name for path in tmp_path.iterdir()}
    assert all(path.name.startswith("ab" * 16 + "-0-") for path in tmp_path.iterdir())


def test_a_step_without_changes_writes_nothing(tmp_path):
    keyed, state = fresh(), OperatorState()
    assert save(str(tmp_path), keyed, state, about(), (), 1) == ()
    state.list("offsets")
    assert save(str(tmp_path), None, state, about(), (), 1) == ()
    others = OperatorState()
    others.broadcast("rules")  # counts, also if it is empty
    assert len(save(str(tmp_path), None, others, about(), (), 1)) == 1
    fill(keyed, [1])
    chain = save(str(tmp_path), keyed, state, about(), (), 2)
    keyed.table("sum").get(1)
    keyed.enter(7)
    assert save(str(tmp_path), keyed, state, about(), chain, 3) is chain
    state.broadcast("rules")["a"] = [1]
    longer = save(str(tmp_path), keyed, state, about(), chain, 4)
    assert longer != chain
    state.broadcast("rules")["a"].append(2)  # in place
    assert save(str(tmp_path), keyed, state, about(), longer, 5) != longer


def test_many_small_logs_become_one(tmp_path, monkeypatch):
    monkeypatch.setattr(state_series, "MOST_LOGS", 8)
    keyed, chain, lengths = fresh(), (), []
    state = OperatorState()
    fill(keyed, range(300), value=lambda key: "x" * 2_000)
    for version in range(100):
        fill(keyed, [version])
        state.broadcast(f"rules {version % 3}")[version] = version
        if version % 4 == 3:
            keyed.enter(version // 2)
            keyed.drop("sum")
        keyed.event_timers.add(version % 5, version % 7, version % 7, None)
        keyed.event_timers.remove(version % 3, version % 4, None)
        before, chain = chain, save(str(tmp_path), keyed, state, about(), chain, version)
        lengths.append(len(chain))
        assert chain[: len(chain) - 1] == before[: len(chain) - 1]
        loaded, again = fresh(), OperatorState()
        load(str(tmp_path), [chain], loaded, again, about())
        assert tables(loaded) == tables(keyed)
        assert timers(loaded.event_timers) == timers(keyed.event_timers)
        assert again.snapshot() == state.snapshot()
    assert max(lengths) == 9
    assert lengths.count(1) == 1  # the first
    written = sum(path.stat().st_size for path in tmp_path.iterdir())
    assert written < chain[0].bytes + 100 * 1_500 * 6


def test_steps_with_few_keys_write_few_bytes(tmp_path):
    """However much state there is beside them: no snapshot, but logs that stand for many."""
    keyed, chain = fresh(), ()
    fill(keyed, range(500), value=lambda key: "x" * 2_000)
    chain = save(str(tmp_path), keyed, None, about(), chain, 0)
    before = chain[0]
    for version in range(1, 300):
        fill(keyed, [version + 1_000])
        chain = save(str(tmp_path), keyed, None, about(), chain, version)
    assert len(chain) <= 65
    assert chain[0] == before
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < before.bytes + 300 * 3_000


def stepped(folder, kind, subtask, old, touched, whole):
    """The series of state files of a subtask after some steps; ``whole`` gets all its state too."""
    who, keyed, state, chain = about(subtask, old), fresh(TYPES[kind]), OperatorState(), ()
    for version, numbers in enumerate([range(0, 40, 3), *touched]):
        keys = owned(keyed, map(KEYS[kind], numbers), who)
        for written_to in (keyed, whole):
            fill(written_to, keys, value=lambda key, version=version: [key, version])
            for number, key in enumerate(keys):
                slot = written_to.enter(key)
                written_to.event_timers.add(number % 3, slot, key, (version, 0))
                written_to.event_timers.remove(number % 2, slot, (version - 1, 0))
                if number % 5 == version:
                    written_to.drop("sum")
        state.list("offsets").append((subtask, version))
        state.list("names", union=True).append(subtask)
        state.broadcast("rules")[version] = numbers
        chain = save(folder, keyed, state, who, chain, version)
    return chain


@pytest.mark.parametrize("kind", TYPES)
@settings(max_examples=examples(25))
@given(
    old=st.integers(1, 5),
    new=st.integers(1, 5),
    touched=st.lists(st.lists(st.integers(0, 40), max_size=20), max_size=4),
)
def test_any_number_of_subtasks_take_over_from_any(tmp_path_factory, kind, old, new, touched):
    folder, whole = str(tmp_path_factory.mktemp("state")), fresh(TYPES[kind])
    chains = [stepped(folder, kind, subtask, old, touched, whole) for subtask in range(old)]
    by_place, all_timers, lists = {}, [], []
    for subtask in range(new):
        keyed, state = fresh(TYPES[kind]), OperatorState()
        load(folder, chains, keyed, state, about(subtask, new))
        groups = about(subtask, new).groups
        assert all(keyed.group(key) in groups for group in tables(keyed).values() for _, key in group)
        for place, pairs in tables(keyed).items():
            by_place.setdefault(place, {}).update(pairs)
        all_timers += [timer[:-1] for timer in timers(keyed.event_timers)]
        heap = [timer.time for timer in keyed.event_timers]
        assert all(heap[(i - 1) // 2] <= heap[i] for i in range(1, len(heap)))
        lists.append(state.list("offsets"))
        assert sorted(state.list("names", union=True)) == sorted([*range(old)] * (len(touched) + 1))
        assert state.broadcast("rules").keys() == set(range(len(touched) + 1))
    assert by_place == tables(whole)
    assert sorted(all_timers, key=repr) == sorted((t[:-1] for t in timers(whole.event_timers)), key=repr)
    assert sorted(part for parts in lists for part in parts) == [
        (s, v) for s in range(old) for v in range(len(touched) + 1)
    ]
    assert old != new or [{s for s, _ in parts} for parts in lists] == [{s} for s in range(old)]


def test_only_the_key_groups_that_are_wanted_are_read(tmp_path, monkeypatch):
    keyed = fresh(Types.STRING())
    fill(keyed, (f"key {n}" for n in range(50_000)), value=lambda key: key * 3)
    chain = save(str(tmp_path), keyed, None, about(), (), 1)
    read = []

    class Counting:
        def __init__(self, storage):
            self.read = lambda path: Seen(storage.read(path))

    class Seen:
        def __init__(self, file):
            self.file, self.seek = file, file.seek

        def read(self, size):
            data = self.file.read(size)
            read.append(len(data))
            return data

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.file.close()

    original = state_series.storage_of
    monkeypatch.setattr(state_series, "storage_of", lambda path: Counting(original(path)))
    part = fresh(Types.STRING())
    load(str(tmp_path), [chain, ()], part, None, about(3, 16))
    assert sum(read) < chain[0].bytes / 10
    assert len(part.table("sum")) == len(owned(keyed, keyed.table("sum"), about(3, 16)))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["number", "text", "list", "map", "timer", "tumbling", "session"])
def test_a_touched_key_costs_no_more_than_three_times_its_size(tmp_path, name):
    """Over many steps, logs and snapshots together, with some keys touched of many."""
    keyed, chain, version = fresh(), (), 0
    store = KeyedStateStore(keyed)
    handles = {
        "number": lambda key: store.get_state(ValueStateDescriptor("v", Types.LONG())).update(key * 7),
        "text": lambda key: store.get_state(ValueStateDescriptor("t", Types.STRING())).update(f"text {key}"),
        "list": lambda key: store.get_list_state(ListStateDescriptor("l", Types.LONG())).update([key, 1, 2]),
        "map": lambda key: store.get_map_state(MapStateDescriptor("m", Types.LONG(), Types.LONG())).put(key % 3, key),
        "timer": lambda key: (
            keyed.event_timers.add(1_000_000 + key, keyed.slot, key, None),
            keyed.event_timers.remove(999_999 + key, keyed.slot, None),
        ),
    }

    def touch(key):
        keyed.enter(key)
        if name in handles:
            handles[name](key)
        else:
            window = (key % 5, 10) if name == "tumbling" else (key, key + 10)
            keyed.table("w", window)[keyed.slot] = [key, version]

    count = 20_000 // one_of(4)
    for key in range(count):
        touch(key)
    chain = save(str(tmp_path), keyed, None, about(), chain, 0)
    size = chain[0].bytes / count
    before = sum(path.stat().st_size for path in tmp_path.iterdir())
    for version in range(1, 60):
        for key in range(version * count // 66, version * count // 66 + count // 10):
            touch(key % count)
        chain = save(str(tmp_path), keyed, None, about(), chain, version)
    written = sum(path.stat().st_size for path in tmp_path.iterdir()) - before
    assert written / (59 * count // 10) <= 3 * size


def test_a_repair_brings_older_state_to_the_end_of_its_chain(tmp_path):
    folder, held = str(tmp_path), Held(fresh())
    fill(held.keyed, range(1_000))
    first = save(folder, held.keyed, held.operator_state, about(), (), 1)
    held.keyed.release()
    other = Held(fresh())  # another worker takes the next steps
    load(folder, [first], other.keyed, other.operator_state, about())
    fill(other.keyed, range(5))
    other.operator_state.broadcast("rules")["a"] = 1
    second = save(folder, other.keyed, other.operator_state, about(), first, 2)
    fill(other.keyed, [9], value=lambda _: 9)
    third = save(folder, other.keyed, other.operator_state, about(), second, 3)
    repair(folder, third, held.keyed, held.operator_state, about(), first[-1].name)
    assert tables(held.keyed) == tables(other.keyed)
    assert held.operator_state.broadcast("rules") == {"a": 1}
    assert not held.keyed.has_changed()
    assert not held.operator_state.changed()


def test_a_repair_begins_at_a_file_of_the_chain(tmp_path):
    keyed = fresh()
    fill(keyed, range(10))
    chain = save(str(tmp_path), keyed, None, about(), (), 1)
    with pytest.raises(ValueError, match="not in list"):
        repair(str(tmp_path), chain, keyed, None, about(), "other")


def test_state_of_another_max_parallelism_is_refused(tmp_path):
    keyed = fresh()
    fill(keyed, range(10))
    chain = save(str(tmp_path), keyed, None, about(), (), 1)
    other = AboutOperator("ab" * 16, "count", None, 0, 1, 64)
    with pytest.raises(StateError, match=r"has 128 key groups, and the operator 64. Set its max parallelism to 128."):
        load(str(tmp_path), [chain], KeyedState(KeyHash(Types.LONG()), 64), None, other)
