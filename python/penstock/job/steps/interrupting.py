"""Ctrl-C, for a job that would not end by itself: the first one lets the step that runs come to its end."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Generator
from typing import Any

from penstock.common.job_control import JobControl


@contextlib.contextmanager
def stopped_by_interrupt(control: JobControl) -> Generator[None, None, None]:
    """Within the block, in the main thread, the first interrupt stops the job; a second one does what it did before.

    Args:
        control: of the job.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is signal.SIG_IGN or before is None:
        yield
        return

    def stop(*_: Any) -> None:
        signal.signal(signal.SIGINT, before)
        control.stop()
        print("Stopping when the step that runs is committed; interrupt once more to end at once.", file=sys.stderr)

    signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
