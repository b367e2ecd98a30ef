"""The verdict of ``penstock savepoint check``: put together of what the restores of Flink, and ours, say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import click

from penstock.common.findings import Finding
from penstock.compare.difference import ALLOWED, UNREAD, UNREADABLE, compare
from penstock.plan import Pipeline
from penstock.runtime.state.evolution import MIGRATION


@dataclass(frozen=True)
class Verdict:
    """The outcome of a restore."""

    place: str  # of the savepoint, as it was given
    kind: str  # ``flink`` or ``penstock``: whose savepoint it is
    flink: str  # as which the program is planned
    outcome: dict[str, Any]  # ``restored`` with ``vertices``, or with ``stage``, ``error`` and ``wrapped_in``
    refusal: str  # why it is refused, for people; "" if it is not
    findings: list[Finding]

    @property
    def good(self) -> bool:
        """Whether it is restored, and nothing lost or wrong without a word."""
        return not self.refusal and all(finding.severity != "error" for finding in self.findings)


def checked(place: str, pipeline: Pipeline, *, allow: bool, flinks: bool) -> Verdict:
    """The outcome of a restore of a program from a savepoint, which may be Flink's; ``allow``: state may be left
    behind."""
    if flinks:
        return _of_flink(place, pipeline, allow)
    from penstock.cli.compared_plans import model_with_classes
    from penstock.compare.savepoints import model_of_saved
    from penstock.job.restore.notices import predict
    from penstock.job.savepoint.store import read_savepoint
    from penstock.job.steps.versions import ended_operators

    savepoint = read_savepoint(place)
    refused, findings = predict(pipeline, savepoint.manifest, allow=allow)
    ended = ended_operators(pipeline, savepoint)
    difference = compare(model_of_saved(savepoint), model_with_classes(pipeline), allow=allow, ended=ended)
    unreadable = next((problem.text for problem in difference.problems if problem.kind == UNREADABLE), None)
    error = None
    if refused is not None:
        error = {"class": refused.flink_class, "message": str(refused)}
    elif unreadable is not None:
        error = {"class": MIGRATION, "message": unreadable}
    for problem in difference.problems:
        if problem.kind == UNREAD:  # lost without a word
            severity = "warning" if problem.severity == ALLOWED else "error"
            findings.append(Finding("lost", severity, problem.operator, f"{problem.text}."))
    for problem in difference.unknown:
        findings.append(Finding("unknown", "warning", problem.operator, f"Unknown until it runs: {problem.text}."))
    for operator in difference.new.operators:
        if operator.operator_id in ended:
            text = (
                f"All tasks of {operator.name!r} have ended: the run does nothing with it, and does not open its state."
            )
            findings.append(Finding("ended", "info", operator.operator_id, text))
    outcome: dict[str, Any] = {"restored": error is None}
    if error is not None:
        outcome |= {"stage": "open" if refused is None else "plan", "error": error, "wrapped_in": []}
    return Verdict(place, "penstock", pipeline.flink, outcome, error["message"] if error else "", findings)


def _of_flink(place: str, pipeline: Pipeline, allow: bool) -> Verdict:
    from penstock.analysis.states import declared_states
    from penstock.flink.batch import outcome
    from penstock.flink.findings import findings
    from penstock.flink.plans import plan_of
    from penstock.flink.restore import predict_restore
    from penstock.flink.savepoint import read_savepoint

    flink = pipeline.flink
    savepoint, plan = read_savepoint(place, flink), plan_of(pipeline, flink)
    prediction = predict_restore(savepoint, plan, flink, allow)
    reported = prediction
    if prediction.taken is None and not allow:  # what would become of the rest
        reported = predict_restore(savepoint, plan, flink, True)
    problems = findings(savepoint, reported, declared_states(pipeline))
    refusal = "" if prediction.refusal is None else prediction.refusal.message
    return Verdict(place, "flink", flink, outcome(prediction), refusal, problems)


def print_verdict(verdict: Verdict, program: str, *, as_json: bool) -> None:
    """Print what becomes of a program's file."""
    if as_json:
        about = {"savepoint": verdict.place, "kind": verdict.kind, "program": program, "flink": verdict.flink}
        findings = [asdict(finding) for finding in verdict.findings]
        outcome = {**verdict.outcome, "explanation": verdict.refusal, "good": verdict.good}
        click.echo(json.dumps({**about, **outcome, "findings": findings}, indent=2))
        return
    from penstock.flink.cursor import plain

    for line in _lines(verdict, program):
        click.echo("\n".join(map(plain, line.split("\n"))))


def _lines(verdict: Verdict, program: str) -> Iterator[str]:
    who = f"Flink {verdict.flink}" if verdict.kind == "flink" else "Penstock"
    if not verdict.refusal:
        yield f"{program}: {who} restores it from {verdict.place}"
    elif verdict.outcome.get("stage") == "task":
        yield f"{program}: {who} starts it from {verdict.place}, and its tasks fail"
    else:
        yield f"{program}: {who} refuses to restore it from {verdict.place}"
    if verdict.refusal:
        yield f"  {verdict.refusal}"
        error = verdict.outcome["error"]
        if verdict.kind == "flink":
            yield f"  Flink says: {error['class'].rpartition('.')[2]}: {error['message']}"
    for finding in verdict.findings:
        yield f"{finding.severity}[{finding.code}]: {finding.message}"
    for vertex in verdict.outcome.get("vertices", ()):
        yield f"  {vertex['name']}: parallelism {vertex['parallelism']}, max parallelism {vertex['max_parallelism']}"
