"""State that has become empty: each step notes it, and a changed program has nothing to lose there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock.common import Types
from penstock.datastream import KeyedProcessFunction, ValueStateDescriptor
from penstock.errors import InvalidProgramError
from penstock.job.folder.lease import JobFolder
from tests.job.restore.jobs import ending_after, environment


class Pairs(KeyedProcessFunction):
    """Of each two records of a key the sum; in between it knows the first. ``timer``: and has a timer."""

    def __init__(self, timer: bool) -> None:
        self.timer = timer

    def open(self, context: Any) -> None:
        self.first = context.get_state(ValueStateDescriptor("first", Types.LONG()))

    def process_element(self, value: int, ctx: Any) -> Any:
        if self.timer:
            ctx.timer_service().register_event_time_timer(10**12)
        first = self.first.value()
        if first is None:
            self.first.update(value)
        else:
            self.first.clear()
            yield first + value


def run(
    folder: Path,
    backend: str = "memory",
    *,
    pairs: bool = True,
    timer: bool = False,
    parallelism: int = 1,
    steps: int = 2,
) -> None:
    """Five numbers in a step, one of each key: every second step completes the pairs."""
    env = environment(folder, parallelism, penstock__step__records=5, penstock__state__backend=backend)
    stream = env.generate_sequence(0, 199).uid("numbers")
    if pairs:
        keyed = stream.key_by(lambda value: value % 5, Types.LONG())
        stream = keyed.process(Pairs(timer), Types.LONG()).uid("pairs").name("pairs")
    stream.print().uid("out")
    with ending_after(steps):
        env.execute()


def empty(folder: Path) -> list[bool]:
    newest = JobFolder(str(folder)).newest(unpickle=False)
    assert newest is not None
    return [state.empty for state in newest.operators.values()]


@pytest.mark.parametrize("backend", ["memory", "disk"])
def test_what_is_emptied_is_not_missed(tmp_path: Path, backend: str) -> None:
    run(tmp_path, backend, steps=1)
    assert empty(tmp_path) == [False]
    with pytest.raises(InvalidProgramError, match="There is state for operator 'pairs'"):
        run(tmp_path, backend, pairs=False)
    run(tmp_path, backend, steps=1)
    assert empty(tmp_path) == [True]
    run(tmp_path, steps=1, pairs=False)
    assert empty(tmp_path) == []


def test_it_is_filled_again(tmp_path: Path) -> None:
    run(tmp_path, steps=2)
    run(tmp_path, steps=1)
    assert empty(tmp_path) == [False]


@pytest.mark.parametrize("backend", ["memory", "disk"])
def test_a_timer_is_something(tmp_path: Path, backend: str) -> None:
    run(tmp_path, backend, steps=2, timer=True)
    assert empty(tmp_path) == [False]
