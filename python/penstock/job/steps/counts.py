"""What the tasks of a job have counted: committed steps in all, and the step that runs now."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence

from penstock.job.steps.events import Place
from penstock.job.steps.rates import Recent
from penstock.metrics.results import SubtaskMetrics
from penstock.metrics.totals import added

READ, WRITTEN, BUSY = "read", "written", "busy"
"""What there is a rate of: by ``(kind, operator ID)``, of tasks by ``(kind, vertex, subtask)``."""


class Counts:
    """Sums and rates. Not thread-safe. O(operators times subtasks) memory; telling costs O(operators of the task).

    Args:
        clock: seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._totals: dict[Place, tuple[SubtaskMetrics, ...]] = {}
        self._now: dict[Place, tuple[SubtaskMetrics, ...]] = {}
        self._busy: dict[Place, float] = {}
        self._recent = Recent(clock)

    def sample(self, place: Place, counters: tuple[SubtaskMetrics, ...], over: float = 0) -> None:
        """Take what a task has counted so far in this step."""
        self._recent.add(dict(_moved(counters, self._now.get(place, ()))), over)
        self._now[place] = counters

    def busy(self, place: Place, busy_ms: float, over: float = 0) -> None:
        """Take how long a task has worked so far in this step."""
        self._recent.add({(BUSY, *place): busy_ms - self._busy.get(place, 0)}, over)
        self._busy[place] = busy_ms

    def step(
        self, counters: Mapping[Place, tuple[SubtaskMetrics, ...]], busy: Mapping[Place, float], seconds: float
    ) -> None:
        """Take what a whole step has counted, in place of its samples."""
        moved: dict[Hashable, float] = {}
        for place, chain in counters.items():
            for key, amount in _moved(chain, self._now.get(place, ())):
                moved[key] = moved.get(key, 0) + amount
            before = self._totals.get(place)
            self._totals[place] = chain if before is None else tuple(map(added, before, chain))
        for place, milliseconds in busy.items():
            moved[(BUSY, *place)] = milliseconds - self._busy.get(place, 0)
        self._recent.add(moved, seconds)
        self.discard()

    def discard(self) -> None:
        """The samples of this step do not count."""
        self._now.clear()
        self._busy.clear()

    def chains(self) -> dict[Place, tuple[SubtaskMetrics, ...]]:
        """What each task has counted in all, this step too."""
        result = dict(self._totals)
        for place, chain in self._now.items():
            before = result.get(place)
            result[place] = chain if before is None else tuple(map(added, before, chain))
        return result

    def rates(self) -> dict[Hashable, float]:
        """Per second over the last ten."""
        return self._recent.per_second()


def _moved(chain: Sequence[SubtaskMetrics], before: Sequence[SubtaskMetrics]) -> list[tuple[Hashable, float]]:
    moved: list[tuple[Hashable, float]] = []
    for position, each in enumerate(chain):
        known = before[position] if before else None
        moved.append(((READ, each.operator_id), each.records_in - (known.records_in if known else 0)))
        moved.append(((WRITTEN, each.operator_id), each.records_out - (known.records_out if known else 0)))
    return moved
