"""What differs between two savepoints, by OperatorID, state and split. Nothing is unpickled."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.common.findings import Difference
from penstock.job.savepoint.contents import Content, OperatorContent, SourceContent, StateContent


def differences(one: Content, other: Content) -> list[Difference]:
    """What differs from one savepoint to another. Linear in both."""
    return [*_operators(one, other), *_sources(one, other)]


def _operators(one: Content, other: Content) -> Iterator[Difference]:
    before = {each.operator_id: each for each in one.operators}
    after = {each.operator_id: each for each in other.operators}
    for operator_id, operator in before.items():
        if operator_id not in after:
            yield Difference("operator", operator_id, named(operator), "removed", before=_size(operator))
    for operator_id, operator in after.items():
        if operator_id not in before:
            yield Difference("operator", operator_id, named(operator), "added", after=_size(operator))
        else:
            yield from _operator(before[operator_id], operator)


def named(operator: OperatorContent | SourceContent) -> str:
    """The name of an operator, with its uid if it has one."""
    return operator.name if operator.uid is None else f"{operator.name} (uid {operator.uid})"


def _size(operator: OperatorContent) -> str:
    return f"{operator.entries:,} entries, {operator.bytes:,} bytes"


_FIELDS = (
    "name", "uid", "parallelism", "max_parallelism", "key", "entries", "bytes", "list_bytes", "event_timers",
    "clock_timers",
)  # fmt: skip


def _operator(before: OperatorContent, after: OperatorContent) -> Iterator[Difference]:
    where = after.operator_id, named(after)
    for field in _FIELDS:
        old, new = getattr(before, field), getattr(after, field)
        if old != new:
            yield Difference("operator", *where, field, old, new)
    yield from _states(before, after)


def _states(before: OperatorContent, after: OperatorContent) -> Iterator[Difference]:
    old, new = ({state.name: state for state in each.states} for each in (before, after))
    where = after.operator_id, named(after)
    for name in dict.fromkeys((*old, *new)):
        was, now = old.get(name), new.get(name)
        if was is None:
            yield Difference("state", *where, f"{name}: added", after=_kind(now))
        elif now is None:
            yield Difference("state", *where, f"{name}: removed", before=_kind(was))
        elif (was.kind, was.types, was.serializers) != (now.kind, now.types, now.serializers):
            yield Difference("state", *where, f"{name}: type", _kind(was), _kind(now))


def _kind(state: StateContent | None) -> str:
    return "" if state is None else kind_of(state)


def kind_of(state: StateContent) -> str:
    """The kind of a state with its types, as far as they were declared."""
    types = ", ".join(each or "?" for each in state.types)
    return f"{state.kind}({types})" if any(state.types) else state.kind


def _sources(one: Content, other: Content) -> Iterator[Difference]:
    before = {each.operator_id: each for each in one.sources}
    after = {each.operator_id: each for each in other.sources}
    for operator_id, source in before.items():
        if operator_id not in after:
            yield Difference("source", operator_id, named(source), "removed")
    for operator_id, source in after.items():
        if operator_id not in before:
            yield Difference("source", operator_id, named(source), "added")
        else:
            yield from _source(before[operator_id], source)


def _source(before: SourceContent, after: SourceContent) -> Iterator[Difference]:
    where = after.operator_id, named(after)
    for split in dict.fromkeys((*before.positions, *after.positions)):
        old, new = before.positions.get(split), after.positions.get(split)
        if old != new:
            yield Difference("source", *where, f"split {split}", old, new)
    for field in ("splits_ended", "records"):
        old, new = getattr(before, field), getattr(after, field)
        if old != new:
            yield Difference("source", *where, field, old, new)
