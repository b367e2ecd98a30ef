"""From a piece of a program to the one operator in it, as a job would have it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.common import Configuration, JobExecutionResult, TypeInformation, checks
from penstock.datastream import DataStream, StreamExecutionEnvironment
from penstock.datastream.environment import executors
from penstock.datastream.program.transformations import PhysicalTransformation
from penstock.datastream.streams.sink import DataStreamSink
from penstock.errors import InvalidProgramError, UnsupportedError
from penstock.job.deployment import deploy
from penstock.runtime.config.tasks import JobConfig, OperatorConfig, VertexConfig
from penstock.runtime.io.sinks import BuiltinSink
from penstock.runtime.operators.sink import StreamSink

if TYPE_CHECKING:
    from penstock.plan import Pipeline


class PlannedOperator(NamedTuple):
    """An operator and where it runs.

    Attributes:
        job, vertex, config: its descriptors.
    """

    job: JobConfig
    vertex: VertexConfig
    config: OperatorConfig


class _Keeper:
    """An executor that keeps the plan and runs nothing."""

    pipeline: Pipeline

    def execute(self, pipeline: Pipeline) -> JobExecutionResult:
        self.pipeline = pipeline
        return JobExecutionResult(pipeline.name)


def plan_operator(
    program: Callable[..., Any],
    types: tuple[TypeInformation[Any] | None, ...],
    parallelism: int,
    max_parallelism: int,
    configuration: Configuration | None,
) -> PlannedOperator:
    """The operator of a piece of a program that has one.

    Args:
        program: streams in, a stream or a sink out.
        types: of the streams' records; as many streams as types.
        parallelism, max_parallelism: of the environment.
        configuration: of the environment.

    Raises:
        InvalidProgramError: there is no operator, or more than one.
        UnsupportedError: a built-in sink, or BATCH mode.
    """
    keeper = _Keeper()
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(parallelism).set_max_parallelism(max_parallelism).disable_operator_chaining()
    if env.is_batch:
        raise UnsupportedError(
            "A harness runs an operator in STREAMING mode, and the configuration asks for BATCH mode, where operators "
            "wait for the end of a key. Run the whole program instead: penstock.testing.run_program()."
        )
    made = program(*(env.from_collection([], type_info=type_info) for type_info in types))
    _check(made, env)
    operator = env.transformations[0]
    with executors.override(keeper):
        env.execute()
    deployment = deploy(keeper.pipeline, loops=True)
    for vertex in deployment.vertices:
        for config in vertex.operators:
            if config.node == operator.id:
                return PlannedOperator(deployment.job, vertex, config)
    raise AssertionError(f"{operator!r} is not in the plan")


def _check(made: Any, env: StreamExecutionEnvironment) -> None:
    if not isinstance(made, (DataStream, DataStreamSink)):
        checks.refuse(
            f"The program of a harness returned {checks.shown(made)}. Return the stream or the sink that its operator "
            "makes: lambda stream: stream.map(f)."
        )
    names = [repr(transformation.name) for transformation in env.transformations]
    if len(names) != 1:
        found = f"has {len(names)} operators ({', '.join(names)})" if names else "has no operator"
        raise InvalidProgramError(
            f"The program of a harness {found}, and a harness runs one. Give each its own harness, or run the whole "
            "program on a few records: penstock.testing.run_program()."
        )
    only = env.transformations[0]
    operator = only.operator if isinstance(only, PhysicalTransformation) else None
    if isinstance(operator, StreamSink) and isinstance(operator.function, BuiltinSink):
        raise UnsupportedError(
            f"The program of a harness ends in a built-in sink, {names[0]}, which works through a job's commit. Leave "
            "it out, and look at what comes out of the harness."
        )
