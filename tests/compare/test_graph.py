"""What IDs are made of, against what Flink made of it."""

from __future__ import annotations

import struct
from typing import Any

import mmh3
import pytest

from penstock.analysis.builder import model_of_record
from penstock.analysis.model import ProgramModel
from penstock.compare.graph import Graph
from penstock.errors import PenstockError
from tests.golden.load import PLAN_RECORDS, plan_records


def _ids(model: ProgramModel) -> dict[str, str]:
    """All IDs, hashed out of what the graph says they are made of."""
    graph, hashes = Graph(model), dict[int, bytes]()
    for count, node in enumerate(graph.order):
        uid = model.by_node[node].uid
        data = struct.pack("<i", count) * (1 + len(graph.chained(node))) if uid is None else uid.encode()
        hashes[node] = mmh3.hash_bytes(data, 0, True)
        for source in graph.inputs(node) if uid is None else ():
            hashes[node] = bytes((a * 37 ^ b) & 255 for a, b in zip(hashes[node], hashes[source], strict=True))
    return {str(node): value.hex() for node, value in hashes.items()}


def models(flink: str) -> list[tuple[dict[str, Any], ProgramModel]]:
    """The golden graphs that have IDs."""
    result = []
    for record in plan_records(flink):
        if isinstance(record["result"].get("hashes"), dict) and "error" not in record["result"]["hashes"]:
            try:
                result.append((record, model_of_record(record["spec"], flink)))
            except PenstockError:
                continue
    return result


@pytest.mark.parametrize("flink", PLAN_RECORDS)
def test_ids_are_made_of_what_is_said(flink: str) -> None:
    graphs = models(flink)
    assert len(graphs) > 0.9 * PLAN_RECORDS[flink]
    for record, model in graphs:
        assert _ids(model) == record["result"]["hashes"], record["spec"]["name"]
