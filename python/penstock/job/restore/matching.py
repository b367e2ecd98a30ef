"""Which operator of a program takes which state of a manifest. By the operator ID alone, never by name or place.

State is kept under the ID that is generated: of the uid, or by the shape of the program. An operator that is pinned by
a uid hash takes what there is under that ID, or else under its own; so nothing is lost when a pin comes or goes.

Source of the semantics: ``StateAssignmentOperation`` (Flink 2.3; in 1.11 a pinned operator never finds its own state).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from penstock.errors import InvalidProgramError
from penstock.job.folder.manifest import SourceState, StepManifest, TaskState
from penstock.runtime.buffers.codec import decode_value
from penstock.runtime.config.tasks import OperatorConfig
from penstock.runtime.operators.reading import OWN

How = Literal["uid", "uid hash", "position"]


class Taker(Protocol):
    """An operator of a program, as it is planned or as it travels."""

    @property
    def operator_id(self) -> str:
        """Generated, 32 hex digits."""
        ...

    @property
    def pinned(self) -> str | None:
        """The ID of a uid hash."""
        ...

    @property
    def name(self) -> str:
        """As the user sees it."""
        ...

    @property
    def uid(self) -> str | None:
        """Given by the user."""
        ...


@dataclass(frozen=True)
class Taken:
    """What an operator takes.

    Attributes:
        state_id: the operator ID under which it is in the manifest.
        by: what has led there.
    """

    state_id: str
    by: How


@dataclass(frozen=True)
class Matching:
    """Who takes what.

    Attributes:
        taken: by operator ID of the program; also of operators without state, if the manifest knows them.
        left: the operator IDs of the manifest whose state nobody takes, in its order.
        new: the operator IDs of the program that the manifest does not know.
    """

    taken: Mapping[str, Taken]
    left: tuple[str, ...]
    new: tuple[str, ...]


def match(manifest: StepManifest, operators: Iterable[Taker]) -> Matching:
    """Which operator takes which state. O(operators), and O(rows in loops).

    Args:
        manifest: of the version to go on from.
        operators: all of the program.

    Raises:
        InvalidProgramError: two operators would take the same.
    """
    held = holders(manifest)
    known = {*held, *manifest.counters}
    taken: dict[str, Taken] = {}
    new: list[str] = []
    owners: dict[str, Taker] = {}
    for operator in operators:
        found = _found(operator, held) or _found(operator, known)
        if found is None:
            new.append(operator.operator_id)
            continue
        other = owners.setdefault(found.state_id, operator)
        if other is not operator and found.state_id in held:
            raise _twice(other, operator, found.state_id)
        taken[operator.operator_id] = found
    return Matching(taken, tuple(each for each in held if each not in owners), tuple(new))


def _found(operator: Taker, there: Collection[str]) -> Taken | None:
    if operator.pinned is not None and operator.pinned in there:
        return Taken(operator.pinned, "uid hash")
    if operator.operator_id in there:
        return Taken(operator.operator_id, "position" if operator.uid is None else "uid")
    return None


def holders(manifest: StepManifest) -> dict[str, None]:
    """The operator IDs under which a manifest has something that must not be lost: state, splits that have been read,
    rows on their way in a loop. In its order. How far a source function has come is none, as Flink has no state there.
    """
    found = dict.fromkeys(manifest.operators)
    found.update((each, None) for each, source in manifest.sources.items() if has_read(source))
    found.update((key, None) for key, tasks in manifest.tasks.items() if any(map(rows_in, tasks)))
    return found


def has_read(source: SourceState) -> bool:
    """Whether a source has read splits, or is one that counts its records."""
    return bool(source.ended.count) or any(not pushed(at) for at in source.positions.values())


def fits(source: SourceState, head: OperatorConfig) -> bool:
    """Whether what is known of a source can be that of another one with its ID: of a function that pushes, of one
    without splits, or of one with splits.

    Args:
        source: what is known.
        head: the operator of the source.
    """
    _, *kind = head.hands_over.split("/")
    if not kind or not (source.positions or source.ended.count):
        return True
    positions = source.positions
    if positions and all(map(pushed, positions.values())):
        return kind[0] == ""
    counts = positions and not source.ended.count and all(name.startswith(f"{OWN}-") for name in positions)
    return kind[0] == "FrameSource" or (kind[0] not in ("", "SplitSource") if counts else kind[0] == "SplitSource")


def pushed(position: Any) -> bool:
    """Whether a position in a manifest, with its subtask, is that of a function: calls, and rounds."""
    return isinstance(position, list | tuple) and isinstance(position[1], list)


def rows_in(task: TaskState) -> list[Any]:
    """The rows that wait for a task at the head of a loop."""
    return decode_value(task.volatile)[1] if task.volatile else []


def _twice(first: Taker, second: Taker, state_id: str) -> InvalidProgramError:
    return InvalidProgramError(
        f"The operators {first.name!r} and {second.name!r} would both take the state of the operator ID {state_id}. "
        "Take the uid hash away from one of them, or give it another one.",
        flink_class="java.lang.IllegalStateException",
    )
