"""Predicts a restore: refused with which message, or which max parallelism each vertex gets. Source of the semantics:
``Checkpoints.loadAndValidateCheckpoint``, ``VertexFinishedStateChecker`` and ``StateAssignmentOperation`` (Flink 1.11
and 2.3), in this order. Linear in operators and key groups. What only a running task decides is predicted as far as the
metadata tells; types of states are not compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.flink.cursor import EOF, ILLEGAL_STATE, IO
from penstock.flink.handles import KeyGroupsHandle
from penstock.flink.metadata import OperatorState
from penstock.flink.plans import PlannedOperator, PlannedVertex, RestorePlan, plan_of
from penstock.flink.savepoint import FlinkSavepoint
from penstock.plan import JobGraph, Pipeline, StreamGraph

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
    message: str  # the problem and its remedy


@dataclass(frozen=True)
class RestoredVertex:
    """A vertex after a restore, with the max parallelism it gets."""

    id: str
    name: str
    parallelism: int
    max_parallelism: int


@dataclass(frozen=True)
class Prediction:
    """The result of a restore by a version of Flink."""

    flink: str
    plan: RestorePlan
    refusal: Refusal | None  # the reason why it fails
    vertices: tuple[RestoredVertex, ...] = ()  # in Flink's order; empty if refused before a task runs
    taken: Mapping[str, str] | None = None  # the ID in the savepoint by the operator's ID in the program
    left: tuple[str, ...] = ()  # IDs of states that no operator takes, in the order of the savepoint

    @property
    def restored(self) -> bool:
        """Whether it succeeds, as far as can be predicted."""
        return self.refusal is None


Pair = tuple[PlannedOperator, OperatorState | None]  # an operator of the program and the state that it takes


class _Refused(Exception):
    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


def predict_restore(
    savepoint: FlinkSavepoint,
    program: Mapping[str, object] | str | StreamGraph | JobGraph | Pipeline | RestorePlan,
    flink: str,
    allow_non_restored_state: bool = False,
) -> Prediction:
    """Predict what happens when Flink ``"1.11"`` or ``"2.3"`` restores a program from a savepoint;
    ``allow_non_restored_state`` is whether state that no operator takes may be left behind.

    Raises:
        SpecError: the description of a graph is invalid.
        PlanError: Flink would refuse the graph.
    """
    plan = program if isinstance(program, RestorePlan) else plan_of(program, flink)
    return _Restore(savepoint, plan, flink, allow_non_restored_state).predicted()


class _Restore:
    def __init__(self, savepoint: FlinkSavepoint, plan: RestorePlan, flink: str, allowed: bool) -> None:
        self._savepoint = savepoint
        self._plan = plan
        self._flink = flink
        self._allowed = allowed
        self._most = [vertex.max_parallelism for vertex in plan.vertices]
        self._mapped: dict[str, OperatorState] = {}
        self._taken: dict[str, OperatorState] = {}
        self._left: list[str] = []

    def predicted(self) -> Prediction:
        try:
            self._map()
            if self._flink != "1.11":
                _check_ended(self._plan, self._mapped)
            self._assign()
        except _Refused as error:
            return Prediction(self._flink, self._plan, error.refusal, left=tuple(self._left))
        refusal = self._foreign() or self._missing()
        pairs = zip(self._plan.vertices, self._most, strict=True)
        vertices = tuple(RestoredVertex(vertex.id, vertex.name, vertex.parallelism, most) for vertex, most in pairs)
        taken = {generated: state.operator_id for generated, state in self._taken.items()}
        return Prediction(self._flink, self._plan, refusal, vertices, taken, tuple(self._left))

    def _map(self) -> None:
        """Check that every operator of the savepoint exists and fits."""
        known: dict[str, PlannedVertex] = {}
        for vertex in self._plan.vertices:
            for operator in vertex.operators:
                known[operator.generated] = vertex
                if operator.pinned is not None:
                    known[operator.pinned] = vertex
        for state in self._savepoint.operators:
            vertex = known.get(state.operator_id)
            if vertex is None:
                if state.has_state:
                    if not self._allowed:
                        raise _Refused(_not_there(self._flink, state, self._savepoint.place.folder))
                    self._left.append(state.operator_id)
            elif vertex.configured and vertex.max_parallelism != state.max_parallelism:
                raise _Refused(_mismatch(self._flink, state, vertex))
            else:
                self._mapped[state.operator_id] = state

    def _assign(self) -> None:
        """Assign states to operators; vertices take over max parallelism."""
        states = dict(self._mapped)
        for index, vertex in enumerate(self._plan.vertices):
            pairs: list[Pair] = []
            for operator in vertex.operators:
                state = self._state_of(operator, states)
                pairs.append((operator, state))
                if state is not None:
                    self._taken[operator.generated] = state
            if any(state is not None and state.subtasks for _, state in pairs):
                self._take_over(index, vertex, pairs)

    def _state_of(self, operator: PlannedOperator, states: dict[str, OperatorState]) -> OperatorState | None:
        if operator.pinned is None:
            return states.pop(operator.generated, None)
        if self._flink == "1.11" or operator.pinned in states:
            return states.pop(operator.pinned, None)
        return states.pop(operator.generated, None)

    def _take_over(self, index: int, vertex: PlannedVertex, pairs: list[Pair]) -> None:
        at_start = self._most[index]
        order = pairs if self._flink == "1.11" else _hash_order(pairs)
        for _, state in order:
            most = at_start if state is None else state.max_parallelism
            if most < vertex.parallelism:
                raise _Refused(_too_few(self._flink, state, most, vertex))
            if not vertex.configured:
                self._most[index] = most

    def _foreign(self) -> Refusal | None:
        """The refusal if subtasks get key groups of others: handles are not cut while the parallelism stays."""
        for vertex, most in zip(self._plan.vertices, self._most, strict=True):
            for operator in vertex.operators:
                state = self._taken.get(operator.generated)
                if state is None or state.max_parallelism == most or state.parallelism != vertex.parallelism:
                    continue
                if _strays(state, vertex.parallelism, most):
                    return _foreign_group(self._flink, vertex, state, most)
        return None

    def _missing(self) -> Refusal | None:
        """The refusal for a missing file beside the metadata; this machine may not see others."""
        paths = (path for state in self._taken.values() for path in self._savepoint.missing_files(state))
        return next(map(_no_file, paths), None)


_RUNNING, _PARTLY, _ENDED = _STATES = ("ALL_RUNNING", "PARTIALLY_FINISHED", "FULLY_FINISHED")


def _check_ended(plan: RestorePlan, states: Mapping[str, OperatorState]) -> None:
    """Refuse finished subtasks that do not fit their chain or inputs, as Flink 2.3. O(operators + edges)."""
    if all(_end_of(state) == _RUNNING for state in states.values()):
        return
    known: dict[int, str] = {}

    def end_of(index: int) -> str:
        if index not in known:
            vertex = plan.vertices[index]
            ends: set[str] = set()
            for operator in vertex.operators:
                pinned = operator.pinned if operator.pinned in states else None
                ends.add(_end_of(states.get(pinned or operator.generated)))
            if len(ends) > 1:
                raise _Refused(_mixed_ends(plan.flink, vertex, sorted(ends, key=_STATES.index)))
            known[index] = ends.pop() if ends else _RUNNING
        return known[index]

    for index, vertex in enumerate(plan.vertices):
        ended = end_of(index)
        for source, all_to_all in vertex.inputs if ended != _RUNNING else ():
            before = end_of(source)
            if before == _ENDED:
                continue
            if ended == _ENDED:
                raise _Refused(_ended_before(plan.flink, vertex))
            if all_to_all or before == _RUNNING:
                running = before == _RUNNING
                raise _Refused(_partly_ended_before(plan.flink, vertex, all_to_all=all_to_all, running=running))


def _end_of(state: OperatorState | None) -> str:
    if state is None:
        return _RUNNING
    if state.fully_finished:
        return _ENDED
    return _PARTLY if any(subtask.finished for subtask in state.subtasks) else _RUNNING


def _strays(state: OperatorState, parallelism: int, most: int) -> bool:
    """Whether a subtask gets a key group with entries that is not its own."""
    for subtask in state.subtasks:
        first = -(-subtask.index * most // parallelism)
        last = -(-(subtask.index + 1) * most // parallelism) - 1
        for handle in subtask.managed_keyed:
            if not isinstance(handle, KeyGroupsHandle):
                continue  # RocksDB's files are filtered when they are read
            groups = range(handle.key_groups[0], handle.key_groups[1] + 1)
            if any(offset and not first <= group <= last for group, offset in zip(groups, handle.offsets, strict=True)):
                return True
    return False


def _hash_order(pairs: list[Pair]) -> list[Pair]:
    """The order of a java.util.HashMap by generated ID: by bucket, and by insertion in a bucket."""
    number, size = len(pairs), 1
    while size < number + 1 if number <= 2 else size < number / 0.75:  # as Flink computes the size
        size *= 2
    return sorted(pairs, key=lambda pair: _hash(pair[0].generated) & (size - 1))


def _hash(operator_id: str) -> int:
    """Java's hash of an OperatorID, spread as HashMap does."""
    code = 0
    for at in range(0, 32, 8):
        code ^= int(operator_id[at : at + 8], 16)
    return code ^ code >> 16


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


