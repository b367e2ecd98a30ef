"""A plan as DOT for Graphviz and as a Mermaid flowchart for GitHub; it grows with the program, not its parallelism."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from penstock.analysis.model import EdgeModel, JobEdgeModel, OperatorModel, ProgramModel, VertexModel
from penstock.analysis.texts import carries, fan_out, in_dot, in_mermaid, origin, subtasks


def dot(model: ProgramModel, level: str = "job") -> str:
    """One of the graphs as DOT: ``stream``, operators; ``job``, the same, in boxes of their chains; ``execution``, a
    node per vertex, with its number of subtasks."""
    head = (
        "rankdir=LR;",
        'fontname="Helvetica";',
        'node [shape=box, style="rounded", fontname="Helvetica", fontsize=11];',
        'edge [fontname="Helvetica", fontsize=9];',
    )
    lines = [f"  {line}" for line in (*head, *_Dot(model).lines(level))]
    return "\n".join([f"digraph {in_dot(model.name)} {{", *lines, "}"]) + "\n"


def mermaid(model: ProgramModel, level: str = "job") -> str:
    """One of the graphs as a flowchart, with the levels of :func:`dot`."""
    return "\n".join(["flowchart LR", *(f"  {line}" for line in _Mermaid(model).lines(level))]) + "\n"


class _Picture(Protocol):
    """The parts of a picture, in the order in which they are written."""

    model: ProgramModel
    end: str
    """Closes a box."""

    def __init__(self, model: ProgramModel) -> None:
        self.model = model

    def lines(self, level: str) -> Iterator[str]:
        if level == "execution" and self.model.vertices:
            yield from map(self.vertex, self.model.vertices)
            yield from map(self.job_edge, self.model.job_edges)
            return
        boxed: set[int] = set()
        for vertex in self.model.vertices if level == "job" else ():
            yield from self.box(vertex)
            for node in vertex.operators:
                if node not in boxed:  # a source that is chained to another one runs in two vertices
                    boxed.add(node)
                    yield f"  {self.operator(self.model.by_node[node])}"
            yield self.end
        yield from (self.operator(operator) for operator in self.model.operators if operator.node not in boxed)
        for edge in self.model.edges:
            yield self.edge(edge, ", ".join(filter(None, (edge.partitioner, carries(edge)))))

    def box(self, vertex: VertexModel) -> Iterator[str]: ...

    def operator(self, operator: OperatorModel) -> str: ...

    def edge(self, edge: EdgeModel, label: str) -> str: ...

    def vertex(self, vertex: VertexModel) -> str: ...

    def job_edge(self, edge: JobEdgeModel) -> str: ...


class _Dot(_Picture):
    end = "}"

    def box(self, vertex: VertexModel) -> Iterator[str]:
        yield f"subgraph cluster_{vertex.index} {{"
        yield f"  label={in_dot(f'[{vertex.index}] × {vertex.parallelism:,}')}; style=rounded; color=gray50;"

    def operator(self, operator: OperatorModel) -> str:
        label = _lines(operator.name, f"{operator.effective_id or 'no ID'} ({origin(operator)})")
        tip = f"node {operator.node}, parallelism {subtasks(operator.parallelism)}"
        return f'"{operator.node}" [label={label}, tooltip={in_dot(tip)}];'

    def edge(self, edge: EdgeModel, label: str) -> str:
        style, reason = ("solid", "chained") if edge.chained else ("dashed", edge.reason)
        tips = f"tooltip={in_dot(reason)}, edgetooltip={in_dot(reason)}"
        return f'"{edge.source}" -> "{edge.target}" [style={style}, label={in_dot(label)}, {tips}];'

    def vertex(self, vertex: VertexModel) -> str:
        label, rims = _lines(vertex.name, f"× {vertex.parallelism:,}"), 1 if vertex.parallelism == 1 else 2
        return f'"{vertex.index}" [label={label}, tooltip={in_dot(vertex.id)}, peripheries={rims}];'

    def job_edge(self, edge: JobEdgeModel) -> str:
        label = _lines(f"{edge.ship_strategy}, {edge.pattern}", f"{edge.execution_edges:,} edges")
        tip = in_dot(fan_out(edge, self.model))
        return f'"{edge.source}" -> "{edge.target}" [label={label}, tooltip={tip}];'


def _lines(*texts: str) -> str:
    return '"' + "\\n".join(in_dot(text)[1:-1] for text in texts) + '"'


class _Mermaid(_Picture):
    end = "end"

    def __init__(self, model: ProgramModel) -> None:
        super().__init__(model)
        self.numbers = {operator.node: number for number, operator in enumerate(model.operators)}

    def box(self, vertex: VertexModel) -> Iterator[str]:
        yield f'subgraph v{vertex.index}["{in_mermaid(f"[{vertex.index}] × {vertex.parallelism:,}")}"]'

    def operator(self, operator: OperatorModel) -> str:
        lines = (operator.name, f"{(operator.effective_id or 'no ID')[:8]} ({origin(operator)})")
        return f'n{self.numbers[operator.node]}["{"<br/>".join(map(in_mermaid, lines))}"]'

    def edge(self, edge: EdgeModel, label: str) -> str:
        arrow = "==>" if edge.chained else "-.->"
        return f'n{self.numbers[edge.source]} {arrow}|"{in_mermaid(label)}"| n{self.numbers[edge.target]}'

    def vertex(self, vertex: VertexModel) -> str:
        lines = (vertex.name, f"× {vertex.parallelism:,}")
        return f'v{vertex.index}["{"<br/>".join(map(in_mermaid, lines))}"]'

    def job_edge(self, edge: JobEdgeModel) -> str:
        lines = (f"{edge.ship_strategy}, {edge.pattern}", f"{edge.execution_edges:,} edges")
        return f'v{edge.source} -->|"{"<br/>".join(map(in_mermaid, lines))}"| v{edge.target}'
