"""Which calls in a program give its operators the IDs that their state lies under.

An operator whose uid was changed or taken away gets it back. Any other one that moved gets the old ID as its uid hash,
which leaves all generated IDs as they are. Another operator that has got such an ID by its place gets a uid of its
own, and that moves what is behind it; so a program that was pinned is to be compared once more.

Cost: O(operators).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from penstock.analysis.model import OperatorModel, Site
from penstock.compare import causes, states
from penstock.compare.difference import MOVED, Difference, OperatorDiff

UID, HASH = "uid", "set_uid_hash"


@dataclass(frozen=True)
class Pin:
    """A call that is to follow the one that makes an operator.

    Attributes:
        operator: its name.
        method: ``uid`` or ``set_uid_hash``.
        value: the argument.
        site: the call that makes the operator; None where that is not known.
        instead_of: uid in the program that the value takes the place of; None to add a call.
        otherwise: the uid hash that does the same where that uid cannot be replaced, as it is no literal.
        unreachable: why no call can follow; "" if one can.
    """

    operator: str
    method: str
    value: str
    site: Site | None
    instead_of: str | None = None
    otherwise: str | None = None
    unreachable: str = ""

    @property
    def text(self) -> str:
        """The call as it stands in a program."""
        return f".{self.method}({_quoted(self.value)})"


def _quoted(value: str) -> str:
    """As a literal of Python, in double quotes where that is possible."""
    plain = value.isprintable() and not set(value) & {'"', "\\"}
    return f'"{value}"' if plain else repr(value)


def pins(difference: Difference) -> tuple[Pin, ...]:
    """The calls that keep the state of operators which have moved, in the order of the program.

    Args:
        difference: between what is locked, or has been saved, and the program.
    """
    return tuple(_Pinning(difference).all())


class _Pinning:
    """For one comparison.

    Args:
        difference: of it.
    """

    def __init__(self, difference: Difference) -> None:
        self._difference = difference
        self._last = _last_at(difference)
        self._uids = {each.uid for each in difference.new.operators if each.uid is not None}

    def all(self) -> Iterator[Pin]:
        """All pins."""
        moved = list(self._of_moved())
        yield from (pin for _, pin in moved)
        pinned = {pin.value for _, pin in moved if pin.method == HASH}
        pinned |= {each.pinned for each in self._difference.new.operators if each.pinned is not None}
        given = {node for node, _ in moved}
        for each in self._difference.new.operators:
            free = each.uid is None and each.pinned is None and each.node not in given
            if free and each.operator_id in pinned:
                yield self._pin(each, UID, self._own_uid(each))

    def _of_moved(self) -> Iterator[tuple[int, Pin]]:
        """With the node of each."""
        for each in self._difference.operators:
            if each.new is not None and each.change == MOVED and each.state in (states.ORPHANED, states.TAKEN):
                yield each.new.node, self._of(each)

    def _of(self, each: OperatorDiff) -> Pin:
        old, new = each.old, each.new
        assert old is not None
        assert new is not None
        if old.uid is not None and new.uid is not None:
            return self._pin(new, UID, old.uid, new.uid, old.operator_id)
        if old.uid is not None and each.cause is not None and each.cause.kind == causes.UID_REMOVED:
            return self._pin(new, UID, old.uid)
        return self._pin(new, HASH, old.operator_id)

    def _pin(
        self, new: OperatorModel, method: str, value: str, instead_of: str | None = None, otherwise: str | None = None
    ) -> Pin:
        last = None if new.site is None else self._last.get(new.site)
        why = ""
        if new.site is None:
            why = "the plan does not say where the program makes it"
        elif last is None:
            why = "its line is run more than once, for other operators too"
        elif last != new.node:
            why = "a call makes several operators, and only the last of them can be given an ID"
        return Pin(new.name, method, value, new.site, instead_of, otherwise, why)

    def _own_uid(self, new: OperatorModel) -> str:
        """A uid that no other operator has, of its name."""
        base = re.sub(r"[^a-z0-9]+", "-", new.name.lower()).strip("-") or "operator"
        uid, number = base, 1
        while uid in self._uids:
            number += 1
            uid = f"{base}-{number}"
        self._uids.add(uid)
        return uid


def _last_at(difference: Difference) -> dict[Site, int | None]:
    """The last operator that each call has made, which calls that follow are about; None where a call was made more
    than once: it has made operators of one name and type again."""
    found: dict[Site, list[OperatorModel]] = {}
    for each in difference.new.operators:
        if each.site is not None:
            found.setdefault(each.site, []).append(each)
    return {site: None if _repeated(made) else max(each.node for each in made) for site, made in found.items()}


def _repeated(made: list[OperatorModel]) -> bool:
    last = max(made, key=lambda each: each.node)
    return sum(each.type == last.type for each in made) > 1
