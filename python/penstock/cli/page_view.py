"""The pages of ``penstock run --watch``: one for each running job, with its numbers."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from penstock.cli.program import Observer
from penstock.common.jobs.job_control import JobControl
from penstock.plan import Pipeline

if TYPE_CHECKING:
    from penstock.viewer.feed import Numbers

_LAST = 3.0  # seconds that a page has to learn how its job has ended


class PageView:
    """Serves a page for each job that runs, on a port of this machine (0: any that is free), and says where."""

    def __init__(self, port: int = 0) -> None:
        self._port = port

    @contextmanager
    def __call__(self, control: JobControl) -> Generator[None, None, None]:
        """Within the block a job has its page."""
        if not isinstance(control.program, Pipeline):
            yield
            return
        from penstock.analysis.native_code import as_dict
        from penstock.viewer.data import page_data
        from penstock.viewer.page import Page, as_model
        from penstock.viewer.server import FEED, PageServer

        model = as_model(control.program)
        page = Page(model.name, page_data(model, feed=FEED, native=as_dict(control.program))).html()
        feed = _Feed(control)
        with PageServer(lambda: page, feed.numbers, self._port) as server:
            click.echo(f'penstock: the job "{model.name}" is at {server.url}', err=True)
            try:
                yield
            except BaseException:
                feed.ended("FAILED", _LAST)
                raise
            feed.ended("FINISHED", _LAST)


class _Feed:
    """The numbers that a page asks for."""

    def __init__(self, control: JobControl) -> None:
        self._control = control
        self._asked = False
        self._over: str | None = None
        self._end = threading.Event()

    def numbers(self) -> Numbers | None:
        """The job as it is now; None while nothing is known."""
        from penstock.viewer.feed import numbers

        over, observed = self._over, self._control.observed
        self._asked = True
        current = None if observed is None else numbers(observed.metrics())
        if over is None:
            return current
        self._end.set()
        status = self._control.status
        return None if current is None else {**current, "status": status.name if status.is_terminal_state() else over}

    def ended(self, status: str, seconds: float) -> None:
        """The job has ended, with this status if nobody else knows; a page that asks within so many seconds gets it."""
        self._over = status
        if self._asked:
            self._end.wait(seconds)


def beside(first: Observer, second: Observer) -> Observer:
    """Two observers of the same jobs."""

    @contextmanager
    def both(control: JobControl) -> Generator[None, None, None]:
        around = first(control)
        with second(control), around:
            yield

    return both
