"""The verdict of ``penstock savepoint check``: put together of what the restores of Flink, and ours, say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import click

from penstock.analysis.model import OperatorModel
from penstock.common.findings import Finding
from penstock.compare.difference import ALLOWED, UNKNOWN_STATE, UNREAD, UNREADABLE, Problem, compare
from penstock.errors import InvalidProgramError
from penstock.plan import Pipeline
from penstock.runtime.state.evolution import MIGRATION


@dataclass(frozen=True)
class Verdict:
    """What becomes of a program that is restored.

    Attributes:
        place: of the savepoint, as it was given.
        kind: ``flink`` or ``penstock``: whose savepoint it is.
        flink: as which Flink the program is planned.
        outcome: ``restored`` with ``vertices``, or with ``stage``, ``error`` and ``wrapped_in``.
        said: why it is refused, for people; "" if it is not.
        findings: what else is to be said.
    """

    place: str
    kind: str
    flink: str
    outcome: dict[str, Any]
    said: str
    findings: list[Finding]

    @property
    def good(self) -> bool:
        """Whether it is restored, and nothing lost or wrong without a word."""
        return not self.said and all(each.severity != "error" for each in self.findings)


def checked(place: str, pipeline: Pipeline, *, allow: bool, flinks: bool) -> Verdict:
    """What becomes of a program that is restored from a savepoint.

    Args:
        place: of the savepoint.
        pipeline: the captured program.
        allow: whether state may be left behind.
        flinks: whether it is a savepoint of Flink.

    Raises:
        SavepointError: there is none, or it is damaged.
        PlanError: the program cannot be planned.
    """
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
    stage = "plan"
    found = compare(model_of_saved(savepoint), model_with_classes(pipeline), allow=allow, ended=ended)
    if refused is None:
        stage, refused = "open", next((_refusal(each) for each in found.problems if each.kind == UNREADABLE), None)
    findings += [_finding(each) for each in (*found.problems, *found.unknown) if each.kind in (UNREAD, UNKNOWN_STATE)]
    findings += [_of_ended(each) for each in found.new.operators if each.operator_id in ended]
    outcome: dict[str, Any] = {"restored": refused is None}
    if refused is not None:
        error = {"class": refused.flink_class, "message": str(refused)}
        outcome |= {"stage": stage, "error": error, "wrapped_in": []}
    return Verdict(place, "penstock", pipeline.flink, outcome, str(refused or ""), findings)


def _refusal(problem: Problem) -> InvalidProgramError:
    return InvalidProgramError(f"{problem.text}", flink_class=MIGRATION)


def _finding(problem: Problem) -> Finding:
    """Of state that is lost without a word, or of which nobody knows before it runs."""
    if problem.kind == UNKNOWN_STATE:
        return Finding("unknown", "warning", problem.operator, f"Unknown until it runs: {problem.text}.")
    severity = "warning" if problem.severity == ALLOWED else "error"
    return Finding("lost", severity, problem.operator, f"{problem.text}.")


def _of_ended(operator: OperatorModel) -> Finding:
    said = f"All tasks of {operator.name!r} have ended: the run does nothing with it, and does not open its state."
    return Finding("ended", "info", operator.operator_id, said)


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
    told = prediction
    if prediction.taken is None and not allow:  # what would become of the rest
        told = predict_restore(savepoint, plan, flink, True)
    found = findings(savepoint, told, declared_states(pipeline))
    said = "" if prediction.refusal is None else prediction.refusal.said
    return Verdict(place, "flink", flink, outcome(prediction), said, found)


def print_verdict(verdict: Verdict, program: str, *, as_json: bool) -> None:
    """Print it.

    Args:
        verdict: what becomes of the program.
        program: its file.
        as_json: as one document of JSON, instead of text.
    """
    if as_json:
        about = {"savepoint": verdict.place, "kind": verdict.kind, "program": program, "flink": verdict.flink}
        findings = [asdict(each) for each in verdict.findings]
        document = {**about, **verdict.outcome, "explanation": verdict.said, "good": verdict.good, "findings": findings}
        click.echo(json.dumps(document, indent=2))
        return
    from penstock.flink.cursor import plain

    for line in _lines(verdict, program):
        click.echo("\n".join(map(plain, line.split("\n"))))


def _lines(verdict: Verdict, program: str) -> Iterator[str]:
    who = f"Flink {verdict.flink}" if verdict.kind == "flink" else "Penstock"
    if not verdict.said:
        yield f"{program}: {who} restores it from {verdict.place}"
    elif verdict.outcome.get("stage") == "task":
        yield f"{program}: {who} starts it from {verdict.place}, and its tasks fail"
    else:
        yield f"{program}: {who} refuses to restore it from {verdict.place}"
    if verdict.said:
        yield f"  {verdict.said}"
        error = verdict.outcome["error"]
        if verdict.kind == "flink":
            yield f"  Flink says: {error['class'].rpartition('.')[2]}: {error['message']}"
    for each in verdict.findings:
        yield f"{each.severity}[{each.code}]: {each.said}"
    for vertex in verdict.outcome.get("vertices", ()):
        yield f"  {vertex['name']}: parallelism {vertex['parallelism']}, max parallelism {vertex['max_parallelism']}"
