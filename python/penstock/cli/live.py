"""The display of ``penstock run`` for running jobs, on standard error: a live view, or a line now and then."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager

import click
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from penstock.common.jobs.job_control import JobControl
from penstock.display.tables import Shown
from penstock.metrics.running_job import RunningMetrics, line, running_metrics

_LATER = 0.5  # seconds that a job runs before it is shown: most of those in a terminal are over by then
_BESIDE = 10  # lines of a view beside its table


class LiveView:
    """Shows all jobs that run, again and again, below what the program prints; the view disappears with the last job.
    The console is that of standard error if none is given."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or _terminal()
        self._lock = threading.Lock()
        self._jobs: list[tuple[JobControl, float]] = []
        self._live: Live | None = None

    @contextmanager
    def __call__(self, control: JobControl) -> Generator[None, None, None]:
        """Within the block a job is shown."""
        control.shown = True
        job = (control, time.monotonic())
        with self._lock:
            self._jobs.append(job)
            if self._live is None:
                both = self._console.is_terminal and sys.stdout.isatty()  # a stdout that leads elsewhere stays as it is
                self._live = Live(
                    get_renderable=self.drawn,
                    console=self._console,
                    refresh_per_second=4,
                    transient=True,
                    redirect_stdout=both,
                )
                self._live.start()
        try:
            yield
        finally:
            with self._lock:
                self._jobs.remove(job)
                last = self._live if not self._jobs else None
                self._live = None if last is not None else self._live
            if last is not None:
                last.stop()

    def drawn(self) -> RenderableType:
        """All jobs that have run for a while, as they are now."""
        now, jobs = time.monotonic(), tuple(self._jobs)  # without the lock, which is held when the view begins
        of_jobs = [_metrics(control) for control, since in jobs if now - since >= _LATER]
        shown = Shown(max(self._console.height - _BESIDE, 3), width=self._console.width)
        parts = [running_metrics(metrics, shown) for metrics in of_jobs if metrics is not None]
        return Group(*(part for view in parts for part in (Text(""), view)))


def _terminal() -> Console:
    """A console on standard error as it is now: Spark's start puts a pipe in its place, and rich draws on no pipe."""
    if not sys.stderr.isatty():
        return Console(stderr=True)
    copy = os.fdopen(os.dup(sys.stderr.fileno()), "w", encoding=sys.stderr.encoding, errors="replace")
    return Console(file=copy)


class PlainView:
    """Writes a line about each job every so many seconds, and one when it has ended."""

    def __init__(self, seconds: float = 10) -> None:
        self._seconds = seconds

    @contextmanager
    def __call__(self, control: JobControl) -> Generator[None, None, None]:
        """Within the block a job is shown."""
        control.shown = True
        ended = threading.Event()
        thread = threading.Thread(target=self._watch, args=(control, ended), daemon=True, name="penstock-progress")
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _watch(self, control: JobControl, ended: threading.Event) -> None:
        done = False
        while not done:
            done = ended.wait(self._seconds)
            metrics = _metrics(control)
            if metrics is not None:
                click.echo(f"penstock: {line(metrics)}", err=True)


def _metrics(control: JobControl) -> RunningMetrics | None:
    """What is known of a job, if anything: a view less is better than a job less."""
    try:
        return None if control.observed is None else control.observed.metrics()
    except Exception:
        return None
