"""StreamExecutionEnvironment: where a program begins and is run. Source of names and refusals: Flink 1.11."""
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from penstock.common import Configuration, JobClient, JobExecutionResult, checks
from penstock.common.settings.settings import Settings
from penstock.datastream.environment import executors
from penstock.datastream.program import missing_methods, plan_only
from penstock.datastream.program.cached_streams import CacheTransformation
from penstock.datastream.program.call_site import Sites
from penstock.datastream.program.setting_warnings import warn_of
from penstock.datastream.program.translation import Translation, translate
from penstock.datastream.streams.data_stream import DataStream
from penstock.datastream.streams.sources import ProgramWithSources

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from typing_extensions import Self

    from penstock.datastream.environment.executors import Executor
    from penstock.datastream.program.transformations import Transformation
    from penstock.plan import Pipeline, StreamGraph
    from penstock.plan.pipeline import Format, Level


class StreamExecutionEnvironment(missing_methods.Advised, ProgramWithSources):
    """One program at a time: its sources, settings, execution. Create it with :meth:`get_execution_environment`."""

    def __init__(
        self,
        configuration: Configuration | None = None,
        spark: SparkSession | None = None,
        master: str | None = None,
        executor: Executor | str | None = None,
    ) -> None:
        if not isinstance(configuration, Configuration):
            checks.refuse(
                "StreamExecutionEnvironment() was called directly. Call "
                "StreamExecutionEnvironment.get_execution_environment() instead."
            )
        imposed = executors.imposed_settings()
        super().__init__(Settings.of(configuration.to_dict(), imposed, configuration.parsed))
        self._spark = spark
        self._master = master
        self._executor = executor
        executors.environment_made(self)

    @classmethod
    def get_execution_environment(
        cls,
        configuration: Configuration | None = None,
        *,
        spark: SparkSession | None = None,
        master: str | None = None,
        executor: Executor | str | None = None,
    ) -> Self:
        """A new environment.

        Args:
            configuration: settings, of Flink, of Spark (``spark.*``) and our own; docs/settings.md lists them. Those
                without effect are named in a warning.
            spark: an existing SparkSession to run in; it is not reconfigured.
            master: Spark master URL; ``local[*,4]`` when neither this, ``spark.master`` nor ``spark`` is given.
            executor: ``"spark"`` (default), ``"local"`` (this process, no Spark), or an executor object. Without it
                ``penstock.executor`` of the configuration counts, then the environment variable PENSTOCK_EXECUTOR.
        """
        if configuration is not None and not isinstance(configuration, Configuration):
            text = "a dict" if isinstance(configuration, dict) else checks.shown(configuration)  # it may have secrets
            checks.refuse(
                f"get_execution_environment() was given {text}, which is not a Configuration. "
                "Give Configuration.from_dict({'parallelism.default': '2'}), say; executor='local' is an "
                "argument of its own."
            )
        configuration = Configuration(configuration)
        environment = cls(configuration, spark, master, executor)
        warn_of(configuration, environment.settings, stacklevel=3)
        return environment

    @classmethod
    def _missing(cls, name: str) -> AttributeError:
        hint = f"Streams have it: env.from_collection([…]).{name}(…)." if hasattr(DataStream, name) else ""
        return missing_methods.missing(cls, name, missing_methods.ENVIRONMENT, hint=hint)

    def _translate(self, job_name: str | None) -> tuple[str, Translation]:
        name = checks.name(self.settings.name if job_name is None else job_name, "execute", "job name")
        return name, translate(self, name)

    def get_stream_graph(self, job_name: str | None = None) -> StreamGraph:
        """The StreamGraph of the program so far; the program can go on afterwards."""
        return self._translate(job_name)[1].stream_graph

    def get_execution_plan(self) -> str:
        """The program so far as the JSON text that Flink's plan visualizer reads."""
        return self.get_stream_graph().streaming_plan_json()

    def explain(self, format: Format = "terminal", level: Level | None = None) -> str:
        """The plan of the program so far as a text, with every operator ID and why edges are not chained, in a format
        and at a level of :meth:`penstock.plan.Pipeline.explain`; the program can go on afterwards.

        Raises:
            PlanError: the planner refuses the program, and the format is one of Flink's.
        """
        return self.to_pipeline().explain(format, level)

    def to_pipeline(self, job_name: str | None = None) -> Pipeline:
        """The program so far as a job that nobody runs; the program can go on afterwards."""
        return self._planned(*self._translate(job_name))

    def view(self) -> Any:
        """The plan of the program so far as a :class:`penstock.viewer.Page`, which shows itself in a notebook;
        ``.save("plan.html")`` writes it. The program can go on afterwards."""
        return import_module("penstock.viewer").view(self.to_pipeline())  # by name, as it depends on the plan

    def _job(self, job_name: str | None) -> tuple[Executor, Pipeline, list[CacheTransformation]]:
        """The program as a job, what runs it, and the cached streams that it computes."""
        executor = executors.choose(self._executor, self.settings, self._spark, self._master)
        name, translation = self._translate(job_name)
        if not getattr(executor, "plans_only", False):
            plan_only.refuse_to_run(translation.operators, translation.names)
        program = copy.copy(self)
        self.transformations: list[Transformation] = []

        def planned_at(offered: Callable[[int], int]) -> Pipeline:
            return program._planned(name, translate(program, name, offered=offered))

        pipeline = self._planned(name, translation)
        pipeline = replace(pipeline, planned_at=planned_at if pipeline.settings.reactive else None)
        return executor, pipeline, translation.caches

    def _planned(self, name: str, translation: Translation) -> Pipeline:
        from penstock.plan import Pipeline

        settings = self.settings.updated(executors.imposed_settings(), imposed=True)
        return Pipeline(
            name=name,
            stream_graph=translation.stream_graph,
            operators=translation.operators,
            partitioners=translation.partitioners,
            types=translation.types,
            settings=replace(settings, runtime_mode=translation.mode),
            descriptions=translation.descriptions,
            sites=Sites(translation.marks),
            left_open=frozenset(translation.left_open),
            side_outputs=frozenset(translation.side_outputs),
        )

    def frame_of(self, sink: Transformation) -> DataFrame:
        """The DataFrame of ``to_spark`` of a stream, which ends in this sink beside the program; the program stays."""
        executor = executors.choose(self._executor, self.settings, self._spark, self._master)
        translation = translate(self, self.settings.name, sink)
        pipeline = self._planned(self.settings.name, translation)
        if getattr(executor, "plans_only", False):
            executor.execute(pipeline)  # it looks at the plan, and ends the program
        plan_only.refuse_to_run(translation.operators, translation.names)
        return executors.frame(executor, pipeline)

    def execute(self, job_name: str | None = None) -> JobExecutionResult:
        """Run the program to its end and forget its operators; streams can be built upon for the next one. The name is
        shown in plans and in Spark's UI.

        Raises:
            InvalidProgramError: nothing to run (Flink: IllegalStateException).
            JobExecutionError: a user function failed; its exception is the cause.
        """
        return executors.run(*self._job(job_name))

    def collected(self, job_name: str | None, sink_id: str) -> Iterable[Any]:
        """Run the program, and give the records of a collecting sink. Of a program without an end they come as its
        steps are committed, and closing the iterator cancels it."""
        executor, pipeline, caches = self._job(job_name)
        if pipeline.unbounded:
            return executors.follow(executor, pipeline, caches, sink_id)
        return executors.run(executor, pipeline, caches).collected.get(sink_id, ())

    def execute_async(self, job_name: str | None = None) -> JobClient:
        """Run the program in the background, and forget its operators as :meth:`execute` does. A job that fails says so
        in the log too (logger ``penstock``). The process does not end before the job has. The client knows how far the
        job is, gives its result, and cancels it.

        Raises:
            PenstockError: the program cannot run; what fails while it runs comes by the client's future.
        """
        return executors.run_async(*self._job(job_name))

    def close(self) -> None:
        """Forget the operators that were not executed. An environment holds nothing else, and can go on."""
        self.transformations = []

    def __repr__(self) -> str:
        operators = len(self.transformations)
        return f"<StreamExecutionEnvironment parallelism={self.settings.parallelism} {operators=}>"
