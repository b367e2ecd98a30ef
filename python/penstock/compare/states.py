"""The fate of state: which operator of the new program takes it, and whether it can read it.

State is stored under the generated operator ID. A new operator takes the state under its uid hash, or else under its
own ID; neither Flink nor Spark checks that it is the operator that wrote it, but we do. Source of the semantics:
``StateAssignmentOperation`` (Flink 2.3), :mod:`penstock.job.restore`. Cost: O(operators + states)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from penstock.analysis.dry_open import KINDS
from penstock.analysis.facts import SOURCE
from penstock.analysis.model import UNRECORDED, OperatorModel, ProgramModel, StateModel
from penstock.analysis.states import PENDING, POSITIONS
from penstock.job.folder.manifest import COUNTED, PUSHED, SPLIT, goes_on
from penstock.job.restore import verdicts as decisions
from penstock.job.restore.matches import Matching, matched
from penstock.job.restore.sizes import Planned, Task, Unfit, sizes_of
from penstock.job.restore.verdicts import Holding, Known, verdicts
from penstock.runtime.operators import interval_join, reduce
from penstock.runtime.state.keyed import StateInfo
from penstock.runtime.state.serializers import TTL

RESTORED, ORPHANED, TAKEN, NEW, NONE = "restored", "orphaned", "taken by another", "new", "none"
STOPPED, LOST_IN_PART, NOT_KNOWN = "blocked", "lost in part", "unknown until it runs"
"""The fate of state under an operator's ID that it cannot take over as it is."""
_LOOPS = ("IterationHead", "IterationTail")
KEPT, UNREAD, UNREADABLE, UNKNOWN = "kept", "unread", "unreadable", "unknown"
TIMERS, BROADCAST = "timers", "broadcast"
_OF_OPERATORS = (reduce.STATE, interval_join.LEFT, interval_join.RIGHT)
"""States that operators keep themselves, of kinds that functions have too; older lock files lack their form."""
_LISTS = (POSITIONS.kind, "union list")
_KINDS = {**{kind: (form, roles) for form, (kind, roles) in KINDS.items()}, BROADCAST: ("MapState", ("key", "value"))}
"""The names of functions' states in state files, and the roles of their types, by kind."""


@dataclass(frozen=True)
class StateFate:
    """The fate of a state of a restored operator: ``kept``; ``new``; ``unread``, as nothing uses it any more;
    ``unreadable``; ``unknown`` until it runs. The text says what differs."""

    name: str
    fate: str
    text: str = ""


@dataclass(frozen=True)
class Taking:
    """The old node of some state, the new node that takes it, and another one that would take it too."""

    state_of: int
    taker: int
    also: int | None = None


@dataclass
class Takings:
    """All of them, by old and by new node; ``matching`` has the same by operator IDs."""

    matching: Matching
    by_old: dict[int, Taking] = field(default_factory=dict[int, Taking])
    by_new: dict[int, Taking] = field(default_factory=dict[int, Taking])


def takings(old: ProgramModel, new: ProgramModel) -> Takings:
    """The new operators that take the state of old ones, as a restore decides it; also of operators without state."""
    by_id = {operator.operator_id: operator for operator in old.operators if operator.operator_id}
    held = {operator_id: None for operator_id, operator in by_id.items() if keeps(operator)}
    matching = matched(held, by_id, new.operators)
    result = Takings(matching=matching)
    for operator in new.operators:
        taken = matching.taken.get(operator.operator_id)
        if taken is not None:
            node = by_id[taken.state_id].node
            first = result.by_old.get(node)
            taker = operator.node if first is None else first.taker
            _, also = matching.twice.get(taken.state_id, (None, None))
            also = next((other.node for other in new.operators if other is also), None)
            result.by_old[node] = result.by_new[operator.node] = Taking(node, taker, also)
    return result


def keeps(operator: OperatorModel) -> bool:
    """Whether an operator may lose state, also if its states are unknown. Records in a loop do not count, as Flink does
    not keep them; uncommitted output of a sink does not, as a stopped job has committed it."""
    only_pending = bool(operator.states) and all(state.name == PENDING.name for state in operator.states or ())
    return not only_pending and operator.stateful is not False and operator.type not in _LOOPS


def forgets(operator: OperatorModel, old: OperatorModel) -> bool:
    """Whether an operator does not read the state of ``old``. The head of a loop takes rows of a loop only."""
    return not keeps(operator) and (operator.type not in _LOOPS or keeps(old))


def fates(
    old: OperatorModel, new: OperatorModel, classes: Mapping[str, type] = MappingProxyType({}), *, allow: bool = False
) -> list[StateFate]:
    """The fates of the states of an operator, as a restore decides them, as far as both sides know their states."""
    if old.states is None or new.states is None:
        why = new.unknown if new.states is None else old.unknown or "what was kept is not known"
        return [StateFate(state.name, UNKNOWN, why) for state in old.states or (_ANY,)]
    unrecorded = UNRECORDED in (old.key_type, new.key_type)
    key = [StateFate(decisions.THE_KEY, UNKNOWN, "its type was not recorded")] if unrecorded else []
    judged = verdicts(_holding(old, new), _holding(new, new), classes, allow=allow)
    of_states = [StateFate(verdict.state, _FATES[verdict.outcome], verdict.reason) for verdict in judged]
    return [*_of_source(old, new), *key, *of_states]


