"""Two programs compared: the change of each operator, its cause, and its effect on state.

:func:`compare` is the entry. A problem is *lost* if a restore is refused unless state may be left behind
(``--allow-non-restored-state``), or if state would stay unread, and *blocked* if nothing allows it. Cost:
O(n log n) in operators and edges.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from penstock.analysis.facts import NAMES, SOURCE
from penstock.analysis.model import UNRECORDED, OperatorModel, ProgramModel, Site
from penstock.compare import states
from penstock.compare.causes import UNKNOWN, Cause, causes, placed
from penstock.compare.graph import Graph
from penstock.compare.pairs import Pairs, match
from penstock.compare.states import StateFate, Takings

KEPT, MOVED, ADDED, REMOVED = "kept", "moved", "added", "removed"
LOST, BLOCKED, ALLOWED, UNKNOWN_YET = "lost", "blocked", "allowed", "unknown"
ORPHANED, MISPLACED, UNREAD, UNREADABLE = "orphaned state", "misplaced state", "unread state", "unreadable state"
UNKNOWN_STATE = "unknown state"
KEY_GROUPS, MIXED, TWICE, REFUSED = "max parallelism", "mixed max parallelism", "taken twice", "refused program"


@dataclass(frozen=True)
class Problem:
    """A reason not to deploy the new program."""

    kind: str  # such as ``orphaned state``
    severity: str  # ``blocked``, ``lost``, ``allowed``: it would be lost, and may be; ``unknown`` until it runs
    operator: str  # name of the operator whose state it is
    text: str  # sentences, without the last period
    site: Site | None = None  # in the new program
    cause: Cause | None = None  # the edit behind it; None if the text says it all

    @property
    def full(self) -> str:
        """The text, with the cause."""
        return self.text if self.cause is None else f"{self.text}: {self.cause.text}"


@dataclass(frozen=True)
class OperatorDiff:
    """The change of an operator."""

    change: str  # ``kept``: it has the same ID; ``moved``: it has another one; ``added``; ``removed``
    old: OperatorModel | None
    new: OperatorModel | None
    cause: Cause | None  # why it has moved
    state: str  # its fate, such as ``restored``: those of :mod:`~penstock.compare.states`
    states: tuple[StateFate, ...]  # the fate of each of its states, as far as both sides know them
    takes: str  # name of another old operator whose state it takes
    changes: tuple[str, ...]  # other differences, as ``what: before -> after``
    facts: tuple[str, ...] = ()  # likewise, on which IDs and state do not depend, such as a key, a window or a topic

    @property
    def name(self) -> str:
        """Its name now, or before."""
        one = self.new or self.old
        return "" if one is None else one.name

    @property
    def differs(self) -> bool:
        """Whether anything differs."""
        more = self.changes or self.facts or self.takes or any(state.fate != KEPT for state in self.states)
        return self.change != KEPT or bool(more)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "operator": self.name,
            "change": self.change,
            "old_id": self.old and self.old.operator_id,
            "new_id": self.new and self.new.operator_id,
            "uid": self.new and self.new.uid,
            "cause": self.cause and self.cause.to_dict(),
            "state": self.state,
            "takes": self.takes or None,
            "states": [{"state": state.name, "fate": state.fate, "text": state.text} for state in self.states],
            "changes": [*self.changes, *self.facts],
            **placed(self.new and self.new.site),
        }


@dataclass(frozen=True)
class Difference:
    """All differences of two programs."""

    old: ProgramModel
    new: ProgramModel
    operators: tuple[OperatorDiff, ...]  # those of the new program in its order, then those that were removed
    problems: tuple[Problem, ...]  # the blocking ones first
    unknown: tuple[Problem, ...] = ()  # states that can only be checked when the program runs

    @property
    def passes(self) -> bool:
        """Whether no problem is known: no state is lost that must not be lost."""
        return all(problem.severity == ALLOWED for problem in self.problems)

    @property
    def safe(self) -> bool:
        """Whether the new program certainly keeps all state that it must not lose."""
        return self.passes and not self.unknown

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        counts = {change: sum(operator.change == change for operator in self.operators) for change in _CHANGES}
        return {
            "format": 1,
            "old": self.old.name,
            "new": self.new.name,
            "safe": self.safe,
            "passes": self.passes,
            "counts": counts,
            "operators": [operator.to_dict() for operator in self.operators],
            "problems": [_plain(problem) for problem in self.problems],
            "unknown": [_plain(problem) for problem in self.unknown],
        }


_ENDED = "its tasks have ended: the run does not open its state"
_CHANGES = (KEPT, MOVED, ADDED, REMOVED)


def by_cause(problems: Iterable[Problem]) -> list[tuple[Cause | None, list[Problem]]]:
    """Problems grouped by the edit behind them, in the order of the first of each; those without an edit are alone."""
    groups: dict[object, tuple[Cause | None, list[Problem]]] = {}
    for index, problem in enumerate(problems):
        cause = None if problem.cause is None or problem.cause.kind == UNKNOWN else problem.cause
        key = index if cause is None else (cause.kind, cause.subject, cause.rule, cause.site)
        groups.setdefault(key, (cause, []))[1].append(problem)
    return list(groups.values())


def _plain(problem: Problem) -> dict[str, Any]:
    fields = {"kind": problem.kind, "severity": problem.severity, "operator": problem.operator, "text": problem.full}
    return {**fields, **placed(problem.site)}


def compare(old: ProgramModel, new: ProgramModel, *, allow: bool = False, ended: Collection[str] = ()) -> Difference:
    """Compare two programs, each from a program, a plan, a lock file or a savepoint. ``allow``: state may be left
    behind. ``ended``: the IDs of the operators whose tasks have ended for good, so that no run opens their state
    (:func:`~penstock.job.steps.versions.ended_operators`)."""
    graphs = Graph(old), Graph(new)
    pairs = match(*graphs)
    comparison = _Comparison(old, new, pairs, states.takings(old, new), causes(*graphs, pairs), ended, allow)
    operators = tuple(comparison.operators())
    problems = sorted(comparison.problems(operators), key=lambda problem: problem.severity != BLOCKED)
    if allow:
        problems = [replace(problem, severity=ALLOWED) if problem.severity == LOST else problem for problem in problems]
    unknown = [problem for operator in operators for problem in _unknown(operator)]
    return Difference(old, new, tuple(_judged(operators, [*problems, *unknown])), tuple(problems), tuple(unknown))


def _judged(operators: Iterable[OperatorDiff], problems: Iterable[Problem]) -> Iterator[OperatorDiff]:
    """The operators with the worst known fate of the state under their IDs."""
    worst: dict[tuple[str, Site | None], str] = {}
    for problem in problems:
        state = {BLOCKED: states.STOPPED, UNKNOWN_YET: states.NOT_KNOWN}.get(problem.severity, states.LOST_IN_PART)
        worst.setdefault((problem.operator, problem.site), state)
    for operator in operators:
        worst_state = None if operator.new is None else worst.get((operator.new.name, operator.new.site))
        yield replace(operator, state=worst_state) if worst_state and operator.state == states.RESTORED else operator


@dataclass(frozen=True)
class _Comparison:
    """Two models, the pairs of their operators, which operator takes which state, causes, and options."""

    old: ProgramModel
    new: ProgramModel
    pairs: Pairs
    takings: Takings
    why: dict[int, Cause]
    ended: Collection[str]
    allow: bool

    def operators(self) -> Iterator[OperatorDiff]:
        """The change of each operator."""
        for new in self.new.operators:
            before = self.pairs.old_of.get(new.node)
            old = None if before is None else self.old.by_node[before]
            if old is not None or states.keeps(new) or not self._only_state:
                yield self._of_new(old, new)
        for old in self.old.operators:
            if old.node not in self.pairs.new_of and (states.keeps(old) or not self._only_state):
                yield OperatorDiff(REMOVED, old, None, None, self._state_of_old(old), (), "", ())

    @property
    def _only_state(self) -> bool:
        """Whether the old side lists only operators with state, as a savepoint does: others are not new then."""
        return not self.old.edges and not any(operator.type for operator in self.old.operators)

    def _of_new(self, old: OperatorModel | None, new: OperatorModel) -> OperatorDiff:
        taking = self.takings.by_new.get(new.node)
        source = None if taking is None else self.old.by_node[taking.state_of]
        same = source is not None and old is not None and source.node == old.node
        takes = "" if source is None or same or not states.keeps(source) else source.name
        if old is None:
            state = states.TAKEN if takes else states.NEW if states.keeps(new) else states.NONE
            fates = self._fates(source if takes else None, new)
            return OperatorDiff(ADDED, None, new, None, state, fates, takes, ())
        kept = old.operator_id == new.operator_id or same
        cause = None if kept else self.why.get(new.node, Cause(UNKNOWN, new.name, "unknown why", None, new.site))
        goes_on = source is not None and (states.keeps(source) or (same and states.keeps(new)))
        opens = goes_on and new.operator_id not in self.ended
        fates = self._fates(source if opens else None, new)
        changes, facts = tuple(_changes(old, new)), tuple(_facts(old, new))
        if goes_on and not opens:
            facts = (*facts, _ENDED)
        state, change = self._state_of_old(old), KEPT if kept else MOVED
        return OperatorDiff(change, old, new, cause, state, fates, takes, changes, facts)

    def _fates(self, source: OperatorModel | None, new: OperatorModel) -> tuple[StateFate, ...]:
        return () if source is None else tuple(states.fates(source, new, self.new.classes, allow=self.allow))

    def _state_of_old(self, old: OperatorModel) -> str:
        if not states.keeps(old):
            after = self.pairs.new_of.get(old.node)
            return states.NEW if after is not None and states.keeps(self.new.by_node[after]) else states.NONE
        taking = self.takings.by_old.get(old.node)
        if taking is None:
            return states.ORPHANED
        return states.RESTORED if taking.taker == self.pairs.new_of.get(old.node) else states.TAKEN

    def problems(self, operators: Iterable[OperatorDiff]) -> Iterator[Problem]:
        """All problems of the new program."""
        if self.new.refused:
            yield Problem(REFUSED, BLOCKED, self.new.name, self.new.refused)
        for operator in operators:
            if operator.old is not None and states.keeps(operator.old):
                yield from self._of_state(operator.old, operator)
            if operator.new is not None and (operator.state == states.RESTORED or operator.takes):
                yield from _of_states(operator.new, operator)
        for taking in self.takings.by_old.values():
            if taking.also is not None and states.keeps(self.old.by_node[taking.state_of]):
                yield self._twice(taking.state_of, taking.taker, taking.also)
        for unfit in states.unfit(self.old, self.new, self.takings.matching):
            taker = self.new.by_node[unfit.operator.node]
            text = f"{taker.name!r} cannot go on: {states.why_unfit(unfit, self.new)}"
            yield Problem(MIXED if unfit.kind == "mixed" else KEY_GROUPS, BLOCKED, taker.name, text, taker.site)

    def _of_state(self, old: OperatorModel, diff: OperatorDiff) -> Iterator[Problem]:
        site = None if diff.new is None else diff.new.site
        if diff.state == states.ORPHANED:
            lies = f"{'may hold state' if old.stateful is None else 'has state'} under the ID {old.operator_id}"
            now = "is not in the new program" if diff.new is None else f"has the ID {diff.new.operator_id} now"
            yield Problem(ORPHANED, LOST, old.name, f"{old.name!r} {lies}, and {now}", site, diff.cause)
            return
        taking = self.takings.by_old.get(old.node)
        if taking is None:
            return
        taker = self.new.by_node[taking.taker]
        if diff.state == states.TAKEN:
            text = f"the state of {old.name!r} would go to {taker.name!r}, which has its ID {old.operator_id} now"
            text = f"{text}; {old.name!r} is gone" if diff.new is None else text
            yield Problem(MISPLACED, BLOCKED, old.name, text, taker.site, diff.cause)
        reported = diff.state != states.TAKEN and any(fate.fate == states.UNREAD for fate in diff.states)
        if old.stateful and states.forgets(taker, old) and not reported and taker.operator_id not in self.ended:
            who = "keeps no state any more; what it" if diff.state != states.TAKEN else f"keeps none; what {old.name!r}"
            text = f"{taker.name!r} {who} had is carried along, and is never read"
            yield Problem(UNREAD, LOST, old.name, text, taker.site)

    def _twice(self, state_of: int, taker: int, also: int) -> Problem:
        old, one, other = self.old.by_node[state_of], self.new.by_node[taker], self.new.by_node[also]
        text = (
            f"{one.name!r} and {other.name!r} would both take the state of {old.name!r}, which is under the ID "
            f"{old.operator_id}; take the uid hash away from one of them, or give the other one a uid"
        )
        return Problem(TWICE, BLOCKED, old.name, text, other.site or one.site)


def _of_states(new: OperatorModel, diff: OperatorDiff) -> Iterator[Problem]:
    for fate in diff.states:
        if fate.fate == states.UNREADABLE:
            text = f"{new.name!r} cannot read its state {fate.name!r}: {fate.text}"
            yield Problem(UNREADABLE, BLOCKED, new.name, text, new.site)
        elif fate.fate == states.UNREAD:
            text = f"{new.name!r} goes on without what is in its state {fate.name!r}: {fate.text}"
            yield Problem(UNREAD, LOST, new.name, text, new.site)


def _unknown(diff: OperatorDiff) -> Iterator[Problem]:
    """The states of an operator that are unknown until it runs: a problem for each reason."""
    by_reason: dict[str, list[str]] = {}
    for fate in diff.states if diff.new is not None and (diff.state == states.RESTORED or diff.takes) else ():
        if fate.fate == states.UNKNOWN:
            by_reason.setdefault(fate.text, []).append(repr(fate.name))
    for reason, names in by_reason.items():
        text = f"{diff.name!r}: {', '.join(names)}: {reason}"
        yield Problem(UNKNOWN_STATE, UNKNOWN_YET, diff.name, text, None if diff.new is None else diff.new.site)


def _changes(old: OperatorModel, new: OperatorModel) -> Iterator[str]:
    """Other differences of an operator, in values that both sides know."""
    pairs: list[tuple[str, object, object]] = [
        ("name", old.name, new.name),
        ("type", old.type, new.type if old.type else old.type),
        ("uid hash", old.pinned, new.pinned),
        ("parallelism", old.parallelism, new.parallelism if old.parallelism > 0 else old.parallelism),
        ("max parallelism", old.max_parallelism, new.max_parallelism),
    ]
    for what, before, after in pairs:
        if before != after and (after != "" or what != "type"):
            yield _change(what, before, after)


def _facts(old: OperatorModel, new: OperatorModel) -> Iterator[str]:
    """Differences in records, keys, windows and places, if the old side has recorded them."""
    if not old.facts or not old.type or (not new.facts and new.states is None):  # of a plan only the graph is known
        return
    if old.keyed and new.keyed and UNRECORDED not in (old.key_type, new.key_type) and old.key_type != new.key_type:
        yield f"key: {old.key_type or 'undeclared'} -> {new.key_type or 'undeclared'}"
    for name in NAMES:
        one, other = old.facts.get(name), new.facts.get(name)
        if one != other and name != SOURCE and (one or other):
            yield _change(name, one, other)


def _change(what: str, before: object, after: object) -> str:
    shown = ("none" if value is None else str(value) for value in (before, after))
    return f"{what}: {' -> '.join(shown)}"
