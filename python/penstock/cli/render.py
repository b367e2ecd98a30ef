"""The three graphs as tables for the terminal. Pure drawing: everything shown was decided by the planner.

Each function takes a graph and the number of rows a table may have, and returns what :class:`rich.console.Console`
prints. A layout needs 100 columns; operator IDs are never broken, names are folded.
"""

from __future__ import annotations

import io
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from itertools import islice
from typing import Any

import click
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from penstock.cli.report import WIDTH
from penstock.errors import PenstockError

DEEPEST = 12
"""Branches inside branches are indented up to this depth only."""
WIDEST = 160
"""Columns that a wide terminal is filled up to; where the output is no terminal it has WIDTH."""
YES, NO, QUIET, TITLE, IDENTITY = "green", "yellow", "dim", "bold", "cyan"


def printer(*, no_color: bool = False, err: bool = False) -> Callable[..., None]:
    """Prints what rich can draw: in colours and up to the terminal's width, or as plain lines of at most 100
    columns.

    Args:
        no_color: no colours on a terminal either.
        err: print to standard error.
    """
    stream = sys.stderr if err else sys.stdout
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")  # arrows must not end the command where the locale has none
    console = Console(stderr=err, no_color=no_color, highlight=False, markup=False, emoji=False)
    if console.is_terminal:
        console.width = min(console.width, WIDEST)
        return console.print
    console.width = WIDTH

    def show(*parts: Any) -> None:
        with console.capture() as capture:
            console.print(*parts)
        click.echo("\n".join(line.rstrip() for line in capture.get().splitlines()), err=err)

    return show


def heading(text: str) -> Text:
    """A title line."""
    return Text(text, style=TITLE)


def stream_graph(graph: Any, limit: int) -> list[RenderableType]:
    """Operators with their IDs, then edges with their verdicts."""
    ids = _ids(graph)
    nodes, edges = graph.nodes, graph.edges
    operators = borderless("id", "operator", ">p", "slot group", "operator ID")
    for node in nodes[:limit]:
        operators.add_row(str(node.id), _named(node), _number(node.parallelism), _group(node), ids(node.id))
    connections = borderless("edge", "partitioner", "verdict")
    for edge, verdict in islice(zip(edges, graph.verdicts(), strict=True), limit):
        connections.add_row(f"{edge.source} → {edge.target}{_port(edge)}", edge.partitioner, _verdict(verdict))
    return _section(
        f"StreamGraph: {_count(len(nodes), 'operator')}, {_count(len(edges), 'edge')}",
        *_limited(operators, len(nodes), limit, "operators"),
        *_limited(connections, len(edges), limit, "edges"),
    )


def job_graph(graph: Any, limit: int) -> list[RenderableType]:
    """Vertices from the sources on, each with the tree of its chain and what it reads."""
    vertices = graph.vertices
    groups = {node.id: node.slot_sharing_group for node in graph.stream_graph.nodes}
    targets = {edge.index: edge.target for edge in graph.stream_graph.edges}
    parts: list[RenderableType] = []
    for index in graph.topological_order[:limit]:
        vertex = vertices[index]
        parts += ["", _vertex_line(vertex, groups.get(vertex.head))]
        parts.append(Padding(_chain(vertex, targets, limit), (0, 0, 0, 4)))
        parts += [Padding(_input_line(edge), (0, 0, 0, 4)) for edge in vertex.inputs[:limit]]
    datasets = sum(len(vertex.results) for vertex in vertices)
    rest = _limited(None, len(vertices), limit, "vertices")
    return _section(
        f"JobGraph: {_count(len(vertices), 'vertex', 'vertices')}, {_count(datasets, 'dataset')}", *parts, *rest
    )


def execution_graph(graph: Any, jobs: Any, limit: int) -> list[RenderableType]:
    """Vertices at their parallelism, then the fan-out of each connection: counts, never single edges."""
    vertices, job_vertices = graph.vertices, jobs.vertices
    subtasks = borderless("vertex", ">subtasks", ">max p", "first and last subtask")
    for vertex in vertices[:limit]:
        counts = (f"{vertex.parallelism:,}", f"{vertex.max_parallelism:,}")
        subtasks.add_row(f"[{vertex.job_vertex}]", *counts, _task_names(vertex))
    by_job = {vertex.job_vertex: vertex for vertex in vertices}
    connections = [(edge, target) for target in jobs.topological_order for edge in job_vertices[target].inputs]
    fan_out = borderless("from", "to", "distribution", ">edges", "fan-out")
    for edge, target in connections[:limit]:
        producer, consumer = by_job[edge.source], by_job[target]
        count, words = _fan_out(edge, producer, consumer)
        ends = (f"[{edge.source}] × {producer.parallelism:,}", f"[{target}] × {consumer.parallelism:,}")
        fan_out.add_row(*ends, edge.distribution, f"{count:,}", words)
    return _section(
        f"ExecutionGraph: {_count(graph.total_vertices, 'subtask')}, {_count(graph.total_edges, 'execution edge')}",
        *_limited(subtasks, len(vertices), limit, "vertices"),
        *_limited(fan_out, len(connections), limit, "connections"),
    )


