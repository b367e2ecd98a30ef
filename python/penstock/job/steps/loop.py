"""The loop: one step after the other, each from what the one before has led to.

A step: the sources say what there is to read; all tasks run over it, and report. If it is a checkpoint, the manifest of
the next one is written, and what that names becomes visible. Whatever fails before the manifest is written has not
happened: the job goes back to the checkpoint before, as often as :class:`.Restarts` says. Only what needs no commit,
such as a printed line, leaves at the end of each step. A bounded job without a checkpoint directory, or in BATCH mode,
is one step, or as many as its records go round: it commits once, and its tasks keep their state to themselves, unless
savepoints are to be taken of it.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from penstock.common.jobs.job import JobExecutionResult, JobID, JobStatus
from penstock.common.jobs.job_control import JobControl
from penstock.connectors.spark.frames import FrameSource
from penstock.errors import (
    ConfigurationError,
    FencedError,
    InvalidProgramError,
    JobCancelledError,
    JobExecutionError,
    PenstockError,
)
from penstock.job.deployment import Deployment
from penstock.job.folder.manifest import StepManifest
from penstock.job.restore.notices import describe
from penstock.job.rows import JobRows
from penstock.job.steps.commits import Commits, SingleRun
from penstock.job.steps.counts import job_metrics
from penstock.job.steps.interruptions import Restarts, stopped_by_signal
from penstock.job.steps.outputs import WriteTable
from penstock.job.steps.progress import Progress
from penstock.job.steps.savepoints import NoSavepoints, Savepoints
from penstock.job.steps.schedule import NEVER, Checkpoints, Pace, paced
from penstock.job.steps.source_plans import Plan, PlanFrame, SourcePlan, hold_back, now_millis, plan_of, whole_plan
from penstock.job.steps.stopwatch import Stopwatch
from penstock.job.steps.versions import Place, Version, summary_of
from penstock.metrics.results import added
from penstock.runtime.buffers.row import Row
from penstock.runtime.buffers.spill import Rows
from penstock.runtime.config.steps import ONLY_STEP, Assignment, Reading, StepReport
from penstock.runtime.config.tasks import TaskReport
from penstock.runtime.state.evolution import MIGRATION
from penstock.storage.stores import configured

LOG = logging.getLogger("penstock")
POLL = 20  # milliseconds between two questions to sources that have nothing new
MAX_ROUNDS = 100_000  # how often records may go round in a loop once all sources have ended
TICK = 200  # milliseconds between two steps without records, while something waits for time to pass


class Runner(Protocol):
    """Runs the tasks of a step. ``keeps_tasks``: a subtask's object stays for the next step, with its state."""

    keeps_tasks: bool

    def step(self, version: int, assignments: Mapping[Place, Assignment], watch: Stopwatch) -> Rows:
        """Run the tasks. Returns the rows for the driver, and those for heads of loops."""
        ...

    def write_tables(self) -> None:
        """Write the tables of a job that commits once: all its tasks have succeeded."""

    def cancel(self) -> None:
        """Have the step that runs end by a JobCancelledError. Any thread may call it."""

    def forget(self, attempt: int) -> None:
        """The step has failed: the next one begins with other tasks, whose attempts are counted from this one."""

    def close(self) -> None: ...


