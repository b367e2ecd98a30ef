"""Native code takes the state of an operator over when that pays."""

from __future__ import annotations

from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.operators.native_stage import NativeStage
from penstock.runtime.state.keyed import KeyedState


class Windows:
    """Native windows that take any state, and count how often."""

    loads = 0

    def load(self) -> bool:
        self.loads += 1
        return True


class Stage(NativeStage):
    """A stage with nothing to do."""

    def settle(self) -> None:
        pass

    def _rows(self) -> tuple[()]:
        return ()

    def _more(self) -> int:
        return 0


def state_of(size: int) -> KeyedState:
    state = KeyedState(KeyHash(), 128)
    state.fill("sums", None, range(size), range(size))
    return state


def test_state_from_files_is_native_at_once():
    windows = Windows()
    assert Stage(windows, state_of(1_000)).leave(300) == 0
    assert windows.loads == 1


def test_python_takes_as_many_records_as_there_are_entries_that_another_object_had():
    """A worker that has each second step of a subtask would move the whole state in each step."""
    windows, state = Windows(), state_of(1_000)
    state.release()
    stage = Stage(windows, state)
    assert [stage.leave(300) for _ in range(5)] == [300, 300, 300, 100, 0]
    assert windows.loads == 1
