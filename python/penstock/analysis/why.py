"""Why an operator has its ID: the ingredients of the ID, and the edits of the program that would move it.

Source of the semantics: ``StreamGraphHasherV2`` (Flink 1.11 and 2.3 alike). An ID is the murmur3_128 of the uid; one
without is a hash of its place in the order in which IDs are made, once more for each chained output, and of the IDs of
its inputs, in order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from penstock._native import StreamGraph
from penstock.analysis.edits import Edit, tried_edits
from penstock.analysis.model import OperatorModel, ProgramModel
from penstock.errors import InvalidProgramError, UnknownNameError

_FEW = 20


class InputId(NamedTuple):
    """An input whose ID is an ingredient: index of the edge, node, and ID of the node."""

    edge: int
    source: int
    operator_id: str


class Ingredients(NamedTuple):
    """The ingredients of an ID."""

    operator_id: str
    uid: str | None  # the text that was hashed; None for a position
    place: int  # how many operators get their ID before; an ingredient of positions only
    chained_outputs: tuple[int, ...] = ()  # edges; for each the place is hashed once more
    inputs: tuple[InputId, ...] = ()


def ingredients(graph: StreamGraph) -> dict[int, Ingredients]:
    """The ingredients of all IDs by node, in the order in which IDs are made. Nodes that no source reaches are absent.
    O(V + E)."""
    nodes, edges, ids = {node.id: node for node in graph.nodes}, graph.edges, graph.operator_ids()
    chained = {verdict.edge for verdict in graph.verdicts() if verdict.chained}
    made_of: dict[int, Ingredients] = {}
    for place, number in enumerate(graph.operator_id_order()):
        node = nodes[number]
        if node.uid is not None:
            made_of[number] = Ingredients(ids[number], node.uid, place)
            continue
        outputs = tuple(edge for edge in node.out_edges if edge in chained)
        inputs = tuple(InputId(edge, edges[edge].source, ids[edges[edge].source]) for edge in node.in_edges)
        made_of[number] = Ingredients(ids[number], None, place, outputs, inputs)
    return made_of


class Why(NamedTuple):
    """Why an operator has its ID."""

    operator: OperatorModel
    made_of: Ingredients
    edits: tuple[Edit, ...]  # that were tried
    names: dict[int, str]  # of the operators whose IDs are ingredients, by node
    flink: str

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        made_of = self.made_of
        return {
            "operator": {"node": self.operator.node, "name": self.operator.name, "uid": self.operator.uid},
            "operator_id": made_of.operator_id,
            "pinned": self.operator.pinned,
            "origin": self.operator.origin,
            "made_of": {
                "uid": made_of.uid,
                "place": None if made_of.uid is not None else made_of.place,
                "chained_outputs": list(made_of.chained_outputs),
                "inputs": [item._asdict() for item in made_of.inputs],
            },
            "edits": [edit._asdict() for edit in self.edits],
        }


def why(model: ProgramModel, graph: StreamGraph, operator: str) -> Why:
    """Why an operator has its ID. O(V + E), some twenty times: each edit is tried.

    Raises:
        UnknownNameError: no operator has that name, or several have.
        InvalidProgramError: it has no ID, as no source reaches it or IDs are refused.
    """
    chosen = find(model, operator)
    if not chosen.operator_id:
        reason = model.refused or "no source reaches it, so Flink leaves it out"
        raise InvalidProgramError(f"The operator {chosen.name!r} (node {chosen.node}) has no ID: {reason}.")
    made_of = ingredients(graph)[chosen.node]
    names = {item.source: model.by_node[item.source].name for item in made_of.inputs}
    return Why(chosen, made_of, tuple(tried_edits(graph, chosen.node)), names, model.flink)


def find(model: ProgramModel, operator: str) -> OperatorModel:
    """The operator with a uid, name, number or ID, in this order; at least 6 leading digits of an ID are enough.

    Raises:
        UnknownNameError: there is none, or several of the same name.
    """
    digits = operator.lower()
    long = len(digits) >= 6
    candidates = (
        [item for item in model.operators if item.uid == operator],
        [item for item in model.operators if item.name == operator],
        [item for item in model.operators if str(item.node) == operator],
        [item for item in model.operators if long and item.operator_id.startswith(digits)],
        [item for item in model.operators if long and (item.pinned or "").startswith(digits)],
    )
    matches = next(filter(None, candidates), [])
    if len(matches) == 1:
        return matches[0]
    listed = ", ".join(f"{item.node} {item.name!r}" for item in (matches or model.operators)[:_FEW])
    more = ", …" if len(matches or model.operators) > _FEW else ""
    problem = "Several operators are" if matches else "No operator is"
    raise UnknownNameError(
        f"{problem} called {operator!r}: {listed}{more}. Give the uid of one, or its number, which stands first here."
    )
