"""Two programs compared: what became of each operator, why, and what that means for state.

:func:`compare` is the entry. A problem is *lost* where a restore is refused unless state may be left behind
(``--allow-non-restored-state``) or where state would lie unread, and *blocked* where nothing allows it. Cost:
O(n log n) in operators and edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from penstock.analysis.model import OperatorModel, ProgramModel, Site
from penstock.compare import states
from penstock.compare.causes import UNKNOWN, Cause, causes
from penstock.compare.hashing import Graph
from penstock.compare.matching import Pairs, match
from penstock.compare.states import StateFate, Takings

KEPT, MOVED, ADDED, REMOVED = "kept", "moved", "added", "removed"
LOST, BLOCKED, ALLOWED = "lost", "blocked", "allowed"
ORPHANED, MISPLACED, UNREAD, UNREADABLE = "orphaned state", "misplaced state", "unread state", "unreadable state"
KEY_GROUPS, MIXED, TWICE, REFUSED = "max parallelism", "mixed max parallelism", "taken twice", "refused program"


@dataclass(frozen=True)
class Problem:
    """What stands against deploying the new program.

    Attributes:
        kind: ``orphaned state``, ``misplaced state``, ``unread state``, ``unreadable state``, ``max parallelism``,
            ``mixed max parallelism``, ``taken twice`` or ``refused program``.
        severity: ``lost``, ``blocked``, or ``allowed``: it would be lost, and that is allowed.
        operator: name of the one whose state it is.
        text: sentences, without the last end.
        site: where to look in the new program; None if it is not there.
    """

    kind: str
    severity: str
    operator: str
    text: str
    site: Site | None = None


@dataclass(frozen=True)
class OperatorDiff:
    """What became of an operator.

    Attributes:
        change: ``kept``: it has the ID that it had; ``moved``: it has another one; ``added``; ``removed``.
        old, new: as it was and is; None where it is not.
        cause: why it has moved; None otherwise.
        state: ``restored``, ``orphaned``, ``taken by another``, ``new`` or ``none``.
        states: what becomes of each of its states, as far as both sides know them.
        takes: name of the old operator whose state it takes, where that is another one; "" otherwise.
        changes: what else differs, as ``what: before -> after``.
    """

    change: str
    old: OperatorModel | None
    new: OperatorModel | None
    cause: Cause | None
    state: str
    states: tuple[StateFate, ...]
    takes: str
    changes: tuple[str, ...]

    @property
    def name(self) -> str:
        """As it is called now, or was."""
        one = self.new or self.old
        return "" if one is None else one.name

    @property
    def differs(self) -> bool:
        """Whether there is anything to say of it."""
        return self.change != KEPT or bool(self.changes or self.takes) or any(s.fate != KEPT for s in self.states)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        ids = {key: each and each.operator_id for key, each in (("old_id", self.old), ("new_id", self.new))}
        site = None if self.new is None or self.new.site is None else self.new.site
        return {
            "operator": self.name,
            "change": self.change,
            **ids,
            "uid": None if self.new is None else self.new.uid,
            "cause": None if self.cause is None else self.cause.to_dict(),
            "state": self.state,
            "takes": self.takes or None,
            "states": states.plain(self.states),
            "changes": list(self.changes),
            **({} if site is None else {"file": site.file, "line": site.line}),
        }


@dataclass(frozen=True)
class Difference:
    """All that two programs differ in.

    Attributes:
        old, new: the programs.
        operators: those of the new one in its order, then those that were removed.
        problems: the blocking ones first.
    """

    old: ProgramModel
    new: ProgramModel
    operators: tuple[OperatorDiff, ...]
    problems: tuple[Problem, ...]

    @property
    def safe(self) -> bool:
        """Whether the new program can go on from the old one's state without losing any that it must not."""
        return all(problem.severity == ALLOWED for problem in self.problems)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        counts = {change: sum(each.change == change for each in self.operators) for change in _CHANGES}
        return {
            "format": 1,
            "old": self.old.name,
            "new": self.new.name,
            "safe": self.safe,
            "counts": counts,
            "operators": [each.to_dict() for each in self.operators],
            "problems": [_plain(problem) for problem in self.problems],
        }


_CHANGES = (KEPT, MOVED, ADDED, REMOVED)


