"""Predicts a restore: refused with which message, or which max parallelism each vertex gets.

Source of the semantics: ``Checkpoints.loadAndValidateCheckpoint``, ``VertexFinishedStateChecker`` and
``StateAssignmentOperation`` (Flink 1.11 and 2.3), in this order. Linear in the operators of both sides and in their key
groups. What only a running task decides is predicted as far as the metadata tells; types of states are not compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.flink import refusals
from penstock.flink.handles import KeyGroupsHandle
from penstock.flink.metadata import OperatorState
from penstock.flink.plans import PlannedOperator, PlannedVertex, RestorePlan, plan_of
from penstock.flink.refusals import Refusal
from penstock.flink.savepoint import FlinkSavepoint
from penstock.plan import JobGraph, Pipeline, StreamGraph


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


Pair = tuple[PlannedOperator, OperatorState | None]
"""An operator of the program and the state that it takes."""


class _Refused(Exception):
    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.said)
        self.refusal = refusal


def predict_restore(
    savepoint: FlinkSavepoint,
    program: Mapping[str, object] | str | StreamGraph | JobGraph | Pipeline | RestorePlan,
    flink: str,
    allow_non_restored_state: bool = False,
) -> Prediction:
    """Predict what happens when Flink restores a program from a savepoint.

    Args:
        savepoint: the result of :func:`~penstock.flink.savepoint.read_savepoint`.
        program: a described graph, a graph, or a captured pipeline.
        flink: ``"1.11"`` or ``"2.3"``.
        allow_non_restored_state: whether state that no operator takes may be left behind.

    Raises:
        SpecError: the description is invalid.
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
                        raise _Refused(refusals.not_there(self._flink, state, self._savepoint.place.folder))
                    self._left.append(state.operator_id)
            elif vertex.configured and vertex.max_parallelism != state.max_parallelism:
                raise _Refused(refusals.mismatch(self._flink, state, vertex))
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
                raise _Refused(refusals.too_few(self._flink, state, most, vertex))
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
                    return refusals.foreign_group(self._flink, vertex, state, most)
        return None

    def _missing(self) -> Refusal | None:
        """The refusal for a missing file beside the metadata; this machine may not see others."""
        paths = (path for state in self._taken.values() for path in self._savepoint.missing_files(state))
        return next(map(refusals.no_file, paths), None)


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
                raise _Refused(refusals.mixed_ends(plan.flink, vertex, sorted(ends, key=_STATES.index)))
            known[index] = ends.pop() if ends else _RUNNING
        return known[index]

    for index, vertex in enumerate(plan.vertices):
        ended = end_of(index)
        for source, all_to_all in vertex.inputs if ended != _RUNNING else ():
            before = end_of(source)
            if before == _ENDED:
                continue
            if ended == _ENDED:
                raise _Refused(refusals.ended_before(plan.flink, vertex))
            if all_to_all or before == _RUNNING:
                running = before == _RUNNING
                raise _Refused(refusals.partly_ended_before(plan.flink, vertex, all_to_all=all_to_all, running=running))


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
