"""Who runs a program: executors by name, and an override for tools.

An executor has one method, ``execute(pipeline) -> JobExecutionResult``. ``spark`` is the default; ``local`` runs
bounded programs in this process.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, TypeVar

from penstock.common import JobClient, JobExecutionResult, checks
from penstock.common.collected import Collected
from penstock.common.job_control import JobControl
from penstock.common.settings import Settings
from penstock.datastream.environment import background
from penstock.datastream.program.caching import CacheTransformation, keep
from penstock.errors import ConfigurationError, UnsupportedError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from penstock.plan import Pipeline

T = TypeVar("T")
Prepare = Callable[["Pipeline", JobControl], Callable[[], JobExecutionResult]]

ENVIRONMENT_VARIABLE = "PENSTOCK_EXECUTOR"
DEFAULT = "spark"
_LEAVING = 60.0
"""Seconds that the end of a job is waited for when nobody wants its records any more."""
EXECUTORS = {"spark": "penstock.spark:SparkExecutor", "local": "penstock.local:LocalExecutor"}
"""Where the executors are; loaded by name, as Flink loads its PipelineExecutors: nothing here points at them."""

_override: ContextVar[Executor | None] = ContextVar("penstock_executor", default=None)
_imposed: ContextVar[Mapping[str, str]] = ContextVar("penstock_settings", default=MappingProxyType({}))

_watcher: ContextVar[Callable[[JobExecutionResult], None] | None] = ContextVar("penstock_watcher", default=None)

_observer: ContextVar[Callable[[JobControl], AbstractContextManager[None]] | None]
_observer = ContextVar("penstock_observer", default=None)


class Executor(Protocol):
    """Runs pipelines. One that only looks at plans says so with a true attribute ``plans_only``, and is then also given
    programs that can be planned but not run. One that can run programs in the background has a method ``prepare`` too.
    """

    def execute(self, pipeline: Pipeline) -> JobExecutionResult:
        """Run a ``penstock.plan.Pipeline`` to its end."""
        ...


class BackgroundExecutor(Executor, Protocol):
    """Runs pipelines in whichever thread wants to, and can be told to stop."""

    def prepare(self, pipeline: Pipeline, control: JobControl) -> Callable[[], JobExecutionResult]:
        """Look at a ``penstock.plan.Pipeline``, and return what runs it to its end, obeying ``control``."""
        ...


@contextmanager
def _within(variable: ContextVar[T], value: T) -> Generator[None, None, None]:
    """Within the block a variable of this context has a value."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def override(executor: Executor | str) -> AbstractContextManager[None]:
    """Within the block every program of this context goes to ``executor``, whatever it asks for itself.

    Args:
        executor: an executor or a name. ``penstock explain`` plants one that keeps the plan and runs nothing.
    """
    return _within(_override, get(executor) if isinstance(executor, str) else executor)


def impose(settings: Mapping[str, str]) -> AbstractContextManager[None]:
    """Within the block every program of this context has these settings, whatever its own configuration says.

    Args:
        settings: values by key. ``penstock run --flink`` sets ``penstock.flink``.
    """
    return _within(_imposed, settings)


def watch(take: Callable[[JobExecutionResult], None]) -> AbstractContextManager[None]:
    """Within the block the result of every job that a program of this context has run also goes to ``take``.

    Args:
        take: ``penstock run --metrics`` plants one that prints the metrics.
    """
    return _within(_watcher, take)


def observe(seen: Callable[[JobControl], AbstractContextManager[None]]) -> AbstractContextManager[None]:
    """Within the block every job that a program of this context runs is seen while it runs.

    Args:
        seen: makes what is around each run, out of its control. ``penstock run`` plants the live view.
    """
    return _within(_observer, seen)


def run(executor: Executor, pipeline: Pipeline, caches: Sequence[CacheTransformation]) -> JobExecutionResult:
    """Execute a pipeline, keep the cached streams that it computes, and tell whoever watches."""
    prepare = _prepare_of(executor)
    if _observer.get() is None or prepare is None:
        return _told(keep(caches, executor.execute(pipeline)))
    control = JobControl(pipeline.name, pipeline)
    job = prepare(pipeline, control)
    with _seen(control):
        return _told(keep(caches, job()))


def _prepare_of(executor: Executor) -> Prepare | None:
    return getattr(executor, "prepare", None)


def _seen(control: JobControl) -> AbstractContextManager[None]:
    seen = _observer.get()
    return nullcontext() if seen is None else seen(control)