def _plain(problem: Problem) -> dict[str, Any]:
    found = {"kind": problem.kind, "severity": problem.severity, "operator": problem.operator, "text": problem.text}
    return found if problem.site is None else {**found, "file": problem.site.file, "line": problem.site.line}


def compare(old: ProgramModel, new: ProgramModel, *, allow: bool = False) -> Difference:
    """Compare two programs.

    Args:
        old: what runs, or ran: a program, a plan, a lock file, a savepoint.
        new: what is to go on.
        allow: whether state may be left behind.
    """
    graphs = Graph(old), Graph(new)
    pairs = match(*graphs)
    why = causes(*graphs, pairs)
    comparison = _Comparison(old, new, pairs, states.takings(old, new), why)
    operators = tuple(comparison.operators())
    problems = sorted(comparison.problems(operators), key=lambda each: each.severity != BLOCKED)
    if allow:
        problems = [replace(each, severity=ALLOWED) if each.severity == LOST else each for each in problems]
    return Difference(old, new, operators, tuple(problems))


@dataclass(frozen=True)
class _Comparison:
    """Two models, who is who, who takes what, and why IDs are others."""

    old: ProgramModel
    new: ProgramModel
    pairs: Pairs
    takings: Takings
    why: dict[int, Cause]

    def operators(self) -> Iterator[OperatorDiff]:
        """What became of each operator."""
        for new in self.new.operators:
            before = self.pairs.old_of.get(new.node)
            old = None if before is None else self.old.by_node[before]
            if old is not None or states.keeps(new) or not self._only_state:
                yield self._of_new(old, new)
        for old in self.old.operators:
            if old.node not in self.pairs.new_of and (states.keeps(old) or not self._only_state):
                state = self._state_of_old(old)
                yield OperatorDiff(REMOVED, old, None, None, state, (), "", ())

    @property
    def _only_state(self) -> bool:
        """Whether the old side knows operators with state only, as a savepoint does: others are not new then."""
        return not self.old.edges and not any(each.type for each in self.old.operators)

    def _of_new(self, old: OperatorModel | None, new: OperatorModel) -> OperatorDiff:
        taking = self.takings.by_new.get(new.node)
        source = None if taking is None else self.old.by_node[taking.state_of]
        own = source is not None and old is not None and source.node == old.node
        takes = "" if source is None or own or not states.keeps(source) else source.name
        if old is None:
            state = states.TAKEN if takes else states.NEW if states.keeps(new) else states.NONE
            return OperatorDiff(ADDED, None, new, None, state, (), takes, ())
        kept = old.operator_id == new.operator_id or own
        cause = None if kept else self.why.get(new.node, Cause(UNKNOWN, new.name, "nobody knows why", None, new.site))
        goes_on = own and (states.keeps(old) or states.keeps(new))
        found = tuple(states.fates(old, new)) if goes_on else ()
        return OperatorDiff(
            KEPT if kept else MOVED, old, new, cause, self._state_of_old(old), found, takes, tuple(_changes(old, new))
        )

    def _state_of_old(self, old: OperatorModel) -> str:
        if not states.keeps(old):
            after = self.pairs.new_of.get(old.node)
            return states.NEW if after is not None and states.keeps(self.new.by_node[after]) else states.NONE
        taking = self.takings.by_old.get(old.node)
        if taking is None:
            return states.ORPHANED
        return states.RESTORED if taking.taker == self.pairs.new_of.get(old.node) else states.TAKEN

    # --- problems -----------------------------------------------------------------------------------------------------

    def problems(self, operators: Iterable[OperatorDiff]) -> Iterator[Problem]:
        """What stands against the new program."""
        if self.new.refused:
            yield Problem(REFUSED, BLOCKED, self.new.name, self.new.refused)
        for each in operators:
            if each.old is not None and (states.keeps(each.old) or self._only_state):
                yield from self._of_key_groups(each.old)
            if each.old is not None and states.keeps(each.old):
                yield from self._of_state(each.old, each)
            if each.new is not None and each.state == states.RESTORED:
                yield from _of_states(each.new, each)
        for taking in self.takings.by_old.values():
            if taking.also is not None and states.keeps(self.old.by_node[taking.state_of]):
                yield self._twice(taking.state_of, taking.taker, taking.also)
        yield from self._of_chains()

    def _of_state(self, old: OperatorModel, each: OperatorDiff) -> Iterator[Problem]:
        site = None if each.new is None else each.new.site
        if each.state == states.ORPHANED:
            yield Problem(ORPHANED, LOST, old.name, self._orphaned(old, each), site)
            return
        taking = self.takings.by_old.get(old.node)
        if taking is None:
            return
        taker = self.new.by_node[taking.taker]
        if each.state == states.TAKEN:
            yield Problem(MISPLACED, BLOCKED, old.name, _misplaced(old, taker, each), taker.site)
        elif old.stateful and not states.keeps(taker) and all(fate.fate != states.UNREAD for fate in each.states):
            text = f"{taker.name!r} keeps no state any more; what it had is carried along, and nobody reads it"
            yield Problem(UNREAD, LOST, old.name, text, taker.site)

    def _of_key_groups(self, old: OperatorModel) -> Iterator[Problem]:
        """Of what a savepoint lists the number counts, with state or without."""
        taking = self.takings.by_old.get(old.node)
        if taking is not None:
            taker = self.new.by_node[taking.taker]
            text = states.key_groups(old, taker, self._head(taker))
            if text:
                yield Problem(KEY_GROUPS, BLOCKED, taker.name, f"{taker.name!r} cannot go on: {text}", taker.site)

    def _head(self, operator: OperatorModel) -> OperatorModel:
        """The first operator of the chain of one of the new program."""
        if operator.vertex is None or operator.vertex >= len(self.new.vertices):
            return operator
        return self.new.by_node[self.new.vertices[operator.vertex].operators[0]]

    def _orphaned(self, old: OperatorModel, each: OperatorDiff) -> str:
        holds = "may hold state" if old.stateful is None else "has state"
        if each.new is None:
            return f"{old.name!r} {holds} under the ID {old.operator_id}, and is not in the new program"
        why = "" if each.cause is None else f": {each.cause.text}"
        return f"{old.name!r} {holds} under the ID {old.operator_id}, and has the ID {each.new.operator_id} now{why}"

    def _twice(self, state_of: int, taker: int, also: int) -> Problem:
        old, one, other = self.old.by_node[state_of], self.new.by_node[taker], self.new.by_node[also]
        text = (
            f"{one.name!r} and {other.name!r} would both take the state of {old.name!r}, which lies under the ID "
            f"{old.operator_id}; take the uid hash away from one of them, or give the other one a uid"
        )
        return Problem(TWICE, BLOCKED, old.name, text, other.site or one.site)

    def _of_chains(self) -> Iterator[Problem]:
        groups = {
            taking.taker: self.old.by_node[taking.state_of].effective_max_parallelism
            for taking in self.takings.by_old.values()
            if states.keeps(self.old.by_node[taking.state_of])
        }
        for each, text in states.mixed(self.new, groups):
            yield Problem(MIXED, BLOCKED, each.name, f"{each.name!r} cannot go on: {text}", each.site)


