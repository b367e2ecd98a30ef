"""The three graphs as drawings for terminals and notebooks. Nothing is decided here: everything shown is the planner's.

Each function takes a graph and how much of its tables is shown, and returns what :class:`rich.console.Console` prints.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from penstock import plan
from penstock.display.tables import NO, QUIET, TITLE, YES, Drawn, Shown, count, identity, section
from penstock.display.visible import visible
from penstock.errors import PenstockError

DEEPEST = 12
"""Branches inside branches are indented up to this depth only."""


def program(pipeline: plan.Pipeline, shown: Shown, levels: Collection[str]) -> Drawn:
    """The graphs of a program, one after the other, as far as they are made.

    Args:
        pipeline: the program.
        shown: how much of each table.
        levels: which graphs: ``stream``, ``job``, ``execution``.

    Raises:
        PlanError: the next graph is refused.
    """
    if "stream" in levels:
        yield stream_graph(pipeline.stream_graph, shown)
        yield from descriptions(pipeline.descriptions, shown)
    if "job" in levels or "execution" in levels:
        jobs = pipeline.job_graph()
        if "job" in levels:
            yield job_graph(jobs, shown)
        if "execution" in levels:
            yield execution_graph(jobs.execution_graph(), shown)


def stream_graph(graph: plan.StreamGraph, shown: Shown) -> Group:
    """Operators with their IDs and where these come from, then edges with their verdicts."""
    ids = _ids(graph)
    nodes, edges = graph.nodes, graph.edges
    operators = ((str(n.id), _named(n), _number(n.parallelism), _group(n), ids(n.id), _origin(n)) for n in nodes)
    pairs = zip(edges, graph.verdicts(), strict=True)
    connections = ((f"{e.source} → {e.target}{_port(e)}", e.partitioner, _verdict(v)) for e, v in pairs)
    return section(
        f"StreamGraph: {count(len(nodes), 'operator')}, {count(len(edges), 'edge')}",
        *shown.table(
            ("id", "operator", ">p", "slot group", "operator ID", "ID from"), operators, len(nodes), "operators"
        ),
        *shown.table(("edge", "partitioner", "verdict"), connections, len(edges), "edges"),
    )


def descriptions(texts: Mapping[int, str], shown: Shown) -> Drawn:
    """What the program says of its operators, where it says something."""
    rows = ((str(node), visible(text)) for node, text in sorted(texts.items()))
    return shown.table(("id", "description"), rows, len(texts), "descriptions")


def job_graph(graph: plan.JobGraph, shown: Shown) -> Group:
    """Vertices from the sources on, each with the tree of its chain and what it reads."""
    vertices = graph.vertices
    groups = {node.id: node.slot_sharing_group for node in graph.stream_graph.nodes}
    targets = {edge.index: edge.target for edge in graph.stream_graph.edges}
    parts: list[RenderableType] = []
    for index in graph.topological_order[: shown.rows]:
        vertex = vertices[index]
        parts += [Text(""), _vertex_line(vertex, groups.get(vertex.head))]
        parts.append(Padding(_chain(vertex, targets, shown), (0, 0, 0, 4)))
        parts += [Padding(_input_line(edge), (0, 0, 0, 4)) for edge in vertex.inputs[: shown.rows]]
    datasets = sum(len(vertex.results) for vertex in vertices)
    title = f"JobGraph: {count(len(vertices), 'vertex', 'vertices')}, {count(datasets, 'dataset')}"
    return section(title, *parts, *shown.rest(len(vertices), "vertices"))


def execution_graph(graph: plan.ExecutionGraph, shown: Shown) -> Group:
    """Vertices at their parallelism, then the fan-out of each connection: counts, never single edges."""
    vertices, jobs = graph.vertices, graph.job_graph
    job_vertices = jobs.vertices
    by_job = {vertex.job_vertex: vertex for vertex in vertices}
    connections = [(edge, target) for target in jobs.topological_order for edge in job_vertices[target].inputs]
    subtasks = ((f"[{v.job_vertex}]", f"{v.parallelism:,}", f"{v.max_parallelism:,}", _task_names(v)) for v in vertices)
    fan_out = (_connection(edge, by_job[edge.source], by_job[target]) for edge, target in connections)
    return section(
        f"ExecutionGraph: {count(graph.total_vertices, 'subtask')}, {count(graph.total_edges, 'execution edge')}",
        *shown.table(("vertex", ">subtasks", ">max p", "first and last subtask"), subtasks, len(vertices), "vertices"),
        *shown.table(("from", "to", "distribution", ">edges", "fan-out"), fan_out, len(connections), "connections"),
    )


def _connection(
    edge: plan.JobEdge, producer: plan.ExecutionJobVertex, consumer: plan.ExecutionJobVertex
) -> tuple[str, ...]:
    edges, words = _fan_out(edge, producer, consumer)
    ends = [f"[{each.job_vertex}] × {each.parallelism:,}" for each in (producer, consumer)]
    return (*ends, edge.distribution, f"{edges:,}", words)


def _ids(graph: plan.StreamGraph) -> Callable[[int], Text]:
    """How the ID of a node is shown. Where IDs are refused the JobGraph is too, and the reason follows."""
    try:
        ids = graph.operator_ids()
    except PenstockError:
        return lambda node: Text("refused, see below", style=NO)
    none = Text("none: no source reaches it", style=NO)
    return lambda node: identity(ids[node]) if node in ids else none


def _named(node: plan.StreamNode) -> Text:
    text = Text(visible(node.name), overflow="fold")
    if node.uid is not None:
        text.append(f"\nuid {visible(node.uid)}", style=QUIET)
    if node.user_hash is not None:
        text.append(f"\nuid hash {node.user_hash}", style=QUIET)
    return text


def _origin(node: plan.StreamNode) -> str:
    """What an ID is made of; a uid hash stands beside it, and addresses state."""
    return ("position" if node.uid is None else "uid") if node.user_hash is None else "uid hash"


def _number(parallelism: int) -> str:
    return "-" if parallelism <= 0 else f"{parallelism:,}"


def _group(node: plan.StreamNode) -> str:
    return "none" if node.slot_sharing_group is None else node.slot_sharing_group


def _port(edge: plan.StreamEdge) -> str:
    port = f" ({edge.type_number})" if edge.type_number else ""
    return port if edge.side_output is None else f"{port} tag {edge.side_output}"


def _verdict(verdict: plan.Verdict) -> Text:
    if verdict.chained:
        return Text("chained", style=YES)
    return Text.assemble(("not chained: ", NO), visible(verdict.reason or ""))


def _vertex_line(vertex: plan.JobVertex, group: str | None) -> Text:
    text = Text.assemble((f"[{vertex.index}] ", TITLE), (f"× {_number(vertex.parallelism)}", TITLE))
    if group is not None:
        text.append(f"   slot group {group}", style=QUIET)
    if vertex.max_parallelism > 0:
        text.append(f"   max parallelism {vertex.max_parallelism:,}", style=QUIET)
    text.append(f"   {vertex.invokable}", style=QUIET)
    return text


def _chain(vertex: plan.JobVertex, targets: dict[int, int], shown: Shown) -> RenderableType:
    """The chain in the order of a walk from its head, one operator and its ID a line; branches are indented."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_column(no_wrap=True)
    depths = {vertex.head: 0}
    for operator in vertex.chain[: shown.rows]:
        depth = depths[operator.node]
        mark = "" if operator.node == vertex.head else "  " * min(depth, DEEPEST) + "→"
        table.add_row(Text(mark), Text(visible(operator.name), overflow="fold"), identity(operator.operator_id))
        branches = len(operator.chained_outputs) > 1
        depths.update((targets[edge], depth + branches) for edge in operator.chained_outputs)
    return Group(table, *shown.rest(len(vertex.chain), "operators in this chain"))


def _input_line(edge: plan.JobEdge) -> Text:
    return Text(f"reads [{edge.source}] by {edge.ship_strategy}, {edge.distribution}, {edge.result_type}", style=QUIET)


def _task_names(vertex: plan.ExecutionJobVertex) -> str:
    """The vertex's name with the numbers of its first and its last subtask."""
    first, last = visible(vertex.task_name(0)), vertex.task_name(vertex.parallelism - 1)
    return first if vertex.parallelism == 1 else f"{first} … {last.rpartition(' ')[2]}"


def _fan_out(
    edge: plan.JobEdge, producer: plan.ExecutionJobVertex, consumer: plan.ExecutionJobVertex
) -> tuple[int, str]:
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
