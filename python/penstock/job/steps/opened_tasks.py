"""Before the first step of a run that resumes from a checkpoint: all tasks open, with the state that there is.

Nothing is read, written, committed or published meanwhile. So a program that cannot resume from the checkpoint is told
so before a record is processed, and what is in the checkpoint directory is as it was. The tasks stay open for the first
step, and say when their next timer by the clock is due: it may be overdue, and no record needs to come for it to fire.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from penstock.errors import JobExecutionError, PenstockError
from penstock.job.deployment import Deployment
from penstock.job.rows import JobRows
from penstock.job.steps.stopwatch import Stopwatch
from penstock.runtime.buffers.spill import Rows
from penstock.runtime.config.steps import Assignment, StepReport
from penstock.runtime.state.evolution import MIGRATION

Place = tuple[int, int]


@dataclass(frozen=True)
class Opened:
    """What open tasks say before their first step."""

    lines: list[str]  # on state that is not what it was
    timer: int | None  # when the next timer by the clock is due, in milliseconds since the epoch; None for none
    ticks: bool  # whether something waits for time to pass, as idleness does


class Steps(Protocol):
    """What runs the tasks (:class:`penstock.job.steps.runner.Runner`)."""

    def step(self, version: int, assignments: Mapping[Place, Assignment], watch: Stopwatch) -> Rows:
        """Run the tasks."""
        ...


def open_tasks(runner: Steps, version: int, assignments: Mapping[Place, Assignment], deployment: Deployment) -> Opened:
    """Have all tasks open. ``assignments`` are those of the first step; what they say of sources does not matter."""
    opening = {place: replace(each, opens=True, reading=None, rows=()) for place, each in assignments.items()}
    try:
        with contextlib.closing(runner.step(version, opening, Stopwatch(None))) as rows:
            reports: list[StepReport] = list(JobRows(rows, deployment).reports())
    except JobExecutionError as error:
        refused = refusal(error, version, deployment)
        if refused is None:
            raise
        raise refused from error.__cause__
    timer, ticks = waits(reports)
    return Opened(lines_of(deployment, reports), timer, ticks)


def waits(reports: Sequence[StepReport]) -> tuple[int | None, bool]:
    """What tasks wait for that is not a record: when the earliest timer by the clock is due, None for none; and whether
    something waits for time to pass."""
    timer = min((report.timer for report in reports if report.timer is not None), default=None)
    return timer, any(report.ticks for report in reports)


def refusal(error: Exception, version: int, deployment: Deployment) -> PenstockError | None:
    """What ends a job for good, as it would come again in every step: state that is not for the program as it is now,
    also where that is seen when a function asks for it after ``open()``; None: the error is another one."""
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
    found: dict[str, Counter[str]] = {}
    for report in reports:
        for operator_id, notes in report.notes.items():
            found.setdefault(operator_id, Counter()).update(notes)
    lines: list[str] = []
    for operator in (each for vertex in deployment.vertices for each in vertex.operators):
        for note, count in found.get(operator.operator_id, {}).items():
            uid = f" (uid {operator.uid})" if operator.uid else ""
            lines.append(f"  {operator.name}{uid}: {note}{f', {count} values' if count else ''}")
    return ["State that has changed:", *lines] if lines else []
