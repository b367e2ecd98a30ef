"""A plan as a drawing for terminals and notebooks: a part per graph, as :class:`rich.console.Console` prints it."""

from __future__ import annotations

from collections.abc import Collection

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from penstock._native import ExecutionGraph, JobGraph, StreamGraph
from penstock.analysis.builder import model_of_planned
from penstock.analysis.model import JobEdgeModel, OperatorModel, ProgramModel, VertexModel
from penstock.analysis.texts import fan_out
from penstock.display.tables import NO, QUIET, TITLE, YES, Drawn, Shown, count, identity, section
from penstock.display.text import visible

_DEEPEST = 12  # branches inside branches are indented up to this depth only


def program(model: ProgramModel, shown: Shown, levels: Collection[str]) -> Drawn:
    """The graphs of a program, one after the other, as far as the planner makes them; ``shown`` limits the tables."""
    if "stream" in levels:
        yield _stream_graph(model, shown)
        described = [operator for operator in model.operators if operator.description]
        texts = ((str(operator.node), visible(operator.description)) for operator in described)
        yield from shown.table(("id", "description"), texts, len(described), "descriptions")
    if "job" in levels and model.vertices:
        yield _job_graph(model, shown)
    if "execution" in levels and model.vertices and model.refused is None:
        yield _execution_graph(model, shown)


def planned(graph: StreamGraph | JobGraph | ExecutionGraph, shown: Shown) -> Group:
    """One graph."""
    model = model_of_planned(graph)
    if isinstance(graph, StreamGraph):
        return _stream_graph(model, shown)
    return _job_graph(model, shown) if isinstance(graph, JobGraph) else _execution_graph(model, shown)


def _stream_graph(model: ProgramModel, shown: Shown) -> Group:
    """Operators with their IDs and the origins of these, then edges with their verdicts."""
    ids_refused = model.refused is not None and not any(operator.operator_id for operator in model.operators)
    missing = "refused, see below" if ids_refused else "none: no source reaches it"
    operators = (
        (
            str(operator.node),
            _named(operator),
            "-" if operator.parallelism <= 0 else f"{operator.parallelism:,}",
            operator.slot_sharing_group or "none",
            identity(operator.operator_id) if operator.operator_id else Text(missing, style=NO),
            operator.origin if operator.user_hash is None else "uid hash",
        )
        for operator in model.operators
    )
    edges: list[tuple[str | Text, ...]] = []
    for edge in model.edges[: shown.rows]:
        port = f" ({edge.input})" if edge.input else ""
        port += "" if edge.side_output is None else f" tag {edge.side_output}"
        verdict = Text.assemble(("not chained: ", NO), visible(edge.reason))
        verdict = Text("chained", style=YES) if edge.chained else verdict
        edges.append((f"{edge.source} → {edge.target}{port}", edge.partitioner, verdict))
    number = len(model.operators)
    return section(
        f"StreamGraph: {count(number, 'operator')}, {count(len(model.edges), 'edge')}",
        *shown.table(("id", "operator", ">p", "slot group", "operator ID", "ID from"), operators, number, "operators"),
        *shown.table(("edge", "partitioner", "verdict"), edges, len(model.edges), "edges"),
    )


def _named(operator: OperatorModel) -> Text:
    text = Text(visible(operator.name), overflow="fold")
    if operator.uid is not None:
        text.append(f"\nuid {visible(operator.uid)}", style=QUIET)
    if operator.user_hash is not None:
        text.append(f"\nuid hash {operator.user_hash}", style=QUIET)
    if operator.states:
        kept = ", ".join(state.name for state in operator.states)
        text.append(f"\nkeeps {visible(kept)}", style=QUIET)
    elif operator.states is None and operator.keyed and operator.type:
        text.append(f"\nmay keep state: {visible(operator.unknown)}", style=QUIET)
    return text