def _mismatch(flink: str, state: OperatorState, vertex: PlannedVertex) -> Refusal:
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


def _not_there(flink: str, state: OperatorState, pointer: str) -> Refusal:
    return _planned(
        flink,
        f"{_FAILED}{pointer}. Cannot map checkpoint/savepoint state for operator {state.operator_id} to the new "
        "program, because the operator is not available in the new program. If you want to allow to skip this, you can "
        "set the --allowNonRestoredState option on the CLI.",
        f"There is state of {label(state)} ({state.size:,} bytes), and no operator of the program has this ID. Put the "
        f"operator back, or have the one that should take over the state set_uid_hash({state.operator_id!r}); or leave "
        "the state behind with --allow-non-restored-state.",
    )


def _too_few(flink: str, state: OperatorState | None, most: int, vertex: PlannedVertex) -> Refusal:
    whose = f"the state of {label(state)}" if state is not None else "the state"
    return _planned(
        flink,
        f"The state for task {vertex.id} can not be restored. The maximum parallelism ({most}) of the restored state "
        f"is lower than the configured parallelism ({vertex.parallelism}). Please reduce the parallelism of the task "
        "to be lower or equal to the maximum parallelism.",
        f"The task {vertex.name!r} has {vertex.parallelism} subtasks, and {whose} has {most} key groups. Give it a "
        f"parallelism of {most} or less.",
    )


