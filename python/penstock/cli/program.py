"""Running a user's program file inside the command's own process, under an executor of the command's choice.

``run_program`` is `python FILE ARGS...` with one difference: ``env.execute()`` hands its pipeline to the given
executor. :class:`Planning` uses that to get the pipelines of a program without running a job, as Flink's plan preview
does.
"""

from __future__ import annotations

import runpy
import sys
import traceback
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NoReturn, TypeVar

import click

from penstock.cli.further_jobs import other_jobs
from penstock.common import JobExecutionResult
from penstock.common.jobs.job_control import JobControl
from penstock.errors import InvalidProgramError, UnsupportedError

if TYPE_CHECKING:
    from penstock.datastream.environment.executors import Executor
    from penstock.plan import Pipeline

T = TypeVar("T")
ALL = "all"  # instead of a job: all of a program
MOST_JOBS = 100  # at which job a program is ended: it may start jobs for ever
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
        action: done when the job is reached.
    """

    plans_only = True  # tells the environment to hand over also what can be planned but not run
    pipeline: Pipeline | None = None
    lines: tuple[int, ...] = ()  # of the file from which the job was started, the innermost call first

    def __init__(self, file: str | None = None, job: str | None = None, action: Callable[[], None] | None = None):
        self._file, self._job, self._action = file, job, action
        self.passed: list[Pipeline] = []

    def execute(self, pipeline: Pipeline) -> JobExecutionResult:
        """Pass the job over, or raise :class:`PlanCaptured`."""
        if self.pipeline is None and self._is_passed(pipeline.name):
            from penstock.runtime.io.sinks import CollectSink

            self.passed.append(pipeline)
            functions = (getattr(operator, "function", None) for operator in pipeline.operators.values())
            nothing = {function.id: [] for function in functions if type(function) is CollectSink}
            return JobExecutionResult(pipeline.name, collected=nothing)
        if self.pipeline is None:
            self.pipeline = pipeline
            frames = traceback.walk_stack(None)
            self.lines = tuple(line for frame, line in frames if frame.f_code.co_filename == self._file)
            if self._action is not None:
                self._action()
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
        """Refuse: nothing replaces a DataFrame."""
        raise UnsupportedError(
            f"The job {pipeline.name!r} is a DataFrame of Spark (to_spark), and such a job cannot be passed over: jobs "
            "behind it cannot be looked at. Give them a file of their own."
        )


def run_program(
    file: str,
    arguments: Sequence[str],
    executor: Executor | PlanOnlyExecutor | None = None,
    flink: str | None = None,
    watcher: Callable[[JobExecutionResult], None] | None = None,
    *,
    settings: Mapping[str, str] = MappingProxyType({}),
    pyflink: bool = False,
    observer: Observer | None = None,
) -> None:
    """Run a Python file as the main program.

    Args:
        executor: where ``execute()`` sends pipelines; None leaves the choice to the program.
        flink: the Flink version to plan as; None leaves that to the program too.
        watcher: takes the result of every job.
        settings: of the program, whatever its own configuration says.
        pyflink: whether ``pyflink`` means :mod:`penstock.pyflink`, from now on and in the whole process.
        observer: makes what is around the run of every job.
    """
    from penstock.datastream.environment import executors

    if pyflink:
        from penstock.pyflink.finder import install

        install()
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
    """Say so if a program that runs within the block ends without a job, as when it never calls ``execute()``: by an
    InvalidProgramError if it has an environment. A program that ends itself by ``sys.exit()``, as after ``--help``, may
    do so before it has built anything.
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
    begun = counts.environments if ended is None else any(environment.last_id for environment in counts.environments)
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


@dataclass(frozen=True)
class Captured:
    """The jobs of a program that are looked at, in the order in which it starts them; ``whole``: it has no others, as
    far as its text says."""

    pipelines: tuple[Pipeline, ...]
    whole: bool


