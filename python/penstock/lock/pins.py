"""The calls in a program that give its operators the IDs of their state.

An operator whose uid was changed or removed gets it back. Any other one that moved gets the old ID as its uid hash,
which does not change generated IDs. An operator that has such an ID by its position gets its own uid, which moves the
operators behind it; so compare a pinned program again.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from penstock.analysis.model import OperatorModel, Site
from penstock.compare import causes, states
from penstock.compare.difference import MOVED, Difference, OperatorDiff

UID, HASH = "uid", "set_uid_hash"


@dataclass(frozen=True)
class Pin:
    """A call to be added behind the one that makes an operator."""

    operator: str  # its name
    method: str  # ``uid`` or ``set_uid_hash``
    value: str
    site: Site | None  # the call that makes the operator; None if unknown
    instead_of: str | None = None  # uid in the program that the value replaces; None to add a call
    otherwise: str | None = None  # the uid hash with the same effect, if that uid is not a literal
    unreachable: str = ""  # why no call can follow; "" if one can

    @property
    def text(self) -> str:
        plain = self.value.isprintable() and not set(self.value) & {'"', "\\"}
        literal = f'"{self.value}"' if plain else repr(self.value)
        return f".{self.method}({literal})"


def pins(difference: Difference) -> tuple[Pin, ...]:
    """The calls that keep the state of moved operators, in the order of the program."""
    operators = difference.new.operators
    calls = _Calls(operators)
    moved = {
        moving.new.node: _pin(calls, moving.old, moving.new, moving)
        for moving in difference.operators
        if moving.old is not None and moving.new is not None
        if moving.change == MOVED and moving.state in (states.ORPHANED, states.TAKEN)
    }
    pinned = {pin.value for pin in moved.values() if pin.method == HASH}
    pinned |= {operator.pinned for operator in operators if operator.pinned is not None}
    result = list(moved.values())
    for operator in operators:
        free = operator.uid is None and operator.pinned is None and operator.node not in moved
        if free and operator.operator_id in pinned:
            result.append(calls.pin(operator, UID, calls.own_uid(operator)))
    return tuple(result)


def _pin(calls: _Calls, old: OperatorModel, new: OperatorModel, moved: OperatorDiff) -> Pin:
    if old.uid is not None and new.uid is not None:
        return calls.pin(new, UID, old.uid, new.uid, old.operator_id)
    if old.uid is not None and moved.cause is not None and moved.cause.kind == causes.UID_REMOVED:
        return calls.pin(new, UID, old.uid)
    return calls.pin(new, HASH, old.operator_id)


def own_uids(operators: Sequence[OperatorModel], nodes: Collection[int], locked: Mapping[str, bool]) -> tuple[Pin, ...]:
    """Calls that give operators uids made of their names; a ``locked`` ID with state also becomes the uid hash."""
    calls, result = _Calls(operators), list[Pin]()
    for operator in operators:
        if operator.node in nodes:
            result.append(calls.pin(operator, UID, calls.own_uid(operator)))
            if locked.get(operator.operator_id) and operator.pinned is None:
                result.append(calls.pin(operator, HASH, operator.operator_id))
    return tuple(result)


class _Calls:
    """The calls that make operators, and the uids in use."""

    def __init__(self, operators: Sequence[OperatorModel]) -> None:
        by_site: dict[Site, list[OperatorModel]] = {}
        for operator in operators:
            if operator.site is not None:
                by_site.setdefault(operator.site, []).append(operator)
        self._last = {site: _last(operators) for site, operators in by_site.items()}
        self._uids = {operator.uid for operator in operators if operator.uid is not None}

    def pin(
        self, new: OperatorModel, method: str, value: str, instead_of: str | None = None, otherwise: str | None = None
    ) -> Pin:
        """A pin behind the call of an operator."""
        last = None if new.site is None else self._last.get(new.site)
        why = ""
        if new.site is None:
            why = "the plan does not say where the program makes it"
        elif last is None:
            why = "its line is run more than once, for other operators too"
        elif last != new.node:
            why = "a call makes several operators, and only the last of them can be given an ID"
        return Pin(new.name, method, value, new.site, instead_of, otherwise, why)

    def own_uid(self, new: OperatorModel) -> str:
        """An unused uid, made of the operator's name."""
        base = re.sub(r"[^a-z0-9]+", "-", new.name.lower()).strip("-") or "operator"
        uid, number = base, 1
        while uid in self._uids:
            number += 1
            uid = f"{base}-{number}"
        self._uids.add(uid)
        return uid


def _last(operators: list[OperatorModel]) -> int | None:
    """The last operator that a call has made, to which following calls apply; None if the call ran several times."""
    last = max(operators, key=lambda operator: operator.node)
    return None if sum(operator.type == last.type for operator in operators) > 1 else last.node
