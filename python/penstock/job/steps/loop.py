"""The loop: one step after the other, each from the version that the one before has committed.

A step: the sources say what there is to read; all tasks run over it, and report; the manifest of the next version is
written; what it names becomes visible. Whatever fails before the manifest is written has not happened: the step is run
again from the version before, as often as :mod:`.restarts` says.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from penstock.common.job import JobExecutionResult
from penstock.common.job_control import JobControl
from penstock.common.job_id import JobID
from penstock.common.job_status import JobStatus
from penstock.errors import ConfigurationError, FencedError, JobCancelledError, JobExecutionError
from penstock.job.deployment import Deployment
from penstock.job.folder.manifest import StepManifest
from penstock.job.restore.telling import told
from penstock.job.results import job_metrics
from penstock.job.rows import JobRows
from penstock.job.steps.committing import Commits
from penstock.job.steps.interrupting import stopped_by_interrupt
from penstock.job.steps.opening import open_tasks, refusal
from penstock.job.steps.outputs import WriteTable
from penstock.job.steps.pace import Pace
from penstock.job.steps.progress import Progress
from penstock.job.steps.reading import Plan, PlanFrame, SourcePlan, hold_back, now_millis, plan_of
from penstock.job.steps.restarts import Restarts
from penstock.job.steps.runner import Outgrown, Runner, never
from penstock.job.steps.savepoints import Savepoints
from penstock.job.steps.stopwatch import Stopwatch
from penstock.job.steps.versions import Place, Version, summary_of
from penstock.runtime.buffers.row import Row
from penstock.runtime.config.steps import Assignment, Reading, StepReport
from penstock.runtime.config.tasks import TaskReport
from penstock.runtime.io.frames import FrameSource
from penstock.runtime.io.stores import configured

LOG = logging.getLogger("penstock")
POLL = 20
"""Milliseconds between two questions to sources that have nothing new."""
TICK = 200
"""Milliseconds between two steps without records, while something waits for time to pass."""


class StepLoop:
    """A run of a job in steps.

    Args:
        deployment: the job.
        control: by which it is cancelled or stopped.
        runner: makes, of the job with its folder, what runs its tasks; it is closed at the end.
        progress: is told how far the job is.
        write_table: writes the rows of a table, where the executor can.
        frames: plans what sources read that are DataFrames, where the executor can.

    Attributes:
        reports: of the subtasks, when all is over: what each has measured since the job began.
        opened: whether all tasks were open.
    """

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
        self._deployment, self._control, self._made = deployment, control, runner
        self._progress = progress
        self._settings = deployment.job.settings
        self._pace = Pace(self._settings.step_records, self._settings.step_target)
        self._collected: dict[str, list[Any]] = {}
        self._restarts = Restarts(self._settings)
        self._failed = False  # and has not begun again
        self.opened = False
        self._timer: int | None = None
        self._ticks = False
        self._began = 0.0  # the last step
        self._sources: list[SourcePlan] = []
        self._outgrown: Outgrown = never
        self._grows = False  # the job is to go on with other tasks
        self._started = time.perf_counter()
        self.reports: tuple[TaskReport, ...] = ()

    def after(self, loop: StepLoop) -> StepLoop:
        """The same loop, which goes on with what another one of the same run has collected and counted.

        Args:
            loop: it has ended.
        """
        self._collected, self._restarts, self._started = loop._collected, loop._restarts, loop._started
        return self

    def run(self, outgrown: Outgrown = never) -> JobExecutionResult | None:
        """Run the job until all its sources have ended, or it is stopped.

        Args:
            outgrown: knows whether it is to go on with other tasks; then nothing is returned.

        Raises:
            JobExecutionError: it has failed too often.
            JobCancelledError: it was cancelled.
            PenstockError: the job folder is another's, or damaged.
        """
        self._outgrown = outgrown
        with contextlib.ExitStack() as opened:
            opened.enter_context(configured(self._settings.storage_options))
            opened.enter_context(stopped_by_interrupt(self._control))
            self._commits = opened.enter_context(Commits(self._deployment, self._write_table))
            self._deployment = self._commits.deployment
            self._runner = opened.enter_context(contextlib.closing(self._made(self._deployment)))
            opened.callback(lambda: [source.close() for source in self._sources])
            self._savepoints = opened.enter_context(Savepoints(self._control, self._commits))
            self._begin()
            if (found := self._commits.found()) is not None:
                print(found, file=sys.stderr)
            if said := told(self._version.before, self._deployment.vertices, self._version.matching):
                print(said, file=sys.stderr)
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
        """Go on from the newest version."""
        for source in self._sources:
            source.give_up()
        self._version = Version(self._deployment, self._commits.newest)
        self._sources = list(self._plans())

    def _plans(self) -> Iterator[SourcePlan]:
        manifest, functions = self._version.manifest, self._deployment.sources
        for vertex in self._deployment.vertices:
            if vertex.inputs:
                continue
            known = manifest.sources.get(vertex.operators[0].operator_id)
            positions = {} if known is None else known.positions
            over = () if known is None else self._commits.read_ended(known.ended)
            function, once = functions[vertex.index], self._settings.available_now
            if self._frames is not None and isinstance(function, FrameSource):
                plan = self._frames(vertex, positions, over, once=once)
            else:
                asked = 0 if known is None else known.asked
                plan = plan_of(vertex, function, positions, over, once=once, asked=asked)
            plan.finished = {subtask for index, subtask in self._version.finished if index == vertex.index}
            yield plan

    def _turn(self) -> bool:
        """One step, or a pause if there is nothing to do; whether the job goes on."""
        try:
            if self._failed:
                if self._grown():
                    return False
                self._again()
            if self._savepoints.look(self._version) or self._over() or self._grown():
                return False
            self._open()
            readings = self._planned()
            if readings is None:
                self._commits.rest()
                self._control.rest(min(self._until() / 1000, 1.0))
            else:
                self._step(readings)
                self._restarts.stepped()
        except JobCancelledError as error:
            raise JobCancelledError(
                f"The job {self._deployment.job.name!r} was cancelled. What its steps have committed stands."
            ) from error
        except FencedError:
            raise
        except (JobExecutionError, ConfigurationError, OSError) as error:  # of the program, or of what it talks to
            self._give_up(error)
        return True

    def _open(self) -> None:
        """See that all tasks can go on from the version that the job begins with, before anything is read."""
        if not self.opened and self._version.number > 0:
            assignments = self._version.assignments(self._commits.state, {}, last=False)
            with self._control.on_cancel(self._runner.cancel):
                lines = open_tasks(self._runner, self._version.number, assignments, self._deployment)
            for line in lines:
                print(line, file=sys.stderr)
        self.opened = True

    def _unwritten(self, error: OSError) -> JobExecutionError:
        """The error for one of the storage."""
        version, place = self._version.number, self._commits.place
        kept = self._settings.job_folder is not None
        return JobExecutionError(
            f"The step from version {version} cannot read or write its files, those of the job folder {place!r} or of "
            f"an output: {error}. "
            + ("Nothing of what is committed is lost: " if kept else "")
            + "make room, if the disk is full, or the folder writable, and run the program again"
            + ("; it goes on from there." if kept else ".")
            + " With a restart strategy it tries again by itself."
        )

    def _give_up(self, error: Exception) -> None:
        """A step has failed, or what comes before or behind it: it is to be run again.

        Raises:
            InvalidProgramError, StateError: its state is not for the program, whoever tries.
            JobExecutionError, ConfigurationError: the job has failed too often.
            FencedError: it has failed as another driver has taken the job folder over, and removed what this one wrote.
        """
        with contextlib.suppress(OSError, ConfigurationError):
            self._commits.check()
        refused = refusal(error, self._version.number, self._deployment)
        if refused is not None:
            raise refused from error.__cause__
        failure = self._unwritten(error) if isinstance(error, OSError) else error
        delay = self._restarts.delay_after(failure)
        if delay is None:
            raise failure from (error if failure is not error else error.__cause__)
        self._failed = True
        LOG.warning("The step from version %d has failed, and is run again: %s", self._version.number, failure)
        self._progress.discarded(failure)
        self._control.enter(JobStatus.RESTARTING)
        self._runner.forget(self._restarts.count)
        self._control.pause(delay)

    def _again(self) -> None:
        """Begin again from the newest version, after a failure."""
        self._commits.failed()
        self._begin()
        self._failed = False
        self._control.enter(JobStatus.RUNNING)

    def _grown(self) -> bool:
        """Whether the job ends here, to go on with other tasks. Whoever waits for a savepoint comes first."""
        self._grows = self._outgrown(failed=self._failed) and not self._savepoints.wanted()
        return self._grows

    def _over(self) -> bool:
        """Whether the job has come to its end, or is to end here."""
        return self._version.over or self._control.stopping or self._dry()

    def _dry(self) -> bool:
        """Whether the job was to read what is there, and has."""
        if self._savepoints.draining:
            return False
        once = self._settings.available_now and not self._version.comes_back
        return once and all(source.over_for_good or source.dry() for source in self._sources)

    def _since(self) -> float:
        """Milliseconds since the last step began."""
        return (time.monotonic() - self._began) * 1000

    def _planned(self) -> Mapping[Place, Reading] | None:
        """What sources read in the next step; None if there is no need of one."""
        interval = self._settings.checkpoint_interval or 0
        if interval and self._since() < interval and not self._hurries():
            return None
        millis = min(self._settings.step_target, interval or 100)
        plans = [(source, source.plan(self._pace.records, millis)) for source in self._sources]
        if not self._wanted([planned for _, planned in plans]):
            return None
        both = zip(plans, hold_back(plans), strict=True)
        readings = {(plan.vertex.index, i): each for (plan, _), all_ in both for i, each in enumerate(all_)}
        return self._savepoints.drained(readings)

    def _wanted(self, plans: Sequence[Plan]) -> bool:
        """Whether a step has anything to do."""
        due = self._timer is not None and self._timer <= now_millis()
        tick = self._ticks and self._since() >= TICK
        ending = all(source.over_for_good for source in self._sources)
        more = self._version.comes_back or self._savepoints.hurries
        return due or tick or ending or more or any(planned.busy for planned in plans)

    def _hurries(self) -> bool:
        """Whether a step does not wait for the interval: there is more to read than one takes, or a loop goes round,
        or nothing comes any more."""
        ending = all(source.over_for_good for source in self._sources)
        return self._pace.behind or self._version.comes_back or self._savepoints.hurries or ending

    def _until(self) -> int:
        """How long there is nothing to do for certain, in milliseconds."""
        left = (self._settings.checkpoint_interval or 0) - self._since()
        return max(1, int(left)) if left > 0 else POLL

    def _step(self, readings: Mapping[Place, Reading]) -> None:
        """Run a step, and commit it."""
        version, self._began = self._version, time.monotonic()
        last = all(source.over_for_good for source in self._sources) and not version.comes_back
        assignments = version.assignments(self._commits.state, readings, last=last)
        self._progress.planned(version.number + 1, len(assignments))
        watch = Stopwatch(self._progress, self._restarts.count)
        with self._control.on_cancel(self._runner.cancel), watch.part("run"):
            rows = self._runner.step(version.number, assignments, watch)
        with contextlib.closing(rows):
            self._commit(JobRows(rows, self._deployment), assignments, watch)

    def _commit(self, rows: JobRows, assignments: Mapping[Place, Assignment], watch: Stopwatch) -> None:
        back = list(rows.back())
        reports: list[StepReport] = list(rows.reports())
        self._check(reports, assignments)
        self._note(reports)
        with watch.part("manifest"):
            manifest = self._next(reports, back)
            self._commits.commit(manifest)
        try:
            with watch.part("publish"):
                self._commits.publish(manifest)
        finally:  # the step counts, whatever becomes of its files
            self._show(rows)
        for source in self._sources:
            source.committed()
        self._version = Version(self._deployment, manifest)
        self._progress.step(summary_of(watch, manifest, reports))

    def _show(self, rows: JobRows) -> None:
        """Print and hand over what the step has collected."""
        rows.show()
        for sink, records in rows.collected().items():
            taker = self._control.takers.get(sink)
            if taker is not None:
                taker.put(records)
            else:
                self._collected.setdefault(sink, []).extend(records)

    def _next(self, reports: Sequence[StepReport], back: Sequence[Row]) -> StepManifest:
        outputs = self._commits.put_together([report.task for report in reports])
        return self._version.next(reports, back, self._sources, self._commits.with_ended, outputs=outputs)

    def _note(self, reports: Sequence[StepReport]) -> None:
        """What the reports say of sources, of time, and of how much can be read."""
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
        self._timer = min((report.timer for report in reports if report.timer is not None), default=None)
        self._ticks = any(report.ticks for report in reports)
        self._pace.took(most, self._since())

    def _check(self, reports: Sequence[StepReport], assignments: Mapping[Place, Assignment]) -> None:
        found = [(report.task.vertex, report.task.subtask) for report in reports]
        if sorted(found) != sorted(assignments):
            raise JobExecutionError(
                f"The step has {len(assignments)} subtasks, but the reports are those of {len(found)}: "
                f"{sorted(set(assignments) ^ set(found))[:5]} differ. This is a defect of Penstock; the step does not "
                "count."
            )

    def _report(self) -> None:
        totals = self._version.totals()
        self.reports = tuple(
            TaskReport(vertex.index, vertex.task_name(i), i, vertex.parallelism, 0, totals[vertex.index, i])
            for vertex in self._deployment.vertices
            for i in range(vertex.parallelism)
        )