_ANY = StateModel("its state", "")
_FATES = {
    decisions.KEPT: KEPT,
    decisions.CONVERTED: KEPT,
    decisions.REFUSED: UNREADABLE,
    decisions.LOST: UNREAD,
    decisions.EMPTY: NEW,
    decisions.UNKNOWN: UNKNOWN,
}


def _holding(operator: OperatorModel, new: OperatorModel) -> Holding:
    """The state of an operator before or after, as a restore compares it."""
    states = [_known(state) for state in operator.states or ()]
    key = (operator.key_type or "") if operator.keyed and operator.key_type != UNRECORDED else None
    never_late = new.type in ("Reduce", "Fold", "IntervalJoin")  # functions cannot ask for state after they were opened
    asks_early = never_late or any(state.late for state in states)
    return Holding(states, key, asks_early or not new.keyed, operator.classes)


def _known(state: StateModel) -> Known:
    if state.kind == TIMERS or state.kind in _LISTS:
        where = decisions.TIMERS if state.kind == TIMERS else decisions.LIST
        return Known(StateInfo(state.name, state.kind, (), ()), where)
    of_operator = bool(state.form) or state.name in _OF_OPERATORS
    of_function = not of_operator and state.kind in _KINDS
    form, roles = (state.form, ()) if of_operator else _KINDS.get(state.kind, ("", ()))
    types = tuple(state.types.get(role, "") for role in roles) or (next(iter(state.types.values()), ""),)
    serializers = (TTL,) if state.ttl is not None else ()
    info = StateInfo(state.name, form, serializers, types, state.version, state.windows)
    where = decisions.BROADCAST if state.kind == BROADCAST else decisions.KEYED
    late = of_function and where == decisions.KEYED
    return Known(info, where, late, state.former_names, state.defaults)


def _of_source(old: OperatorModel, new: OperatorModel) -> Iterator[StateFate]:
    """A source keeps its positions if it still reads in the same way."""
    read, kind = old.facts.get(SOURCE, ""), new.facts.get(SOURCE)
    if kind is None or not read or POSITIONS.name not in {state.name for state in old.states or ()}:
        return
    kind = "" if kind == "function" else kind
    if read not in (PUSHED, COUNTED, SPLIT):  # a class, which says how it is read
        read = {"FrameSource": "", "SplitSource": SPLIT}.get(read, COUNTED)
    if not goes_on(read, kind):
        yield StateFate(POSITIONS.name, UNREAD, "it is a source of another kind now, and begins at its beginning")


def unfit(old: ProgramModel, new: ProgramModel, matching: Matching) -> list[Unfit]:
    """The states whose key groups prevent a restore, as a restore decides it: the first reason for each operator."""
    with_groups = filter(_has_groups, old.operators)
    groups = {operator.operator_id: operator.effective_max_parallelism for operator in with_groups}
    tasks, place = dict[int, Task](), {node: vertex.index for vertex in new.vertices for node in vertex.operators}
    for vertex in new.vertices:
        configured = new.by_node[vertex.operators[0]].max_parallelism is not None
        tasks[vertex.index] = Task(vertex.name, vertex.parallelism, vertex.max_parallelism, configured)
    operators: list[Planned] = []
    for operator in new.operators:
        index, most = place.get(operator.node, -1 - operator.node), operator.max_parallelism
        if index < 0:  # of a lock file the chains are not known
            size = max(operator.parallelism, 1), operator.effective_max_parallelism
            tasks[index] = Task(operator.name, *size, most is not None)
        ids = operator.operator_id, operator.name, operator.uid, operator.pinned
        operators.append(Planned(*ids, operator.node, index, most or -1, operator.keyed))
    stateless = {operator.operator_id for operator in old.operators if operator.stateful is False}
    sizes = sizes_of(groups, matching, operators, tasks, stateless)
    problems: dict[int, Unfit] = {}
    for problem in (*sizes.mismatches, *sizes.misfits):
        problems.setdefault(problem.operator.node, problem)
    return list(problems.values())


def _has_groups(operator: OperatorModel) -> bool:
    """Whether the number of key groups of an operator's state matters: not for a source that only has positions."""
    if operator.effective_max_parallelism <= 0:
        return False
    if operator.stateful is False:
        return operator.type == ""  # of a savepoint of Flink, which lists it
    return keeps(operator) and not (operator.states and all(state.name == POSITIONS.name for state in operator.states))


def why_unfit(misfit: Unfit, new: ProgramModel) -> str:
    """Why key groups prevent a restore, as the rest of a sentence."""
    chain = next((vertex.operators for vertex in new.vertices if vertex.index == misfit.operator.vertex), ())
    head = new.by_node[chain[0] if chain else misfit.operator.node]
    groups = f"its state has {misfit.actual} key groups"
    if misfit.kind == "too few":
        return f"{groups}, fewer than the {misfit.wanted} subtasks that the program gives it"
    if misfit.kind == "mismatch":
        configured = misfit.operator.max_parallelism > 0
        where = "" if configured or misfit.operator.node == head.node else f" for its chain, which {head.name!r} begins"
        return f"{groups}, and the program sets max parallelism {misfit.wanted}{where}"
    other = head.name if misfit.beside is None else misfit.beside.name
    return (
        f"it shares a chain with {other!r}, and they have {misfit.actual} and {misfit.wanted} key groups: Flink "
        "restores such a chain with one number for both, and keys are looked for in the wrong groups (FLINK-40113)"
    )