def _mixed_ends(flink: str, vertex: PlannedVertex, ends: list[str]) -> Refusal:
    return _planned(
        flink,
        f"Can not restore vertex {vertex.name}({vertex.id}) which contain mixed operator finished state: "
        f"[{', '.join(ends)}]",
        f"In the chain {vertex.name!r} some operators had ended when the savepoint was taken, and others had not, or "
        "are new. Leave the chain as it was, or start a new chain at the new operators.",
        _RUNTIME,
    )


def _ended_before(flink: str, vertex: PlannedVertex) -> Refusal:
    return _planned(
        flink,
        f"{_ILLEGAL}fully finished vertices predeceased with the ones not fully finished. Task vertex "
        f"{vertex.name}({vertex.id}) has a predecessor not fully finished",
        f"The task {vertex.name!r} had ended when the savepoint was taken, and one that it reads had not, or is new. "
        "It would never read it: leave its inputs as they were.",
        _RUNTIME,
    )


def _partly_ended_before(flink: str, vertex: PlannedVertex, *, all_to_all: bool, running: bool) -> Refusal:
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


def _foreign_group(flink: str, vertex: PlannedVertex, state: OperatorState, most: int) -> Refusal:
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


def _no_file(path: str) -> Refusal:
    return Refusal(
        "task",
        "java.io.FileNotFoundException",
        f"{path} (No such file or directory)",
        _BUILDING,
        f"The state file {path} is not there. Copy the savepoint again, with all files of its folder.",
    )
