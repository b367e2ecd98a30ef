"""A whole program on a few records, in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from penstock.common import Configuration, TypeInformation
from penstock.datastream import DataStream, StreamExecutionEnvironment

IN = TypeVar("IN")
OUT = TypeVar("OUT")


def run_program(
    program: Callable[[DataStream[IN]], DataStream[OUT]],
    records: Iterable[IN],
    input_type: TypeInformation[IN] | None = None,
    *,
    parallelism: int = 1,
    configuration: Configuration | None = None,
) -> list[OUT]:
    """The results of a program for some records, on the local executor, in milliseconds: with the plan and operators of
    a job.

    Args:
        program: from a stream to a stream, in any number of operators.
        records: to feed it with, without timestamps.
        input_type: of the records; None for undeclared.
        parallelism: of the program. Above 1 the order of the results is that of the subtasks.
        configuration: of the program.

    Raises:
        JobExecutionError: a function failed; its exception is the cause.
    """
    env = StreamExecutionEnvironment.get_execution_environment(configuration, executor="local")
    env.set_parallelism(parallelism)
    with program(env.from_collection(records, type_info=input_type)).execute_and_collect() as results:
        return list(results)
