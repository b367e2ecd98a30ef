"""A plan as DOT, which Graphviz draws. Chains are boxes around their operators; subtasks are never single nodes, so
that a picture grows with the program and not with its parallelism. O(operators + edges)."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.analysis.formats.lines import carries, fan_out, origin, subtasks
from penstock.analysis.formats.names import in_dot
from penstock.analysis.model import OperatorModel, ProgramModel

_HEAD = (
    "rankdir=LR;",
    'fontname="Helvetica";',
    'node [shape=box, style="rounded", fontname="Helvetica", fontsize=11];',
    'edge [fontname="Helvetica", fontsize=9];',
)


def dot(model: ProgramModel, level: str = "job") -> str:
    """One of the graphs as DOT.

    Args:
        model: of the plan.
        level: ``stream``: operators; ``job``: the same, in boxes of their chains; ``execution``: a node per vertex,
            with its number of subtasks.
    """
    body = _vertices(model) if level == "execution" and model.vertices else _operators(model, chains=level == "job")
    return "\n".join([f"digraph {in_dot(model.name)} {{", *(f"  {line}" for line in (*_HEAD, *body)), "}"]) + "\n"


def _operators(model: ProgramModel, *, chains: bool) -> Iterator[str]:
    boxed: set[int] = set()
    for vertex in model.vertices if chains else ():
        yield f"subgraph cluster_{vertex.index} {{"
        yield f"  label={in_dot(f'[{vertex.index}] × {vertex.parallelism:,}')}; style=rounded; color=gray50;"
        for node in vertex.operators:
            if node not in boxed:  # a source that is chained to another one runs in two vertices
                boxed.add(node)
                yield f"  {_operator(model.by_node[node])}"
        yield "}"
    yield from (_operator(each) for each in model.operators if each.node not in boxed)
    for edge in model.edges:
        style = "style=solid" if edge.chained else "style=dashed"
        said = ", ".join(part for part in (edge.partitioner, carries(edge)) if part)
        reason = "chained" if edge.chained else edge.reason
        yield (
            f"{_id(edge.source)} -> {_id(edge.target)} "
            f"[{style}, label={in_dot(said)}, tooltip={in_dot(reason)}, edgetooltip={in_dot(reason)}];"
        )


def _operator(operator: OperatorModel) -> str:
    lines = (operator.name, f"{operator.effective_id or 'no ID'} ({origin(operator)})")
    label = "\\n".join(in_dot(line)[1:-1] for line in lines)
    tip = f"node {operator.node}, parallelism {subtasks(operator.parallelism)}"
    return f'{_id(operator.node)} [label="{label}", tooltip={in_dot(tip)}];'


def _id(node: int) -> str:
    return f'"{node}"'


def _vertices(model: ProgramModel) -> Iterator[str]:
    for vertex in model.vertices:
        label = "\\n".join(in_dot(line)[1:-1] for line in (vertex.name, f"× {vertex.parallelism:,}"))
        rims = 1 if vertex.parallelism == 1 else 2
        yield f'{_id(vertex.index)} [label="{label}", tooltip={in_dot(vertex.id)}, peripheries={rims}];'
    for edge in model.job_edges:
        label = f"{edge.ship_strategy}, {edge.pattern}\n{edge.execution_edges:,} edges"
        lines = "\\n".join(in_dot(line)[1:-1] for line in label.split("\n"))
        yield f'{_id(edge.source)} -> {_id(edge.target)} [label="{lines}", tooltip={in_dot(fan_out(edge, model))}];'
