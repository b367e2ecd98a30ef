"""A plan as Markdown, the answer to "why this ID", and the words that all forms of a plan share.

Names come from strangers: each form writes them so that they are text and nothing else, on one line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from penstock.analysis.model import EdgeModel, JobEdgeModel, OperatorModel, ProgramModel
from penstock.analysis.why import Why
from penstock.display.text import visible

FORMATS = ("terminal", "markdown", "dot", "mermaid", "json", "flink-stream", "flink-job")
LEVELS = ("stream", "job", "execution")  # the three graphs, in the order in which they are made of each other
LONGEST = 200  # at most so many characters of a name are shown; a name may have thousands
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,:-_/()=+$")


def origin(operator: OperatorModel) -> str:
    """Where an operator's ID comes from."""
    if not operator.operator_id:
        return "no ID"
    return f"{operator.origin}, pinned by uid hash" if operator.pinned else operator.origin


def subtasks(parallelism: int) -> str:
    """A parallelism, if it is set."""
    return f"{parallelism:,}" if parallelism > 0 else "unset"


def carries(edge: EdgeModel) -> str:
    """The input and the side output of an edge; "" for the main output into the only input."""
    port = f"input {edge.input}" if edge.input else ""
    side = "" if edge.side_output is None else f"side output {edge.side_output}"
    return ", ".join(filter(None, (port, side)))


def verdict(edge: EdgeModel) -> str:
    """Whether an edge is chained, or why not."""
    return "chained" if edge.chained else f"not chained: {edge.reason}"


def fan_out(edge: JobEdgeModel, model: ProgramModel) -> str:
    """Which subtasks feed which, by the pattern alone."""
    source, target = model.by_index[edge.source].parallelism, model.by_index[edge.target].parallelism
    if edge.pattern == "ALL_TO_ALL":
        return f"each feeds all {target:,}"
    if source == target:
        return "each feeds the subtask of its own number"
    few, many = sorted((source, target))
    share = f"{many // few:,}" if many % few == 0 else f"{many // few:,} or {many // few + 1:,}"
    return f"each of {source:,} feeds {share}" if source < target else f"each of {target:,} reads {share}"


def in_markdown(text: str) -> str:
    """A name as code without markup, also in a cell of a table. Texts that a code span cannot contain become HTML with
    character references."""
    shown = visible(text, LONGEST)
    if not shown:
        return ""
    if not set("`|\\").isdisjoint(shown) or shown != shown.strip():
        return f"<code>{_numbered(shown, '&#{};')}</code>"
    return f"`{shown}`"


def in_dot(text: str) -> str:
    """A name as a quoted string. Graphviz reads backslashes in labels, and character references as in HTML."""
    shown = visible(text, LONGEST).replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
    return f'"{shown}"'


def in_mermaid(text: str) -> str:
    """A name as part of a quoted label, in which Mermaid reads ``#60;`` as the character of that number."""
    return _numbered(visible(text, LONGEST), "#{};")


def _numbered(text: str, reference: str) -> str:
    """A text with references for all ASCII characters that could have a meaning."""
    return "".join(c if c in _SAFE or not c.isascii() else reference.format(ord(c)) for c in text)


def markdown(model: ProgramModel, levels: Iterable[str] = LEVELS) -> str:
    """The plan as Markdown, for reviews and pull requests: tables of some graphs. O(operators + edges)."""
    lines = [f"# Plan of {in_markdown(model.name) or 'a job'} as Flink {model.flink}", ""]
    for level in levels:
        title, *tables = {"stream": _stream, "job": _job, "execution": _execution}[level](model)
        lines += [f"## {title}", ""]
        for columns, rows in tables:
            lines += ["| " + " | ".join(row) + " |" for row in (columns, ("---",) * len(columns), *rows)]
            lines.append("")
    if model.refused is not None:
        lines += [f"**Refused**: {in_markdown(model.refused)}", ""]
    return "\n".join(lines).rstrip() + "\n"


Row = tuple[str, ...]
Table = tuple[Row, list[Row]]  # columns and rows, whose cells are Markdown already


def _stream(model: ProgramModel) -> tuple[str, Table, Table]:
    operators: list[Row] = [
        (
            str(operator.node),
            in_markdown(operator.name),
            subtasks(operator.parallelism),
            in_markdown(operator.slot_sharing_group),
            f"`{operator.effective_id}`" if operator.effective_id else "",
            origin(operator) + (f" {in_markdown(operator.uid)}" if operator.uid is not None else ""),
        )
        for operator in model.operators
    ]
    edges: list[Row] = []
    for edge in model.edges:
        reached = "chained" if edge.chained else f"not chained: {in_markdown(edge.reason)}"
        edges.append((f"{edge.source} → {edge.target}", edge.partitioner, in_markdown(carries(edge)), reached))
    columns = ("Node", "Operator", "Parallelism", "Slot group", "Operator ID", "ID from")
    return "StreamGraph", (columns, operators), (("Edge", "Partitioner", "Of", "Verdict"), edges)


