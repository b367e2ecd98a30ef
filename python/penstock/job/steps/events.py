"""What whoever runs a job in steps tells of a step: plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.metrics.results import SubtaskMetrics
from penstock.metrics.running import SourceProgress, StateSize

Place = tuple[int, int]
"""A task: index of its JobVertex, and subtask."""
PARTS = ("plan", "run", "state", "manifest", "publish")
"""Of a step, in their order: deciding what is read, running the tasks, writing state and manifest, giving sink files
their names. Where tasks write their state, ``state`` is inside ``run``."""


@dataclass(frozen=True)
class StepSummary:
    """A step that is over. ``started`` and ``ended`` are seconds since the epoch. ``parts`` are milliseconds by name of
    the part, those of :data:`PARTS` that there were. ``counters`` is what each operator of each task's chain has
    measured in this step alone, in pre-order. ``states`` is what state there is, by operator ID and subtask; those that
    are missing are as before. ``sources`` is how far the sources are, by operator ID; those that are missing are as
    before."""

    version: int  # that it has made; or the one before, if it is no checkpoint
    started: float
    ended: float
    parts: Mapping[str, float] = field(default_factory=dict[str, float])
    busy: Mapping[Place, float] = field(default_factory=dict[Place, float])  # milliseconds in which each task worked
    counters: Mapping[Place, tuple[SubtaskMetrics, ...]] = field(
        default_factory=dict[Place, tuple[SubtaskMetrics, ...]]
    )
    states: Mapping[tuple[str, int], StateSize] = field(default_factory=dict[tuple[str, int], StateSize])
    sources: Mapping[str, SourceProgress] = field(default_factory=dict[str, SourceProgress])
    durable: bool = True  # whether its manifest stands; if not, it may have to be run again

    @property
    def milliseconds(self) -> float:
        """From its start to its end."""
        return (self.ended - self.started) * 1000
