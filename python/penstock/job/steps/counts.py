"""The counts of a running job: totals by operator, and rates over the last seconds."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from penstock.job.deployment import Deployment
from penstock.metrics.results import JobMetrics, OperatorMetrics, SubtaskMetrics, added
from penstock.metrics.running_job import SourceProgress, StateSize
from penstock.runtime.config.tasks import TaskReport

Place = tuple[int, int]  # A task: index of its JobVertex, and subtask
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
        return (self.ended - self.started) * 1000


SPAN = 10.0  # seconds that a rate looks back
_BUCKET = 0.5


class Recent:
    """Sums by key over the last ten seconds, in buckets of half a second. O(keys) memory and time per bucket."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._first: float | None = None
        self._buckets: deque[tuple[float, dict[Hashable, float]]] = deque()

    def add(self, amounts: Mapping[Hashable, float], over: float = 0) -> None:
        now = self._clock()
        if self._first is None:
            self._first = now - over
        if not self._buckets or now - self._buckets[-1][0] >= _BUCKET:
            self._buckets.append((now, {}))
            self._forget(now)
        bucket = self._buckets[-1][1]
        for key, amount in amounts.items():
            bucket[key] = bucket.get(key, 0) + amount

    def per_second(self) -> dict[Hashable, float]:
        """The rate of each key per second: over the last ten seconds, or since the first time."""
        now = self._clock()
        self._forget(now)
        sums: dict[Hashable, float] = {}
        for _, bucket in self._buckets:
            for key, amount in bucket.items():
                sums[key] = sums.get(key, 0) + amount
        span = min(SPAN, max(now - (now if self._first is None else self._first), _BUCKET))
        return {key: amount / span for key, amount in sums.items()}

    def _forget(self, now: float) -> None:
        while self._buckets and now - self._buckets[0][0] > SPAN:
            self._buckets.popleft()


READ, WRITTEN, BUSY = "read", "written", "busy"
"""The keys of the rates: by ``(kind, operator ID)``, of tasks by ``(kind, vertex, subtask)``."""


class Counts:
    """Sums and rates. Not thread-safe. O(operators times subtasks) memory; telling costs O(operators of the task)."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._totals: dict[Place, tuple[SubtaskMetrics, ...]] = {}
        self._durable = self._totals  # as of the last checkpoint; never changed in place
        self._now: dict[Place, tuple[SubtaskMetrics, ...]] = {}
        self._busy: dict[Place, float] = {}
        self._recent = Recent(clock)

    def sample(self, place: Place, counters: tuple[SubtaskMetrics, ...], over: float = 0) -> None:
        self._recent.add(dict(_moved(counters, self._now.get(place, ()))), over)
        self._now[place] = counters

    def busy(self, place: Place, busy_ms: float, over: float = 0) -> None:
        self._recent.add({(BUSY, *place): busy_ms - self._busy.get(place, 0)}, over)
        self._busy[place] = busy_ms

    def step(
        self,
        counters: Mapping[Place, tuple[SubtaskMetrics, ...]],
        busy: Mapping[Place, float],
        seconds: float,
        *,
        durable: bool = True,
    ) -> None:
        """Take what a whole step has counted, in place of its samples."""
        moved: dict[Hashable, float] = {}
        self._totals = dict(self._totals)
        for place, chain in counters.items():
            for key, amount in _moved(chain, self._now.get(place, ())):
                moved[key] = moved.get(key, 0) + amount
            before = self._totals.get(place)
            self._totals[place] = chain if before is None else tuple(map(added, before, chain))
        for place, milliseconds in busy.items():
            moved[(BUSY, *place)] = milliseconds - self._busy.get(place, 0)
        self._recent.add(moved, seconds)
        if durable:
            self._durable = self._totals
        self.discard()

    def back(self) -> None:
        """Drop the counts since the last checkpoint."""
        self._totals = self._durable
        self.discard()

    def discard(self) -> None:
        self._now.clear()
        self._busy.clear()

    def chains(self) -> dict[Place, tuple[SubtaskMetrics, ...]]:
        """The totals of each task, with this step."""
        result = dict(self._totals)
        for place, chain in self._now.items():
            before = result.get(place)
            result[place] = chain if before is None else tuple(map(added, before, chain))
        return result

    def rates(self) -> dict[Hashable, float]:
        return self._recent.per_second()


def _moved(chain: Sequence[SubtaskMetrics], before: Sequence[SubtaskMetrics]) -> list[tuple[Hashable, float]]:
    moved: list[tuple[Hashable, float]] = []
    for position, metrics in enumerate(chain):
        known = before[position] if before else None
        moved.append(((READ, metrics.operator_id), metrics.records_in - (known.records_in if known else 0)))
        moved.append(((WRITTEN, metrics.operator_id), metrics.records_out - (known.records_out if known else 0)))
    return moved


def job_metrics(deployment: Deployment, reports: Iterable[TaskReport]) -> JobMetrics:
    """The metrics of the operators, by the reports of their subtasks in order. Sources first."""
    measured: dict[int, list[tuple[SubtaskMetrics, ...]]] = {}
    for report in reports:
        measured.setdefault(report.vertex, []).append(report.counters)
    return JobMetrics(
        [
            OperatorMetrics(config.operator_id, config.name, config.uid, subtasks)
            for level in deployment.levels
            for vertex in level
            for config, subtasks in zip(vertex.operators, zip(*measured[vertex.index], strict=True), strict=True)
        ]
    )
