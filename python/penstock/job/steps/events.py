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
    """A step that is over."""

    version: int  # that it has made; or the one before, if it is no checkpoint
    started: float  # in seconds since the epoch
    ended: float
    parts: Mapping[str, float] = field(default_factory=dict)  # in milliseconds, by name: of :data:`PARTS`
    busy: Mapping[Place, float] = field(default_factory=dict)  # milliseconds in which each task worked
    counters: Mapping[Place, tuple[SubtaskMetrics, ...]] = field(default_factory=dict)  # in this step, in pre-order
    states: Mapping[tuple[str, int], StateSize] = field(default_factory=dict)  # what has changed, by ID and subtask
    sources: Mapping[str, SourceProgress] = field(default_factory=dict)  # what has changed, by operator ID
    durable: bool = True  # whether its manifest stands; if not, it may have to be run again

    @property
    def milliseconds(self) -> float:
        """From its start to its end."""
        return (self.ended - self.started) * 1000
