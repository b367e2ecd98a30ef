"""Which operator of a program takes which state of a manifest. By the operator ID alone, never by name or place.

An operator that is pinned by a uid hash takes what there is under that ID, or else under its own; so nothing is lost
when a pin comes or goes. Source of the semantics: ``StateAssignmentOperation`` (Flink 2.3; in 1.11 a pinned operator
never finds its own state).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from penstock.errors import InvalidProgramError
from penstock.job.folder.manifest import SourceState, StepManifest, TaskState, goes_on, pushed, read_as
from penstock.runtime.buffers.codec import decode_value
from penstock.runtime.config.tasks import OperatorConfig

How = Literal["uid", "uid hash", "position"]


class Taker(Protocol):
    """An operator of a program, as it is planned or as it travels."""

    @property
    def operator_id(self) -> str: ...

    @property
    def pinned(self) -> str | None: ...

    @property
    def name(self) -> str: ...

    @property
    def uid(self) -> str | None: ...


@dataclass(frozen=True)
class Taken:
    """The state that an operator takes."""

    state_id: str  # the operator ID under which it is in the manifest
    by: How  # what has led there


@dataclass(frozen=True)
class Matching:
    """The operators, with the states that they take."""

    taken: Mapping[str, Taken]  # by operator ID of the program, also without state, if the manifest knows it
    left: tuple[str, ...]  # the operator IDs of the manifest whose state nobody takes, in its order
    new: tuple[str, ...]  # the operator IDs of the program that the manifest does not know
    twice: Mapping[str, tuple[Taker, Taker]] = field(default_factory=dict)  # who would take one state, by its ID


def match(manifest: StepManifest, operators: Iterable[Taker]) -> Matching:
    """Which operator takes which state. O(operators), and O(rows in loops)."""
    held = holders(manifest)
    matching = matched(held, {*held, *manifest.counters}, operators)
    for state_id, (first, second) in matching.twice.items():
        raise InvalidProgramError(
            f"The operators {first.name!r} and {second.name!r} would both take the state of the ID {state_id}. "
            "Remove the uid hash of one of them, or change it.",
            flink_class="java.lang.IllegalStateException",
        )
    return matching


def matched(held: Collection[str], known: Collection[str], operators: Iterable[Taker]) -> Matching:
    """Which operator takes which state; ``held`` are the IDs under which there is something that must not be lost."""
    taken: dict[str, Taken] = {}
    new: list[str] = []
    owners: dict[str, Taker] = {}
    twice: dict[str, tuple[Taker, Taker]] = {}
    for operator in operators:
        match = _match(operator, held) or _match(operator, known)
        if match is None:
            new.append(operator.operator_id)
            continue
        first = owners.setdefault(match.state_id, operator)
        if first is not operator and match.state_id in held:
            twice[match.state_id] = first, operator
        taken[operator.operator_id] = match
    return Matching(taken, tuple(state_id for state_id in held if state_id not in owners), tuple(new), twice)


def _match(operator: Taker, held: Collection[str]) -> Taken | None:
    if operator.pinned is not None and operator.pinned in held:
        return Taken(operator.pinned, "uid hash")
    if operator.operator_id in held:
        return Taken(operator.operator_id, "position" if operator.uid is None else "uid")
    return None


def holders(manifest: StepManifest) -> dict[str, None]:
    """The operator IDs under which a manifest has something that must not be lost, in its order."""
    result = dict.fromkeys(manifest.operators)
    result.update((operator_id, None) for operator_id, source in manifest.sources.items() if has_read(source))
    result.update((key, None) for key, tasks in manifest.tasks.items() if any(map(rows_in, tasks)))
    return result


def has_read(source: SourceState) -> bool:
    """Whether a source has read splits, or is one that counts its records."""
    return bool(source.ended.count) or any(not pushed(name, at) for name, at in source.positions.items())


def fits(source: SourceState, head: OperatorConfig) -> bool:
    """Whether what is known of a source can be that of another one with its ID."""
    _, *kind = head.hands_over.split("/")
    return goes_on(read_as(source), kind[0] if kind else None)


def rows_in(task: TaskState) -> list[Any]:
    """The rows that wait for a task at the head of a loop."""
    return decode_value(task.volatile)[1] if task.volatile else []
