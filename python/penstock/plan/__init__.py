"""The planner: StreamGraph, JobGraph and ExecutionGraph as Flink makes them.

A graph is compiled step by step, each step an immutable object of its own::

    StreamGraph.from_json(text).job_graph().execution_graph()

Everything here is a thin view of the native core (``penstock._native``); nothing is decided in Python. What lives here:
the graphs and their views, the builder, :class:`Pipeline`; spellings, tables and descriptions as types for annotations,
in :mod:`penstock.plan.types`. What does not: the DataStream API (``penstock.datastream``), anything that runs
(``penstock.runtime``).
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
    plan_record,
)
from penstock.display import drawn_by
from penstock.plan.pipeline import Pipeline
from penstock.plan.pyflink_graph import from_pyflink

for _graph, _function in ((StreamGraph, "stream_graph"), (JobGraph, "job_graph"), (ExecutionGraph, "execution_graph")):
    drawn_by(f"penstock.plan.drawing:{_function}")(_graph)

PROFILES = ("1.11", "2.3")
"""Flink versions whose plans are reproduced, the default first."""

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
    "from_pyflink",
    "operator_id",
    "plan_record",
]
