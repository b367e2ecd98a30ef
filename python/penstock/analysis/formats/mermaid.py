"""A plan as a Mermaid flowchart, which GitHub and many viewers of Markdown draw. O(operators + edges)."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.analysis.formats.lines import carries, origin
from penstock.analysis.formats.names import in_mermaid
from penstock.analysis.model import OperatorModel, ProgramModel


def mermaid(model: ProgramModel, level: str = "job") -> str:
    """One of the graphs as a flowchart.

    Args:
        model: of the plan.
        level: ``stream``: operators; ``job``: the same, in boxes of their chains; ``execution``: a node per vertex,
            with its number of subtasks.
    """
    body = _vertices(model) if level == "execution" and model.vertices else _operators(model, chains=level == "job")
    return "\n".join(["flowchart LR", *(f"  {line}" for line in body)]) + "\n"


def _operators(model: ProgramModel, *, chains: bool) -> Iterator[str]:
    numbers = {operator.node: number for number, operator in enumerate(model.operators)}
    boxed: set[int] = set()
    for vertex in model.vertices if chains else ():
        yield f'subgraph v{vertex.index}["{in_mermaid(f"[{vertex.index}] × {vertex.parallelism:,}")}"]'
        for node in vertex.operators:
            if node not in boxed:  # a source that is chained to another one runs in two vertices
                boxed.add(node)
                yield f"  {_operator(numbers[node], model.by_node[node])}"
        yield "end"
    yield from (_operator(numbers[each.node], each) for each in model.operators if each.node not in boxed)
    for edge in model.edges:
        arrow = "==>" if edge.chained else "-.->"
        said = ", ".join(part for part in (edge.partitioner, carries(edge)) if part)
        yield f'n{numbers[edge.source]} {arrow}|"{in_mermaid(said)}"| n{numbers[edge.target]}'


def _operator(number: int, operator: OperatorModel) -> str:
    lines = (operator.name, f"{(operator.effective_id or 'no ID')[:8]} ({origin(operator)})")
    return f'n{number}["{"<br/>".join(map(in_mermaid, lines))}"]'


def _vertices(model: ProgramModel) -> Iterator[str]:
    for vertex in model.vertices:
        lines = (vertex.name, f"× {vertex.parallelism:,}")
        yield f'v{vertex.index}["{"<br/>".join(map(in_mermaid, lines))}"]'
    for edge in model.job_edges:
        lines = (f"{edge.ship_strategy}, {edge.pattern}", f"{edge.execution_edges:,} edges")
        yield f'v{edge.source} -->|"{"<br/>".join(map(in_mermaid, lines))}"| v{edge.target}'
