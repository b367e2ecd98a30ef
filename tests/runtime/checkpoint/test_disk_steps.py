"""State beyond memory in state files: what steps have written of it is what there is, in memory and beyond it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.runtime.chain import context
from penstock.runtime.checkpoint.state_series import load, repair, save
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.state import replay, sections
from penstock.runtime.state.disk.keyed import DiskKeyedState
from penstock.runtime.state.files import AboutOperator
from penstock.runtime.state.keyed import KeyedState
from tests.effort import examples
from tests.runtime.checkpoint.programs import OPERATORS, STEPS, play, tables
from tests.runtime.operators.operators_alone import Alone

ABOUT = AboutOperator("0" * 32, "under test", None, 0, 1, 128)


@pytest.fixture(autouse=True)
def everything_on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "KeyedState", tiny)


def tiny(key_hash: KeyHash, max_parallelism: int, clock: Any = None) -> DiskKeyedState:
    return DiskKeyedState(key_hash, max_parallelism, clock, 1)


def empty(like: KeyedState, kind: Any) -> KeyedState:
    keyed = kind(KeyHash(like.key_hash.key_type), like.max_parallelism)
    keyed.track()
    return keyed


def timers(keyed: KeyedState) -> list[Any]:
    """In the order in which they fire."""
    return [sorted((t.time, repr((t.slot, t.key, t.namespace))) for t in queue) for _, queue in keyed.queues()]


def same(one: KeyedState, other: KeyedState) -> None:
    assert tables(one) == tables(other)
    assert timers(one) == timers(other)
    assert not one.has_changed()


@pytest.mark.parametrize("operator", OPERATORS.values(), ids=OPERATORS.keys())
@settings(max_examples=examples(10))
@given(steps=STEPS, few=st.sampled_from([0, 1_000]), section=st.sampled_from([10, 1 << 16]))
def test_what_was_written_is_what_there_is(operator: Any, steps: list[Any], few: int, section: int) -> None:
    alone = Alone(operator, tracked=True)
    assert alone.state is None or isinstance(alone.state, DiskKeyedState)
    late, chain, name = empty(alone.state, tiny), (), None
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(replay, "_FEW", few)
        patch.setattr(sections, "SECTION_BYTES", section)
        for version, events in enumerate(steps):
            play(alone, operator, events)
            chain = save(folder, alone.state, None, ABOUT, chain, version)
            assert save(folder, alone.state, None, ABOUT, chain, 99) == chain
            for kind in (tiny, KeyedState):
                fresh = empty(alone.state, kind)
                load(folder, [chain], fresh, None, ABOUT)
                same(fresh, alone.state)
            if name is None or name not in {file.name for file in chain}:
                late = fresh = empty(alone.state, tiny)
                load(folder, [chain], fresh, None, ABOUT)
            else:
                repair(folder, chain, late, None, ABOUT, name)
            name = chain[-1].name if chain else None
            same(late, alone.state)


def test_a_snapshot_of_many_keys_is_read_by_half(tmp_path: Path) -> None:
    state = tiny(KeyHash(), 128)
    state.track()
    for key in range(3_000):
        state.table("name")[state.enter(key)] = key
        for queue in (state.event_timers, state.processing_timers):
            queue.add(key % 10, state.slot, key, None)
    chain = save(str(tmp_path), state, None, ABOUT, (), 1)
    assert chain[0].keys == 9_000
    values: list[tuple[int, Any]] = []
    counts = [0, 0]
    for subtask in range(2):
        half = tiny(KeyHash(), 128)
        half.track()
        load(str(tmp_path), [chain], half, None, AboutOperator("0" * 32, "under test", None, subtask, 2, 128))
        values += half.table("name").items()
        counts = [count + len(queue) for count, (_, queue) in zip(counts, half.queues(), strict=True)]
        assert [timer.time for timer in half.event_timers] != []
        times = [half.event_timers.poll().time for _ in range(len(half.event_timers)) if half.event_timers.first()]
        assert times == sorted(times)
    assert sorted(values) == [(key, key) for key in range(3_000)]
    assert counts == [3_000, 3_000]
