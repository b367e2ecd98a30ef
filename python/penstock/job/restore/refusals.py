"""What is refused where a job continues with a changed program: before anything runs, with the reason, and Flink's
class.

Source of the semantics: ``Checkpoints.loadAndValidateCheckpoint``, ``StateAssignmentOperation`` (Flink 1.11 and 2.3).
"""

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
        f"ID{more}. Put the operator back; or, if another operator should take its state, give it "
        f"set_uid_hash({left[0]!r}). Operators that have uids from the beginning keep their state when the program "
        f"changes around them. To resume without this state, set {IGNORE} to true (--allow-non-restored-state); to "
        "start over, set another execution.checkpointing.dir.",
        flink_class=ILLEGAL_STATE,
    )


def unfit(manifest: StepManifest, found: Unfit) -> InvalidProgramError:
    """State that does not fit the operator that takes it."""
    who = name_of(manifest, found.state_id)
    if found.kind == "mismatch":
        return mismatch(who, found.there, found.wanted)
    name = manifest.operators[found.state_id].name
    if found.kind == "too few":
        return too_few(found.task.name, repr(name), found.there, found.wanted)
    if found.beside is None:
        return apart(found.task.name, who, found.there, found.wanted)
    beside = manifest.operators[found.beside_id].name
    return mixed(found.task.name, [(repr(beside), found.wanted), (repr(name), found.there)])


def mismatch(who: str, there: int, wanted: int) -> InvalidProgramError:
    """Another number of key groups."""
    return InvalidProgramError(
        f"The state of operator {who} has {there} key groups, and the program gives it {wanted}. Set its max "
        f"parallelism to {there}, or leave it out, and it is taken over; or begin from a savepoint with its keys in "
        f"{wanted} groups: {_REGROUPED} {wanted}; to start over, set another execution.checkpointing.dir.",
        flink_class=ILLEGAL_STATE,
    )


def too_few(task: str, who: str, there: int, parallelism: int) -> InvalidProgramError:
    """More subtasks than key groups."""
    return InvalidProgramError(
        f"The task {task!r} cannot resume with {parallelism} subtasks: the state of its operator {who} has {there} key "
        f"groups, and each subtask needs one. Give it a parallelism of {there} or less, or begin from a savepoint with "
        f"its keys in more groups: {_REGROUPED} N.",
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


def apart(task: str, who: str, there: int, given: int) -> InvalidProgramError:
    """State with other key groups than those by which its task gets records."""
    return InvalidProgramError(
        f"The state of operator {who} has {there} key groups, and its task {task!r} has {given}, by which records come "
        "to its subtasks: its keys would be looked for in the wrong ones. Set the max parallelism of the task's first "
        f"operator to {there}, or keep the operators apart by start_new_chain() or disable_chaining().",
        flink_class=ILLEGAL_STATE,
    )
