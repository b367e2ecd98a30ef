"""What is refused, before anything runs, where a job continues with a changed program. Source of the semantics:
``Checkpoints.loadAndValidateCheckpoint``, ``StateAssignmentOperation`` (Flink 1.11 and 2.3)."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.errors import InvalidProgramError
from penstock.job.folder.manifest import StepManifest
from penstock.job.restore.sizes import Unfit

ILLEGAL_STATE = "java.lang.IllegalStateException"
_REGROUPED = "penstock savepoint set-max-parallelism JOB NEW UID"
IGNORE = "execution.savepoint.ignore-unclaimed-state"


def name_of(manifest: StepManifest, state_id: str) -> str:
    """An operator of a manifest, for people: its name, with uid or ID."""
    state = manifest.operators.get(state_id) or manifest.sources.get(state_id)
    if state is None or not state.name:
        what = "the source" if state_id in manifest.sources else "the head of the loop"
        return f"{what} of the ID {state_id}"
    return f"{state.name!r} (" + (f"uid {state.uid!r}, " if state.uid is not None else "") + f"ID {state_id})"


def unclaimed(manifest: StepManifest, left: Sequence[str]) -> InvalidProgramError:
    """State that no operator takes."""
    more = f", and {len(left) - 1} more operators have such" if len(left) > 1 else ""
    return InvalidProgramError(
        f"There is state for operator {name_of(manifest, left[0])}, but the program has no operator with that "
        f"ID{more}. Put the operator back, or give the one that should take its state set_uid_hash({left[0]!r}). To "
        f"resume without it, set {IGNORE} to true (--allow-non-restored-state); to start over, set another "
        "execution.checkpointing.dir.",
        flink_class=ILLEGAL_STATE,
    )


def unfit(manifest: StepManifest, misfit: Unfit) -> InvalidProgramError:
    """State that does not fit the operator that takes it."""
    who = name_of(manifest, misfit.state_id)
    if misfit.kind == "mismatch":
        return mismatch(who, misfit.actual, misfit.wanted)
    name, task = manifest.operators[misfit.state_id].name, misfit.task.name
    if misfit.kind == "too few":
        text = (
            f"The task {task!r} cannot resume with {misfit.wanted} subtasks: the state of its operator {name!r} has "
            f"{misfit.actual} key groups, and each subtask needs one. Give it a parallelism of {misfit.actual} or "
            f"less, or begin from a savepoint with its keys in more groups: {_REGROUPED} N."
        )
    elif misfit.beside is None:
        text = (
            f"The state of operator {who} has {misfit.actual} key groups, and its task {task!r} has {misfit.wanted}: "
            "its keys would be looked for in the wrong ones. Set the max parallelism of the task's first operator to "
            f"{misfit.actual}, or keep the operators apart by start_new_chain() or disable_chaining()."
        )
    else:
        beside = manifest.operators[misfit.beside_id].name
        text = (
            f"The task {task!r} joins operators whose states have different numbers of key groups: that of {beside!r} "
            f"{misfit.wanted} and that of {name!r} {misfit.actual}. A task has one number for all. Keep the operators "
            "apart by start_new_chain() or disable_chaining()."
        )
    return InvalidProgramError(text, flink_class=ILLEGAL_STATE)


def mismatch(who: str, actual: int, wanted: int) -> InvalidProgramError:
    """Another number of key groups."""
    return InvalidProgramError(
        f"The state of operator {who} has {actual} key groups, and the program gives it {wanted}. Set its max "
        f"parallelism to {actual}, or leave it out, and it is taken over; or begin from a savepoint with its keys in "
        f"{wanted} groups: {_REGROUPED} {wanted}; to start over, set another execution.checkpointing.dir.",
        flink_class=ILLEGAL_STATE,
    )
