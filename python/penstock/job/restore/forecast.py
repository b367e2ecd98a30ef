"""What becomes of a savepoint's state in a program, before it is run: for ``penstock savepoint check``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from penstock.common.findings import Finding
from penstock.errors import InvalidProgramError
from penstock.job.folder.manifest import StepManifest
from penstock.job.restore.matches import holders, match
from penstock.job.restore.refusals import name_of
from penstock.job.restore.sizes import Planned
from penstock.job.restore.taking_over import fit_to_state, planned

if TYPE_CHECKING:
    from penstock.plan import Pipeline


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
        return refused, list(_said(manifest.filled(), planned(pipeline, pipeline.job_graph())))
    except InvalidProgramError as error:  # two would take the same
        return error, []


def _said(manifest: StepManifest, operators: list[Planned]) -> Iterator[Finding]:
    matching, held = match(manifest, operators), holders(manifest)
    for operator in sorted(operators, key=lambda each: each.node):
        taken = matching.taken.get(operator.operator_id)
        state = None if taken is None else manifest.operators.get(taken.state_id)
        if taken is not None and state is not None and taken.by == "position" and state.name != operator.name:
            said = (
                f"{operator.name!r} has no uid, and takes the state of {state.name!r} by its position alone. If it is "
                f"another operator, give the one that is to take it set_uid_hash({taken.state_id!r}), and each a uid."
            )
            yield Finding("inherited", "warning", taken.state_id, said)
        if taken is None or taken.state_id not in held:
            said = f"{operator.name!r} has no state in the savepoint: its state starts empty."
            yield Finding("starts-empty", "info", operator.operator_id, said)
    for state_id in matching.left:
        said = f"No operator of the program takes the state of {name_of(manifest, state_id)}."
        yield Finding("left-behind", "warning", state_id, said)
