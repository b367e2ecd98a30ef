"""JobControl: what who has started a job and who runs it share."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Literal, Protocol

from penstock.common.jobs.collected import Collected
from penstock.common.jobs.job import JobID, JobStatus
from penstock.common.jobs.job_executions import JobExecutions
from penstock.errors import JobCancelledError, JobExecutionError
from penstock.metrics.running_job import RunningMetrics

_NOT_CANCELLED = "org.apache.flink.runtime.messages.FlinkJobTerminatedWithoutCancellationException"


class Observed(Protocol):
    """What is seen of a job while it runs."""

    def metrics(self) -> RunningMetrics: ...  # operators, chains, steps, as they are now

    def executions(self) -> JobExecutions: ...  # the execution graph with its attempts, as they are now


@dataclass(frozen=True, eq=False)
class SavepointWish:
    """A savepoint that somebody wants of a job that runs."""

    # ``savepoint``: the job runs on; ``stop``: it ends with it; ``drain``: sources and event time end before
    kind: Literal["savepoint", "stop", "drain"]
    folder: str | None = None  # in which the savepoint gets a folder of its own; None for the one of the settings
    version: int | None = None  # of the checkpoint directory; None for the newest
    taken: bool = True  # whether a savepoint is to be taken at all, for one who only wants the job to end
    early: bool = False  # whether its place is told when it is there, not when the job has ended
    # whether it refers to the state in the checkpoint directory; None for what the settings say
    reference: bool | None = None
    place: Future[str] = field(default_factory=Future[str])  # gets where it is, or what went wrong


class JobControl:
    """One run of a job: its status, what is seen of it, and wishes to stop or cancel it, which the executor obeys."""

    def __init__(self, job_name: str, program: object | None = None) -> None:
        self.job_id: JobID = JobID()  # of the run
        self.program = program  # as given
        self._job_name = job_name
        self._status = JobStatus.CREATED
        self._lock = threading.Lock()
        self.observed: Observed | None = None  # what is seen of it while it runs; None if its executor shows nothing
        # who takes the records of collecting sinks, by their ids, as they come; others wait for the job's end
        self.takers: dict[str, Collected] = {}
        self.keeps_state = True  # whether savepoints can be taken of it
        self.shown = False  # whether somebody shows the user how far the job is, so that nobody else has to
        self._wish = threading.Event()
        self._stop = threading.Event()
        self._awake = threading.Event()
        self._ending = threading.Event()  # it is to be cancelled, or stopped
        self._sealed = False
        self._act: Callable[[], None] | None = None
        self._wishes: list[SavepointWish] = []
        self._taken: list[tuple[SavepointWish, str]] = []

    @property
    def status(self) -> JobStatus:
        """How far the job is."""
        return self._status

    def enter(self, status: JobStatus) -> None:
        """Say how far the job is. One that is to be cancelled stays CANCELLING until it has ended."""
        with self._lock:
            if self._status is not JobStatus.CANCELLING or status.is_terminal_state():
                self._status = status
        if status.is_terminal_state():
            self._end_wishes()

    def ask(self, wish: SavepointWish) -> None:
        """Wish for a savepoint. Returns at once; the future of the wish says what has become of it."""
        wish.place.set_running_or_notify_cancel()  # so that nobody cancels it
        with self._lock:
            over = self._status.is_terminal_state() or not self.keeps_state
            if not over:
                self._wishes.append(wish)
                self._awake.set()
        if over:
            wish.place.set_exception(self._no_savepoint())

    def asked(self) -> list[SavepointWish]:
        """The wishes since the last call; whoever runs the job sees to them."""
        with self._lock:
            wishes, self._wishes = self._wishes, []
            if not (self._stop.is_set() or self._wish.is_set()):
                self._awake.clear()
            return wishes

    def taken(self, wish: SavepointWish, place: str) -> None:
        """A wish has come true; its place is known now, or when the job has ended."""
        if wish.kind == "savepoint" or wish.early:
            wish.place.set_result(place)
        else:
            self._taken.append((wish, place))

    def _end_wishes(self) -> None:
        for wish in self.asked():
            wish.place.set_exception(self._no_savepoint())
        while self._taken:
            wish, place = self._taken.pop()
            wish.place.set_result(place)

    def _no_savepoint(self) -> JobExecutionError:
        why = f"it is {self._status.name}. Ask while it runs, or use a version in its checkpoint directory."
        if not self.keeps_state:
            why = (
                "it is one step, and its tasks keep no state. Set state.savepoints.dir or execution.checkpointing.dir "
                "before it starts, and STREAMING mode."
            )
        return JobExecutionError(f"No savepoint was taken of the job {self._job_name!r}: {why}")

    def cancel(self) -> None:
        """Wish the job to end. Returns at once; a job that ends so is CANCELED a little later."""
        with self._lock:
            if self._wish.is_set():
                return
            if self._sealed or self._status.is_terminal_state():
                error = JobExecutionError(
                    f"The job {self._job_name!r} is {self._status.name} and cannot be cancelled any more. Ask "
                    "get_job_status() before, if that may be."
                )
                error.flink_class = _NOT_CANCELLED
                raise error
            self._wish.set()
            self._ending.set()
            self._awake.set()
            self._status = JobStatus.CANCELLING
            act = self._act
        if act is not None:
            act()

    def stop(self) -> None:
        """Wish the job to end after the running step, which is committed. Returns at once."""
        with self._lock:
            self._stop.set()
            self._ending.set()
            self._awake.set()

    @property
    def stopping(self) -> bool:
        """Whether the job is to end after the step that runs."""
        return self._stop.is_set()

    def rest(self, seconds: float) -> None:
        """Wait so long between two steps, or until the job is to stop, or to be cancelled, which is checked."""
        self._awake.wait(seconds)
        self.check()

    def check(self) -> None:
        """End the job here if it is to be cancelled."""
        if self._wish.is_set():
            raise JobCancelledError(f"The job {self._job_name!r} was cancelled. Nothing was printed or published.")

    def pause(self, milliseconds: int) -> None:
        """Wait so long, or until the job is to stop, or to be cancelled, which is checked."""
        self._ending.wait(milliseconds / 1000)
        self.check()

    def seal(self) -> None:
        """From here on the job cannot be cancelled: it has succeeded, and what it has made becomes visible."""
        with self._lock:
            self.check()
            self._sealed = True

    @contextlib.contextmanager
    def on_cancel(self, act: Callable[[], None]) -> Generator[None, None, None]:
        """Within the block, a wish to cancel the job also calls ``act``, in the thread of who wishes."""
        with self._lock:
            self.check()
            self._act = act
        try:
            yield
        finally:
            with self._lock:
                self._act = None
