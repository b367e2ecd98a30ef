"""What a step asks of a task, and what the task says when it has done it: frozen, picklable.

A program without an end runs in *steps*. Step n makes version n + 1 of what version n was: the driver says what each
subtask reads and where its state lies, the subtask reads, works, writes what has changed, and reports. Between two
checkpoints there may be steps that make no version: each goes on from the one before, and all are a part of the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.runtime.config.tasks import StateFile, TaskReport

Chain = tuple[StateFile, ...]
"""The files that hold the state of an operator in a subtask: the newest snapshot, then the logs since."""


@dataclass(frozen=True)
class Reading:
    """What a subtask of a source reads in a step.

    Attributes:
        splits: from where to go on, each up to its end, in this order.
        records: about how many at most, of all splits together.
        millis: how long a source that pushes may take; None: as long as it likes.
        last: whether there is nothing to come beside these splits: the subtask ends when they have.
        parts: into how many parts a source without splits is cut, of which the splits are some; 0: into as many as it
            has subtasks.
        idle: whether the subtask has no split of those that are there, so that it holds nobody's watermark back; None
            where nothing is known of that.
        drain: whether the subtask ends when it has read this, though there is more.
        stamps: whether the step goes on where a function ends a round: then its rows are stamped with their round.
    """

    splits: tuple[Any, ...] = ()
    records: int = 1 << 62
    millis: int | None = 100
    last: bool = False
    idle: bool | None = None
    drain: bool = False
    parts: int = 0
    stamps: bool = False


@dataclass(frozen=True)
class Assignment:
    """A step of a subtask.

    Attributes:
        version: to begin from.
        folder: where state lies; None: nothing is kept.
        chains: the state of each operator by operator ID, of each of the subtasks that wrote it.
        volatile: what the subtask said at the end of the step before; empty: there was none.
        reading: of a source.
        rows: what the tails of loops have sent back.
        last: at the head of a loop: nothing is to come back any more.
        opens: whether the subtask is to open and take its state over, and nothing else, before its first step.
        saves: whether the subtask writes its state. If not, the same object runs the next step; the state is written in
            a later one, or when the subtask ends.
        commits: whether the step is a checkpoint, so that sinks end what waits for a commit.
        only: whether the job has this step alone: a source reads all that it has, and what comes into a task is all
            that ever will. Nothing else counts then.
    """

    version: int
    folder: str | None = None
    chains: Mapping[str, tuple[Chain, ...]] = field(default_factory=dict[str, tuple[Chain, ...]])
    volatile: bytes = b""
    reading: Reading | None = None
    rows: tuple[Any, ...] = ()
    last: bool = False
    opens: bool = False
    saves: bool = True
    commits: bool = True
    only: bool = False


ONLY_STEP = Assignment(0, only=True)
"""What a task does of a bounded job that keeps nothing: all of it."""


@dataclass(frozen=True)
class StepReport:
    """The commit row of a subtask in a step.

    Attributes:
        task: counters, of this step alone, and files of sinks.
        version: that it makes, or is a part of.
        chains: the state of each operator of the chain that has any, by operator ID.
        volatile: what the next step is to be given.
        positions: of a source, by split: from where to go on, of those that were read.
        ended: splits that have been read to their end, and have one.
        finished: whether the subtask has done all it ever will.
        timer: when the next timer by the clock is due, in milliseconds since the epoch; None for none.
        ticks: whether something in it waits for time to pass, as idleness does.
        keys: how many values of keyed state there are, by operator ID.
        millis: how long it worked, in milliseconds of the clock.
        notes: by operator ID, what has become of state that was not what is asked for,
            and of how many values.
        empty: operators whose keyed state was there, and had nothing in it at the end: no value, no timer, and no
            element of operator state.
    """

    task: TaskReport
    version: int
    chains: Mapping[str, Chain]
    volatile: bytes
    positions: Mapping[str, Any]
    ended: tuple[str, ...]
    finished: bool
    timer: int | None
    ticks: bool
    keys: Mapping[str, int]
    millis: float = 0.0
    notes: Mapping[str, Mapping[str, int]] = field(default_factory=dict[str, Mapping[str, int]])
    empty: tuple[str, ...] = ()