def _job_graph(model: ProgramModel, shown: Shown) -> Group:
    """Vertices from the sources on, each with the tree of its chain and its inputs."""
    chained: dict[int, list[int]] = {}
    for edge in model.edges:
        if edge.chained:
            chained.setdefault(edge.source, []).append(edge.target)
    inputs = _inputs(model)
    parts: list[RenderableType] = []
    for index in model.order[: shown.rows]:
        vertex = model.by_index[index]
        parts += [Text(""), _vertex_line(vertex, model)]
        parts.append(Padding(_chain(vertex, model, chained, shown), (0, 0, 0, 4)))
        for edge in inputs[index][: shown.rows]:
            line = f"reads [{edge.source}] by {edge.ship_strategy}, {edge.pattern}, {edge.result_type}"
            parts.append(Padding(Text(line, style=QUIET), (0, 0, 0, 4)))
    vertices, datasets = len(model.vertices), len({(edge.source, edge.result) for edge in model.job_edges})
    title = f"JobGraph: {count(vertices, 'vertex', 'vertices')}, {count(datasets, 'dataset')}"
    return section(title, *parts, *shown.rest(vertices, "vertices"))


def _inputs(model: ProgramModel) -> dict[int, list[JobEdgeModel]]:
    """The job edges into each vertex, by number of the input."""
    inputs: dict[int, list[JobEdgeModel]] = {vertex.index: [] for vertex in model.vertices}
    for edge in sorted(model.job_edges, key=lambda edge: edge.input):
        inputs[edge.target].append(edge)
    return inputs


def _vertex_line(vertex: VertexModel, model: ProgramModel) -> Text:
    head = model.by_node[vertex.operators[0]]
    parallelism = "-" if head.parallelism <= 0 else f"{vertex.parallelism:,}"
    text = Text.assemble((f"[{vertex.index}] ", TITLE), (f"× {parallelism}", TITLE))
    if vertex.slot_sharing_group:
        text.append(f"   slot group {vertex.slot_sharing_group}", style=QUIET)
    if head.max_parallelism is not None:
        text.append(f"   max parallelism {head.max_parallelism:,}", style=QUIET)
    return text.append(f"   {vertex.task}", style=QUIET)


def _chain(vertex: VertexModel, model: ProgramModel, chained: dict[int, list[int]], shown: Shown) -> RenderableType:
    """The chain in the order of a walk from its head, one operator and its ID a line; branches are indented."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_column(no_wrap=True)
    head = vertex.operators[0]
    depths = {head: 0}
    for node in vertex.operators[: shown.rows]:
        operator, depth, targets = model.by_node[node], depths[node], chained.get(node, [])
        mark = "" if node == head else "  " * min(depth, _DEEPEST) + "→"
        table.add_row(Text(mark), Text(visible(operator.name), overflow="fold"), identity(operator.operator_id))
        depths.update((target, depth + (len(targets) > 1)) for target in targets)
    return Group(table, *shown.rest(len(vertex.operators), "operators in this chain"))


def _execution_graph(model: ProgramModel, shown: Shown) -> Group:
    """Vertices at their parallelism, then the fan-out of each connection: counts, never single edges."""
    vertices, inputs = [model.by_index[index] for index in model.order], _inputs(model)
    edges = [edge for vertex in vertices for edge in inputs[vertex.index]]
    subtasks: list[tuple[str, ...]] = []
    for vertex in vertices[: shown.rows]:
        last, name = vertex.parallelism, visible(vertex.name)
        names = f"{name} (1/{last})" + ("" if last == 1 else f" … ({last}/{last})")
        subtasks.append((f"[{vertex.index}]", f"{last:,}", f"{vertex.max_parallelism:,}", names))
    rows: list[tuple[str, ...]] = []
    for edge in edges[: shown.rows]:
        ends = (f"[{end}] × {model.by_index[end].parallelism:,}" for end in (edge.source, edge.target))
        rows.append((*ends, edge.pattern, f"{edge.execution_edges:,}", fan_out(edge, model)))
    total, connections = sum(v.parallelism for v in vertices), sum(edge.execution_edges for edge in edges)
    return section(
        f"ExecutionGraph: {count(total, 'subtask')}, {count(connections, 'execution edge')}",
        *shown.table(("vertex", ">subtasks", ">max p", "first and last subtask"), subtasks, len(vertices), "vertices"),
        *shown.table(("from", "to", "distribution", ">edges", "fan-out"), rows, len(edges), "connections"),
    )
