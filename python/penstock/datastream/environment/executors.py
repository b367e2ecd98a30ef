"""Chooses executors, runs jobs on them, also in background threads, and lets tools override settings and watch."""

from __future__ import annotations

import importlib
import logging
import os
import threading
import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, TypeVar

from penstock.common import JobClient, JobExecutionResult, JobStatus, checks
from penstock.common.jobs.collected import Collected
from penstock.common.jobs.job_control import JobControl
from penstock.common.settings.settings import Settings
from penstock.datastream.program.cached_streams import CacheTransformation, keep
from penstock.errors import ConfigurationError, JobCancelledError, UnsupportedError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from penstock.datastream.program.program import Program
    from penstock.plan import Pipeline

_LOG = logging.getLogger("penstock")

T = TypeVar("T")
Job = Callable[[], JobExecutionResult]

ENVIRONMENT_VARIABLE = "PENSTOCK_EXECUTOR"
DEFAULT = "spark"
_LEAVING = 60.0
"""Seconds to wait for the end of a job whose records are not read any more."""
EXECUTORS = {"spark": "penstock.spark:SparkExecutor", "local": "penstock.local:LocalExecutor"}
"""The executors, loaded by name, as Flink loads its PipelineExecutors: nothing here imports them."""

_override: ContextVar[Executor | None] = ContextVar("penstock_executor", default=None)
_imposed: ContextVar[Mapping[str, str]] = ContextVar("penstock_settings", default=MappingProxyType({}))

_watcher: ContextVar[Callable[[JobExecutionResult], None] | None] = ContextVar("penstock_watcher", default=None)

_observer: ContextVar[Callable[[JobControl], AbstractContextManager[None]] | None]
_observer = ContextVar("penstock_observer", default=None)


@dataclass
class Counts:
    """The environments a program has created, and the number of jobs it has asked for, also refused or failed ones."""

    environments: list[Program] = field(default_factory=list["Program"])
    jobs: int = 0


_counts: Counts | None = None
"""The counts of the current :func:`count`. Not a context variable, as a program may run its jobs in threads."""


class Executor(Protocol):
    """Runs pipelines. One that only looks at plans has a true attribute ``plans_only``, and also gets programs that
    cannot run. One that can run programs in the background has a method ``prepare``."""

    def execute(self, pipeline: Pipeline) -> JobExecutionResult:
        """Run a ``penstock.plan.Pipeline`` to its end."""
        ...


