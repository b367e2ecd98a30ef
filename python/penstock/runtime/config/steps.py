"""The order of a step to a task, and the task's report: frozen, picklable. A program without an
end runs in *steps*. Step n makes version n + 1 of what version n was: the driver says what each subtask reads and
where its state lies, the subtask reads, works, writes what has changed, and reports. Between two checkpoints there
may be steps that make no version: each resumes from the one before, and all are a part of the next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.runtime.config.tasks import StateFile, TaskReport

Series = tuple[StateFile, ...]
"""The files that hold the state of an operator in a subtask: the newest snapshot, then the logs since."""

BySender = tuple[tuple[int, bool] | None, ...]
"""The last status of each sender of an edge, its watermark and whether it is active; None of one that has ended."""


@dataclass(frozen=True)
class Reading:
    """The part of a source that a subtask reads in a step."""

    splits: tuple[Any, ...] = ()  # from where to go on, each up to its end, in this order
    records: int = 1 << 62  # about how many at most, of all splits together
    millis: int | None = 100  # how long a source that pushes may take; None: as long as it likes
    last: bool = False  # whether nothing is to come beside these splits: the subtask ends when they have
    idle: bool | None = None  # whether it has no split, and holds no watermark back; None where that is not known
    drain: bool = False  # whether the subtask ends when it has read this, though there is more
    parts: int = 0  # into how many parts a source without splits is cut; 0: as many as it has subtasks
    stamps: bool = False  # whether the step goes on where a function ends a round; then its rows have their round


@dataclass(frozen=True)
class Assignment:
    """A step of a subtask."""

    version: int  # to begin from
    folder: str | None = None  # where state lies; None: nothing is kept
    series: Mapping[str, tuple[Series, ...]] = field(default_factory=dict[str, tuple[Series, ...]])
    """The state of each operator by operator ID, of each of the subtasks that wrote it."""
    statuses: Mapping[int, BySender] = field(default_factory=dict[int, BySender])
    """By edge into the vertex. A missing one: nothing yet, or, at the head of a loop, the subtask itself knows."""
    separate: frozenset[str] = frozenset()  # operators of whose state each subtask needs its own series only
    volatile: bytes = b""  # what the subtask said at the end of the step before; empty: there was none
    reading: Reading | None = None  # of a source
    rows: tuple[Any, ...] = ()  # what the tails of loops have sent back
    last: bool = False  # at the head of a loop: nothing is to come back any more
    opens: bool = False  # whether to open and take state over, and nothing else, before the first step
    saves: bool = True
    """Whether the subtask writes its state. If not, the same object runs the next step; the state is written in a later
    one, or when the subtask ends."""
    commits: bool = True  # whether the step is a checkpoint, so that sinks end what waits for a commit
    only: bool = False
    """Whether the job has this step alone: a source reads all that it has, and what comes into a task is all that ever
    will. Nothing else counts then."""


ONLY_STEP = Assignment(0, only=True)  # what a task does of a bounded job that keeps nothing: all of it


@dataclass(frozen=True)
class StepReport:
    """The commit row of a subtask in a step."""

    task: TaskReport  # counters, of this step alone, and files of sinks
    version: int  # that it makes, or is a part of
    series: Mapping[str, Series]  # the state of each operator that has any, by operator ID
    volatile: bytes  # what the next step is to be given
    positions: Mapping[str, Any]  # of a source, by split: from where to go on, of those that were read
    ended: tuple[str, ...]  # splits that have been read to their end, and have one
    finished: bool  # whether the subtask has done all it ever will
    timer: int | None  # when the next timer by the clock is due, in milliseconds since the epoch
    ticks: bool  # whether something in it waits for time to pass, as idleness does
    keys: Mapping[str, int]  # how many values of keyed state there are, by operator ID
    millis: float = 0.0  # how long it worked
    notes: Mapping[str, Mapping[str, int]] = field(default_factory=dict[str, Mapping[str, int]])
    """By operator ID, what has become of state that was not what is asked for, and of how many values."""
    statuses: Mapping[int, tuple[int, bool]] = field(default_factory=dict[int, tuple[int, bool]])
    """The subtask's last status, its watermark and whether it is active, by edge that leaves it."""
    lists: tuple[str, ...] = ()  # operators with operator state
    empty: tuple[str, ...] = ()
    """Operators whose keyed state was there, and had nothing in it at the end: no value, timer or operator state."""
