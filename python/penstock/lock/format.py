"""The file ``penstock.lock``: operators of a program with their IDs and states, as text that people review.

JSON, a block per operator in the order in which IDs are made, a line per fact, so that an edit changes few lines. It
has all ingredients of IDs, but no path, line number or time: the same program gives the same file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from penstock.analysis.facts import NAMES
from penstock.analysis.model import UNRECORDED, EdgeModel, OperatorModel, ProgramModel, StateModel
from penstock.compare.graph import Graph
from penstock.errors import FileFormatError, InvalidProgramError

FORMAT = 2
"""Version of the file; readers accept older ones. Format 1 has neither facts nor states of built-in operators."""
NAME = "penstock.lock"  # name of the file, beside the program
_KEY = "penstock lock"


def written(model: ProgramModel, program: str) -> str:
    """The lock file of a program."""
    graph = Graph(model)
    order = graph.order
    if model.refused is not None or not order:
        why = model.refused or "it has no operators that a source reaches"
        raise InvalidProgramError(
            f"The program {program!r} cannot be locked: {why.rstrip('.')}. "
            "Correct it first; penstock explain shows its plan."
        )
    text = _text(graph, program, numbered=False)
    read_order = Graph(model_of_lock(text, NAME)).order
    return text if read_order == tuple(range(len(order))) else _text(graph, program, numbered=True)


def _text(graph: Graph, program: str, *, numbered: bool) -> str:
    """The file. Connections are numbered in the rare case that their order in the blocks would change IDs."""
    model = graph.model
    blocks = (_block(dict(_facts(graph, node, numbered))) for node in graph.order)
    head = {_KEY: FORMAT, "program": PurePath(program).name, "job": model.name, "flink": model.flink}
    lines = [f" {json.dumps(key)}: {_plain(value)}," for key, value in head.items()]
    return "\n".join(["{", *lines, ' "operators": [', ",\n".join(blocks), " ]", "}"]) + "\n"


def _facts(graph: Graph, node: int, numbered: bool) -> Iterator[tuple[str, Any]]:
    operator = graph.model.by_node[node]
    yield "name", operator.name
    yield "id", operator.operator_id
    facts = {
        "uid": operator.uid,
        "uid_hash": operator.pinned,
        "kind": None if operator.kind == "operator" else operator.kind,
        "type": operator.type or None,
        "parallelism": operator.parallelism,
        "max_parallelism": operator.max_parallelism,
        "key_groups": operator.effective_max_parallelism,
        "key": operator.key_type,
        "keyed": operator.keyed or None,
    }
    yield from ((key, value) for key, value in facts.items() if value is not None)
    yield from ((name, operator.facts[name]) for name in NAMES if name in operator.facts)
    yield "states", "unknown" if operator.states is None else [_state(state) for state in operator.states]
    reads = [_read(graph.model, edge, numbered) for edge in graph.into[node] if edge.source in graph.before]
    if reads:
        yield "reads", reads


def _state(state: StateModel) -> dict[str, Any]:
    facts = {
        "types": dict(state.types),
        "version": state.version,
        "ttl": state.ttl,
        "form": state.form,
        "windows": state.windows,
    }
    return {"name": state.name, "kind": state.kind} | {name: value for name, value in facts.items() if value}


def _read(model: ProgramModel, edge: EdgeModel, numbered: bool) -> dict[str, Any]:
    plain: dict[str, Any] = {"id": model.by_node[edge.source].operator_id, "by": edge.partitioner}
    if edge.input:
        plain["input"] = edge.input
    if edge.side_output is not None:
        plain["side"] = edge.side_output
    if numbered:
        plain["number"] = edge.index
    return {**plain, "chained": True} if edge.chained else {**plain, "rule": edge.rule}


def _block(facts: Mapping[str, Any]) -> str:
    lines = (f"   {json.dumps(key)}: {_value(value)}" for key, value in facts.items())
    return "  {\n" + ",\n".join(lines) + "\n  }"


def _value(value: Any) -> str:
    """A list has a line per element."""
    if not isinstance(value, list) or not value:
        return _plain(value)
    return "[\n" + ",\n".join(f"    {_plain(item)}" for item in value) + "\n   ]"


def _plain(value: Any) -> str:
    """JSON in a line; characters that are not printable are escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isprintable() else json.dumps(value)


