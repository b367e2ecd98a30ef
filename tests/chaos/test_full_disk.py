"""A disk that is full, from some change of a file on: nothing is lost, the error names it, and there is a way on."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable

import pytest

from penstock.errors import ConfigurationError, JobExecutionError
from tests.chaos.changes import SETTINGS, in_a_process
from tests.chaos.job import run
from tests.chaos.lives import check
from tests.job.commit.crashes import before_each_change

pytestmark = pytest.mark.slow

AGAIN = {
    "restart-strategy": "fixed-delay",
    "restart-strategy.fixed-delay.attempts": "50",
    "restart-strategy.fixed-delay.delay": "1ms",
}


def full(folder: str, first: int, last: float = float("inf")) -> Callable[[str], None]:
    """Refuses to open files for writing, from one to before another."""
    opened = [0]

    def hook(change: str) -> None:
        if change.startswith("open ") and folder in change:
            opened[0] += 1
            if first <= opened[0] < last:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    return hook


@pytest.mark.parametrize("first", [1, 4, 9, 14, 23, 32, 41])
def test_the_error_names_it_and_the_next_run_goes_on(tmp_path, first):
    root = tmp_path / "root"
    root.mkdir()

    def fails() -> None:
        with before_each_change(full(str(root), first)):
            with pytest.raises((ConfigurationError, JobExecutionError), match="No space left on device") as caught:
                run(str(root), SETTINGS)
            assert str(root) in str(caught.value)

    assert in_a_process(fails)
    assert in_a_process(lambda: run(str(root), SETTINGS))
    check(root, SETTINGS)


@pytest.mark.parametrize("first", [9, 23, 32])
def test_a_restart_strategy_waits_until_there_is_room(tmp_path, first):
    root = tmp_path / "root"
    root.mkdir()

    def waits() -> None:
        with before_each_change(full(str(root), first, first + 12)):
            run(str(root), SETTINGS | AGAIN)

    assert in_a_process(waits)
    check(root, SETTINGS)
