"""The executor ``spark``: opens a session, ships the program, and runs its steps as Spark jobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from penstock.common.extras import pyspark
from penstock.common.jobs.job import JobExecutionResult
from penstock.common.jobs.job_control import JobControl
from penstock.common.settings.settings import sparks
from penstock.errors import ConfigurationError, UnsupportedError
from penstock.job.deployment import Deployment, runs_in_steps
from penstock.job.run import JobRun, deploy_restored
from penstock.job.steps.loop import StepLoop
from penstock.runtime.config.tasks import TaskReport
from penstock.spark.frames import spark_schema, write_step
from penstock.spark.job_sessions import JobSession
from penstock.spark.session import (
    DEFAULT_MASTER,
    check_python,
    check_runs,
    check_settings,
    is_connect,
    job_session,
    open_session,
    session_of,
)
from penstock.spark.shipped_code import Worker, check_places, equip, ship
from penstock.spark.spark_job import context_of
from penstock.spark.steps import SparkOneStep, SparkSteps
from penstock.spark.streams import FramePlans

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.plan import Pipeline


def offered(session: Any) -> int:
    """Tasks that can run at the same time now, by the cores of all executors, or as ``spark.default.parallelism`` says.
    A call of Spark, about a millisecond. Refused over Spark Connect."""
    spark = context_of(session)
    if spark is None:
        raise UnsupportedError(
            "scheduler-mode is reactive (--reactive), and Spark Connect does not report the number of cores. Set the "
            "parallelism, by parallelism.default or --parallelism, or run the program in a session of its own."
        )
    return max(1, spark.defaultParallelism // int(spark.getConf().get("spark.task.cpus", "1")))


class SparkExecutor:
    """Executes pipelines on Spark.

    Args:
        spark: a SparkSession to run in, which is not changed. None uses the process's own, started if need be.
        master: Spark master URL for a session of our own (default: ``local[*,4]``).
        config: settings of the jobs; those that begin with ``spark.`` count. In a session that already runs
            they must be settings that one job can have.
        progress: show a progress line on standard error; None: when that is a terminal.

    Raises:
        ConfigurationError: both a session and a master.
    """

    def __init__(
        self,
        spark: SparkSession | None = None,
        master: str | None = None,
        config: Mapping[str, str] | None = None,
        *,
        progress: bool | None = None,
    ) -> None:
        if spark is not None and master is not None:
            raise ConfigurationError(
                f"A SparkSession and the master {master!r} were given; a session has its master already. Drop one."
            )
        self._spark = spark
        self._master = master
        self._config = sparks(config or {})
        self._progress = progress
        self.reports: tuple[TaskReport, ...] = ()
        """Of the subtasks of the last job."""

    def __repr__(self) -> str:
        where = repr(self._master or DEFAULT_MASTER) if self._spark is None else "in a session that was given"
        return f"SparkExecutor({where})"

    def execute(self, pipeline: Pipeline) -> JobExecutionResult:
        """Run a program to its end.

        Raises:
            JobExecutionError: user code failed; its exception is the cause. Nothing was printed or published.
            ConfigurationError: Spark cannot run like this.
            PenstockError: the program cannot run.
        """
        return self.prepare(pipeline, JobControl(pipeline.name))()

    def prepare(self, pipeline: Pipeline, control: JobControl) -> Callable[[], JobExecutionResult]:
        """Check a program, before Spark starts, and return what runs it to its end, in any thread; ``control`` can
        cancel the run."""
        job = JobRun(pipeline, control)
        _check_pyspark(pipeline)
        deployment = job.deployment

        def run() -> JobExecutionResult:
            job.progress.waiting("Spark to start")
            opened = partial(self._sessions_of, deployment)
            with JobSession(opened, partial(_equipped, deployment=deployment, control=control)) as session:
                job.progress.waiting("Spark to plan the job")
                result = job.go(partial(self._loop, session, job), session.equip, lambda: offered(session.get()))
            self.reports = job.reports
            return result

        return run

    def _loop(self, session: JobSession, job: JobRun) -> StepLoop:
        options = job.deployment.job.settings.storage_options

        def write(*step: Any) -> None:
            write_step(session.get() if is_connect(session.base) else session.base, options, *step)

        if not job.deployment.steps:
            control, seen = job.control, job.progress
            once = partial(SparkOneStep, session, control=control, seen=seen, line=self._progress)
            return StepLoop(job.deployment, control, once, seen, write)
        frames = FramePlans(job.deployment, session)
        steps = partial(SparkSteps, session, control=job.control, seen=job.progress, line=self._progress, frames=frames)
        return StepLoop(job.deployment, job.control, steps, job.progress, write, frames.plan)

    def to_frame(self, pipeline: Pipeline) -> Any:
        """The records of a program's only sink, a table, as a DataFrame, which runs the program when it is computed.

        Raises:
            PenstockError: the program cannot run.
        """
        from penstock.spark.lowering import lower

        _refuse_steps(pipeline)
        _check_pyspark(pipeline)
        deployment = deploy_restored(pipeline)
        control, opened = JobControl(pipeline.name), partial(self._sessions_of, deployment)
        with JobSession(opened, partial(_equipped, deployment=deployment, control=control)) as session:
            base = session.base  # the other one was opened to look at the settings
            _equipped(base, base, deployment, control)
            (table,) = deployment.tables
            return lower(base, deployment, table)

    def _sessions_of(self, deployment: Deployment) -> tuple[Any, Any]:
        """The user's session, which is the one that was given, that of the DataFrames which the program reads, or ours;
        and the job's, a child of it with the settings of the first DataFrame's. Over Connect tables are written in the
        job's, so it is a clone of the user's then."""
        frames = list(deployment.frames.values())
        settings = {**deployment.job.settings.spark, **self._config}
        python = deployment.job.settings.python_executable
        base = session_of(frames, self._spark)
        if base is not None:
            check_runs(base)
        if self._spark is None and (base is None or not is_connect(base)):
            opened = open_session(self._master, settings, python)  # looks at what is asked for if it runs already
            base = opened if base is None else base
        else:
            check_settings(base, settings)
            check_python(base, python)
        like = base if deployment.tables and is_connect(base) else None
        return base, job_session(base, settings, like=next((frame.sparkSession for frame in frames), like))


def _equipped(session: Any, base: Any, deployment: Deployment, control: JobControl) -> frozenset[Worker]:
    """Have the tasks of a session find what they need: this package, the program's files, those that it reads. Returns
    the workers that were asked."""
    for table in deployment.tables:
        spark_schema(table)  # refused now, and not when it is to be written
    workers = equip(session, base, control)
    check_places(session, deployment, workers)
    ship(session, deployment.archive)
    return workers


def _check_pyspark(pipeline: Pipeline) -> None:
    """Refuse to run a program without PySpark, before anything of it is seen or runs in the background."""
    pyspark(f"The job {pipeline.name!r} is to run on Spark")


def _refuse_steps(pipeline: Pipeline) -> None:
    if pipeline.unbounded:
        raise UnsupportedError(
            f"to_spark() makes a DataFrame that ends, and the source {pipeline.unbounded[0]!r} never does. Write the "
            "stream step by step, sink_to(SparkSink(…)), and read what has been written; or give a source that ends."
        )
    if pipeline.iterates:
        raise UnsupportedError(
            "to_spark() makes a DataFrame, in which no record can be led back, and the program has an iteration, "
            "iterate(). Write its records, sink_to(SparkSink(…)), or unroll the loop."
        )
    if runs_in_steps(pipeline):
        raise UnsupportedError(
            "to_spark() makes a DataFrame that runs whenever it is computed, and the program runs in steps, each once. "
            "Leave execution.checkpointing.dir out of a program that is to become a DataFrame."
        )
    if pipeline.settings.restart.restarts:
        raise UnsupportedError(
            "A restart strategy has no effect on a DataFrame: it runs whenever it is computed. Leave "
            "set_restart_strategy(), or the setting restart-strategy, out of a program that is to become one."
        )
