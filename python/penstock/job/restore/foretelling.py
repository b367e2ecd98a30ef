"""What becomes of a savepoint's state in a program, before it is run: for ``penstock savepoint check``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from penstock.common.finding import Finding
from penstock.errors import InvalidProgramError
from penstock.job.folder.manifest import StepManifest
from penstock.job.restore.matching import holders, match
from penstock.job.restore.refusals import name_of
from penstock.job.restore.taking_over import Planned, planned, taken_over

if TYPE_CHECKING:
    from penstock.plan import Pipeline


def foretold(
    pipeline: Pipeline, manifest: StepManifest, *, allow: bool = False
) -> tuple[InvalidProgramError | None, list[Finding]]:
    """Whether a program can go on from a manifest, and what is to be said of it. O(operators).

    Whether states can be read by the types of the program is seen when it runs, before its first record.

    Args:
        pipeline: the program.
        manifest: of the savepoint.
        allow: whether state that no operator takes may be left behind.

    Returns:
        Why it is refused, or None; and the findings.

    Raises:
        PlanError: the program cannot be planned.
    """
    refused = None
    try:
        taken_over(pipeline, manifest, allow=allow)
    except InvalidProgramError as error:
        refused = error
    try:
        return refused, list(_said(manifest, planned(pipeline, pipeline.job_graph())))
    except InvalidProgramError as error:  # two would take the same
        return error, []


def _said(manifest: StepManifest, operators: list[Planned]) -> Iterator[Finding]:
    matching, held = match(manifest, operators), holders(manifest)
    for operator in sorted(operators, key=lambda each: each.node):
        taken = matching.taken.get(operator.operator_id)
        state = None if taken is None else manifest.operators.get(taken.state_id)
        if taken is not None and state is not None and taken.by == "position" and state.name != operator.name:
            yield _inherited(operator, state.name, taken.state_id)
        if taken is None or taken.state_id not in held:
            said = f"{operator.name!r} has nothing in the savepoint: state that it keeps starts empty."
            yield Finding("starts-empty", "info", operator.operator_id, said)
    for state_id in matching.left:
        said = f"No operator of the program takes the state of {name_of(manifest, state_id)}."
        yield Finding("left-behind", "warning", state_id, said)


def _inherited(operator: Planned, other: str, state_id: str) -> Finding:
    said = (
        f"{operator.name!r} has no uid, and takes the state of {other!r} by its position alone. If it is another "
        f"operator, give the one that is to take it set_uid_hash({state_id!r}), and each operator a uid."
    )
    return Finding("inherited", "warning", state_id, said)
