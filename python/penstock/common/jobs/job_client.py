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
from penstock.metrics.running_job import RunningMetrics


class JobClient:
    """A handle on a job, from ``execute_async()``: asks about it, waits for it, stops or cancels it. Any thread may."""

    __slots__ = ("_control", "_result")

    def __init__(self, control: JobControl, result: Future[JobExecutionResult]) -> None:
        self._control = control
        self._result = result

    def with_errors(self, convert: Callable[[BaseException], BaseException]) -> JobClient:
        """A client of the same job, which fails with the exception that ``convert`` makes of the job's."""
        result: Future[JobExecutionResult] = Future()

        def pass_on(ended: Future[JobExecutionResult]) -> None:
            error = ended.exception()
            if error is None:
                result.set_result(ended.result())
            else:
                result.set_exception(convert(error))

        self._result.add_done_callback(pass_on)
        return JobClient(self._control, result)

    def get_job_id(self) -> JobID:
        """Which run it is; its result has the same id."""
        return self._control.job_id

    def get_job_status(self) -> CompletableFuture[JobStatus]:
        """How far the job is now; the future is done at once."""
        return CompletableFuture.of(lambda: self._control.status)

    def cancel(self) -> CompletableFuture[None]:
        """End the job: nothing of it is printed or published, and its result is a JobCancelledError. The future is done
        at once; to wait for the end, ask ``get_job_execution_result().exception()``. It has a JobExecutionError if the
        job has ended otherwise, or has begun to publish its outputs.

        On Spark its tasks are killed. On the local executor it ends between two records, so a function that does not
        return keeps it running. Sources of your own have their ``cancel()`` called.
        """
        return CompletableFuture.of(self._control.cancel)

    def stop(self) -> CompletableFuture[None]:
        """End the job after the running step, which is committed; from a checkpoint directory it can go on. Open
        windows stay open. The future is done at once; to wait for the end, ask ``get_job_execution_result()``."""
        return CompletableFuture.of(self._control.stop)

    def metrics(self) -> RunningMetrics:
        """What is known of the job now: records per second, watermarks, state, steps, who is busy; after its end, the
        last of it. UnsupportedError if the executor shows nothing. O(operators times subtasks)."""
        return self._observed().metrics()

    def execution_graph(self) -> JobExecutions:
        """The ExecutionGraph with the present and former executions of all subtasks. UnsupportedError if the executor
        shows nothing. O(subtasks)."""
        return self._observed().executions()

    def _observed(self) -> Observed:
        if self._control.observed is None:
            raise UnsupportedError(
                "The executor of this job shows nothing of a job that runs: its prepare(pipeline, control) has not set "
                "control.observed. Use one of Penstock's executors, or wait for get_job_execution_result()."
            )
        return self._control.observed

    def get_job_execution_result(self) -> CompletableFuture[JobExecutionResult]:
        """The result or error of ``execute()``, when the job has ended."""
        return CompletableFuture.after(self._result, lambda result: result)

    def get_accumulators(self) -> CompletableFuture[dict[str, int]]:
        """The user's counters by identifier, when the job has ended; in Flink it has what is counted so far."""
        return CompletableFuture.after(self._result, JobExecutionResult.get_all_accumulator_results)

    def trigger_savepoint(self, savepoint_directory: str | None = None) -> CompletableFuture[str]:
        """Take a savepoint of the state after the newest step; the job runs on.

        Args:
            savepoint_directory: path or URL of the folder for the savepoint's own; None for ``state.savepoints.dir``.

        Returns:
            A future of the savepoint's folder, of a SavepointError, or of a JobExecutionError if the job keeps no
                state.
        """
        return self._asked("savepoint", savepoint_directory, "trigger_savepoint")

    def stop_with_savepoint(
        self, advance_to_end_of_event_time: bool, savepoint_directory: str | None = None
    ) -> CompletableFuture[str]:
        """End the job after the running step, with a savepoint from which it, or a changed program, can go on.

        Args:
            advance_to_end_of_event_time: whether the job is drained before: its sources end, and all timers and windows
                of event time fire into the outputs. Only for a job that is not to go on.
            savepoint_directory: as for :meth:`trigger_savepoint`.

        Returns:
            A future of the savepoint's folder, when the job has ended; of an error if the savepoint failed: then a job
                that is not drained runs on.
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
