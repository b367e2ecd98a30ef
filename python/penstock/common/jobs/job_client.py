"""JobClient: a job that runs while the program goes on. Source of the names: ``pyflink.common.JobClient``."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Literal

from penstock.common import checks
from penstock.common.jobs.completable_future import CompletableFuture
from penstock.common.jobs.job import JobExecutionResult, JobID, JobStatus
from penstock.common.jobs.job_control import JobControl, Observed, SavepointWish
from penstock.common.jobs.job_executions import JobExecutions
from penstock.errors import UnsupportedError
from penstock.metrics.running import RunningMetrics


class JobClient:
    """What ``execute_async()`` returns: asks about a job, waits for it, stops or cancels it. Any thread may."""

    __slots__ = ("_control", "_result")

    def __init__(self, control: JobControl, result: Future[JobExecutionResult]) -> None:
        self._control = control
        self._result = result

    def with_errors(self, made: Callable[[BaseException], BaseException]) -> JobClient:
        """A client of the same job, whose failure is another exception.

        Args:
            made: the exception for one that the job has raised.
        """
        result: Future[JobExecutionResult] = Future()

        def pass_on(ended: Future[JobExecutionResult]) -> None:
            error = ended.exception()
            if error is None:
                result.set_result(ended.result())
            else:
                result.set_exception(made(error))

        self._result.add_done_callback(pass_on)
        return JobClient(self._control, result)

    def get_job_id(self) -> JobID:
        """Which run it is; its result has the same id."""
        return self._control.job_id

    def get_job_status(self) -> CompletableFuture[JobStatus]:
        """How far the job is now; the future is done at once."""
        return CompletableFuture.of(lambda: self._control.status)

    def cancel(self) -> CompletableFuture[None]:
        """End the job. Nothing of it is printed or published, and its result is a JobCancelledError.

        On Spark its tasks are killed. On the local executor it ends between two records, so a function that does not
        return keeps it running. Sources of your own have their ``cancel()`` called.

        Returns:
            A future that is done at once: the job ends a little later. To wait for that, ask
            ``get_job_execution_result().exception()``. A job that is cancelled twice is cancelled; the future has a
            JobExecutionError if the job has ended otherwise, or has begun to publish its outputs.
        """
        return CompletableFuture.of(self._control.cancel)

    def stop(self) -> CompletableFuture[None]:
        """End the job after the step that runs, whose results are committed: a program that would never end ends in
        order, and if it has a checkpoint directory it can go on from there. Windows that are open stay open. A bounded
        job ends as it would have ended: it is one step.

        Returns:
            A future that is done at once: the job ends a little later. To wait for that, ask
            ``get_job_execution_result()``, which gives the result of a job that has ended in order.
        """
        return CompletableFuture.of(self._control.stop)

    def metrics(self) -> RunningMetrics:
        """What is known of the job now: records per second, watermarks, state, steps, who is busy. When the job has
        ended, what was known in the end. O(operators times subtasks).

        Raises:
            UnsupportedError: the executor shows nothing of its jobs.
        """
        return self._observed().metrics()

    def execution_graph(self) -> JobExecutions:
        """The ExecutionGraph with the executions of all subtasks as they are now, and those before. O(subtasks).

        Raises:
            UnsupportedError: the executor shows nothing of its jobs.
        """
        return self._observed().executions()

    def _observed(self) -> Observed:
        if self._control.observed is None:
            raise UnsupportedError(
                "The executor of this job shows nothing of a job that runs: its prepare(pipeline, control) has not set "
                "control.observed. Use one of Penstock's executors, or wait for get_job_execution_result()."
            )
        return self._control.observed

    def get_job_execution_result(self) -> CompletableFuture[JobExecutionResult]:
        """What ``execute()`` would have returned, or raised, when the job has ended."""
        return CompletableFuture.after(self._result, lambda result: result)

    def get_accumulators(self) -> CompletableFuture[dict[str, int]]:
        """The user's counters by identifier, as of ``JobExecutionResult.get_all_accumulator_results()``. Tasks report
        theirs when they have ended, so the future is done when the job is; in Flink it has what is counted so far."""
        return CompletableFuture.after(self._result, JobExecutionResult.get_all_accumulator_results)

    def trigger_savepoint(self, savepoint_directory: str | None = None) -> CompletableFuture[str]:
        """Take a savepoint of the job, which runs on: of the state after its newest step.

        Args:
            savepoint_directory: path or URL of a folder, in which the savepoint gets one of its own; None for that of
                the setting ``state.savepoints.dir``.

        Returns:
            A future of the savepoint's folder. It has a SavepointError if none could be taken, and a JobExecutionError
            if the job ended before, or does not run in steps.
        """
        return self._asked("savepoint", savepoint_directory, "trigger_savepoint")

    def stop_with_savepoint(
        self, advance_to_end_of_event_time: bool, savepoint_directory: str | None = None
    ) -> CompletableFuture[str]:
        """End the job after the step that runs, with a savepoint from which it, or a changed program, can go on.

        Args:
            advance_to_end_of_event_time: whether the job is drained before: its sources end, all timers and windows of
                event time fire, and what comes of them is in the outputs and not in the savepoint. For a job that is
                not to go on: later records would find windows that have fired already.
            savepoint_directory: as for :meth:`trigger_savepoint`.

        Returns:
            A future of the savepoint's folder, when the job has ended. If the savepoint cannot be taken, the future has
            the error, and a job that is not drained runs on.
        """
        call = "stop_with_savepoint"
        drains = checks.boolean(advance_to_end_of_event_time, call, "advance_to_end_of_event_time")
        return self._asked("drain" if drains else "stop", savepoint_directory, call)

    def _asked(
        self, kind: Literal["savepoint", "stop", "drain"], folder: str | None, call: str
    ) -> CompletableFuture[str]:
        wish = SavepointWish(kind, None if folder is None else checks.text(folder, call, "savepoint_directory"))
        self._control.ask(wish)
        return CompletableFuture(wish.place)

    def __repr__(self) -> str:
        return f"<JobClient of {self._control.job_id}, {self._control.status.name}>"
