"""Flink's refusals to restore: class, message, the exceptions around it, and a sentence of our own."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.flink.cursor import EOF, ILLEGAL_STATE, IO
from penstock.flink.metadata import OperatorState
from penstock.flink.plans import PlannedVertex

_RUNTIME = "org.apache.flink.util.FlinkRuntimeException"
_CLIENT = "org.apache.flink.runtime.client."
_SUBMITTED = (f"{_CLIENT}JobSubmissionException", f"{_CLIENT}JobExecutionException")
_INITIALIZED = (f"{_CLIENT}JobInitializationException", "java.util.concurrent.CompletionException")
_BUILDING = (
    "org.apache.flink.runtime.JobException",
    "java.lang.Exception",
    "org.apache.flink.util.FlinkException",
    "org.apache.flink.runtime.state.BackendBuildingException",
)
_CHECKED = (IO, EOF, *(f"java.io.{name}Exception" for name in ("FileNotFound", "UTFDataFormat", "StreamCorrupted")))
_FAILED = "Failed to rollback to checkpoint/savepoint "
_ILLEGAL = "Illegal JobGraph modification. Cannot run a program with "


@dataclass(frozen=True)
class Refusal:
    """The reason why a restore fails."""

    stage: str  # "plan" before any task runs, "task" when tasks open their state
    flink_class: str  # of the innermost cause
    flink_message: str | None
    wrapped_in: tuple[str, ...]  # the exceptions around it, outermost first
    said: str  # the problem and its remedy


def wrapping_exceptions(flink: str, flink_class: str) -> tuple[str, ...]:
    """The exceptions around one that refuses a restore before any task runs."""
    if flink == "1.11":
        return _SUBMITTED
    return (*_INITIALIZED, "java.lang.RuntimeException") if flink_class in _CHECKED else _INITIALIZED


def _planned(flink: str, message: str, advice: str, flink_class: str = ILLEGAL_STATE) -> Refusal:
    return Refusal("plan", flink_class, message, wrapping_exceptions(flink, flink_class), advice)


def label(operator: OperatorState) -> str:
    """An operator of a savepoint for display."""
    named = f"{operator.name!r}, " if operator.name else ""
    return f"operator {named}" + (f"uid {operator.uid!r}, " if operator.uid else "") + f"ID {operator.operator_id}"


def mismatch(flink: str, state: OperatorState, vertex: PlannedVertex) -> Refusal:
    """The program sets another max parallelism."""
    return _planned(
        flink,
        f"{_FAILED}Checkpoint Metadata. Max parallelism mismatch between checkpoint/savepoint state and new program. "
        f"Cannot map operator {state.operator_id} with max parallelism {state.max_parallelism} to new program with max "
        f"parallelism {vertex.max_parallelism}. This indicates that the program has been changed in a non-compatible "
        "way after the checkpoint/savepoint.",
        f"The savepoint has {state.max_parallelism} key groups for {label(state)}, and the program sets "
        f"{vertex.max_parallelism} for {vertex.name!r}. Set {state.max_parallelism}, or set none: then Flink takes it "
        "over from the savepoint.",
    )


def not_there(flink: str, state: OperatorState, pointer: str) -> Refusal:
    """No operator takes a state."""
    return _planned(
        flink,
        f"{_FAILED}{pointer}. Cannot map checkpoint/savepoint state for operator {state.operator_id} to the new "
        "program, because the operator is not available in the new program. If you want to allow to skip this, you can "
        "set the --allowNonRestoredState option on the CLI.",
        f"There is state of {label(state)} ({state.size:,} bytes), and no operator of the program has this ID. Put the "
        f"operator back, or have the one that should take over the state set_uid_hash({state.operator_id!r}); or leave "
        "the state behind with --allow-non-restored-state.",
    )


def too_few(flink: str, state: OperatorState | None, most: int, vertex: PlannedVertex) -> Refusal:
    """There are more subtasks than key groups."""
    whose = f"the state of {label(state)}" if state is not None else "the state"
    return _planned(
        flink,
        f"The state for task {vertex.id} can not be restored. The maximum parallelism ({most}) of the restored state "
        f"is lower than the configured parallelism ({vertex.parallelism}). Please reduce the parallelism of the task "
        "to be lower or equal to the maximum parallelism.",
        f"The task {vertex.name!r} has {vertex.parallelism} subtasks, and {whose} has {most} key groups. Give it a "
        f"parallelism of {most} or less.",
    )


def mixed_ends(flink: str, vertex: PlannedVertex, ends: list[str]) -> Refusal:
    """Only some operators of a chain had finished."""
    return _planned(
        flink,
        f"Can not restore vertex {vertex.name}({vertex.id}) which contain mixed operator finished state: "
        f"[{', '.join(ends)}]",
        f"In the chain {vertex.name!r} some operators had ended when the savepoint was taken, and others had not, or "
        "are new. Leave the chain as it was, or start a new chain at the new operators.",
        _RUNTIME,
    )


def ended_before(flink: str, vertex: PlannedVertex) -> Refusal:
    """A vertex had finished, but not its input."""
    return _planned(
        flink,
        f"{_ILLEGAL}fully finished vertices predeceased with the ones not fully finished. Task vertex "
        f"{vertex.name}({vertex.id}) has a predecessor not fully finished",
        f"The task {vertex.name!r} had ended when the savepoint was taken, and one that it reads had not, or is new. "
        "It would never read it: leave its inputs as they were.",
        _RUNTIME,
    )


def partly_ended_before(flink: str, vertex: PlannedVertex, *, all_to_all: bool, running: bool) -> Refusal:
    """Some subtasks of a vertex had finished, but not the ones they read."""
    what = "running or partially finished ones and connected via the ALL_TO_ALL edges"
    what = what if all_to_all else "all running ones"
    return _planned(
        flink,
        f"{_ILLEGAL}partially finished vertices predeceased with {what}. Task vertex {vertex.name}({vertex.id}) has a "
        f"{'all running' if running else 'partially finished'} predecessor",
        f"Some subtasks of {vertex.name!r} had ended when the savepoint was taken, and those that they read had not. "
        "They would never read them: leave its inputs as they were.",
        _RUNTIME,
    )


def foreign_group(flink: str, vertex: PlannedVertex, state: OperatorState, most: int) -> Refusal:
    """A subtask gets key groups that do not belong to it."""
    groups = state.max_parallelism
    return Refusal(
        "task",
        ILLEGAL_STATE,
        "The key group must belong to the backend" + ("." if flink == "1.11" else ""),
        _BUILDING,
        f"The task {vertex.name!r} ends up with {most} key groups, and the state of {label(state)} has {groups}: "
        f"subtasks get key groups that are not theirs. Begin a new chain at that operator, or set the max parallelism "
        f"of {vertex.name!r} to {groups} if nothing else in the chain has state.",
    )


def no_file(path: str) -> Refusal:
    """A state file is missing."""
    return Refusal(
        "task",
        "java.io.FileNotFoundException",
        f"{path} (No such file or directory)",
        _BUILDING,
        f"The state file {path} is not there. Copy the savepoint again, with all files of its folder.",
    )