def run_async(executor: Executor, pipeline: Pipeline, caches: Sequence[CacheTransformation]) -> JobClient:
    """:func:`run` in the background.

    Raises:
        UnsupportedError: the executor, an object of the user's, can only run a job to its end.
        PenstockError: the program cannot run.
    """
    prepare = _prepare_of(executor)
    if prepare is None:
        raise UnsupportedError(
            f"execute_async() needs an executor with prepare(pipeline, control), and {checks.shown(executor)} has "
            f"none. Use execute(), or one of the executors {', '.join(EXECUTORS)}."
        )
    return _started(prepare, JobControl(pipeline.name, pipeline), pipeline, caches)[0]


def follow(executor: Executor, pipeline: Pipeline, caches: Sequence[CacheTransformation], sink_id: str) -> Collected:
    """:func:`run_async` of a program without an end, and the records of a collecting sink as its steps are committed.

    Args:
        executor, pipeline, caches: as for :func:`run_async`.
        sink_id: of the sink.

    Raises:
        UnsupportedError, PenstockError: as for :func:`run_async`.
    """
    prepare = _prepare_of(executor)
    if prepare is None:
        raise UnsupportedError(
            f"execute_and_collect() of a program without an end needs an executor with prepare(pipeline, control), and "
            f"{checks.shown(executor)} has none. Use one of the executors {', '.join(EXECUTORS)}."
        )
    control = JobControl(pipeline.name, pipeline)

    def leave() -> None:
        """Cancel the job, and see it end: its job folder is free then, and may go."""
        control.cancel()
        wait([result], timeout=_LEAVING)

    control.takers[sink_id] = records = Collected(leave)
    _, result = _started(prepare, control, pipeline, caches)
    result.add_done_callback(lambda ended: records.end(ended.exception()))
    return records


def _started(
    prepare: Prepare, control: JobControl, pipeline: Pipeline, caches: Sequence[CacheTransformation]
) -> tuple[JobClient, Future[JobExecutionResult]]:
    job = prepare(pipeline, control)

    def body() -> JobExecutionResult:
        with _seen(control):
            return _told(keep(caches, job()))

    return background.start(body, control, pipeline.name)


def frame(executor: Executor, pipeline: Pipeline) -> DataFrame:
    """The records of a pipeline's only sink as a DataFrame of Spark.

    Raises:
        UnsupportedError: the executor is not Spark's.
        PenstockError: the program cannot run.
    """
    to_frame: Callable[[Pipeline], DataFrame] | None = getattr(executor, "to_frame", None)
    if to_frame is None:
        raise UnsupportedError(
            f"to_spark() makes a DataFrame whose rows tasks on Spark compute, and {checks.shown(executor)} runs "
            "none. Run the program on Spark, or take the records by execute_and_collect()."
        )
    return to_frame(pipeline)


def _told(result: JobExecutionResult) -> JobExecutionResult:
    take = _watcher.get()
    if take is not None:
        take(result)
    return result


def imposed_settings() -> Mapping[str, str]:
    """The settings that a tool imposes here."""
    return _imposed.get()


def get(
    name: str, *, spark: SparkSession | None = None, master: str | None = None, config: dict[str, str] | None = None
) -> Executor:
    """An executor by name.

    Args:
        name: ``spark`` or ``local``.
        spark: an existing SparkSession to run in, which is not reconfigured.
        master: Spark master URL, such as ``local[4]``.
        config: settings of Spark beside those of the program, for tools.

    Raises:
        ConfigurationError: an unknown name, or Spark options for the local executor.
    """
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
    wanted: Executor | str | None, settings: Settings, spark: SparkSession | None, master: str | None
) -> Executor:
    """The executor of an environment: an override, what the program asked for, its settings, the process's environment,
    Spark."""
    planted = _override.get()
    if planted is not None:
        return planted
    if wanted is None:
        wanted = settings.executor or os.environ.get(ENVIRONMENT_VARIABLE) or DEFAULT
    if isinstance(wanted, str):
        return get(wanted, spark=spark, master=master)
    if isinstance(wanted, type) or not callable(getattr(wanted, "execute", None)):
        raise ConfigurationError(
            f"The executor is {checks.shown(wanted)}; it is a name or an object with execute(pipeline). "
            f"Give one of {', '.join(EXECUTORS)}, or such an object."
        )
    return wanted
