"""Flink's own two formats, byte for byte: what its plan visualizer and its REST interface know."""

from __future__ import annotations

from penstock.plan import JobGraph, StreamGraph


def to_flink_stream_json(graph: StreamGraph) -> str:
    """What ``StreamExecutionEnvironment.getExecutionPlan`` gives, which Flink's plan visualizer reads
    (``JSONGenerator``). O(V + E).

    Args:
        graph: of the program.

    Raises:
        StreamGraphError: the graph is empty.
    """
    return graph.streaming_plan_json()


def to_flink_job_json(graph: JobGraph) -> str:
    """What Flink's REST interface gives as the plan of a job (``JsonPlanGenerator``). A job ID is drawn when a job is
    submitted; here it is zeros.

    Args:
        graph: of the job.

    Raises:
        JobGraphError: Flink 2.3's description of a chain would take over 1 GiB.
    """
    return graph.json_plan()
