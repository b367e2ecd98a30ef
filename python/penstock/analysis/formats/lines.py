"""What all texts say of the parts of a plan in the same words."""

from __future__ import annotations

from penstock.analysis.model import EdgeModel, JobEdgeModel, OperatorModel, ProgramModel, VertexModel

FORMATS = ("terminal", "markdown", "dot", "mermaid", "json", "flink-stream", "flink-job")
"""As what a plan can be written."""
LEVELS = ("stream", "job", "execution")
"""The three graphs, in the order in which they are made of each other."""


def origin(operator: OperatorModel) -> str:
    """Where an operator's ID comes from."""
    if not operator.operator_id:
        return "no ID"
    return f"{operator.origin}, pinned by uid hash" if operator.pinned else operator.origin


def subtasks(parallelism: int) -> str:
    """A parallelism, where it is set."""
    return f"{parallelism:,}" if parallelism > 0 else "unset"


def verdict(edge: EdgeModel) -> str:
    """Whether an edge is chained, or why not."""
    return "chained" if edge.chained else f"not chained: {edge.reason}"


def carries(edge: EdgeModel) -> str:
    """What of its source an edge carries; "" for the main output into the only input."""
    port = f"input {edge.input}" if edge.input else ""
    side = "" if edge.side_output is None else f"side output {edge.side_output}"
    return ", ".join(part for part in (port, side) if part)


def fan_out(edge: JobEdgeModel, model: ProgramModel) -> str:
    """Who feeds whom, by the pattern alone."""
    source, target = model.vertices[edge.source].parallelism, model.vertices[edge.target].parallelism
    if edge.pattern == "ALL_TO_ALL":
        return f"each of {source:,} feeds all {target:,}"
    if source == target:
        return "each feeds the subtask of its own number"
    few, many = sorted((source, target))
    share = f"{many // few:,}" if many % few == 0 else f"{many // few:,} or {many // few + 1:,}"
    return f"each of {source:,} feeds {share}" if source < target else f"each of {target:,} reads {share}"


def task_names(vertex: VertexModel) -> str:
    """Numbers of the first and the last subtask."""
    last = vertex.parallelism
    return "(1/1)" if last == 1 else f"(1/{last}) … ({last}/{last})"
