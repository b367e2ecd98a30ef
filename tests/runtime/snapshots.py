"""Keyed state as plain data for assertions, and from one object into another by way of snapshots."""

from __future__ import annotations

from typing import Any

from penstock.runtime.state.class_changes import Reading
from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.state.replay import Replay
from penstock.runtime.state.sections import Content, snapshot_of


def sections(keyed: KeyedState) -> dict[int, dict[tuple[str, Any], list[tuple[Any, Any]]]]:
    """All values: key group → (name, namespace) → (key, value) pairs, as in Java 1 and True are two keys."""
    result: dict[int, dict[tuple[str, Any], list[tuple[Any, Any]]]] = {}
    for group, place, key, value in keyed.entries():
        result.setdefault(group, {}).setdefault(place, []).append((key, value))
    return result


def restore(keyed: KeyedState, content: Content, groups: range | None = None) -> None:
    """Add the key groups of a snapshot to a keyed state; all of them without ``groups``."""
    if content.key is not None:
        replay, reading = Replay(keyed, range(keyed.max_parallelism) if groups is None else groups), Reading({})
        check = replay.expect(content.key[1], content.states, reading)
        replay.apply(content, content.sections, reading, check)
        replay.finish()


def carry_over(before: KeyedState, after: KeyedState) -> None:
    """What one keyed state has, into another."""
    restore(after, snapshot_of(before))
