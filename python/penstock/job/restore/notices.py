"""What is said before a job continues with a changed program, where Flink is silent: who takes which state, who
none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from penstock.common.findings import Finding
from penstock.errors import InvalidProgramError
from penstock.job.folder.manifest import StepManifest, all_pushed
from penstock.job.restore.matches import Matching, fits, holders, match
from penstock.job.restore.refusals import name_of
from penstock.job.restore.sizes import Planned
from penstock.job.restore.taking_over import fit_to_state, planned
from penstock.runtime.config.tasks import OperatorConfig, VertexConfig

if TYPE_CHECKING:
    from penstock.plan import Pipeline

_MOST = 6  # names in a line


_INHERITED = "inherited by position"


def describe(manifest: StepManifest, vertices: Sequence[VertexConfig], matching: Matching | None) -> str:
    """A short table, or ""; without ``matching`` the plan has not changed, and only names can have."""
    manifest = manifest.filled()
    if matching is None:
        matching = match(manifest, (operator for vertex in vertices for operator in vertex.operators))
        if not dict(_groups(manifest, vertices, matching))[_INHERITED]:
            return ""
    lines: list[str] = []
    for what, names in _groups(manifest, vertices, matching):
        more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
        lines += [f"  {what:<27} {', '.join(names[:_MOST])}{more}"] if names else []
    return "\n".join(["State of the checkpoint, and the operators of the program:", *lines])


def _groups(
    manifest: StepManifest, vertices: Sequence[VertexConfig], matching: Matching
) -> Iterator[tuple[str, list[str]]]:
    operators = sorted((operator for vertex in vertices for operator in vertex.operators), key=attrgetter("node"))
    held = holders(manifest)
    with_state = [operator for operator in operators if _state_id(operator, matching) in held]
    for way in ("uid", "uid hash", "position"):
        restored = [operator for operator in with_state if matching.taken[operator.operator_id].by == way]
        same = (operator for operator in restored if not _other(operator, manifest, matching))
        yield f"restored by {way}", [repr(operator.name) for operator in same]
    others = [(operator, _other(operator, manifest, matching)) for operator in with_state]
    yield _INHERITED, [f"{operator.name!r} that of {other!r}" for operator, other in others if other]
    held_states = manifest.operators.items()
    keys = {known: sum(file.keys for series in state.subtasks for file in series) for known, state in held_states}
    unkeyed = (operator for operator in with_state if not operator.keyed)
    unread = (repr(operator.name) for operator in unkeyed if keys.get(_state_id(operator, matching) or ""))
    yield "carried along unread", list(unread)
    yield "dropped, as allowed", [name_of(manifest, state_id) for state_id in matching.left]
    yield "begins again", list(_anew(manifest, vertices, matching))
    new = set(matching.new)
    empty = (operator for operator in operators if operator.operator_id in new and operator.keeps_state)
    yield "new, starts empty", [repr(operator.name) for operator in empty]


def _state_id(operator: OperatorConfig, matching: Matching) -> str | None:
    taken = matching.taken.get(operator.operator_id)
    return None if taken is None else taken.state_id


def _other(operator: OperatorConfig | Planned, manifest: StepManifest, matching: Matching) -> str | None:
    """The name of the operator whose state, or of the source whose positions, another one takes by its place alone."""
    taken = matching.taken[operator.operator_id]
    state = manifest.operators.get(taken.state_id) or manifest.sources.get(taken.state_id)
    if state is None or taken.by != "position" or state.name in ("", operator.name):
        return None
    return state.name


def _anew(manifest: StepManifest, vertices: Iterable[VertexConfig], matching: Matching) -> Iterator[str]:
    for vertex in vertices:
        head = vertex.operators[0]
        state_id = _state_id(head, matching)
        source = None if state_id is None or vertex.inputs else manifest.sources.get(state_id)
        if source is not None and not fits(source, head):
            yield f"{head.name!r}, which is a source of another kind now"
        elif source and all_pushed(source.positions) and len(source.positions) != vertex.parallelism:
            yield f"{head.name!r}, a function with another parallelism"


def predict(
    pipeline: Pipeline, manifest: StepManifest, *, allow: bool = False
) -> tuple[InvalidProgramError | None, list[Finding]]:
    """Why a program cannot resume from a manifest, or None, and what should be said of it. O(operators)."""
    refused = None
    try:
        fit_to_state(pipeline, manifest, allow=allow)
    except InvalidProgramError as error:
        refused = error
    try:
        return refused, list(_findings(manifest.filled(), planned(pipeline, pipeline.job_graph())))
    except InvalidProgramError as error:  # two would take the same
        return error, []


def _findings(manifest: StepManifest, operators: list[Planned]) -> Iterator[Finding]:
    matching, held = match(manifest, operators), holders(manifest)
    for operator in sorted(operators, key=lambda operator: operator.node):
        taken = matching.taken.get(operator.operator_id)
        other = None if taken is None else _other(operator, manifest, matching)
        if taken is not None and other is not None:
            text = (
                f"{operator.name!r} has no uid, and takes the state of {other!r} by its position alone. If it is "
                f"another operator, give the one that is to take it set_uid_hash({taken.state_id!r}), and each a uid."
            )
            yield Finding("inherited", "warning", taken.state_id, text)
        if taken is None or taken.state_id not in held:
            text = f"{operator.name!r} has no state in the savepoint: its state starts empty."
            yield Finding("starts-empty", "info", operator.operator_id, text)
    for state_id in matching.left:
        text = f"No operator of the program takes the state of {name_of(manifest, state_id)}."
        yield Finding("left-behind", "warning", state_id, text)
