"""The differences of two savepoints, by OperatorID, state and split. Nothing is unpickled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from penstock.common.findings import Difference
from penstock.job.savepoint.contents import Content, OperatorContent, SourceContent, StateContent

_Content = OperatorContent | SourceContent


def differences(one: Content, other: Content) -> list[Difference]:
    """The differences from one savepoint to another. Linear in both."""
    pairs = ("operator", one.operators, other.operators), ("source", one.sources, other.sources)
    return [difference for what, before, after in pairs for difference in _compared(what, before, after)]


def _compared(what: str, one: Sequence[_Content], other: Sequence[_Content]) -> Iterator[Difference]:
    before, after = ({content.operator_id: content for content in contents} for contents in (one, other))
    for operator_id, old in before.items():
        if operator_id not in after:
            yield Difference(what, operator_id, named(old), "removed", before=_size(old))
    for operator_id, new in after.items():
        old = before.get(operator_id)
        if old is None:
            yield Difference(what, operator_id, named(new), "added", after=_size(new))
            continue
        if isinstance(old, SourceContent) and isinstance(new, SourceContent):
            yield from _splits(old, new)
        for field in _FIELDS if what == "operator" else ("splits_ended", "records"):
            was, now = getattr(old, field), getattr(new, field)
            if was != now:
                yield Difference(what, operator_id, named(new), field, was, now)
        if isinstance(old, OperatorContent) and isinstance(new, OperatorContent):
            yield from _states(old, new)


def named(operator: _Content) -> str:
    """The name of an operator, with its uid if it has one."""
    return operator.name if operator.uid is None else f"{operator.name} (uid {operator.uid})"


def _size(content: _Content) -> str | None:
    return f"{content.entries:,} entries, {content.bytes:,} bytes" if isinstance(content, OperatorContent) else None


_FIELDS = (
    "name", "uid", "parallelism", "max_parallelism", "key", "entries", "bytes", "list_bytes", "event_timers",
    "clock_timers",
)  # fmt: skip


def _states(before: OperatorContent, after: OperatorContent) -> Iterator[Difference]:
    old, new = ({state.name: state for state in operator.states} for operator in (before, after))
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
    types = ", ".join(text or "?" for text in state.types)
    return f"{state.kind}({types})" if any(state.types) else state.kind


def _splits(before: SourceContent, after: SourceContent) -> Iterator[Difference]:
    for split in dict.fromkeys((*before.positions, *after.positions)):
        old, new = before.positions.get(split), after.positions.get(split)
        if old != new:
            yield Difference("source", after.operator_id, named(after), f"split {split}", old, new)
