"""What state costs that is written step by step: a snapshot, loading it, and steps that touch some of many keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conftest import Measure
from penstock.common import Types
from penstock.runtime.checkpoint.state_series import load, save
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.state.files import AboutOperator
from penstock.runtime.state.keyed import KeyedState

NAME = "_op_state"
ABOUT = AboutOperator("0" * 32, "Reduce", None, 0, 1, 128)
MOST, TOUCHED = 1_000_000, 10_000


def state(keys: int = 0) -> KeyedState:
    """The state of a running sum; its keys have been written down."""
    keyed = KeyedState(KeyHash(Types.LONG()), ABOUT.max_parallelism)
    keyed.track()
    keyed.table(NAME).update((key, (key, 1)) for key in range(keys))
    return keyed


def touch(keyed: KeyedState, keys: range) -> None:
    """A record for each of some keys."""
    table, enter = keyed.table(NAME), keyed.enter
    for key in keys:
        slot = enter(key)
        table[slot] = key, table[slot][1] + 1


def test_snapshot(measure: Measure, tiny: bool, tmp_path: Path) -> None:
    keys = 1_000 if tiny else MOST
    keyed = state(keys)
    work = lambda _: save(str(tmp_path), keyed, None, ABOUT, (), 1)  # noqa: E731
    (file,) = measure(work, lambda: None, phase="state", shape="snapshot", size=keys, rounds=3)
    assert file.keys == keys
    assert file.bytes < 20 * keys + 20_000


def test_load(measure: Measure, tiny: bool, tmp_path: Path) -> None:
    keys = 1_000 if tiny else MOST
    chain = save(str(tmp_path), state(keys), None, ABOUT, (), 1)

    def work(fresh: KeyedState) -> Any:
        load(str(tmp_path), [chain], fresh, None, ABOUT)
        return fresh.table(NAME)

    assert len(measure(work, state, phase="state", shape="load", size=keys, rounds=3)) == keys


@pytest.mark.parametrize("keys", [TOUCHED, MOST])
def test_step(measure: Measure, tiny: bool, tmp_path: Path, keys: int) -> None:
    """The same keys touched, alone or as one in a hundred: records, and a log of them."""
    touched = 100 if tiny else TOUCHED
    keys = min(keys, 100 * touched)
    keyed = state(keys)
    spread = range(0, keys, max(1, keys // touched))
    chain = save(str(tmp_path), keyed, None, ABOUT, (), 1)

    def work(_: None) -> Any:
        touch(keyed, spread)
        return save(str(tmp_path), keyed, None, ABOUT, chain, 2)

    written = measure(work, lambda: None, phase="state", shape=f"step, {touched} keys", size=keys, rounds=20)
    assert written[-1].keys == touched
