"""What becomes of state: who goes on with it in the new program, and whether it can.

State lies under the operator ID that was generated. A new operator takes what lies under its uid hash, or else under
its own ID; whether it is the operator that has written it is nobody's question, neither Flink's nor Spark's, but ours.

Source of the semantics: ``StateAssignmentOperation`` (Flink 2.3), :mod:`penstock.job.restore`. Cost: O(operators +
states).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.analysis.model import OperatorModel, ProgramModel, StateModel
from penstock.errors import TypeInfoError
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.state.key_changes import key_check
from penstock.runtime.state.type_changes import Refusal, conversion
from penstock.runtime.state.type_texts import type_of

RESTORED, ORPHANED, TAKEN, NEW, NONE = "restored", "orphaned", "taken by another", "new", "none"
_LOOPS = ("IterationHead", "IterationTail")
_OF_FUNCTIONS = ("value", "list", "map", "reducing", "aggregating")
KEPT, UNREAD, UNREADABLE = "kept", "unread", "unreadable"


@dataclass(frozen=True)
class StateFate:
    """What becomes of one state of an operator that goes on.

    Attributes:
        name: of the state.
        fate: ``kept``; ``new``; ``unread``: nothing asks for it any more; ``unreadable``.
        text: what differs, or "".
    """

    name: str
    fate: str
    text: str = ""


@dataclass(frozen=True)
class Taking:
    """Who takes what lies under an operator ID.

    Attributes:
        state_of: the old node whose state it is.
        taker: the new node.
        also: another new node that would take the same; None if there is none.
    """

    state_of: int
    taker: int
    also: int | None = None


@dataclass
class Takings:
    """All of them.

    Attributes:
        by_old: by old node.
        by_new: by new node.
    """

    by_old: dict[int, Taking] = field(default_factory=dict[int, Taking])
    by_new: dict[int, Taking] = field(default_factory=dict[int, Taking])


def takings(old: ProgramModel, new: ProgramModel) -> Takings:
    """Who takes what, by operator IDs alone. Also of operators without state: an ID is there or it is not."""
    there = {each.operator_id: each for each in old.operators if each.operator_id}
    found = Takings()
    for each in new.operators:
        before = there.get(each.pinned or "") or there.get(each.operator_id)
        if before is None:
            continue
        first = found.by_old.get(before.node)
        if first is None:
            taking = Taking(before.node, each.node)
            found.by_old[before.node] = taking
        else:
            taking = found.by_old[before.node] = Taking(before.node, first.taker, each.node)
        found.by_new[each.node] = taking
    return found


def keeps(operator: OperatorModel) -> bool:
    """Whether an operator may have something to lose: what is not known to be without state counts; what is on its way
    in a loop does not, as Flink keeps none of it."""
    return operator.stateful is not False and operator.type not in _LOOPS


def fates(old: OperatorModel, new: OperatorModel) -> list[StateFate]:
    """What becomes of the states of an operator, as far as both sides know theirs.

    Args:
        old, new: an operator, and the one that goes on with its state.
    """
    if old.states is None or new.states is None:
        return []
    there = {state.name: state for state in old.states}
    here = {state.name: state for state in new.states}
    was = {name: _former(state, there) for name, state in here.items()}
    found = [
        _fate(there[was[name]], state) if was[name] else StateFate(name, NEW)
        for name, state in here.items()
        if was[name] or old.type or state.kind in _OF_FUNCTIONS  # a savepoint has other names for built-in ones
    ]
    asked = set(was.values())
    gone = [StateFate(name, UNREAD, "nothing asks for it any more") for name in there if name not in asked]
    return [*found, *_of_key(old, new), *(gone if _says_all(old, new) else ())]


def _former(state: StateModel, there: Collection[str]) -> str:
    """What a state is called among those that are there; "" if it is not."""
    return next((name for name in (state.name, *state.former_names) if name in there), "")


def _says_all(old: OperatorModel, new: OperatorModel) -> bool:
    """Whether the new one names what it keeps. A savepoint also has what functions have asked for since they were
    opened; of those that ask for nothing then, nobody knows."""
    return bool(old.type) or any(state.kind in _OF_FUNCTIONS for state in new.states or ())


def _fate(old: StateModel, new: StateModel) -> StateFate:
    renamed = [] if old.name == new.name else [f"it was called {old.name}"]
    if old.version > new.version:
        why = f"its values are of version {old.version}, and the program has no migration to that"
        return StateFate(new.name, UNREADABLE, why)
    if new.version > old.version:
        return StateFate(new.name, KEPT, ", ".join([*renamed, f"migrated to version {new.version}"]))
    if old.kind != new.kind:
        return StateFate(new.name, UNREADABLE, f"it was a {old.kind} state, and is a {new.kind} state now")
    for role in dict.fromkeys((*old.types, *new.types)):
        problem = _problem(old.types.get(role, ""), new.types.get(role, ""), new.defaults)
        if problem:
            return StateFate(new.name, UNREADABLE, f"{role} {problem}")
    changed = [
        f"{role} {old.types.get(role) or 'undeclared'} -> {new.types.get(role) or 'undeclared'}"
        for role in dict.fromkeys((*old.types, *new.types))
        if old.types.get(role) != new.types.get(role)
    ]
    changed = [*renamed, *changed]
    if old.ttl != new.ttl:
        changed.append(f"time to live {old.ttl or 'none'} -> {new.ttl or 'none'}")
    return StateFate(new.name, KEPT, ", ".join(changed))


def _problem(before: str, after: str, defaults: Iterable[str]) -> str:
    """Why values of a declared type cannot become those of another; "" if they can, or nobody knows."""
    if before == after:
        return ""
    try:
        conversion(type_of(before), type_of(after), dict.fromkeys(defaults))
    except Refusal as reason:
        return f"was {before or 'undeclared'} and is {after or 'undeclared'}: {reason}"
    except ValueError:
        return ""  # a type of another system, which this one cannot judge
    return ""


def _of_key(old: OperatorModel, new: OperatorModel) -> Iterator[StateFate]:
    """Keys of another type may be looked for in other key groups: no key of the one type is one of the other, or each
    is looked at when it is restored."""
    before, after = old.key_type or "", new.key_type or ""
    if not before or not after or before == after:
        return
    try:
        key_check(before, KeyHash(type_of(after)))
    except (Refusal, TypeInfoError) as reason:
        yield StateFate("the key", UNREADABLE, str(reason))
    except ValueError:
        pass  # as above
    else:
        yield StateFate("the key", KEPT, f"{before} -> {after}, where each key stays in its key group")


def key_groups(old: OperatorModel, new: OperatorModel, head: OperatorModel) -> str:
    """Why the number of key groups does not allow a restore; "" if it does.

    Args:
        old, new: whose state it is, and who takes it.
        head: the first operator of its chain, which says it for all of them in Flink.
    """
    there = old.effective_max_parallelism
    if there <= 0:
        return ""
    for each in (new, head):
        if each.max_parallelism is not None and each.max_parallelism != there:
            where = "" if each is new else f" for its chain, which {head.name!r} begins"
            said = f"its state has {there} key groups, and the program sets max parallelism"
            return f"{said} {each.max_parallelism}{where}"
    if new.parallelism > there:
        return f"its state has {there} key groups, fewer than the {new.parallelism} subtasks that the program gives it"
    return ""


def mixed(new: ProgramModel, groups: Mapping[int, int]) -> Iterator[tuple[OperatorModel, str]]:
    """Chains whose keyed operators have different numbers of key groups: the second of each, and why.

    Args:
        new: the program.
        groups: the key groups of restored state, by new node.
    """
    for vertex in new.vertices:
        members = [new.by_node[node] for node in vertex.operators]
        keyed = [each for each in members if each.keyed and keeps(each)]
        yield from _mixed(keyed, groups)


def _mixed(keyed: Iterable[OperatorModel], groups: Mapping[int, int]) -> Iterator[tuple[OperatorModel, str]]:
    first: tuple[OperatorModel, int] | None = None
    for each in keyed:
        count = groups.get(each.node) or each.max_parallelism or each.effective_max_parallelism
        if first is None:
            first = each, count
        elif count != first[1]:
            text = (
                f"it shares a chain with {first[0].name!r}, and they have {count} and {first[1]} key groups: Flink "
                "restores such a chain with one number for both, and keys are looked for in the wrong groups "
                "(FLINK-40113)"
            )
            yield each, text
            return


def plain(fates_of: Iterable[StateFate]) -> list[dict[str, Any]]:
    """For JSON."""
    return [{"state": each.name, "fate": each.fate, "text": each.text} for each in fates_of]
