"""What of a job has ended for good: a run of the same plan opens none of it any more, whatever its types are now."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.errors import PenstockError
from penstock.job.deployment import deploy
from penstock.job.restore.carried import for_beginning
from penstock.job.restore.taking_over import fit_to_state
from penstock.job.savepoint.format import StoredSavepoint
from penstock.job.steps.versions import digest_of, key_of

if TYPE_CHECKING:
    from penstock.plan import Pipeline


def ended_operators(pipeline: Pipeline, savepoint: StoredSavepoint) -> frozenset[str]:
    """The IDs of operators that a program which resumes from a savepoint leaves, as all their tasks have ended."""
    manifest = for_beginning(savepoint)
    over = {key for key, tasks in manifest.tasks.items() if tasks and all(task.finished for task in tasks)}
    if not over:
        return frozenset()
    settings = replace(pipeline.settings, savepoint=savepoint.place)  # what resumes from one runs in steps
    try:
        program = fit_to_state(replace(pipeline, settings=settings), manifest, allow=settings.ignore_unclaimed)
        deployment = deploy(program, loops=True, resumed=True)
    except PenstockError:  # the run is refused, and others say so
        return frozenset()
    if digest_of(deployment) != manifest.plan:
        return frozenset()
    left = (each for vertex in deployment.vertices if key_of(vertex) in over for each in vertex.operators)
    return frozenset(each.operator_id for each in left)
