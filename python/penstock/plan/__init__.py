"""The planner: StreamGraph, JobGraph and ExecutionGraph as Flink makes them.

A graph is compiled step by step, each step an immutable object of its own::

    StreamGraph.from_json(text).job_graph().execution_graph()

Everything here is a thin view of the native core (``penstock._native``); nothing is decided in Python. What lives here:
the graphs and their views, the builder, :class:`Pipeline`. What does not: the DataStream API (``penstock.datastream``),
anything that runs (``penstock.runtime``).
"""

from __future__ import annotations

from penstock._native import (
    ChainedOperator,
    Columns,
    ConsumerSubtasks,
    EdgeChunks,
    Execution,
    ExecutionGraph,
    ExecutionJobVertex,
    Executions,
    ExecutionVertex,
    InputPartitions,
    IntermediateDataSet,
    JobEdge,
    JobGraph,
    JobVertex,
    PartitionRelease,
    PipelinedRegions,
    RegionScheduling,
    ReleasablePartitions,
    RestartedRegions,
    StreamEdge,
    StreamGraph,
    StreamGraphBuilder,
    StreamNode,
    Verdict,
    operator_id,
)
from penstock._native import plan_record as _plan_record
from penstock.errors import UnsupportedError
from penstock.plan.pipeline import Pipeline

PROFILES = ("1.11",)
"""Flink versions whose plans are reproduced."""


def plan_record(spec: str, flink: str = "1.11") -> str:
    """Plan one described graph and report everything that was decided.

    Args:
        spec: a graph as JSON (the format of ``StreamGraph.from_json``).
        flink: the Flink version to equal; one of :data:`PROFILES`.

    Returns:
        One line of JSON with the stages ``stream_graph``, ``hashes``, ``streaming_plan``, ``job_graph`` and
        ``execution_graph``; a stage that fails is ``{"error": {"class": Flink's exception class, "message": ours}}``.
        O(nodes + edges + execution edges).

    Raises:
        UnsupportedError: for another Flink version.
    """
    if flink not in PROFILES:
        raise UnsupportedError(
            f"Flink {flink!r} is not a planning profile of this version; there is {', '.join(PROFILES)}."
        )
    return _plan_record(spec)


__all__ = [
    "PROFILES",
    "ChainedOperator",
    "Columns",
    "ConsumerSubtasks",
    "EdgeChunks",
    "Execution",
    "ExecutionGraph",
    "ExecutionJobVertex",
    "ExecutionVertex",
    "Executions",
    "InputPartitions",
    "IntermediateDataSet",
    "JobEdge",
    "JobGraph",
    "JobVertex",
    "PartitionRelease",
    "Pipeline",
    "PipelinedRegions",
    "RegionScheduling",
    "ReleasablePartitions",
    "RestartedRegions",
    "StreamEdge",
    "StreamGraph",
    "StreamGraphBuilder",
    "StreamNode",
    "Verdict",
    "operator_id",
    "plan_record",
]
