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
    """A step whose manifest stands.

    Attributes:
        version: that it has made.
        started, ended: seconds since the epoch.
        parts: milliseconds by name of the part; those of :data:`PARTS` that there were.
        busy: milliseconds in which each task worked.
        counters: what each operator of each task's chain has measured in this step alone, in pre-order.
        states: what state there is, by operator ID and subtask; those that are missing are as before.
        sources: how far the sources are, by operator ID; those that are missing are as before.
    """

    version: int
    started: float
    ended: float
    parts: Mapping[str, float] = field(default_factory=dict[str, float])
    busy: Mapping[Place, float] = field(default_factory=dict[Place, float])
    counters: Mapping[Place, tuple[SubtaskMetrics, ...]] = field(
        default_factory=dict[Place, tuple[SubtaskMetrics, ...]]
    )
    states: Mapping[tuple[str, int], StateSize] = field(default_factory=dict[tuple[str, int], StateSize])
    sources: Mapping[str, SourceProgress] = field(default_factory=dict[str, SourceProgress])

    @property
    def milliseconds(self) -> float:
        """From its start to its end."""
        return (self.ended - self.started) * 1000
