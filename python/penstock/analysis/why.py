"""Why an operator has its ID: what the ID was made of, and which edits would move it."""

from __future__ import annotations

from typing import Any, NamedTuple

from penstock.analysis.edits import Edit, tried_edits
from penstock.analysis.identity import Ingredients, ingredients
from penstock.analysis.model import OperatorModel, ProgramModel
from penstock.errors import InvalidProgramError, UnknownNameError
from penstock.plan import StreamGraph

_FEW = 20


class Why(NamedTuple):
    """Why an operator has its ID.

    Attributes:
        operator: that was asked for.
        made_of: what its ID was made of.
        edits: that were tried.
        names: of the operators whose IDs entered, by node.
        flink: the version that the program is planned as.
    """

    operator: OperatorModel
    made_of: Ingredients
    edits: tuple[Edit, ...]
    names: dict[int, str]
    flink: str

    def to_dict(self) -> dict[str, Any]:
        """As JSON knows it."""
        made = self.made_of
        return {
            "operator": {"node": self.operator.node, "name": self.operator.name, "uid": self.operator.uid},
            "operator_id": made.operator_id,
            "pinned": self.operator.pinned,
            "origin": self.operator.origin,
            "made_of": {
                "uid": made.uid,
                "place": None if made.uid is not None else made.place,
                "chained_outputs": list(made.chained_outputs),
                "inputs": [each._asdict() for each in made.inputs],
            },
            "edits": [each._asdict() for each in self.edits],
        }


def why(model: ProgramModel, graph: StreamGraph, operator: str) -> Why:
    """Why an operator has its ID. O(V + E), some twenty times: each edit is made.

    Args:
        model: of the program.
        graph: of the same program.
        operator: its uid, name, number or ID, or the beginning of the ID.

    Raises:
        UnknownNameError: no operator is called so, or several are.
        InvalidProgramError: it has no ID, as no source reaches it or IDs are refused.
    """
    found = find(model, operator)
    if not found.operator_id:
        raise InvalidProgramError(
            f"The operator {found.name!r} (node {found.node}) has no ID: "
            f"{model.refused or 'no source reaches it, so Flink leaves it out'}."
        )
    made = ingredients(graph)[found.node]
    names = {each.source: model.by_node[each.source].name for each in made.inputs}
    return Why(found, made, tuple(tried_edits(graph, found.node)), names, model.flink)


def find(model: ProgramModel, operator: str) -> OperatorModel:
    """The operator that a text means: the first of uid, name, number and ID by which there is one.

    Args:
        model: of the program.
        operator: its uid, name, number or ID, or at least 6 digits with which the ID begins.

    Raises:
        UnknownNameError: there is none, or several by the same name.
    """
    digits = operator.lower()
    candidates = (
        [each for each in model.operators if each.uid == operator],
        [each for each in model.operators if each.name == operator],
        [each for each in model.operators if str(each.node) == operator],
        [each for each in model.operators if len(digits) >= 6 and each.operator_id.startswith(digits)],
        [each for each in model.operators if len(digits) >= 6 and (each.pinned or "").startswith(digits)],
    )
    found = next((each for each in candidates if each), [])
    if len(found) == 1:
        return found[0]
    listed = ", ".join(f"{each.node} {each.name!r}" for each in (found or model.operators)[:_FEW])
    more = ", …" if len(found or model.operators) > _FEW else ""
    problem = "Several operators are" if found else "No operator is"
    raise UnknownNameError(
        f"{problem} called {operator!r}: {listed}{more}. Give the uid of one, or its number, which stands first here."
    )
