"""Writes the calls that fill a ``StreamGraphBuilder`` down as a SPEC instead."""

from __future__ import annotations

from typing import Any


class SpecWriter:
    """Writes the calls of a shape down as a SPEC."""

    def __init__(self, name: str = "shape") -> None:
        self.spec: dict[str, Any] = {
            "name": name, "chaining_enabled": True, "settings": {}, "nodes": [], "edges": []
        }  # fmt: skip

    def add_node(self, id: int, name: str, kind: str, **options: Any) -> None:
        defaults = {
            "uid": None,
            "user_hash": None,
            "slot_sharing_group": "default",
            "co_location_group": None,
            "parallelism": -1,
            "max_parallelism": -1,
            "chaining_strategy": "ALWAYS",
            "yielding": False,
            "managed_memory_weight": None,
        }
        self.spec["nodes"].append({"id": id, "name": name, "kind": kind, **defaults, **options})

    def add_edge(self, source: int, target: int, input: int = 0, *, partitioner: str | None = None) -> None:
        edge = {"source": source, "target": target, "partitioner": partitioner, "shuffle_mode": "UNDEFINED"}
        self.spec["edges"].append({**edge, "input": input})