def _misplaced(old: OperatorModel, taker: OperatorModel, each: OperatorDiff) -> str:
    text = f"the state of {old.name!r} would go to {taker.name!r}, which has its ID {old.operator_id} now"
    if each.new is None:
        return f"{text}; {old.name!r} is gone"
    return text if each.cause is None else f"{text}: {each.cause.text}"


def _of_states(new: OperatorModel, each: OperatorDiff) -> Iterator[Problem]:
    for fate in each.states:
        if fate.fate == states.UNREADABLE:
            text = f"{new.name!r} cannot read its state {fate.name!r}: {fate.text}"
            yield Problem(UNREADABLE, BLOCKED, new.name, text, new.site)
        elif fate.fate == states.UNREAD:
            text = f"{new.name!r} goes on without what is in its state {fate.name!r}: {fate.text}"
            yield Problem(UNREAD, LOST, new.name, text, new.site)


def _changes(old: OperatorModel, new: OperatorModel) -> Iterator[str]:
    """What else differs of an operator; what one side does not know does not differ."""
    pairs: list[tuple[str, object, object]] = [
        ("name", old.name, new.name),
        ("type", old.type, new.type if old.type else old.type),
        ("uid hash", old.pinned, new.pinned),
        ("parallelism", old.parallelism, new.parallelism if old.parallelism > 0 else old.parallelism),
        ("max parallelism", old.max_parallelism, new.max_parallelism),
    ]
    for what, before, after in pairs:
        if before != after and (after != "" or what != "type"):
            yield f"{what}: {_shown(before)} -> {_shown(after)}"


def _shown(value: object) -> str:
    return "none" if value is None else str(value)
