"""Running a user's program file inside the command's own process, under an executor of the command's choice.

``run_program`` is `python FILE ARGS...` with one difference: ``env.execute()`` hands its pipeline to the given
executor. ``capture_plan`` uses that to get the pipeline of a program's first ``execute()`` without running a job, as
Flink's plan preview does.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NoReturn

from penstock.common import JobExecutionResult
from penstock.common.job_control import JobControl
from penstock.errors import InvalidProgramError

if TYPE_CHECKING:
    from penstock.datastream.environment.executors import Executor
    from penstock.plan import Pipeline

Observer = Callable[[JobControl], AbstractContextManager[None]]


def unseen(control: JobControl) -> AbstractContextManager[None]:
    """An observer that shows nothing, and lets nobody else do it."""
    control.shown = True
    return nullcontext()


class PlanCaptured(BaseException):
    """Ends a program at its first ``execute()``. Not an ``Exception``, so that ``except Exception`` in a program lets
    it pass.
    """


class PlanOnlyExecutor:
    """An executor that runs nothing: it keeps the first pipeline and ends the program.

    Attributes:
        plans_only: tells the environment to hand over also what can be planned but not run.
        pipeline: the first pipeline it was given, None before.
    """

    plans_only = True
    pipeline: Pipeline | None = None

    def execute(self, pipeline: Pipeline) -> NoReturn:
        """Raise :class:`PlanCaptured`."""
        if self.pipeline is None:
            self.pipeline = pipeline
        raise PlanCaptured("the plan was captured")

    def prepare(self, pipeline: Pipeline, control: object) -> NoReturn:
        """Raise :class:`PlanCaptured`: ``execute_async`` ends the program too."""
        self.execute(pipeline)


def run_program(
    file: str,
    arguments: Sequence[str],
    executor: Executor | None = None,
    flink: str | None = None,
    watcher: Callable[[JobExecutionResult], None] | None = None,
    *,
    settings: Mapping[str, str] = MappingProxyType({}),
    pyflink: bool = False,
    observer: Observer | None = None,
) -> None:
    """Run a Python file as the main program.

    Args:
        file: path of the program.
        arguments: its command line, without the program's name.
        executor: where ``execute()`` sends pipelines; None leaves the choice to the program.
        flink: the Flink version to plan as; None leaves that to the program too.
        watcher: takes the result of every job.
        settings: of the program, whatever its own configuration says.
        pyflink: whether ``pyflink`` means :mod:`penstock.pyflink`, from now on and in the whole process.
        observer: makes what is around the run of every job.
    """
    from penstock.datastream.environment import executors

    if pyflink:
        _install_pyflink()
    argv, path = sys.argv, sys.path[:]
    sys.argv, sys.path[0:0] = [file, *arguments], [str(Path(file).resolve().parent)]
    try:
        with (
            executors.override(executor) if executor is not None else nullcontext(),
            executors.impose({**settings, **({} if flink is None else {"penstock.flink": flink})}),
            executors.watch(watcher) if watcher is not None else nullcontext(),
            executors.observe(observer) if observer is not None else nullcontext(),
        ):
            runpy.run_path(file, run_name="__main__")
    finally:
        sys.argv, sys.path[:] = argv, path


def _install_pyflink() -> None:
    from penstock.pyflink.finder import install

    install()


def capture_plan(file: str, arguments: Sequence[str], flink: str | None = None, *, pyflink: bool = False) -> Pipeline:
    """The pipeline a program hands over at its first ``execute()``. What the program prints before goes to standard
    error.

    Args:
        file: path of the program.
        arguments: its command line, without the program's name.
        flink: the Flink version to plan as; None leaves that to the program.
        pyflink: as of :func:`run_program`.

    Returns:
        The program as it would have run.

    Raises:
        InvalidProgramError: the program ended without calling ``execute()``.
    """
    planner = PlanOnlyExecutor()
    try:
        with redirect_stdout(sys.stderr):
            run_program(file, arguments, planner, flink, pyflink=pyflink)
    except (PlanCaptured, Exception, SystemExit):
        if planner.pipeline is None:
            raise
    if planner.pipeline is not None:  # also when a bare `except:` of the program has stopped PlanCaptured
        return planner.pipeline
    raise InvalidProgramError(
        f"{file} ended without calling execute(), so there is no plan to explain. "
        "A program is planned at its first env.execute() or execute_and_collect(); call one of them."
    )
