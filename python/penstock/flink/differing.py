"""What differs between two savepoints of Flink, by OperatorID and state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from penstock.common.difference import Difference
from penstock.flink.contents import Content, OperatorContent, StateContent

_SKIPPED = {"operator_id", "states", "unread"}


def differences(one: Content, other: Content) -> list[Difference]:
    """What differs from one savepoint to another. Linear in both.

    Args:
        one, other: of :func:`~penstock.flink.contents.content_of`.
    """
    return [*_whole(one, other), *_operators(one, other)]


def named(operator: OperatorContent) -> str:
    """An operator for people: its name with its uid, or its ID."""
    name = operator.name or operator.operator_id
    return name if operator.uid is None else f"{name} (uid {operator.uid})"


def _whole(one: Content, other: Content) -> Iterator[Difference]:
    for name in ("version", "flink", "kind", "form", "hooks"):
        before, after = getattr(one, name), getattr(other, name)
        if before != after:
            yield Difference("savepoint", "", other.place, name, before, after)


def _operators(one: Content, other: Content) -> Iterator[Difference]:
    before = {each.operator_id: each for each in one.operators}
    after = {each.operator_id: each for each in other.operators}
    for operator_id, operator in before.items():
        if operator_id not in after:
            yield Difference("operator", operator_id, named(operator), "removed", before=f"{operator.bytes:,} bytes")
    for operator_id, operator in after.items():
        if operator_id not in before:
            yield Difference("operator", operator_id, named(operator), "added", after=f"{operator.bytes:,} bytes")
        else:
            yield from _operator(before[operator_id], operator)


def _operator(one: OperatorContent, other: OperatorContent) -> Iterator[Difference]:
    for field in fields(OperatorContent):
        before, after = getattr(one, field.name), getattr(other, field.name)
        if field.name not in _SKIPPED and before != after:
            yield Difference("operator", other.operator_id, named(other), field.name, before, after)
    states = {each.name: each for each in one.states}, {each.name: each for each in other.states}
    for name in sorted(states[0].keys() | states[1].keys()):
        yield from _state(other, name, states[0].get(name), states[1].get(name))


def _state(
    operator: OperatorContent, name: str, one: StateContent | None, other: StateContent | None
) -> Iterator[Difference]:
    if one == other:
        return
    where = (operator.operator_id, named(operator))
    if one is None or other is None:
        found = one or other
        change = f"{name}: {'removed' if other is None else 'added'}"
        said = f"{found.kind} {found.types}".strip() if found else ""
        yield Difference("state", *where, change, None if one is None else said, None if other is None else said)
        return
    for part in ("kind", "types", "elements"):
        before, after = getattr(one, part), getattr(other, part)
        if before != after:
            yield Difference("state", *where, f"{name}: {part}", before, after)