class StepLoop:
    """A run of a job in steps. ``reports``, when all is over, say what each subtask has measured since it began."""

    def __init__(
        self,
        deployment: Deployment,
        control: JobControl,
        runner: Callable[[Deployment], Runner],
        progress: Progress,
        write_table: WriteTable | None = None,
        frames: PlanFrame | None = None,
    ) -> None:
        self._write_table, self._frames = write_table, frames
        self._deployment, self._control, self._make_runner = deployment, control, runner
        self._progress = progress
        self._settings = paced(deployment)
        self._steps = deployment.steps  # else there is one commit
        self._pace = Pace(self._settings.step_records, self._settings.step_target)
        self._collected: dict[str, list[Any]] = {}
        self._restarts = Restarts(deployment.job.settings, patient=self._steps)
        self._checkpoints = Checkpoints(self._settings.checkpoint_interval if self._steps else NEVER)
        self._measured: dict[Place, TaskReport] = {}  # of a job that commits once
        self._failed = False  # and has not begun again
        self.opened = False
        self._timer: int | None = None
        self._wakes = False  # a step is due whatever there is to read: timers may have become due before the run
        self._ticks = False
        self._began = 0.0  # the last step
        self._sources: list[SourcePlan] = []
        self._outgrown: Callable[..., bool] | None = None
        self._grows = False  # the job is to continue with other tasks
        self._rounds = 0  # of loops, since all sources have ended
        self._started = time.perf_counter()
        self.reports: tuple[TaskReport, ...] = ()

    def after(self, loop: StepLoop) -> StepLoop:
        """The same loop, which continues with what another one of the same run has collected and counted."""
        self._collected, self._restarts, self._started = loop._collected, loop._restarts, loop._started
        return self

    def run(self, outgrown: Callable[..., bool] | None = None) -> JobExecutionResult | None:
        """Run the job until its sources have ended, or it is stopped; None if it is to continue with other tasks."""
        self._outgrown = outgrown
        with contextlib.ExitStack() as opened:
            opened.enter_context(configured(self._settings.storage_options))
            self._commits: Commits | SingleRun
            self._savepoints: Savepoints | NoSavepoints = NoSavepoints()
            if self._steps:  # signals are for a job that commits more than once
                opened.enter_context(stopped_by_signal(self._control))
            if self._steps or self._settings.checkpoint_directory is not None:
                self._commits = opened.enter_context(Commits(self._deployment, self._control, self._write_table))
            else:
                run = SingleRun(self._deployment, lambda: self._runner.write_tables())
                self._commits = opened.enter_context(run)
            self._deployment = self._commits.deployment
            self._runner = opened.enter_context(contextlib.closing(self._make_runner(self._deployment)))
            opened.callback(lambda: [source.close() for source in self._sources])
            if self._commits.lease is not None:
                savepoints = Savepoints(self._control, self._commits.lease, self._deployment)
                self._savepoints = opened.enter_context(savepoints)
            self._begin()
            _tell(self._commits.notice)
            _tell(describe(self._version.before, self._deployment.vertices, self._version.matching))
            self._control.enter(JobStatus.RUNNING)
            while self._turn():
                pass
            if self._grows:
                return None
            self._savepoints.ended(self._version)
            self._control.seal()
        self._report()
        elapsed = int((time.perf_counter() - self._started) * 1000)
        job = self._deployment.job
        metrics = job_metrics(self._deployment, self.reports)
        return JobExecutionResult(job.name, elapsed, self._collected, metrics, JobID(job.job_id))

    def _begin(self) -> None:
        for source in self._sources:
            source.give_up()
        self._checkpoints.forget()
        self._measured.clear()
        self._version = Version(self._deployment, self._commits.newest)
        if not (self._steps or self._version.manifest.is_nothing or self._version.over):
            raise InvalidProgramError(
                f"The program {self._deployment.job.name!r} is one step, and its checkpoint directory "
                f"{self._settings.checkpoint_directory!r} has checkpoint {self._version.number} of a job that has not "
                "ended. Run it in STREAMING mode to resume from there, or with another execution.checkpointing.dir."
            )
        self._sources = list(self._plans())

    def _plans(self) -> Iterator[SourcePlan]:
        manifest, functions = self._version.manifest, self._deployment.sources
        for vertex in self._deployment.vertices:
            if vertex.inputs:
                continue
            if not self._steps or isinstance(self._commits, SingleRun):
                yield whole_plan(vertex, functions[vertex.index])
                continue
            known = manifest.sources.get(vertex.operators[0].operator_id)
            positions = {} if known is None else known.positions
            over = set[str]() if known is None else self._commits.read_ended(known.ended)
            function, settings = functions[vertex.index], self._settings
            if self._frames is not None and isinstance(function, FrameSource):
                facts = {"once": settings.available_now, "folder": self._deployment.job.folder}
                plan = self._frames(vertex, positions, over, **facts)
            else:
                plan = plan_of(vertex, function, settings, positions, over, 0 if known is None else known.asked)
            plan.finished = {subtask for index, subtask in self._version.finished if index == vertex.index}
            yield plan

    def _turn(self) -> bool:
        """One step, or a pause if there is nothing to do; whether the job continues."""
        try:
            if self._failed:
                if self._grown():
                    return False
                self._commits.failed()
                self._begin()
                self._wakes, self._failed = True, False  # nobody knows which timers are due now
                self._control.enter(JobStatus.RUNNING)
            elif isinstance(self._commits, Commits) and not self._commits.recovered:
                self._commits.recover()
            stands = not self._checkpoints.steps
            if self._savepoints.look(self._version, stands=stands):
                return False
            ends = self._version.over or (self._steps and self._control.stopping) or self._grown()
            if not ends:
                self._open()
                ends = self._dry()
            if not (ends and stands):  # what ends here ends with a checkpoint
                self._go_on(ends)
            return not ends
        except JobCancelledError as error:
            if not self._steps:
                raise
            name = self._deployment.job.name
            raise JobCancelledError(f"The job {name!r} was cancelled. What it has committed stands.") from error
        except FencedError:
            raise
        except (JobExecutionError, ConfigurationError, OSError) as error:  # of the program, or of what it talks to
            self._give_up(error)
        return True

    def _go_on(self, ends: bool) -> None:
        readings = self._planned(ends)
        if readings is None:
            self._commits.rest()
            self._control.rest(POLL / 1000)
        else:
            self._step(readings, ends)

    def _open(self) -> None:
        """See that all tasks can resume from the checkpoint that the job begins with, before anything is read.

        The tasks stay open for the first step, and say when their next timer by the clock is due: it may be overdue.
        """
        number = self._version.number
        if self._steps and not self.opened and number > 0:
            assignments = self._version.assignments(self._commits.state, {}, last=False)
            opening = {place: replace(planned, opens=True, rows=()) for place, planned in assignments.items()}
            with (
                self._control.on_cancel(self._runner.cancel),
                contextlib.closing(self._runner.step(number, opening, Stopwatch(None))) as rows,
            ):
                reports: list[StepReport] = list(JobRows(rows, self._deployment).reports())
            self._timer, self._ticks = waits(reports)
            self._wakes = self._due()
            _tell(*lines_of(self._deployment, reports))
        self.opened = True

    def _unwritten(self, error: OSError) -> JobExecutionError:
        assert isinstance(self._commits, Commits), "others show what the storage says"
        version, place = self._version.number, self._commits.lease.place
        kept = self._settings.checkpoint_directory is not None
        return JobExecutionError(
            f"The step after checkpoint {version} cannot read or write files of the checkpoint directory {place!r} or "
            f"of an output: {error}. Make room, if the disk is full, or the folder writable, and run the program again"
            + ("; it resumes from there. " if kept else ". ")
            + "With a restart strategy it tries again by itself."
        )

    def _give_up(self, error: Exception) -> None:
        """A step has failed, or what comes before or behind it: it should be run again."""
        if isinstance(self._commits, SingleRun) and (self._commits.begun or not isinstance(error, JobExecutionError)):
            raise error
        with contextlib.suppress(OSError, ConfigurationError):
            self._commits.check()
        refused = refusal(error, self._version.number, self._deployment)
        if refused is not None:
            raise refused from error.__cause__
        failure = self._unwritten(error) if isinstance(error, OSError) else error
        delay = self._restarts.delay_after(failure)
        if delay is None:
            failure = self._restarts.given_up(failure)
        if delay is None or (self._failed and self._control.stopping):  # else it would be tried without a pause
            raise failure from (error if failure is not error else error.__cause__)
        self._failed = True
        LOG.warning("The step after checkpoint %d has failed, and is run again: %s", self._version.number, failure)
        self._progress.discarded(failure)
        self._control.enter(JobStatus.RESTARTING)
        self._runner.forget(self._restarts.count)
        self._control.pause(delay)

    def _grown(self) -> bool:
        """Whether the job ends here, to continue with other tasks. Whoever waits for a savepoint comes first."""
        outgrown = self._outgrown is not None and self._outgrown(failed=self._failed)
        self._grows = outgrown and not self._savepoints.wanted()
        return self._grows

    def _dry(self) -> bool:
        """Whether the job was to read what is there, and has. Timers that were overdue when it began have fired."""
        if self._savepoints.draining or self._wakes:
            return False
        once = self._steps and self._settings.available_now and not self._version.comes_back
        return once and all(source.over_for_good or source.dry() for source in self._sources)

    def _due(self) -> bool:
        return self._timer is not None and self._timer <= now_millis()

    def _since(self) -> float:
        return (time.monotonic() - self._began) * 1000

    def _planned(self, ends: bool) -> Mapping[Place, Reading] | None:
        millis = min(self._settings.step_target, 100)
        plans = [(source, source.plan(self._pace.records, millis)) for source in self._sources]
        if not (ends or self._wanted([planned for _, planned in plans])):
            return None
        both = zip(plans, hold_back(plans), strict=True)
        readings = {(plan.vertex.index, i): reading for (plan, _), all_ in both for i, reading in enumerate(all_)}
        return self._savepoints.drained(readings)

    def _wanted(self, plans: Sequence[Plan]) -> bool:
        due = self._wakes or self._due() or self._checkpoints.wanted
        tick = self._ticks and self._since() >= TICK
        ending = all(source.over_for_good for source in self._sources)
        more = self._version.comes_back or self._savepoints.hurries
        return due or tick or ending or more or any(planned.busy for planned in plans)

    def _step(self, readings: Mapping[Place, Reading], ends: bool) -> None:
        """Run a step, and commit it if it is a checkpoint, as the first one is: it says where sources began."""
        version, self._began, self._wakes = self._version, time.monotonic(), False
        durable = self._steps and (
            ends or version.manifest.is_nothing or self._checkpoints.due or self._savepoints.hurries
        )
        over = all(source.over_for_good for source in self._sources)
        last = over and not version.comes_back
        self._go_round(over and version.comes_back)
        saves = durable or not self._runner.keeps_tasks
        if self._steps or (self._runner.keeps_tasks and self._deployment.goes_round):
            state = self._commits.state
            assignments = version.assignments(state, readings, last=last, saves=saves, commits=durable)
        else:
            state = None if self._settings.batch else self._commits.state
            assignments = dict.fromkeys(version.places, replace(ONLY_STEP, version=version.number, folder=state))
        self._progress.planned(version.number + 1, len(assignments))
        watch = Stopwatch(self._progress)
        with self._control.on_cancel(self._runner.cancel), watch.part("run"):
            rows = self._runner.step(version.number, assignments, watch)
        with contextlib.closing(rows):
            job_rows = JobRows(rows, self._deployment)
            back, reports = list(job_rows.back()), list(job_rows.reports())
            reported = [(report.task.vertex, report.task.subtask) for report in reports]
            if sorted(reported) != sorted(assignments):
                raise JobExecutionError(
                    f"The step has {len(assignments)} subtasks, but the reports are those of {len(reported)}: "
                    f"{sorted(set(assignments) ^ set(reported))[:5]} differ. This is a defect of Penstock."
                )
            self._note(reports)
            _tell(*lines_of(self._deployment, reports))
            durable = durable or all(report.finished for report in reports)  # and so all have written their state
            self._measure(reports)
            manifest = self._commit(job_rows, reports, back, watch) if durable else self._add(job_rows, reports, back)
        for source in self._sources:
            source.stepped()
        self._version = Version(self._deployment, manifest)
        self._progress.step(summary_of(watch, manifest, reports, self._sources, durable=durable))

    def _go_round(self, alone: bool) -> None:
        """A step begins; refuse one too many in which there is nothing but what is led back."""
        self._rounds = self._rounds + 1 if alone else 0
        if self._rounds > MAX_ROUNDS:
            raise JobExecutionError(
                f"The job {self._deployment.job.name!r} has an iteration whose records have gone round {MAX_ROUNDS:,} "
                "times since all sources have ended. It probably never ends; let fewer records through to close_with()."
            )

    def _commit(
        self, rows: JobRows, reports: Sequence[StepReport], back: Sequence[Row], watch: Stopwatch
    ) -> StepManifest:
        """Make durable what this step, and those since the last checkpoint, have led to."""
        with watch.part("manifest"):
            last = [report.task for report in reports]
            done = [*self._checkpoints.reports, *last] if self._steps else self._reported()
            outputs = self._commits.put_together(done)
            manifest = self._version.next(reports, back, self._sources, self._commits.with_ended, outputs=outputs)
            if not self._steps:
                self._commits.begun = True
                self._control.seal()
            self._commits.commit(manifest)
        try:
            with watch.part("publish"):
                self._commits.publish(manifest, self._checkpoints.files)
                if self._checkpoints.steps and not self._runner.keeps_tasks:
                    self._commits.clear_passed_on()
        finally:  # the step counts, whatever becomes of its files
            rows.show()
            self._hand_over(self._checkpoints.collected)
            self._hand_over(rows.collected())
            self._checkpoints.taken()
        for source in self._sources:
            source.committed()
        self._restarts.stepped()
        return manifest

    def _add(self, rows: JobRows, reports: Sequence[StepReport], back: Sequence[Row]) -> StepManifest:
        """Resume from a step that is not a checkpoint. What it prints is seen now, and again after a failure."""
        self._commits.check_if_lost()
        manifest = self._version.between(reports, back)
        rows.show()
        self._checkpoints.add(manifest, [report.task for report in reports], rows.collected())
        return manifest

    def _hand_over(self, collected: Mapping[str, list[Any]]) -> None:
        for sink, records in collected.items():
            taker = self._control.takers.get(sink)
            if taker is not None:
                taker.put(records)
            else:
                self._collected.setdefault(sink, []).extend(records)

    def _measure(self, reports: Sequence[StepReport]) -> None:
        """Add up what the tasks of a job that commits once have measured: all of it, which manifests do not keep."""
        if self._steps:
            return
        for task in (report.task for report in reports):
            before = self._measured.get((task.vertex, task.subtask))
            if before is not None:
                counters = tuple(map(added, before.counters, task.counters))
                files, committables = before.files + task.files, before.committables + task.committables
                task = replace(task, counters=counters, files=files, committables=committables)
            self._measured[task.vertex, task.subtask] = task

    def _note(self, reports: Sequence[StepReport]) -> None:
        """Take from the reports what concerns sources, time, and how much can be read."""
        by_vertex = {source.vertex.index: source for source in self._sources}
        most = 0
        for report in reports:
            source = by_vertex.get(report.task.vertex)
            if source is None:
                continue
            source.read(report.task.subtask, report.positions, report.ended)
            most = max(most, report.task.counters[0].records_out)
            if report.finished:
                source.finished.add(report.task.subtask)
        self._timer, self._ticks = waits(reports)
        self._pace.took(most, self._since())

    def _reported(self) -> list[TaskReport]:
        return [report for _, report in sorted(self._measured.items())]

    def _report(self) -> None:
        if self._measured:
            self.reports = tuple(self._reported())
            return
        totals = self._version.totals()
        self.reports = tuple(
            TaskReport(vertex.index, vertex.task_name(i), i, vertex.parallelism, 0, totals[vertex.index, i])
            for vertex in self._deployment.vertices
            for i in range(vertex.parallelism)
        )