def is_lock(document: Any) -> bool:
    """Whether a JSON document is a lock file, of whatever format."""
    return isinstance(document, dict) and _KEY in document


def looks_like_lock(text: str) -> bool:
    """Whether a text is a lock file, or was one before something damaged it, such as a merge. O(text)."""
    return not text.strip() or f'"{_KEY}"' in text or text.startswith("<<<<<<<")


def program_of(document: Mapping[str, Any]) -> str:
    """Name of the program's file, as the lock says it."""
    return str(document.get("program", ""))


def model_of_lock(text: str, place: str) -> ProgramModel:
    """The model of a lock file; ``place`` is its path, for errors. Nodes are numbered in the order of their IDs."""
    try:
        document = json.loads(text)
        version = document[_KEY]
        if type(version) is int and version > FORMAT:
            raise FileFormatError(
                f"The lock file {place!r} has format {version}: a newer Penstock has written it, and this one knows "
                f"formats up to {FORMAT}. Use that version or a later one."
            )
        return _model(document)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FileFormatError(
            f"{place!r} is not a lock file, or is damaged: {type(error).__name__}: {error}. If it has marks of a "
            "merge, take one side; or write it again and accept all losses: penstock lock --accept-loss PROGRAM."
        ) from error


def _model(document: Mapping[str, Any]) -> ProgramModel:
    blocks = document["operators"]
    nodes = {block["id"]: node for node, block in enumerate(blocks)}
    if len(nodes) != len(blocks):
        raise ValueError("two operators have one ID")
    reads = [(node, read) for node, block in enumerate(blocks) for read in block.get("reads", ())]
    edges = (_edge(index, nodes, target, read) for index, (target, read) in enumerate(reads))
    whole = document[_KEY] >= 2
    operators = tuple(_operator(node, block, whole=whole) for node, block in enumerate(blocks))
    return ProgramModel(str(document["job"]), str(document["flink"]), operators, tuple(edges), (), ())


def _edge(index: int, nodes: Mapping[str, int], target: int, read: Mapping[str, Any]) -> EdgeModel:
    return EdgeModel(
        source=nodes[read["id"]],
        target=target,
        index=read.get("number", index),
        partitioner=read["by"],
        chained=read.get("chained", False),
        rule=read.get("rule"),
        reason="",
        side_output=read.get("side"),
        input=read.get("input", 0),
    )


def _operator(node: int, block: Mapping[str, Any], *, whole: bool) -> OperatorModel:
    """An operator; ``whole``: a missing key type is undeclared, where older formats did not record it."""
    uid, states = block.get("uid"), block["states"]
    known = None if states == "unknown" else tuple(StateModel(**state) for state in states)
    keyed = block.get("keyed", False)
    return OperatorModel(
        node=node,
        name=block["name"],
        kind=block.get("kind", "operator"),
        type=block.get("type", ""),
        uid=uid,
        user_hash=block.get("uid_hash"),
        operator_id=block["id"],
        origin="position" if uid is None else "uid",
        pinned=block.get("uid_hash"),
        parallelism=block["parallelism"],
        max_parallelism=block.get("max_parallelism"),
        effective_max_parallelism=block["key_groups"],
        vertex=None,
        chain_index=None,
        slot_sharing_group="",
        chaining="",
        keyed=keyed,
        stateful=None if known is None else bool(known),
        states=known,
        site=None,
        description="",
        key_type=block.get("key") if whole or not keyed else UNRECORDED,
        facts={name: block[name] for name in NAMES if name in block},
    )
