"""What a restore does that Flink says nothing about: state that is lost, given to others, or carried along unread.

Names are compared only where the savepoint has them (from version 5 on), states only where the program's are known.
Linear in operators, states and subtasks; reads the headers of state files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from penstock.common.finding import Finding
from penstock.flink.headers import KeyedHeader
from penstock.flink.metadata import OperatorState
from penstock.flink.plans import PlannedOperator, PlannedVertex
from penstock.flink.refusals import label
from penstock.flink.restore import Prediction
from penstock.flink.savepoint import FlinkSavepoint

_PYTHON = "python-state-"
_OURS = ("positions", "pending")
"""States that only our sources and sinks have."""
_OWN = ("_timer_state/", "SourceReaderState", "_default_", "_async_wait_operator_state_", "_op_state", "writer_")


class NamedState(Protocol):
    """A state that a program declares."""

    @property
    def name(self) -> str:
        """Of the state."""
        ...

    @property
    def kind(self) -> str:
        """What it is, such as ``value`` or ``timers``."""
        ...


Declared = Mapping[int, tuple[NamedState, ...] | None]
"""The states of operators by node; None where they are not known."""


def findings(savepoint: FlinkSavepoint, prediction: Prediction, declared: Declared | None = None) -> list[Finding]:
    """What is to be said of a restore, in the order of the program, then of the savepoint.

    The codes are ``inherited``, ``unread``, ``starts-empty``, ``mixed-key-groups``, ``key-groups-kept``,
    ``left-behind``, ``not-taken`` and ``hook``.

    Args:
        savepoint: what is restored.
        prediction: what becomes of it.
        declared: the states of the program, where they are known.
    """
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
        yield from (_hook(master.name) for master in self._savepoint.metadata.master_states)

    def _of_pair(self, operator: PlannedOperator, state: OperatorState) -> Iterator[Finding]:
        infos = self._savepoint.states(state)
        declared = self._declared.get(operator.node)
        there = {own(name): info for name, info in infos.items() if own(name)}
        wanted = set(_named(declared))
        if operator.uid is None and operator.pinned is None:
            other = _other(operator, state)
            disjoint = declared is not None and bool(there) and not wanted & there.keys()
            if other or disjoint:
                yield _inherited(operator, state, None if declared is None else disjoint, sorted(there))
        if declared is None:
            return
        for name in there:
            if name not in wanted:
                yield Finding("unread", "warning", state.operator_id, _unread(operator, name, there[name].type))
        if self._complete(state):
            for name in sorted(wanted - there.keys()):
                said = f"The state {name!r} of {operator.label} is not in the savepoint, and starts empty."
                yield Finding("starts-empty", "info", state.operator_id, said)

    def _complete(self, state: OperatorState) -> bool:
        """Whether all names of an operator's keyed states are known."""
        headers = [each for each in self._savepoint.headers(state) if isinstance(each, KeyedHeader)]
        return bool(headers) and not any(header.stopped for header in headers)

    def _of_new(self, operator: PlannedOperator) -> Iterator[Finding]:
        names = _named(self._declared.get(operator.node))
        if names and operator.generated not in self._taken:
            said = f"{operator.label} is not in the savepoint: its state ({', '.join(names)}) starts empty."
            yield Finding("starts-empty", "warning", operator.generated, said)

    def _of_vertex(self, vertex: PlannedVertex, most: int) -> Iterator[Finding]:
        for operator in vertex.operators:
            state = self._states.get(self._taken.get(operator.generated, ""))
            keyed = state is not None and any(each.managed_keyed or each.raw_keyed for each in state.subtasks)
            if state is not None and keyed and state.max_parallelism != most:
                yield Finding("mixed-key-groups", "error", state.operator_id, _mixed(vertex, state, most))
        if most != vertex.max_parallelism:
            said = (
                f"The task {vertex.name!r} keeps the {most} key groups of the savepoint, where the program alone would "
                f"have {vertex.max_parallelism}: it can have no more than {most} subtasks."
            )
            yield Finding("key-groups-kept", "info", vertex.id, said)

    def _of_untaken(self) -> Iterator[Finding]:
        """State that no operator asks for: left behind with permission, or without a word."""
        left, taken = set(self._prediction.left), set(self._taken.values())
        for state in self._savepoint.operators:
            if not state.has_state or state.operator_id in taken:
                continue
            if state.operator_id in left:
                said = f"No operator of the program takes the state of {label(state)} ({state.size:,} bytes)."
                yield Finding("left-behind", "warning", state.operator_id, said)
            elif self._prediction.taken is not None:
                yield Finding("not-taken", "error", state.operator_id, self._lost(state))

    def _lost(self, state: OperatorState) -> str:
        owner = next(
            each
            for vertex in self._prediction.plan.vertices
            for each in vertex.operators
            if state.operator_id in (each.generated, each.pinned)
        )
        said = f"The state of {label(state)} ({state.size:,} bytes) is lost without a word: "
        if owner.pinned is not None:
            way = "Flink 1.11 asks for that ID only" if self._prediction.flink == "1.11" else "that ID comes first"
            return (
                f"{said}{owner.label} has it, but is pinned to {owner.pinned}, and {way}. Take its set_uid_hash away "
                f"for this restore, or set {state.operator_id!r}."
            )
        return f"{said}no operator of the program takes it."


