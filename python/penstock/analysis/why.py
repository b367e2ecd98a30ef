"""Why an operator has its ID: the ingredients of the ID, and the edits of the program that would move it.

Source of the semantics: ``StreamGraphHasherV2`` (Flink 1.11 and 2.3 alike). The planner makes the IDs; here are only
their ingredients: an ID with a uid is the murmur3_128 of it; one without is a hash of its place in the order in which
IDs are made, once more for each chained output, and of the IDs of its inputs, in order.
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
    """The ingredients of an ID.

    Attributes:
        uid: the text that was hashed; None for a position.
        place: how many operators get their ID before; an ingredient of positions only.
        chained_outputs: edges; for each the place is hashed once more.
        inputs: whose IDs are ingredients, in order.
    """

    node: int
    operator_id: str
    uid: str | None
    place: int
    chained_outputs: tuple[int, ...] = ()
    inputs: tuple[InputId, ...] = ()


def ingredients(graph: StreamGraph) -> dict[int, Ingredients]:
    """The ingredients of all IDs by node, in the order in which IDs are made. Nodes that no source reaches are absent.
    O(V + E)."""
    nodes, edges, ids = {node.id: node for node in graph.nodes}, graph.edges, graph.operator_ids()
    chained = {verdict.edge for verdict in graph.verdicts() if verdict.chained}
    found: dict[int, Ingredients] = {}
    for place, number in enumerate(graph.operator_id_order()):
        node = nodes[number]
        if node.uid is not None:
            found[number] = Ingredients(number, ids[number], node.uid, place)
            continue
        outputs = tuple(edge for edge in node.out_edges if edge in chained)
        inputs = tuple(InputId(edge, edges[edge].source, ids[edges[edge].source]) for edge in node.in_edges)
        found[number] = Ingredients(number, ids[number], None, place, outputs, inputs)
    return found


class Why(NamedTuple):
    """Why an operator has its ID: its ingredients, the edits that were tried, the names of the operators whose IDs are
    ingredients, by node, and the version that the program is planned as."""

    operator: OperatorModel
    made_of: Ingredients
    edits: tuple[Edit, ...]
    names: dict[int, str]
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
                "inputs": [each._asdict() for each in made_of.inputs],
            },
            "edits": [edit._asdict() for edit in self.edits],
        }


def why(model: ProgramModel, graph: StreamGraph, operator: str) -> Why:
    """Why an operator has its ID. O(V + E), some twenty times: each edit is tried.

    Raises:
        UnknownNameError: no operator has that name, or several have.
        InvalidProgramError: it has no ID, as no source reaches it or IDs are refused.
    """
    found = find(model, operator)
    if not found.operator_id:
        raise InvalidProgramError(
            f"The operator {found.name!r} (node {found.node}) has no ID: "
            f"{model.refused or 'no source reaches it, so Flink leaves it out'}."
        )
    made_of = ingredients(graph)[found.node]
    names = {each.source: model.by_node[each.source].name for each in made_of.inputs}
    return Why(found, made_of, tuple(tried_edits(graph, found.node)), names, model.flink)


def find(model: ProgramModel, operator: str) -> OperatorModel:
    """The operator with a uid, name, number or ID, in this order; at least 6 leading digits of an ID are enough.

    Raises:
        UnknownNameError: there is none, or several of the same name.
    """
    digits = operator.lower()
    long = len(digits) >= 6
    candidates = (
        [each for each in model.operators if each.uid == operator],
        [each for each in model.operators if each.name == operator],
        [each for each in model.operators if str(each.node) == operator],
        [each for each in model.operators if long and each.operator_id.startswith(digits)],
        [each for each in model.operators if long and (each.pinned or "").startswith(digits)],
    )
    found = next(filter(None, candidates), [])
    if len(found) == 1:
        return found[0]
    listed = ", ".join(f"{each.node} {each.name!r}" for each in (found or model.operators)[:_FEW])
    more = ", …" if len(found or model.operators) > _FEW else ""
    problem = "Several operators are" if found else "No operator is"
    raise UnknownNameError(
        f"{problem} called {operator!r}: {listed}{more}. Give the uid of one, or its number, which stands first here."
    )
