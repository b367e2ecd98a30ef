"""Edits of a program that would move an operator's ID. Each is made in the description of the graph, and planned.

If a parallelism changes, a forward connection becomes a rebalance, as in Flink without an explicit ``forward()``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from penstock._native import StreamGraph
from penstock.errors import PenstockError


class Edit(NamedTuple):
    """An edit, whether it moves the operator's ID, and the ID then."""

    what: str
    moved: bool
    operator_id: str


@dataclass
class Draft:
    """The description of a graph while it is edited, for one operator; ``nodes`` are all by number."""

    spec: dict[str, Any]
    node: int
    nodes: dict[int, dict[str, Any]] = field(init=False)

    def __post_init__(self) -> None:
        self.nodes = {node["id"]: node for node in self.spec["nodes"]}

    @property
    def own(self) -> dict[str, Any]:
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
        """Add an edge to an operator with one input."""
        self.spec["edges"].append({"source": source, "target": target, "partitioner": partitioner, "input": 0})


Change = Callable[[Draft], bool]
"""Makes an edit; False if it does not apply."""


def tried_edits(graph: StreamGraph, node: int) -> list[Edit]:
    """The usual edits of a program around an operator with an ID, each made and planned, without those that do not
    apply or whose program would be refused. O(V + E) for each of about twenty edits."""
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
    changed = {name: value for name, value in values.items() if draft.own.get(name) != value}
    draft.own.update(changed)
    return bool(changed)


def _change_parallelism(draft: Draft) -> bool:
    draft.own["parallelism"] = max(draft.own.get("parallelism", 1), 1) + 1
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
    if draft.own["kind"] == "sink":
        return False
    draft.connect(draft.node, draft.add("Map", "operator", draft.own), partitioner)
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
    if len(places) < 2 or draft.own["kind"] == "two_input":
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
