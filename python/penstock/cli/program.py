"""Running a user's program file inside the command's own process, under an executor of the command's choice.

``run_program`` is `python FILE ARGS...` with one difference: ``env.execute()`` hands its pipeline to the given
executor. ``capture_plan`` uses that to get the pipeline of a program's first ``execute()`` without running a job, as
Flink's plan preview does; ``capture_plans`` that of another one, or of all.
"""

from __future__ import annotations

import runpy
import sys
import traceback
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from penstock.common import JobExecutionResult
from penstock.common.jobs.job_control import JobControl
from penstock.errors import InvalidProgramError, UnsupportedError

if TYPE_CHECKING:
    from penstock.datastream.environment.executors import Executor
    from penstock.plan import Pipeline

T = TypeVar("T")
ALL = "all"
"""Instead of a job: all of a program."""
MOST_JOBS = 100
"""At which job a program is ended: it may start jobs for ever."""
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
    """An executor that runs nothing: it keeps the pipeline of one job and ends the program. Jobs before that one are
    passed over: they give a result with nothing in it, and the program goes on.

    Args:
        file: of the program, if it is known.
        job: which job: its number, from 1, or its name; :data:`ALL` passes all over; None: the first.

    Attributes:
        plans_only: tells the environment to hand over also what can be planned but not run.
        pipeline: of the job, None before.
        passed: the pipelines of the jobs that were passed over.
        lines: of the file from which the job was started, the innermost call first; none before.
    """

    plans_only = True
    pipeline: Pipeline | None = None
    lines: tuple[int, ...] = ()

    def __init__(self, file: str | None = None, job: str | None = None) -> None:
        self._file, self._job = file, job
        self.passed: list[Pipeline] = []

    def execute(self, pipeline: Pipeline) -> JobExecutionResult:
        """Pass the job over, or raise :class:`PlanCaptured`."""
        if self.pipeline is None and self._is_passed(pipeline.name):
            self.passed.append(pipeline)
            return _nothing(pipeline)
        if self.pipeline is None:
            self.pipeline = pipeline
            frames = traceback.walk_stack(None)
            self.lines = tuple(line for frame, line in frames if frame.f_code.co_filename == self._file)
        raise PlanCaptured("the plan was captured")

    def _is_passed(self, name: str) -> bool:
        if self._job is None:
            return False
        if self._job == ALL:
            return len(self.passed) + 1 < MOST_JOBS
        return len(self.passed) + 1 != int(self._job) if self._job.isdecimal() else name != self._job

    def prepare(self, pipeline: Pipeline, control: object) -> Callable[[], JobExecutionResult]:
        """Likewise for a job in the background."""
        result = self.execute(pipeline)
        return lambda: result

    def to_frame(self, pipeline: Pipeline) -> NoReturn:
        """Raise: nothing stands in for a DataFrame.

        Raises:
            UnsupportedError: always.
        """
        raise UnsupportedError(
            f"The job {pipeline.name!r} is a DataFrame of Spark (to_spark), and such a job cannot be passed over: jobs "
            "behind it cannot be looked at. Give them a file of their own."
        )


def _nothing(pipeline: Pipeline) -> JobExecutionResult:
    """What a job gives that was passed over: no records, no metrics."""
    from penstock.runtime.io.sinks import CollectSink

    functions = (getattr(operator, "function", None) for operator in pipeline.operators.values())
    return JobExecutionResult(pipeline.name, collected={each.id: [] for each in functions if type(each) is CollectSink})


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


@contextmanager
def expecting_jobs(file: str) -> Generator[None, None, None]:
    """Say so if a program that runs within the block ends without a job, as when it never calls ``execute()``. A
    program that ends itself by ``sys.exit()``, as after ``--help``, may do so before it has built anything.

    Args:
        file: of the program.

    Raises:
        InvalidProgramError: it has an environment, so ``execute()`` was left out.
    """
    from penstock.datastream.environment import executors

    ended: SystemExit | None = None
    with executors.count() as counts:
        try:
            yield
        except SystemExit as end:
            if end.code:
                raise
            ended = end
    begun = counts.environments if ended is None else any(each.last_id for each in counts.environments)
    if begun and not counts.jobs:
        raise InvalidProgramError(
            f"{file} ended without calling execute(), so no job has run: what it has built only describes one. "
            "End the program with env.execute(), or call execute_and_collect() or to_spark() of a stream."
        )
    if ended is not None:
        raise ended
    if not counts.jobs:
        click.echo(
            f"penstock: {file} ended without a job: it made no StreamExecutionEnvironment. "
            "If it has a function that does, such as main(), call it at the end of the file.",
            err=True,
        )


def _install_pyflink() -> None:
    from penstock.pyflink.finder import install

    install()


def capture_plan(
    file: str, arguments: Sequence[str], flink: str | None = None, *, pyflink: bool = False, job: str | None = None
) -> Pipeline:
    """The pipeline of one job of a program. What the program prints before goes to standard error, and so does a line
    that says which job that is, if it is the first because no other one was asked for, and there may be others.

    Args:
        file: path of the program.
        arguments: its command line, without the program's name.
        flink: the Flink version to plan as; None leaves that to the program.
        pyflink: as of :func:`run_program`.
        job: the number, from 1, or the name of the job; None: the first. The program goes on behind those before it,
            which give nothing.

    Returns:
        The program as it would have run.

    Raises:
        InvalidProgramError: the program ended before that job, or has none.
    """
    return capture_plans(file, arguments, flink, pyflink=pyflink, job=job).pipelines[0]


