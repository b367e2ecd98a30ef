"""What is refused where a job goes on with a changed program: before anything runs, with the reason, and Flink's class.

Source of the semantics: ``Checkpoints.loadAndValidateCheckpoint``, ``StateAssignmentOperation`` (Flink 1.11 and 2.3).
"""

from __future__ import annotations

from collections.abc import Sequence

from penstock.errors import InvalidProgramError
from penstock.job.folder.manifest import StepManifest

ILLEGAL_STATE = "java.lang.IllegalStateException"
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
        f"There is state of operator {name_of(manifest, left[0])}, and the program has no operator of that ID{more}. "
        "Put the operator back; or, if another one is to take its state, give that one "
        f"set_uid_hash({left[0]!r}). Operators that have uids from the beginning keep their state when the program "
        f"changes around them. To go on without this state, set {IGNORE} to true (--allow-non-restored-state); to "
        "begin anew, take another penstock.job.folder.",
        flink_class=ILLEGAL_STATE,
    )


def mismatch(who: str, there: int, wanted: int) -> InvalidProgramError:
    """Another number of key groups."""
    return InvalidProgramError(
        f"The state of operator {who} has {there} key groups, and the program gives it {wanted}. State cannot move to "
        f"another number of key groups: set its max parallelism to {there}, or leave it out, and it is taken over; "
        "to begin anew, take another penstock.job.folder.",
        flink_class=ILLEGAL_STATE,
    )


def too_few(task: str, who: str, there: int, parallelism: int) -> InvalidProgramError:
    """More subtasks than key groups."""
    return InvalidProgramError(
        f"The task {task!r} cannot go on with {parallelism} subtasks: the state of its operator {who} has {there} key "
        f"groups, and each subtask needs one. Give it a parallelism of {there} or less.",
        flink_class=ILLEGAL_STATE,
    )


def mixed(task: str, found: list[tuple[str, int]]) -> InvalidProgramError:
    """A chain whose states have different numbers of key groups."""
    states = " and ".join(f"that of {who} {there}" for who, there in found)
    return InvalidProgramError(
        f"The task {task!r} joins operators whose states have different numbers of key groups: {states}. A task has "
        "one number for all. Keep the operators apart by start_new_chain() or disable_chaining().",
        flink_class=ILLEGAL_STATE,
    )