@dataclass(frozen=True)
class Planning:
    """How programs are planned: as which Flink, None leaves that to the program; whether ``import pyflink`` means
    :mod:`penstock.pyflink`; with which arguments; and which job, by name or number, None for the first."""

    flink: str | None = None
    pyflink: bool = False
    arguments: Sequence[str] = ()
    job: str | None = None

    def plan(self, file: str) -> Pipeline:
        """The job of a program, as it would have run; see :meth:`plans`."""
        return self.plans(file).pipelines[0]

    def plans(self, file: str) -> Captured:
        """The jobs of a program that are to be looked at: all if ``job`` is :data:`ALL`, else one. What the program
        prints before goes to standard error, and so does a line that says which job that is, if it is the first because
        no other one was asked for, and there may be others.

        Raises:
            InvalidProgramError: the program ended before that job, or has none.
        """
        planner = PlanOnlyExecutor(file, self.job)
        failure = self.run_up_to(planner, file)
        if planner.pipeline is None:
            return self._all_passed(planner.passed, file, failure)
        if self.job == ALL:
            click.echo(f"penstock: {file} was ended at its job {MOST_JOBS}: no more are looked at.", err=True)
            return Captured((*planner.passed, planner.pipeline), whole=False)
        text = Path(file).read_text(encoding="utf-8", errors="replace")
        others = other_jobs(text, planner.lines)  # also when a bare `except:` of the program has stopped PlanCaptured
        if self.job is None and others:
            first = f"{planner.pipeline.name!r} of line {planner.lines[0]}"
            click.echo(
                f"penstock: only the first job of {file} was looked at, {first}: the program was ended there. {others} "
                "--job NAME or --job NUMBER looks at another one; lint and explain take --job all.",
                err=True,
            )
        return Captured((planner.pipeline,), whole=not (planner.passed or others))

    def _all_passed(self, passed: Sequence[Pipeline], file: str, failure: BaseException | None) -> Captured:
        """The jobs of a program that has come to its end."""
        well = failure is None or (isinstance(failure, SystemExit) and not failure.code)
        ended = (
            f"{file} ended behind its job {len(passed)}, {passed[-1].name!r}, by {type(failure).__name__}: {failure}. "
            "Jobs are not run here, so they give no records and no metrics. Jobs that may follow were not looked at."
        )
        if self.job != ALL:
            listed = ", ".join(f"{number} {pipeline.name!r}" for number, pipeline in enumerate(passed, 1))
            text = f"{file} has no job {self.job!r} that can be looked at. Its jobs are {listed}."
            raise InvalidProgramError(text if well else f"{text} {ended}") from failure
        if not well:
            click.echo(f"penstock: {ended}", err=True)
        return Captured(tuple(passed), well)

    def run_up_to(self, planner: PlanOnlyExecutor, file: str) -> BaseException | None:
        """Run a program under the executor of a plan; what has ended it. Raises that if no job was reached."""
        failure: BaseException | None = None
        try:
            with redirect_stdout(sys.stderr):
                run_program(file, self.arguments, planner, self.flink, pyflink=self.pyflink)
        except (PlanCaptured, Exception, SystemExit) as error:
            failure = error
        if planner.pipeline is not None or planner.passed:
            return failure
        if failure is not None:
            raise failure
        raise InvalidProgramError(
            f"{file} ended without calling execute(), so there is no plan to explain. "
            "A program is planned at its first env.execute() or execute_and_collect(); call one of them."
        )


def capture_plan(
    file: str, arguments: Sequence[str] = (), flink: str | None = None, *, pyflink: bool = False, job: str | None = None
) -> Pipeline:
    """The pipeline of one job of a program; see :meth:`Planning.plans`."""
    return Planning(flink, pyflink, arguments, job).plan(file)


def within(file: str, action: Callable[[], T], *, pyflink: bool = False) -> T:
    """Do something where the classes of a program's own file are there: at its first ``execute()``, which runs nothing.

    Args:
        file: path of the program, which is run without arguments.
        action: gives what is returned, or raises what is raised.
        pyflink: as of :func:`run_program`.

    Raises:
        InvalidProgramError: the program ended without calling ``execute()``.
    """
    outcome: Future[T] = Future()

    def act() -> None:
        try:
            outcome.set_result(action())
        except Exception as error:
            outcome.set_exception(error)

    Planning(pyflink=pyflink).run_up_to(PlanOnlyExecutor(action=act), file)
    return outcome.result()