@contextmanager
def _within(variable: ContextVar[T], value: T) -> Generator[None, None, None]:
    """Set a context variable within the block."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def override(executor: Executor | str) -> AbstractContextManager[None]:
    """Within the block, run every program of this context on ``executor``, whatever it asks for."""
    return _within(_override, get(executor) if isinstance(executor, str) else executor)


def impose(settings: Mapping[str, str]) -> AbstractContextManager[None]:
    """Within the block, give every program of this context these settings, whatever its configuration says."""
    return _within(_imposed, settings)


def watch(take: Callable[[JobExecutionResult], None]) -> AbstractContextManager[None]:
    """Within the block, also pass the result of every job of this context to ``take``."""
    return _within(_watcher, take)


def observe(seen: Callable[[JobControl], AbstractContextManager[None]]) -> AbstractContextManager[None]:
    """Within the block, enter the context manager ``seen(control)`` around each job of this context."""
    return _within(_observer, seen)


@contextmanager
def count() -> Generator[Counts, None, None]:
    """Within the block, count environments and jobs of this process, in all threads."""
    global _counts
    before, _counts = _counts, Counts()
    try:
        yield _counts
    finally:
        _counts = before


def environment_made(environment: Program) -> None:
    """Count a new environment."""
    if _counts is not None:
        _counts.environments.append(environment)


def run(executor: Executor, pipeline: Pipeline, caches: Sequence[CacheTransformation]) -> JobExecutionResult:
    """Execute a pipeline, keep the cached streams that it computes, and pass the result to the watcher."""
    _warn_of_no_folder(executor, pipeline)
    if _observer.get() is None or not hasattr(executor, "prepare"):
        return _watched(keep(caches, executor.execute(pipeline)))
    control = JobControl(pipeline.name, pipeline)
    return _finished(_prepared(executor, "execute()", pipeline, control), control, caches)


def _warn_of_no_folder(executor: Executor, pipeline: Pipeline) -> None:
    """Warn if an unbounded program has checkpoints enabled but no directory: when restarted it begins from nothing."""
    settings = pipeline.settings
    if getattr(executor, "plans_only", False):
        return
    if settings.checkpoint_interval is not None and settings.checkpoint_directory is None and pipeline.unbounded:
        warnings.warn(
            f"The job {pipeline.name!r} never ends and has checkpoints enabled, but no checkpoint directory: "
            "after a restart it begins from nothing. Use `penstock run --checkpoint-directory`, or set "
            f"{settings.checkpoint_key} in the configuration. See docs/streaming.md.",
            stacklevel=2,
        )


def _prepared(executor: Executor, call: str, pipeline: Pipeline, control: JobControl) -> Job:
    prepare: Callable[[Pipeline, JobControl], Job] | None = getattr(executor, "prepare", None)
    if prepare is None:
        raise UnsupportedError(
            f"{call} needs an executor with prepare(pipeline, control), and {checks.shown(executor)} has none. Use "
            f"execute(), or one of the executors {', '.join(EXECUTORS)}."
        )
    return prepare(pipeline, control)


def _finished(job: Job, control: JobControl, caches: Sequence[CacheTransformation]) -> JobExecutionResult:
    observer = _observer.get()
    with nullcontext() if observer is None else observer(control):
        result = keep(caches, job())
    return _watched(result)  # the view has ended, so that the watcher's output stays on the screen


def _watched(result: JobExecutionResult) -> JobExecutionResult:
    take = _watcher.get()
    if take is not None:
        take(result)
    return result


def run_async(executor: Executor, pipeline: Pipeline, caches: Sequence[CacheTransformation]) -> JobClient:
    """:func:`run` in the background. Refuses an executor without ``prepare``, which can only run jobs to their end."""
    control = JobControl(pipeline.name, pipeline)
    _warn_of_no_folder(executor, pipeline)
    job = _prepared(executor, "execute_async()", pipeline, control)
    return JobClient(control, _started(job, pipeline.name, control, caches))


def follow(executor: Executor, pipeline: Pipeline, caches: Sequence[CacheTransformation], sink_id: str) -> Collected:
    """:func:`run_async` of an unbounded program, with the records of a collecting sink as its steps are committed."""
    control = JobControl(pipeline.name, pipeline)

    def leave() -> None:
        """Cancel the job and wait for its end, when its checkpoint directory is free and may be removed."""
        control.cancel()
        wait([result], timeout=_LEAVING)

    control.takers[sink_id] = records = Collected(leave)
    call = "execute_and_collect() of a program without an end"
    result = _started(_prepared(executor, call, pipeline, control), pipeline.name, control, caches)
    result.add_done_callback(lambda ended: records.end(ended.exception()))
    return records


def _started(
    job: Job, name: str, control: JobControl, caches: Sequence[CacheTransformation]
) -> Future[JobExecutionResult]:
    """Run a job in a thread of its own. The process does not end before the job does."""
    result: Future[JobExecutionResult] = Future()

    def body() -> None:
        try:
            value = _finished(job, control, caches)
        except JobCancelledError as error:
            control.enter(JobStatus.CANCELED)
            result.set_exception(error)
        except BaseException as error:
            control.enter(JobStatus.FAILED)
            _LOG.error("The job %r, which runs in the background, has failed: %s", name, error)
            result.set_exception(error)
        else:
            control.enter(JobStatus.FINISHED)
            result.set_result(value)

    threading.Thread(target=copy_context().run, args=(body,), name=f"penstock-job-{control.job_id}").start()
    return result


def frame(executor: Executor, pipeline: Pipeline) -> DataFrame:
    """The records of a pipeline's only sink as a Spark DataFrame."""
    to_frame: Callable[[Pipeline], DataFrame] | None = getattr(executor, "to_frame", None)
    if to_frame is None:
        raise UnsupportedError(
            f"to_spark() makes a DataFrame whose rows tasks on Spark compute, and {checks.shown(executor)} runs "
            "none. Run the program on Spark, or take the records by execute_and_collect()."
        )
    return to_frame(pipeline)


def imposed_settings() -> Mapping[str, str]:
    """The settings that a tool imposes here."""
    return _imposed.get()


def get(
    name: str, *, spark: SparkSession | None = None, master: str | None = None, config: dict[str, str] | None = None
) -> Executor:
    """An executor by name."""
    if name not in EXECUTORS:
        raise ConfigurationError(f"There is no executor {name!r}. Give one of {', '.join(EXECUTORS)}.")
    module, _, attribute = EXECUTORS[name].partition(":")
    executor = getattr(importlib.import_module(module), attribute)
    if name == "spark":
        return executor(spark=spark, master=master, config=config or {})
    if spark is not None or master is not None:
        raise ConfigurationError(
            "The local executor uses no Spark, but a Spark session or master was given. Drop one of the two."
        )
    return executor()


def choose(
    executor: Executor | str | None, settings: Settings, spark: SparkSession | None, master: str | None
) -> Executor:
    """The executor of an environment: an override, the program's choice, its settings, the environment variable, Spark.
    It also counts a job, as each job asks here."""
    if _counts is not None:
        _counts.jobs += 1
    override = _override.get()
    if override is not None:
        return override
    if executor is None:
        executor = settings.executor or os.environ.get(ENVIRONMENT_VARIABLE) or DEFAULT
    if isinstance(executor, str):
        return get(executor, spark=spark, master=master)
    if isinstance(executor, type) or not callable(getattr(executor, "execute", None)):
        raise ConfigurationError(
            f"The executor is {checks.shown(executor)}; it must be a name or an object with execute(pipeline). "
            f"Give one of {', '.join(EXECUTORS)}, or such an object."
        )
    return executor