def _section(title: str, *parts: RenderableType) -> list[RenderableType]:
    return [Group("", heading(title), *parts)]


_FIXED = frozenset(
    ("operator ID", "id", "edge", "p", "edges", "subtasks", "max p", "distribution", "partitioner", "in", "out", "late")
)
"""Columns whose texts are not folded."""


def borderless(*columns: str) -> Table:
    """A table without lines; ``>`` in front of a column name aligns it to the right."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style=QUIET)
    for name in columns:
        text = name.lstrip(">")
        fixed = text in _FIXED
        table.add_column(text, justify="right" if name != text else "left", no_wrap=fixed, overflow="fold")
    return table


def _limited(table: Table | None, total: int, limit: int, what: str) -> Iterator[RenderableType]:
    if table is not None and total:
        yield Padding(table, (1, 0, 0, 2))
    if total > limit:
        yield Text(f"  … and {total - limit:,} more {what} (--limit 0 shows all)", style=NO)


def _ids(graph: Any) -> Callable[[int], Text]:
    """How the ID of a node is shown. Where IDs are refused the JobGraph is too, and the reason follows."""
    try:
        ids = graph.operator_ids()
    except PenstockError:
        return lambda node: Text("refused, see below", style=NO)
    none = Text("none: no source reaches it", style=NO)
    return lambda node: Text(ids[node], style=IDENTITY) if node in ids else none


def _named(node: Any) -> Text:
    text = Text(node.name, overflow="fold")
    if node.uid is not None:
        text.append(f"\nuid {node.uid}", style=QUIET)
    if node.user_hash is not None:
        text.append(f"\nuid hash {node.user_hash}", style=QUIET)
    return text


def _number(parallelism: int) -> str:
    return "-" if parallelism <= 0 else f"{parallelism:,}"


def _group(node: Any) -> str:
    return "none" if node.slot_sharing_group is None else node.slot_sharing_group


def _port(edge: Any) -> str:
    port = f" ({edge.type_number})" if edge.type_number else ""
    return port if edge.side_output is None else f"{port} tag {edge.side_output}"


def _verdict(verdict: Any) -> Text:
    if verdict.chained:
        return Text("chained", style=YES)
    return Text.assemble(("not chained: ", NO), f"{verdict.reason}")


def _vertex_line(vertex: Any, group: str | None) -> Text:
    text = Text.assemble((f"[{vertex.index}] ", TITLE), (f"× {_number(vertex.parallelism)}", TITLE))
    if group is not None:
        text.append(f"   slot group {group}", style=QUIET)
    if vertex.max_parallelism > 0:
        text.append(f"   max parallelism {vertex.max_parallelism:,}", style=QUIET)
    text.append(f"   {vertex.invokable}", style=QUIET)
    return text


def _chain(vertex: Any, targets: dict[int, int], limit: int) -> RenderableType:
    """The chain in the order of a walk from its head, one operator and its ID a line; branches are indented."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_column(no_wrap=True)
    depths = {vertex.head: 0}
    for operator in vertex.chain[:limit]:
        depth = depths[operator.node]
        mark = "" if operator.node == vertex.head else "  " * min(depth, DEEPEST) + "→"
        table.add_row(mark, Text(operator.name, overflow="fold"), Text(operator.operator_id, style=IDENTITY))
        branches = len(operator.chained_outputs) > 1
        depths.update((targets[edge], depth + branches) for edge in operator.chained_outputs)
    return Group(table, *_limited(None, len(vertex.chain), limit, "operators in this chain"))


def _input_line(edge: Any) -> Text:
    return Text(f"reads [{edge.source}] by {edge.ship_strategy}, {edge.distribution}, {edge.result_type}", style=QUIET)


def _task_names(vertex: Any) -> str:
    """The vertex's name with the numbers of its first and its last subtask."""
    first, last = vertex.task_name(0), vertex.task_name(vertex.parallelism - 1)
    return first if vertex.parallelism == 1 else f"{first} … {last.rpartition(' ')[2]}"


def _fan_out(edge: Any, producer: Any, consumer: Any) -> tuple[int, str]:
    """Execution edges of a connection, and who feeds whom. Pointwise, the planner is asked for each subtask."""
    if edge.distribution == "ALL_TO_ALL":
        return producer.parallelism * consumer.parallelism, f"each feeds all {consumer.parallelism:,}"
    if producer.parallelism == consumer.parallelism:
        return producer.parallelism, "each feeds the subtask of its own number"
    spans = [subtask.inputs[edge.input] for subtask in consumer.subtasks]
    reads = [span.last - span.first + 1 for span in spans]
    feeds = Counter(partition for span in spans for partition in range(span.first, span.last + 1))
    return sum(reads), f"each feeds {_range(feeds.values())}, each reads {_range(reads)}"


def _range(counts: Collection[int]) -> str:
    low, high = min(counts), max(counts)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
