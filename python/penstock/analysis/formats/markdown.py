"""A plan as Markdown, for reviews and pull requests: a table per graph. O(operators + edges)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from penstock.analysis.formats.lines import LEVELS, carries, fan_out, origin, subtasks, task_names, verdict
from penstock.analysis.formats.names import in_markdown
from penstock.analysis.model import ProgramModel


def markdown(model: ProgramModel, levels: Iterable[str] = LEVELS) -> str:
    """The plan as Markdown.

    Args:
        model: of the plan.
        levels: which graphs are shown.
    """
    parts = {"stream": _stream, "job": _job, "execution": _execution}
    lines = [f"# Plan of {in_markdown(model.name) or 'a job'} as Flink {model.flink}", ""]
    for level in levels:
        lines += [*parts[level](model), ""]
    if model.refused is not None:
        lines += [f"**Refused**: {in_markdown(model.refused)}", ""]
    return "\n".join(lines).rstrip() + "\n"


def table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """A table, whose cells are Markdown already."""
    yield "| " + " | ".join(columns) + " |"
    yield "| " + " | ".join("---" for _ in columns) + " |"
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def _stream(model: ProgramModel) -> Iterator[str]:
    yield "## StreamGraph"
    yield ""
    operators = (
        (
            str(each.node),
            in_markdown(each.name),
            subtasks(each.parallelism),
            in_markdown(each.slot_sharing_group),
            f"`{each.effective_id}`" if each.effective_id else "",
            origin(each) + (f" {in_markdown(each.uid)}" if each.uid is not None else ""),
        )
        for each in model.operators
    )
    yield from table(("Node", "Operator", "Parallelism", "Slot group", "Operator ID", "ID from"), operators)
    yield ""
    edges = (
        (f"{each.source} → {each.target}", each.partitioner, _carried(carries(each)), _verdict(verdict(each)))
        for each in model.edges
    )
    yield from table(("Edge", "Partitioner", "Of", "Verdict"), edges)


def _carried(text: str) -> str:
    return in_markdown(text) if text else ""


def _verdict(text: str) -> str:
    """The rule in plain words, what it says of operators as code: there are names in it."""
    said, _, reason = text.partition(": ")
    return f"{said}: {in_markdown(reason)}" if reason else said


def _job(model: ProgramModel) -> Iterator[str]:
    yield "## JobGraph"
    yield ""
    vertices = (
        (
            str(each.index),
            " → ".join(in_markdown(model.by_node[node].name) for node in each.operators),
            f"{each.parallelism:,}",
            f"{each.max_parallelism:,}",
            in_markdown(each.slot_sharing_group),
            f"`{each.id}`",
        )
        for each in model.vertices
    )
    columns = ("Vertex", "Operators, the head first", "Parallelism", "Max parallelism", "Slot group", "ID")
    yield from table(columns, vertices)
    yield ""
    edges = (
        (f"{each.source} → {each.target}", each.ship_strategy, each.pattern, each.result_type)
        for each in model.job_edges
    )
    yield from table(("Edge", "Partitioner", "Pattern", "Result"), edges)


def _execution(model: ProgramModel) -> Iterator[str]:
    yield "## ExecutionGraph"
    yield ""
    vertices = (
        (str(each.index), in_markdown(each.name), f"{each.parallelism:,}", task_names(each)) for each in model.vertices
    )
    yield from table(("Vertex", "Task", "Subtasks", "Numbers"), vertices)
    yield ""
    edges = (
        (f"{each.source} → {each.target}", each.pattern, f"{each.execution_edges:,}", fan_out(each, model))
        for each in model.job_edges
    )
    yield from table(("Edge", "Pattern", "Execution edges", "Fan-out"), edges)
