"""Why an operator has its ID: the ingredients of the ID, and the edits of the program that would move it. Source of the
semantics: ``StreamGraphHasherV2`` (Flink 1.11 and 2.3 alike). An ID is the murmur3_128 of the uid; one without is a
hash of its place in the order in which IDs are made, once more for each chained output, and of the IDs of its inputs,
in order."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from penstock._native import StreamGraph
from penstock.analysis.model import OperatorModel, ProgramModel
from penstock.errors import InvalidProgramError, PenstockError, UnknownNameError

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


class Edit(NamedTuple):
    """An edit, whether it moves the operator's ID, and the ID then."""

    what: str
    moved: bool
    operator_id: str


class Why(NamedTuple):
    """Why an operator has its ID."""

    operator: OperatorModel
    made_of: Ingredients
    edits: tuple[Edit, ...]  # that were tried
    names: dict[int, str]  # of the operators whose IDs are ingredients, by node
    flink: str

    def to_dict(self) -> dict[str, Any]:
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
    """Why an operator has its ID. O(V + E), some twenty times: each edit is tried."""
    chosen = find(model, operator)
    if not chosen.operator_id:
        reason = model.refused or "no source reaches it, so Flink leaves it out"
        raise InvalidProgramError(f"The operator {chosen.name!r} (node {chosen.node}) has no ID: {reason}.")
    made_of = ingredients(graph)[chosen.node]
    names = {item.source: model.by_node[item.source].name for item in made_of.inputs}
    return Why(chosen, made_of, tuple(tried_edits(graph, chosen.node)), names, model.flink)


def find(model: ProgramModel, operator: str) -> OperatorModel:
    """The operator with a uid, name, number or ID, in this order; at least 6 leading digits of an ID are enough."""
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


@dataclass
class Draft:
    """The description of a graph while it is edited, for one operator; ``nodes`` are all by number."""

    spec: dict[str, Any]
    node: int
    nodes: dict[int, dict[str, Any]] = field(init=False)

    def __post_init__(self) -> None:
        self.nodes = {node["id"]: node for node in self.spec["nodes"]}

    @property
    def spec_of_node(self) -> dict[str, Any]:
        return self.nodes[self.node]

    @property
    def inputs(self) -> list[dict[str, Any]]:
        return [edge for edge in self.spec["edges"] if edge["target"] == self.node]

    @property
    def outputs(self) -> list[dict[str, Any]]:
        return [edge for edge in self.spec["edges"] if edge["source"] == self.node]

    def add(self, name: str, kind: str, like: dict[str, Any], number: int | None = None) -> int:
        """Add an operator that could be chained to another one, and return its number."""
        number = max(self.nodes) + 1 if number is None else number
        settings = ("slot_sharing_group", "parallelism", "max_parallelism")
        node = {"id": number, "name": name, "kind": kind, "chaining_strategy": "ALWAYS"}
        self.nodes[number] = {**node, **{setting: like[setting] for setting in settings if setting in like}}
        self.spec["nodes"].append(self.nodes[number])
        return number

    def connect(self, source: int, target: int, partitioner: str) -> None:
        self.spec["edges"].append({"source": source, "target": target, "partitioner": partitioner, "input": 0})


Change = Callable[[Draft], bool]  # makes an edit; False if it does not apply


def tried_edits(graph: StreamGraph, node: int) -> list[Edit]:
    """The usual edits around an operator with an ID, each made in the description of the graph and planned, without
    those that do not apply or are refused. If a parallelism changes, a forward connection becomes a rebalance, as in
    Flink. O(V + E) for each of about twenty edits."""
    text, before = graph.to_json(), graph.operator_ids()[node]
    edits: list[Edit] = []
    for what, change in _edits(graph, node):
        draft = Draft(json.loads(text), node)
        try:
            after = StreamGraph.from_json(json.dumps(draft.spec)).operator_ids().get(node) if change(draft) else None
        except PenstockError:
            continue
        if after is not None:
            edits.append(Edit(what, after != before, after))
    return edits


