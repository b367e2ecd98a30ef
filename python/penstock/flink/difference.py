"""The differences between two Flink savepoints, by OperatorID and state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from penstock.common.findings import Difference
from penstock.flink.contents import Content, OperatorContent, StateContent

_SKIPPED = {"operator_id", "states", "unread"}


def differences(before: Content, after: Content) -> list[Difference]:
    """The differences between two savepoints. Linear in both."""
    return [*_whole(before, after), *_operators(before, after)]


def named(operator: OperatorContent) -> str:
    """An operator for display: its name with its uid, or its ID."""
    name = operator.name or operator.operator_id
    return name if operator.uid is None else f"{name} (uid {operator.uid})"


def _whole(old: Content, new: Content) -> Iterator[Difference]:
    for name in ("version", "flink", "kind", "form", "hooks"):
        before, after = getattr(old, name), getattr(new, name)
        if before != after:
            yield Difference("savepoint", "", new.place, name, before, after)


def _operators(old: Content, new: Content) -> Iterator[Difference]:
    before = {item.operator_id: item for item in old.operators}
    after = {item.operator_id: item for item in new.operators}
    for operator_id, operator in before.items():
        if operator_id not in after:
            yield Difference("operator", operator_id, named(operator), "removed", before=f"{operator.bytes:,} bytes")
    for operator_id, operator in after.items():
        if operator_id not in before:
            yield Difference("operator", operator_id, named(operator), "added", after=f"{operator.bytes:,} bytes")
        else:
            yield from _operator(before[operator_id], operator)


def _operator(old: OperatorContent, new: OperatorContent) -> Iterator[Difference]:
    for field in fields(OperatorContent):
        before, after = getattr(old, field.name), getattr(new, field.name)
        if field.name not in _SKIPPED and before != after:
            yield Difference("operator", new.operator_id, named(new), field.name, before, after)
    states = {state.name: state for state in old.states}, {state.name: state for state in new.states}
    for name in sorted(states[0].keys() | states[1].keys()):
        yield from _state(new, name, states[0].get(name), states[1].get(name))


def _state(
    operator: OperatorContent, name: str, old: StateContent | None, new: StateContent | None
) -> Iterator[Difference]:
    if old == new:
        return
    where = (operator.operator_id, named(operator))
    if old is None or new is None:
        state = old or new
        change = f"{name}: {'removed' if new is None else 'added'}"
        shown = f"{state.kind} {state.types}".strip() if state else ""
        yield Difference("state", *where, change, None if old is None else shown, None if new is None else shown)
        return
    for part in ("kind", "types", "elements"):
        before, after = getattr(old, part), getattr(new, part)
        if before != after:
            yield Difference("state", *where, f"{name}: {part}", before, after)