def _named(declared: tuple[NamedState, ...] | None) -> list[str]:
    """The states that a program names; timers and what only we keep are none."""
    return [each.name for each in declared or () if each.kind != "timers" and each.name not in _OURS]


def own(name: str) -> str:
    """The name that a program gave a state; "" of one that Flink keeps for itself.

    Args:
        name: in the savepoint. PyFlink puts a word before those of Python functions.
    """
    if name.startswith(_OWN) or name.endswith("-timers"):
        return ""
    return name.removeprefix(_PYTHON)


def _other(operator: PlannedOperator, state: OperatorState) -> bool:
    """Whether the savepoint's operator is known to have been another one, by its name or its uid."""
    return state.uid is not None or (state.name is not None and state.name != operator.name)


def _inherited(operator: PlannedOperator, state: OperatorState, disjoint: bool | None, names: Iterable[str]) -> Finding:
    what = f" ({', '.join(names)})" if names else ""
    said = f"{operator.label} has no uid, and takes the state of {label(state)}{what} by its position alone. "
    if disjoint is False:
        said += "It declares the same states, so it seems to be the same operator under another name; a uid makes sure."
        return Finding("inherited", "info", state.operator_id, said)
    said += "It declares none of these states: " if disjoint else "If it is another operator, "
    said += f"give the one that is to take them set_uid_hash({state.operator_id!r}), and each operator a uid."
    return Finding("inherited", "error" if disjoint else "warning", state.operator_id, said)


def _unread(operator: PlannedOperator, name: str, kind: str) -> str:
    what = "broadcast state" if kind == "BROADCAST" else "operator state" if kind == "OPERATOR" else "state"
    return (
        f"The {what} {name!r} is not asked for by {operator.label}: it is carried along unread, into every savepoint "
        "from now on. If it was renamed, give it its old name."
    )


def _mixed(vertex: PlannedVertex, state: OperatorState, most: int) -> str:
    return (
        f"The chain {vertex.name!r} ends up with {most} key groups, and the state of {label(state)} has "
        f"{state.max_parallelism}: its keys would be looked for in other key groups than they lie in (FLINK-40113). "
        f"Begin a new chain at the operator, or set the max parallelism of {vertex.name!r} to {state.max_parallelism} "
        "if nothing else in the chain has state."
    )


def _hook(name: str) -> Finding:
    said = f"The savepoint has state of the coordinator's hook {name!r}. A program without hooks drops it."
    return Finding("hook", "info", "", said)