@dataclass(frozen=True)
class Captured:
    """The jobs of a program that are looked at.

    Attributes:
        pipelines: of them, in the order in which the program starts them.
        whole: whether the program has no other jobs, as far as its text says.
    """

    pipelines: tuple[Pipeline, ...]
    whole: bool


def capture_plans(
    file: str, arguments: Sequence[str], flink: str | None = None, *, pyflink: bool = False, job: str | None = None
) -> Captured:
    """The jobs of a program that are to be looked at: all if ``job`` is :data:`ALL`, else one.

    Args:
        file, arguments, flink, pyflink, job: as of :func:`capture_plan`.

    Raises:
        InvalidProgramError: as of :func:`capture_plan`.
    """
    planner = PlanOnlyExecutor(file, job)
    failure: BaseException | None = None
    try:
        with redirect_stdout(sys.stderr):
            run_program(file, arguments, planner, flink, pyflink=pyflink)
    except (PlanCaptured, Exception, SystemExit) as error:
        if planner.pipeline is None and not planner.passed:
            raise
        failure = error
    if planner.pipeline is None and not planner.passed:
        raise _no_execute(file)
    if job == ALL:
        return _all_of(file, planner, failure)
    if planner.pipeline is None:
        raise _no_such_job(file, str(job), planner.passed, failure) from failure
    others = _others(file, planner.lines)  # also when a bare `except:` of the program has stopped PlanCaptured
    if job is None and others:
        first = f"{planner.pipeline.name!r} of line {planner.lines[0]}"
        click.echo(
            f"penstock: only the first job of {file} was looked at, {first}: the program was ended there. {others} "
            "--job NAME or --job NUMBER looks at another one; lint and explain take --job all.",
            err=True,
        )
    return Captured((planner.pipeline,), whole=not (planner.passed or others))


def _all_of(file: str, planner: PlanOnlyExecutor, failure: BaseException | None) -> Captured:
    if planner.pipeline is not None:
        click.echo(f"penstock: {file} was ended at its job {MOST_JOBS}: no more are looked at.", err=True)
        return Captured((*planner.passed, planner.pipeline), whole=False)
    whole = _ends_well(failure)
    if failure is not None and not whole:
        click.echo(f"penstock: {_ended(file, planner.passed, failure)}", err=True)
    return Captured(tuple(planner.passed), whole)


def _ends_well(failure: BaseException | None) -> bool:
    return failure is None or (isinstance(failure, SystemExit) and not failure.code)


def _ended(file: str, passed: Sequence[Pipeline], failure: BaseException) -> str:
    return (
        f"{file} ended behind its job {len(passed)}, {passed[-1].name!r}, by {type(failure).__name__}: {failure}. "
        "Jobs are not run here, so they give no records and no metrics. Jobs that may follow were not looked at."
    )


def _no_such_job(file: str, job: str, passed: Sequence[Pipeline], failure: BaseException | None) -> InvalidProgramError:
    listed = ", ".join(f"{number} {each.name!r}" for number, each in enumerate(passed, 1))
    end = "" if failure is None or _ends_well(failure) else f" {_ended(file, passed, failure)}"
    return InvalidProgramError(f"{file} has no job {job!r} that can be looked at. Its jobs are {listed}.{end}")


class _Within(PlanOnlyExecutor):
    """Does something where the program would run its first job, and ends it.

    Args:
        action: what to do.
    """

    def __init__(self, action: Callable[[], Any]) -> None:
        super().__init__()
        self._action = action
        self.done = False
        self.result: Any = None
        self.error: Exception | None = None

    def execute(self, pipeline: Pipeline) -> JobExecutionResult:
        """Do it, the first time, and raise :class:`PlanCaptured`."""
        if not self.done:
            self.done = True
            try:
                self.result = self._action()
            except Exception as error:
                self.error = error
        return super().execute(pipeline)


def within(file: str, action: Callable[[], T], *, pyflink: bool = False) -> T:
    """Do something where the classes of a program's own file are there: at its first ``execute()``, which runs nothing.

    Args:
        file: path of the program, which is run without arguments.
        action: what to do.
        pyflink: as of :func:`run_program`.

    Returns:
        What the action returns.

    Raises:
        InvalidProgramError: the program ended without calling ``execute()``.
        Exception: whatever the action or the program raises.
    """
    inside = _Within(action)
    try:
        with redirect_stdout(sys.stderr):
            run_program(file, (), inside, pyflink=pyflink)
    except (PlanCaptured, Exception, SystemExit):
        if not inside.done:
            raise
    if not inside.done:
        raise _no_execute(file)
    if inside.error is not None:
        raise inside.error
    return inside.result


def _no_execute(file: str) -> InvalidProgramError:
    return InvalidProgramError(
        f"{file} ended without calling execute(), so there is no plan to explain. "
        "A program is planned at its first env.execute() or execute_and_collect(); call one of them."
    )


def _others(file: str, lines: Sequence[int]) -> str:
    """A sentence about what may start other jobs than the one that was started from these lines; "" if nothing does."""
    from penstock.cli.further_jobs import other_jobs

    return other_jobs(Path(file).read_text(encoding="utf-8", errors="replace"), lines)
