"""Interruptions of a loop: signals, which stop it after the current step; failures, after which a step runs again."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Generator
from typing import Any

from penstock.common.jobs.job_control import JobControl
from penstock.common.settings.settings import Settings
from penstock.errors import StepLostError

LOST = 5  # steps in a row that may fail by no fault of the program
IN_PLACE = 5  # failures in a row, without a checkpoint between them, after which a job gives up that would try for ever
PAUSE = 1000  # milliseconds between two tries of such a job


class Restarts:
    """Counts the failures of a job, and decides on each by the restart strategy.

    Without one, but with checkpoints, Flink tries for ever, a second apart. So does this, but only while there are new
    versions between the failures (``patient``: it has versions): an error of one record would come for ever."""

    def __init__(self, settings: Settings, *, patient: bool = True) -> None:
        self._strategy = settings.restart
        self._patient = patient and settings.restart_strategy is None and settings.checkpoint_interval is not None
        self._failures: list[float] = []
        self._lost = self._in_place = 0  # in a row

    @property
    def count(self) -> int:
        return len(self._failures)

    def delay_after(self, error: Exception) -> int | None:
        """Milliseconds to wait after a failed step before it runs again; None: the job has failed."""
        if isinstance(error, StepLostError):
            self._lost += 1
            return 100 * self._lost if self._lost < LOST else None
        self._failures.append(time.monotonic())
        self._in_place += 1
        if self._patient:
            return PAUSE if self._in_place < IN_PLACE else None
        return self._strategy.delay_after(self._failures)

    def given_up(self, error: Exception) -> Exception:
        """A step has failed for the last time. Returns what the job fails with."""
        if not isinstance(error, StepLostError):
            return error
        return StepLostError(
            f"{error} {LOST} steps in a row ended like this, and the job with them. Look for a lack of memory, say, in "
            "the executors' logs. Started again, the job resumes if it has a checkpoint directory."
        )

    def stepped(self) -> None:
        self._lost = self._in_place = 0


_AGAIN = {signal.SIGINT: "interrupt", signal.SIGTERM: "terminate"}


@contextlib.contextmanager
def stopped_by_signal(control: JobControl) -> Generator[None, None, None]:
    """Within the block, in the main thread, the first SIGINT or SIGTERM stops the job, unless ignored."""
    before = {number: signal.getsignal(number) for number in _AGAIN}
    if before[signal.SIGINT] in (signal.SIG_IGN, None):
        del before[signal.SIGINT]
    if before[signal.SIGTERM] is not signal.SIG_DFL:
        del before[signal.SIGTERM]
    if threading.current_thread() is not threading.main_thread():
        before.clear()

    def put_back() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def stop(number: int, *_: Any) -> None:
        put_back()
        if os.getpid() == 1 and signal.SIGTERM in before:
            # of a container: the kernel drops signals for which its first process has no handler
            signal.signal(signal.SIGTERM, lambda number, *_: os._exit(128 + number))
        control.stop()
        again = _AGAIN[signal.Signals(number)]
        print(f"Stopping after the current step is committed; {again} once more to end at once.", file=sys.stderr)

    for number in before:
        signal.signal(number, stop)
    try:
        yield
    finally:
        put_back()