def _job(model: ProgramModel) -> tuple[str, Table, Table]:
    vertices: list[Row] = [
        (
            str(vertex.index),
            " → ".join(in_markdown(model.by_node[node].name) for node in vertex.operators),
            f"{vertex.parallelism:,}",
            f"{vertex.max_parallelism:,}",
            in_markdown(vertex.slot_sharing_group),
            f"`{vertex.id}`",
        )
        for vertex in model.vertices
    ]
    columns = ("Vertex", "Operators, the head first", "Parallelism", "Max parallelism", "Slot group", "ID")
    edges: list[Row] = [
        (f"{e.source} → {e.target}", e.ship_strategy, e.pattern, e.result_type) for e in model.job_edges
    ]
    return "JobGraph", (columns, vertices), (("Edge", "Partitioner", "Pattern", "Result"), edges)


def _execution(model: ProgramModel) -> tuple[str, Table, Table]:
    vertices: list[Row] = []
    for vertex in model.vertices:
        last = vertex.parallelism
        numbers = "(1/1)" if last == 1 else f"(1/{last}) … ({last}/{last})"
        vertices.append((str(vertex.index), in_markdown(vertex.name), f"{last:,}", numbers))
    edges: list[Row] = [
        (f"{edge.source} → {edge.target}", edge.pattern, f"{edge.execution_edges:,}", fan_out(edge, model))
        for edge in model.job_edges
    ]
    columns = ("Edge", "Pattern", "Execution edges", "Fan-out")
    return "ExecutionGraph", (("Vertex", "Task", "Subtasks", "Numbers"), vertices), (columns, edges)


def reasons(answer: Why, *, as_markdown: bool = False) -> str:
    """The answer of :func:`penstock.analysis.why.why` as plain text, or as Markdown with names as code."""

    def quoted(text: str) -> str:
        return in_markdown(text) if as_markdown else f'"{visible(text, LONGEST)}"'

    return "\n".join([*_made_of(answer, quoted), *_edits(answer), *_advice(answer)]) + "\n"


def _made_of(answer: Why, name: Callable[[str], str]) -> Iterator[str]:
    made_of, operator = answer.made_of, answer.operator
    yield f"Operator {operator.node} {name(operator.name)} has the ID {made_of.operator_id}."
    if operator.pinned:
        yield f"Its state is addressed by the uid hash {operator.pinned} instead."
    yield ""
    if made_of.uid is not None:
        yield f"The ID is made of its uid {name(made_of.uid)} and of nothing else: murmur3_128 of the text."
        return
    yield "The ID is made of its position, as it has no uid. What is hashed:"
    yield ""
    chained = len(made_of.chained_outputs)
    are = "is" if chained == 1 else "are"
    outputs = f"{chained} of its outputs {are} chained" if chained else "no output is chained"
    before = "1 operator gets its ID" if made_of.place == 1 else f"{made_of.place} operators get their ID"
    yield f"- its place: {before} before it, going breadth-first from the sources;"
    yield f"- how many times that is put in: {1 + chained}, once for itself, as {outputs};"
    if not made_of.inputs:
        yield "- the IDs of its inputs: none, it is a source."
    for item in made_of.inputs:
        yield f"- the ID of its input {item.source} {name(answer.names[item.source])}: {item.operator_id}"


def _edits(answer: Why) -> Iterator[str]:
    for title, moved in (("Edits that move it", True), ("Edits that leave it", False)):
        edits = [edit for edit in answer.edits if edit.moved == moved]
        if edits:
            yield from ("", f"{title}; each was made, and planned:", "")
            yield from (f"- {edit.what}" + (f" → {edit.operator_id}" if moved else "") for edit in edits)


def _advice(answer: Why) -> Iterator[str]:
    if answer.made_of.uid is None and not answer.operator.pinned:
        yield ""
        yield (
            "A uid makes it independent of its position, and moves it once. To keep the state that is there, pin "
            f'today\'s ID beside it: .set_uid_hash("{answer.made_of.operator_id}")'
        )
        if answer.flink == "1.11":
            yield (
                "Flink 1.11 reads state by a uid hash and writes it under the generated ID: there, take the uid hash "
                "out again once a savepoint has been taken."
            )
