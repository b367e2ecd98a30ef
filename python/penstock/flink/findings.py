"""Effects of a restore that Flink does not report: state that is lost, given to other operators, or kept unread. Names
are compared only where the savepoint has them (from version 5 on), states only where the program's are known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from penstock.analysis.model import StateModel
from penstock.common.findings import Finding
from penstock.flink.headers import KeyedHeader
from penstock.flink.metadata import OperatorState
from penstock.flink.plans import PlannedOperator, PlannedVertex
from penstock.flink.restore import Prediction, label
from penstock.flink.savepoint import FlinkSavepoint

NOT_COMPARED = "of a savepoint of Flink neither the types of keys, records and states nor kinds of windows are compared"
"""Flink has Java serializers for them; a task fails to open its state if one does not fit."""
_PYTHON = "python-state-"
_OURS = ("positions", "pending")  # states of our own sources and sinks
_OWN = ("_timer_state/", "SourceReaderState", "_default_", "_async_wait_operator_state_", "_op_state", "writer_")


Declared = Mapping[int, tuple[StateModel, ...] | None]  # the states of operators by node; None if unknown


def findings(savepoint: FlinkSavepoint, prediction: Prediction, declared: Declared | None = None) -> list[Finding]:
    """The findings about a restore, in the order of the program, then of the savepoint."""
    return list(_Finder(savepoint, prediction, declared or {}).all())


class _Finder:
    def __init__(self, savepoint: FlinkSavepoint, prediction: Prediction, declared: Declared) -> None:
        self._savepoint = savepoint
        self._prediction = prediction
        self._declared = declared
        self._states = savepoint.by_id
        self._taken = prediction.taken or {}

    def all(self) -> Iterator[Finding]:
        for index, vertex in enumerate(self._prediction.plan.vertices):
            for operator in reversed(vertex.operators):  # the head first
                state = self._states.get(self._taken.get(operator.generated, ""))
                if state is not None and state.has_state:
                    yield from self._of_pair(operator, state)
                elif self._prediction.taken is not None:
                    yield from self._of_new(operator)
            if self._prediction.vertices:
                yield from self._of_vertex(vertex, self._prediction.vertices[index].max_parallelism)
        yield from self._of_untaken()
        for master in self._savepoint.metadata.master_states:
            text = f"State of the coordinator's hook {master.name!r} is dropped by a program without hooks."
            yield Finding("hook", "info", "", text)
        if any(self._states[state_id].has_state for state_id in self._taken.values() if state_id in self._states):
            yield Finding("not-compared", "info", "", f"Unknown until it runs: {NOT_COMPARED}.")

    def _of_pair(self, operator: PlannedOperator, state: OperatorState) -> Iterator[Finding]:
        infos = self._savepoint.states(state)
        declared = self._declared.get(operator.node)
        by_name = {program_name(name): info for name, info in infos.items() if program_name(name)}
        wanted = set(_named(declared))
        if operator.uid is None and operator.pinned is None:
            # another operator, by name or uid
            other = state.uid is not None or (state.name is not None and state.name != operator.name)
            disjoint = declared is not None and bool(by_name) and not wanted & by_name.keys()
            if other or disjoint:
                yield _inherited(operator, state, None if declared is None else disjoint, sorted(by_name))
        if declared is None:
            return
        for name, info in by_name.items():
            if name not in wanted:
                what = {"BROADCAST": "broadcast state", "OPERATOR": "operator state"}.get(info.type, "state")
                text = (
                    f"The {what} {name!r} is not asked for by {operator.label}: it is carried along unread, into every "
                    "savepoint from now on. If it was renamed, give it its old name."
                )
                yield Finding("unread", "warning", state.operator_id, text)
        headers = [header for header in self._savepoint.headers(state) if isinstance(header, KeyedHeader)]
        if headers and not any(header.stopped for header in headers):  # all names of keyed states are known
            for name in sorted(wanted - by_name.keys()):
                text = f"The state {name!r} of {operator.label} is not in the savepoint, and starts empty."
                yield Finding("starts-empty", "info", state.operator_id, text)

    def _of_new(self, operator: PlannedOperator) -> Iterator[Finding]:
        names = _named(self._declared.get(operator.node))
        if names and operator.generated not in self._taken:
            text = f"{operator.label} is not in the savepoint: its state ({', '.join(names)}) starts empty."
            yield Finding("starts-empty", "warning", operator.generated, text)

    def _of_vertex(self, vertex: PlannedVertex, most: int) -> Iterator[Finding]:
        for operator in vertex.operators:
            state = self._states.get(self._taken.get(operator.generated, ""))
            keyed = state is not None and any(subtask.managed_keyed or subtask.raw_keyed for subtask in state.subtasks)
            if state is not None and keyed and state.max_parallelism != most:
                groups = state.max_parallelism
                text = (
                    f"The chain {vertex.name!r} ends up with {most} key groups, and the state of {label(state)} has "
                    f"{groups}: its keys would be looked for in other key groups than theirs (FLINK-40113). Begin "
                    f"a new chain at the operator, or set the max parallelism of {vertex.name!r} to {groups} if "
                    "nothing else in the chain has state."
                )
                yield Finding("mixed-key-groups", "error", state.operator_id, text)
        if most != vertex.max_parallelism:
            text = (
                f"The task {vertex.name!r} keeps the {most} key groups of the savepoint, where the program alone would "
                f"have {vertex.max_parallelism}: it can have no more than {most} subtasks."
            )
            yield Finding("key-groups-kept", "info", vertex.id, text)

    def _of_untaken(self) -> Iterator[Finding]:
        """State that no operator takes: left behind with permission, or silently."""
        left, taken = set(self._prediction.left), set(self._taken.values())
        for state in self._savepoint.operators:
            if not state.has_state or state.operator_id in taken:
                continue
            if state.operator_id in left:
                text = f"No operator of the program takes the state of {label(state)} ({state.size:,} bytes)."
                yield Finding("left-behind", "warning", state.operator_id, text)
            elif self._prediction.taken is not None:
                yield Finding("not-taken", "error", state.operator_id, self._lost(state))

    def _lost(self, state: OperatorState) -> str:
        owner = next(
            operator
            for vertex in self._prediction.plan.vertices
            for operator in vertex.operators
            if state.operator_id in (operator.generated, operator.pinned)
        )
        text = f"The state of {label(state)} ({state.size:,} bytes) is lost silently: "
        if owner.pinned is not None:
            way = "Flink 1.11 asks for that ID only" if self._prediction.flink == "1.11" else "that ID comes first"
            return (
                f"{text}{owner.label} has it, but is pinned to {owner.pinned}, and {way}. Remove its set_uid_hash "
                f"for this restore, or set {state.operator_id!r}."
            )
        return f"{text}no operator of the program takes it."


def _named(declared: tuple[StateModel, ...] | None) -> list[str]:
    """The states that a program names, without timers and our own states."""
    return [state.name for state in declared or () if state.kind != "timers" and state.name not in _OURS]


def program_name(name: str) -> str:
    """The name that a program gave a state; "" for Flink's own states."""
    if name.startswith(_OWN) or name.endswith("-timers"):
        return ""
    return name.removeprefix(_PYTHON)


def _inherited(operator: PlannedOperator, state: OperatorState, disjoint: bool | None, names: Iterable[str]) -> Finding:
    what = f" ({', '.join(names)})" if names else ""
    text = f"{operator.label} has no uid, and takes the state of {label(state)}{what} by its position alone. "
    if disjoint is False:
        text += "It declares the same states, so it is probably the same operator under another name; a uid makes sure."
        return Finding("inherited", "info", state.operator_id, text)
    text += "It declares none of these states: " if disjoint else "If it is another operator, "
    text += f"give the operator that should take them set_uid_hash({state.operator_id!r}), and each operator a uid."
    return Finding("inherited", "error" if disjoint else "warning", state.operator_id, text)
