"""What the commands say of an edit before it runs."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from penstock.cli.compared_plans import model_with_classes
from penstock.cli.program import PlanCaptured, PlanOnlyExecutor
from penstock.cli.savepoint_check import Verdict, checked
from penstock.compare.difference import BLOCKED, MISPLACED, ORPHANED, UNREAD, Difference, compare
from penstock.compare.savepoints import joined, model_of_savepoint
from penstock.job.savepoint.store import read_savepoint
from penstock.job.steps.versions import ended_operators
from penstock.lock.format import model_of_lock, written
from penstock.plan import Pipeline

KEPT, LOST, REFUSED = "kept", "lost", "refused"
RANKS = (KEPT, LOST, REFUSED)
"""From best to worst."""


@dataclass(frozen=True)
class Answer:
    outcome: str
    unknown: bool
    text: str

    def allows(self, outcome: str) -> bool:
        """Whether a run that ends so is what was said: that, or worse where something is unknown."""
        return outcome == self.outcome or (self.unknown and RANKS.index(outcome) > RANKS.index(self.outcome))


def pipeline_of(env: Any, planner: PlanOnlyExecutor) -> Pipeline:
    """The program that was built in an environment."""
    with suppress(PlanCaptured):
        env.execute("edited")
    assert planner.pipeline is not None
    return planner.pipeline


def asked(old: Pipeline, place: str, new: Pipeline, *, allow: bool = False) -> dict[str, Answer]:
    """The answers of all commands, by name."""
    locked = model_of_lock(written(model_with_classes(old), "job.py"), "penstock.lock")
    saved, after = model_of_savepoint(place), model_with_classes(new)
    ended = ended_operators(new, read_savepoint(place))
    return {
        "lock": _of(compare(locked, after, allow=allow)),
        "savepoint": _of(compare(saved, after, allow=allow, ended=ended)),
        "both": _of(compare(joined(locked, saved), after, allow=allow, ended=ended)),
        "savepoint check": _of_verdict(checked(place, new, allow=allow, flinks=False)),
    }


def _of(difference: Difference) -> Answer:
    kinds = {
        (problem.kind, problem.severity) for problem in difference.problems if problem.kind != MISPLACED
    }  # no run refuses it
    refused = (ORPHANED, LOST) in kinds or any(severity == BLOCKED for _, severity in kinds)
    outcome = REFUSED if refused else LOST if any(kind == UNREAD for kind, _ in kinds) else KEPT
    lines = [
        f"{problem.kind}, {problem.severity}: {problem.text}" for problem in (*difference.problems, *difference.unknown)
    ]
    return Answer(outcome, bool(difference.unknown), "; ".join(lines))


def _of_verdict(verdict: Verdict) -> Answer:
    codes = {finding.code for finding in verdict.findings}
    outcome = REFUSED if verdict.refusal else LOST if "lost" in codes else KEPT
    lines = [verdict.refusal, *(f"{finding.code}: {finding.message}" for finding in verdict.findings)]
    return Answer(outcome, "unknown" in codes, "; ".join(lines))
