"""Whether a series grows."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

BOUNDS: Mapping[str, tuple[float, float]] = {
    "python_mb": (0.05, 8),
    "jvm_mb": (0.10, 64),
    "files": (0.05, 4),
    "folder_bytes": (0.10, 20_000),
    "step_ms": (0.50, 30),
    "cpu_ms": (0.25, 3),
    "processes": (0, 1),
}
"""By how much each may grow over the last two thirds of a run: a share of its level, or so much if that is more. Times
depend on what else the machine does; processor time per step hardly does."""


@dataclass(frozen=True)
class Growth:
    level: float
    change: float
    bound: float


def growths(rows: Sequence[Mapping[str, Any]]) -> dict[str, Growth]:
    """How much each series of :data:`BOUNDS` has grown since a third of the run was over."""
    late = rows[len(rows) // 3 :]
    result: dict[str, Growth] = {}
    for name, (share, least) in BOUNDS.items():
        points = _cpu(late) if name == "cpu_ms" else [(row["second"], row[name]) for row in late]
        level = median(value for _, value in points)
        slope = _slope(points)
        result[name] = Growth(level, slope * (points[-1][0] - points[0][0]), max(share * level, least))
    return result


def _cpu(rows: Sequence[Mapping[str, Any]]) -> list[tuple[float, float]]:
    """Processor time per step, in milliseconds, in twelve parts of the time: it is counted in hundredths of seconds."""
    some = rows[:: max(1, len(rows) // 12)]
    return [
        (after["second"], 1000 * (after["cpu_seconds"] - row["cpu_seconds"]) / (after["version"] - row["version"]))
        for row, after in itertools.pairwise(some)
        if after["version"] > row["version"]
    ]


def _slope(points: Sequence[tuple[float, float]]) -> float:
    """The median of the slopes between points half a run apart."""
    half = len(points) // 2
    pairs = zip(points, points[half:], strict=False)
    return median((y1 - y0) / (x1 - x0) for (x0, y0), (x1, y1) in pairs)
