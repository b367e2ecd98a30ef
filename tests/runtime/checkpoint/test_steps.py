"""Whatever an operator does to its state: what steps have written is what it has."""

from __future__ import annotations

import tempfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.runtime.checkpoint.state_series import load, repair, save
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.state.files import AboutOperator
from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.state.operator_state import OperatorState
from tests.effort import examples
from tests.runtime.checkpoint.programs import OPERATORS, STEPS, play, tables, timers
from tests.runtime.operators.operators_alone import Alone

ABOUT = AboutOperator("0" * 32, "under test", None, 0, 1, 128)


def empty(like):
    keyed = KeyedState(KeyHash(like.key_hash.key_type), like.max_parallelism)
    keyed.track()
    return keyed


def same(one, other):
    assert tables(one) == tables(other)
    for (_, queue), (_, twin) in zip(one.queues(), other.queues(), strict=True):
        assert timers(queue) == timers(twin)


@pytest.mark.parametrize("operator", OPERATORS.values(), ids=OPERATORS.keys())
@settings(max_examples=examples(30))
@given(steps=STEPS, behind=st.integers(0, 5))
def test_what_was_written_is_what_there_is(operator, steps, behind):
    alone = Alone(operator, tracked=True)
    late, late_state, chain, name = empty(alone.state), OperatorState(), (), None
    with tempfile.TemporaryDirectory() as folder:
        for version, events in enumerate(steps):
            play(alone, operator, events)
            before, chain = chain, save(folder, alone.state, alone.context.operator_state, ABOUT, chain, version)
            assert not alone.state.has_changed()
            assert save(folder, alone.state, alone.context.operator_state, ABOUT, chain, 99) == chain
            fresh, state = empty(alone.state), OperatorState()
            load(folder, [chain], fresh, state, ABOUT)
            same(fresh, alone.state)
            assert state.snapshot().items() >= alone.context.operator_state.changed().items()
            assert not fresh.has_changed()
            if name is None or name not in {file.name for file in chain}:
                late, late_state = fresh, state
            elif version >= behind:
                repair(folder, chain, late, late_state, ABOUT, name)
            else:
                continue
            name = chain[-1].name if chain else None
            same(late, alone.state)
            assert before == chain or chain
        assert alone.context.operator_state.changed() == {}


@pytest.mark.parametrize("operator", OPERATORS.values(), ids=OPERATORS.keys())
@settings(max_examples=examples(15))
@given(steps=STEPS)
def test_an_operator_goes_on_with_what_was_written(operator, steps):
    """A new operator for each step, from files or from the state of the one before."""
    whole = Alone(operator)
    with tempfile.TemporaryDirectory() as folder:
        results, chain, before = [], (), None

        def restore(keyed):
            load(folder, [chain], keyed, None, ABOUT)

        for version, events in enumerate(steps):
            play(whole, operator, events)
            alone = Alone(operator, tracked=True, restored=restore)
            if before is not None:
                resumed(alone, before)
            play(alone, operator, events)
            chain = save(folder, alone.state, None, ABOUT, chain, version)
            results += alone.results
            before = alone
        assert results == whole.results


def resumed(alone, before):
    """What a step hands to the next besides state."""
    alone.context.time.watermark, alone.now = before.context.time.watermark, before.now
    if len(alone.state.processing_timers):
        alone.context.clock.add(alone.context.time)
    for name in ("_inputs",):
        assert hasattr(alone, name)
    alone.context.operator_state.replace(before.context.operator_state.snapshot())
    valve = getattr(before.live, "_watermarks", None)
    if valve is not None:
        alone.live._watermarks = valve