def _tell(*lines: str | None) -> None:
    for line in filter(None, lines):
        print(line, file=sys.stderr)


def waits(reports: Sequence[StepReport]) -> tuple[int | None, bool]:
    """When the earliest timer by the clock is due, None for none; and whether something waits for time to pass."""
    timer = min((report.timer for report in reports if report.timer is not None), default=None)
    return timer, any(report.ticks for report in reports)


def refusal(error: Exception, version: int, deployment: Deployment) -> PenstockError | None:
    """An error that ends a job for good, as it would come in every step: state does not fit; None: another error."""
    cause = error.__cause__
    if not isinstance(error, JobExecutionError) or not isinstance(cause, PenstockError):
        return None
    if cause.flink_class != MIGRATION:
        return None
    uid, name = f"uid {error.uid!r}" if error.uid else "no uid", deployment.job.name
    return type(cause)(
        f"The job {name!r} cannot resume from checkpoint {version}, in operator {error.operator!r} (OperatorID "
        f"{error.operator_id}, {uid}): {cause}",
        flink_class=MIGRATION,
    )


def lines_of(deployment: Deployment, reports: Sequence[StepReport]) -> list[str]:
    """By operator, what has become of its state in all subtasks together."""
    by_id: dict[str, Counter[str]] = {}
    for report in reports:
        for operator_id, notes in report.notes.items():
            by_id.setdefault(operator_id, Counter()).update(notes)
    lines: list[str] = []
    for operator in (operator for vertex in deployment.vertices for operator in vertex.operators):
        for note, count in by_id.get(operator.operator_id, {}).items():
            uid = f" (uid {operator.uid})" if operator.uid else ""
            lines.append(f"  {operator.name}{uid}: {note}{f', {count} values' if count else ''}")
    return ["State that has changed:", *lines] if lines else []
