"""The numbers of a running job for its page: per chain, from its metrics."""

from __future__ import annotations

from collections import Counter
from typing import TypedDict

from penstock.metrics.running_job import RunningMetrics, RunningVertex

EVERY = 1000  # milliseconds between two requests of the page


class VertexNumbers(TypedDict):
    """A chain: rates are records per second, ``None`` is not measured."""

    id: str
    name: str
    in_rate: float
    out_rate: float
    busy: float | None
    lag_ms: int | None
    state_bytes: int
    state_keys: int
    tasks: dict[str, int]
    records_behind: int | None


class Numbers(TypedDict):
    """A job, and its chains by the IDs of their vertices."""

    job: str
    status: str
    seconds: float
    version: int
    in_rate: float
    out_rate: float
    records_behind: int | None
    step_ms: float
    bottleneck: str | None
    vertices: list[VertexNumbers]


def numbers(metrics: RunningMetrics) -> Numbers:
    """The numbers of a running job at one moment. O(operators + subtasks)."""
    bottleneck = metrics.bottleneck
    return {
        "job": metrics.job_name,
        "status": metrics.status,
        "seconds": metrics.seconds,
        "version": metrics.version,
        "in_rate": metrics.in_rate,
        "out_rate": metrics.out_rate,
        "records_behind": metrics.records_behind,
        "step_ms": metrics.step.median_ms,
        "bottleneck": bottleneck.task if bottleneck is not None and bottleneck.busy > 0.5 else None,
        "vertices": [_vertex(vertex, metrics) for vertex in metrics.vertices],
    }


def _vertex(vertex: RunningVertex, metrics: RunningMetrics) -> VertexNumbers:
    """The numbers of a chain; the input rate of a source is what it emits, the output rate of a sink what it gets."""
    chain = [metrics.operators[operator] for operator in vertex.operators]
    head, last = chain[0], chain[-1]
    lags = [operator.watermark_lag_ms for operator in chain if operator.watermark_lag_ms is not None]
    return {
        "id": head.operator_id,
        "name": vertex.name,
        "in_rate": head.out_rate if head.operator_id in metrics.sources else head.in_rate,
        "out_rate": last.in_rate if last.operator_id in metrics.sinks else last.out_rate,
        "busy": vertex.busy if vertex.tasks else None,
        "lag_ms": max(lags, default=None),
        "state_bytes": sum(operator.state.bytes for operator in chain),
        "state_keys": sum(operator.state.keys for operator in chain),
        "tasks": dict(Counter(task.state for task in vertex.tasks)),
        "records_behind": None if head.source is None else head.source.records_behind,
    }
