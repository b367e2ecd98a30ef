"""The planner: StreamGraph, JobGraph and ExecutionGraph as Flink makes them, immutable views of the native core
(``penstock._native``): ``StreamGraph.from_json(text).job_graph().execution_graph()``."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    default_max_parallelism,
    operator_id,
    plan_record,
)
from penstock.display import drawn_by
from penstock.plan.pipeline import Pipeline
from penstock.plan.pyflink_graph import from_pyflink

if TYPE_CHECKING:
    from rich.console import Group

    from penstock.display.tables import Shown


def _draw(graph: StreamGraph | JobGraph | ExecutionGraph, shown: Shown) -> Group:
    from penstock.analysis.drawing import planned

    return planned(graph, shown)


for _graph in (StreamGraph, JobGraph, ExecutionGraph):
    drawn_by(_draw)(_graph)

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
    "default_max_parallelism",
    "from_pyflink",
    "operator_id",
    "plan_record",
]
