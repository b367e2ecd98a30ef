"""StreamExecutionEnvironment: where a program begins and how it is run.

Source of names, defaults and refusals: Flink 1.11 ``StreamExecutionEnvironment`` and ``ExecutionConfig``; spelling:
``pyflink.datastream.StreamExecutionEnvironment``.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from penstock.common import Configuration, JobExecutionResult, RuntimeExecutionMode
from penstock.common.restart_strategy import RestartStrategy
from penstock.datastream.environment import executors
from penstock.datastream.program import checks, plan_only
from penstock.datastream.program.configuring import apply_configuration
from penstock.datastream.program.settings import CheckpointingMode, TimeCharacteristic
from penstock.datastream.program.transformations import Transformation
from penstock.datastream.program.translation import Translation, translate
from penstock.datastream.streams.planned_sources import PlannedSourceMethods
from penstock.errors import UnsupportedError
from penstock.runtime.config.options import MODE, is_batch

if TYPE_CHECKING:
    from penstock.plan import Pipeline, StreamGraph

DEFAULT_JOB_NAME = "Flink Streaming Job"
MIN_CHECKPOINT_INTERVAL_MS = 10


class StreamExecutionEnvironment(PlannedSourceMethods):
    """One program at a time: its sources, its settings, its execution.

    Create it with :meth:`get_execution_environment`. The default parallelism is 1 (Flink's ``parallelism.default``), on
    every machine, so that a plan does not depend on where it is made.
    """

    def __init__(self, configuration: Configuration, spark: Any, master: str | None, executor: Any) -> None:
        self._configuration = configuration
        self._restart_strategy = RestartStrategy(0)
        self._spark = spark
        self._master = master
        self._executor = executor
        self.last_id = 0
        self._collects = itertools.count(1)
        self.transformations: list[Transformation] = []
        self._parallelism = 1
        self._max_parallelism = -1
        self._buffer_timeout = -1
        self._chaining = True
        self._checkpoint_interval = -1
        self._checkpointing_mode = CheckpointingMode.EXACTLY_ONCE
        self._force_checkpointing = False
        self._time_characteristic = TimeCharacteristic.ProcessingTime
        self._job_name = DEFAULT_JOB_NAME
        self._runtime_mode = RuntimeExecutionMode.STREAMING
        apply_configuration(self, configuration)

    @staticmethod
    def get_execution_environment(
        configuration: Configuration | None = None,
        *,
        spark: Any = None,
        master: str | None = None,
        executor: Any = None,
    ) -> StreamExecutionEnvironment:
        """A new environment.

        Args:
            configuration: settings: ``parallelism.default``, ``pipeline.*``, … of Flink;
                ``penstock.executor``; ``penstock.flink``, the Flink version to plan as (1.11 or 2.3); ``spark.*`` for
                the session. Others are named in a warning.
            spark: an existing SparkSession to run in; it is not reconfigured.
            master: Spark master URL; ``local[*,4]`` when neither this, ``spark.master`` nor ``spark`` is given.
            executor: ``"spark"`` (default), ``"local"`` (this process, bounded programs, no Spark), or an executor
                object. Without it ``penstock.executor`` of the configuration counts, then the environment variable
                PENSTOCK_EXECUTOR.
        """
        if configuration is not None and not isinstance(configuration, Configuration):
            checks.refuse(f"get_execution_environment() was given {configuration!r}; give a Configuration.")
        copy = Configuration(configuration)
        return StreamExecutionEnvironment(copy, spark, master, executor)

    # --- for the other modules of this package ------------------------------------------------------------------------

    def next_id(self) -> int:
        """The next transformation id, from 1; ``last_id`` is the one given out last."""
        self.last_id += 1
        return self.last_id

    def next_collect_number(self) -> int:
        """The next number of a collect sink, from 1."""
        return next(self._collects)

    @property
    def is_batch(self) -> bool:
        """Whether the program runs in BATCH mode."""
        return is_batch({MODE: self._runtime_mode.name})

    def register(self, transformation: Transformation) -> None:
        """Note an operator or sink; only these and what they need enter the plan."""
        self.transformations.append(transformation)

    # --- settings -----------------------------------------------------------------------------------------------------

    def set_parallelism(self, parallelism: int) -> StreamExecutionEnvironment:
        """Parallelism of operators added from now on: at least 1, or −1 to leave it open."""
        checks.integer(parallelism, "set_parallelism", "parallelism of the environment", bits=32)
        if parallelism < 1 and parallelism != -1:
            checks.refuse(
                f"set_parallelism({parallelism}) on the environment: a parallelism is at least 1, or -1 for the "
                "system's default.",
                checks.ILLEGAL_ARGUMENT,
            )
        self._parallelism = parallelism
        return self

    def get_parallelism(self) -> int:
        """Parallelism of operators added from now on."""
        return self._parallelism

    def set_max_parallelism(self, max_parallelism: int) -> StreamExecutionEnvironment:
        """Max parallelism of all operators without their own: 1 to 32768 key groups."""
        checks.integer(max_parallelism, "set_max_parallelism", "max parallelism of the environment")
        if not 0 < max_parallelism <= checks.UPPER_BOUND_MAX_PARALLELISM:
            checks.refuse(
                f"set_max_parallelism({max_parallelism}) on the environment: it lies between 1 and "
                f"{checks.UPPER_BOUND_MAX_PARALLELISM}. Leave the call out for Flink's default per operator.",
                checks.ILLEGAL_ARGUMENT,
            )
        self._max_parallelism = max_parallelism
        return self

    def get_max_parallelism(self) -> int:
        """Max parallelism of operators without their own, −1 when unset."""
        return self._max_parallelism

    def set_buffer_timeout(self, timeout_millis: int) -> StreamExecutionEnvironment:
        """Buffer timeout of all operators without their own: 0 or more milliseconds, or −1 for the default."""
        checks.integer(timeout_millis, "set_buffer_timeout", "timeout in milliseconds")
        if timeout_millis < -1:
            checks.refuse(
                f"set_buffer_timeout({timeout_millis}) on the environment: a timeout is 0 or more milliseconds, or -1.",
                checks.ILLEGAL_ARGUMENT,
            )
        self._buffer_timeout = timeout_millis
        return self

    def get_buffer_timeout(self) -> int:
        """Buffer timeout in milliseconds of operators without their own, −1 when unset."""
        return self._buffer_timeout

    def disable_operator_chaining(self) -> StreamExecutionEnvironment:
        """Run every operator in a task of its own. Results do not change."""
        self._chaining = False
        return self

    def is_chaining_enabled(self) -> bool:
        """Whether operators may share a task."""
        return self._chaining

    def enable_checkpointing(
        self, interval: int, mode: CheckpointingMode | None = None, force: bool = False
    ) -> StreamExecutionEnvironment:
        """Settings for checkpoints; they enter the plan. A bounded job on Spark takes none.

        Args:
            interval: milliseconds, at least 10.
            mode: EXACTLY_ONCE unless given.
            force: accept iterations, whose records in flight a checkpoint loses.
        """
        checks.integer(interval, "enable_checkpointing", "interval in milliseconds")
        checks.boolean(force, "enable_checkpointing", "force")
        if mode is not None and not isinstance(mode, CheckpointingMode):
            checks.refuse(
                f"enable_checkpointing() was given the mode {mode!r}; use CheckpointingMode.EXACTLY_ONCE or "
                "AT_LEAST_ONCE."
            )
        if interval < MIN_CHECKPOINT_INTERVAL_MS:
            checks.refuse(
                f"enable_checkpointing({interval}): the interval is at least {MIN_CHECKPOINT_INTERVAL_MS} ms. "
                "Leave the call out to run without checkpoints.",
                checks.ILLEGAL_ARGUMENT,
            )
        self._checkpoint_interval = interval
        self._checkpointing_mode = mode or self._checkpointing_mode
        self._force_checkpointing = force
        return self

    def get_checkpoint_interval(self) -> int:
        """Interval in milliseconds, −1 without checkpoints."""
        return self._checkpoint_interval

    def get_checkpointing_mode(self) -> CheckpointingMode:
        """The checkpointing mode."""
        return self._checkpointing_mode

    def set_stream_time_characteristic(self, characteristic: TimeCharacteristic) -> StreamExecutionEnvironment:
        """What time means to ``time_window`` and interval joins; ProcessingTime unless set (Flink 1.11)."""
        if not isinstance(characteristic, TimeCharacteristic):
            checks.refuse(
                f"set_stream_time_characteristic() was given {characteristic!r}; use TimeCharacteristic.EventTime or "
                "another."
            )
        self._time_characteristic = characteristic
        return self

    def get_stream_time_characteristic(self) -> TimeCharacteristic:
        """The time characteristic."""
        return self._time_characteristic

    def set_restart_strategy(self, restart_strategy: RestartStrategy) -> StreamExecutionEnvironment:
        """What happens when the job fails; nothing unless set. For the local executor: Spark retries tasks by settings
        of its own.

        Args:
            restart_strategy: made by :class:`penstock.common.RestartStrategies`.
        """
        if not isinstance(restart_strategy, RestartStrategy):
            checks.refuse(f"set_restart_strategy() was given {restart_strategy!r}; make one by RestartStrategies.")
        self._restart_strategy = restart_strategy
        return self

    def set_runtime_mode(self, execution_mode: RuntimeExecutionMode) -> StreamExecutionEnvironment:
        """STREAMING (default): records are processed as they come, and every update is emitted. BATCH: operators with a
        key see one key after the other, and emit what is known at its end. AUTOMATIC is BATCH, as every source has an
        end."""
        if not isinstance(execution_mode, RuntimeExecutionMode):
            checks.refuse(
                f"set_runtime_mode() was given {execution_mode!r}; use RuntimeExecutionMode.STREAMING, BATCH or "
                "AUTOMATIC."
            )
        self._runtime_mode = execution_mode
        return self

    # --- plans and execution ------------------------------------------------------------------------------------------

    def plan_settings(self) -> dict[str, Any]:
        """Arguments of the planner's StreamGraphBuilder that come from the environment."""
        settings: dict[str, Any] = {"chaining_enabled": self._chaining}
        if self._checkpoint_interval > 0:
            settings["checkpointing_enabled"] = True
            settings["checkpoint_interval"] = self._checkpoint_interval
            settings["checkpointing_mode"] = self._checkpointing_mode.name
            settings["force_checkpointing"] = self._force_checkpointing
        return settings

    def _translate(self, job_name: str | None) -> tuple[str, Translation]:
        name = checks.name(self._job_name if job_name is None else job_name, "execute", "job name")
        return name, translate(self, name)

    def get_stream_graph(self, job_name: str | None = None) -> StreamGraph:
        """The StreamGraph of the program so far; the program can go on afterwards."""
        return self._translate(job_name)[1].stream_graph

    def get_execution_plan(self) -> str:
        """The program so far as the JSON text that Flink's plan visualizer reads."""
        return self.get_stream_graph().streaming_plan_json()

    def _pipeline(self, job_name: str | None, to_run: bool) -> Pipeline:
        from penstock.plan import Pipeline

        name, translation = self._translate(job_name)
        if to_run:
            plan_only.refuse_to_run(translation.operators, translation.names)
        self.transformations = []
        return Pipeline(
            name=name,
            stream_graph=translation.stream_graph,
            operators=translation.operators,
            partitioners=translation.partitioners,
            types=translation.types,
            config={
                **self._configuration.to_dict(),
                MODE: self._runtime_mode.name,
                **executors.imposed_settings(),
                **self._restart_strategy.settings(),
            },
        )

    def execute(self, job_name: str | None = None) -> JobExecutionResult:
        """Run the program to its end and forget its operators; streams can be built upon for the next one.

        Args:
            job_name: shown in plans and in Spark's UI.

        Raises:
            InvalidProgramError: nothing to run (Flink: IllegalStateException).
            JobExecutionError: a user function failed; its exception is the cause.
        """
        executor = executors.choose(self._executor, self._configuration, self._spark, self._master)
        to_run = not getattr(executor, "plans_only", False)
        return executors.run(executor, self._pipeline(job_name, to_run))

    def execute_async(self, job_name: str | None = None) -> Any:
        """Not supported yet.

        Raises:
            UnsupportedError: always.
        """
        raise UnsupportedError(
            "execute_async() is not supported: a program runs to its end inside execute(). Call execute() in a thread "
            "of your own if the driver has other work."
        )

    def __repr__(self) -> str:
        return f"<StreamExecutionEnvironment parallelism={self._parallelism} operators={len(self.transformations)}>"