def _edits(graph: StreamGraph, node: int) -> Iterator[tuple[str, Change]]:
    has_uid = next(item.uid for item in graph.nodes if item.id == node) is not None
    yield ("change its uid" if has_uid else "give it a uid"), partial(_set, uid="another-uid-of-its-own")
    if has_uid:
        yield "take its uid away", partial(_set, uid=None)
    yield "rename it", partial(_set, name="another name")
    yield "change its parallelism", _change_parallelism
    yield "change its max parallelism", partial(_set, max_parallelism=32_768)
    yield "put it into a slot sharing group of its own", partial(_set, slot_sharing_group="a group of its own")
    yield "begin a chain with it: start_new_chain()", partial(_set, chaining_strategy="HEAD")
    yield "keep it out of chains: disable_chaining()", partial(_set, chaining_strategy="NEVER")
    yield "put an operator before it", partial(_insert, before=True)
    yield "put an operator behind it", partial(_insert, before=False)
    yield "add a chained operator that reads it too", partial(_read_by, partitioner="FORWARD")
    yield "add an operator that reads it too, behind rebalance()", partial(_read_by, partitioner="REBALANCE")
    yield "remove an operator behind it", _remove_behind
    yield "rebalance() what it reads", partial(_rebalance, inputs=True)
    yield "rebalance() what it emits", partial(_rebalance, outputs=True)
    yield "give what it reads a uid", _name_input
    yield "remove the operator before it", _remove_before
    yield "swap its inputs", _swap_inputs
    yield "add a source and a sink in front of the program", partial(_add_source, first=True)
    yield "add a source and a sink at the end of the program", partial(_add_source, first=False)
    yield "disable_operator_chaining() for the program", _unchain_all


def _set(draft: Draft, **values: Any) -> bool:
    changed = {name: value for name, value in values.items() if draft.spec_of_node.get(name) != value}
    draft.spec_of_node.update(changed)
    return bool(changed)


def _change_parallelism(draft: Draft) -> bool:
    draft.spec_of_node["parallelism"] = max(draft.spec_of_node.get("parallelism", 1), 1) + 1
    _rebalance(draft, inputs=True, outputs=True)
    return True


def _rebalance(draft: Draft, *, inputs: bool = False, outputs: bool = False) -> bool:
    edges = (draft.inputs if inputs else []) + (draft.outputs if outputs else [])
    forward = [edge for edge in edges if edge["partitioner"] == "FORWARD"]
    for edge in forward:
        edge["partitioner"] = "REBALANCE"
    return bool(forward)


def _insert(draft: Draft, *, before: bool) -> bool:
    edges = draft.inputs if before else draft.outputs
    if not edges:
        return False
    edge = edges[0]
    added = draft.add("Map", "operator", draft.nodes[edge["source"]])
    draft.connect(edge["source"], added, "FORWARD")
    edge["source"] = added
    edge.pop("side_output", None)
    return True


def _read_by(draft: Draft, partitioner: str) -> bool:
    if draft.spec_of_node["kind"] == "sink":
        return False
    draft.connect(draft.node, draft.add("Map", "operator", draft.spec_of_node), partitioner)
    return True


def _remove_behind(draft: Draft) -> bool:
    """Remove an operator that only it feeds, or a sink."""
    fed = {edge["target"] for edge in draft.outputs}
    return bool(draft.outputs) and len(fed) == len(draft.outputs) and _remove(draft, draft.outputs[0]["target"])


def _remove_before(draft: Draft) -> bool:
    return len(draft.inputs) == 1 and _remove(draft, draft.inputs[0]["source"])


def _remove(draft: Draft, number: int) -> bool:
    """Remove an operator with one input, and connect its neighbours."""
    edges = draft.spec["edges"]
    before = [edge for edge in edges if edge["target"] == number]
    if len(before) != 1 or draft.nodes[number]["kind"] not in ("operator", "sink"):
        return False
    for edge in edges:
        if edge["source"] == number:
            edge["source"] = before[0]["source"]
            edge.pop("side_output", None)
    edges.remove(before[0])
    draft.spec["nodes"].remove(draft.nodes.pop(number))
    return True


def _name_input(draft: Draft) -> bool:
    unnamed = [edge["source"] for edge in draft.inputs if draft.nodes[edge["source"]].get("uid") is None]
    if unnamed:
        draft.nodes[unnamed[0]]["uid"] = "another-uid-of-its-input"
    return bool(unnamed)


def _swap_inputs(draft: Draft) -> bool:
    edges = draft.spec["edges"]
    places = [index for index, edge in enumerate(edges) if edge["target"] == draft.node]
    if len(places) < 2 or draft.spec_of_node["kind"] == "two_input":
        return False
    first, last = places[0], places[-1]
    edges[first], edges[last] = edges[last], edges[first]
    return True


def _add_source(draft: Draft, *, first: bool) -> bool:
    number = min(draft.nodes) - 1 if first else None
    like = {"parallelism": 1, "slot_sharing_group": "default"}
    source = draft.add("Source: another", "source", like, number)
    draft.connect(source, draft.add("Sink: another", "sink", like), "REBALANCE")
    return True


def _unchain_all(draft: Draft) -> bool:
    before = draft.spec.get("chaining_enabled", True)
    draft.spec["chaining_enabled"] = False
    return bool(before)
