"""Checksums of Penstock's results that equal those which ``benches/flink`` prints for the real Flink.

Defined in ``benches/flink/README.md``; the other implementation is ``Checksums.java``. All from columns, with NumPy: a
million operators take some seconds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

DISTRIBUTIONS = ("ALL_TO_ALL", "POINTWISE")
RESULT_TYPES = ("BLOCKING", "PIPELINED_BOUNDED")
FAILURES = 16
SHIP_STRATEGIES = ("FORWARD", "REBALANCE", "RESCALE", "SHUFFLE", "BROADCAST", "GLOBAL", "HASH", "CUSTOM")


def hashes(graph: Any) -> dict[str, Any]:
    """Operator IDs of a StreamGraph, by node."""
    ids = graph.operator_ids()
    rows = np.empty(len(ids), dtype=[("node", "<i4"), ("id", "V16")])
    rows["node"] = np.fromiter(ids.keys(), dtype="<i4", count=len(ids))  # ascending
    rows["id"] = np.frombuffer(bytes.fromhex("".join(ids.values())), dtype="V16")
    return {"nodes": len(ids), "sha256": hashlib.sha256(rows.tobytes()).hexdigest()}


def job_graph(job: Any) -> dict[str, Any]:
    """Vertices, their operators and their edges of a JobGraph."""
    vertices, edges = pa.table(job.vertices_table()), pa.table(job.edges_table())
    digest = hashlib.sha256(_ints([len(vertices)]))
    digest.update(_ids(vertices["id"]))
    digest.update(_ints(vertices["parallelism"]))
    digest.update(_ints(vertices["max_parallelism"]))
    digest.update(_ints(_numbered(vertices["slot_sharing_group"])))
    digest.update(_ints(_numbered(vertices["co_location_group"])))
    names = vertices["name"].cast(pa.large_binary()).combine_chunks()
    digest.update(_ints(pc.binary_length(names)))  # pyright: ignore[reportAttributeAccessIssue]
    digest.update(b"".join(names.to_pylist()))
    for part in _operators(pa.table(job.operators_table()), len(vertices)):
        digest.update(part)
    for part in _edges(edges):
        digest.update(part)
    return {"vertices": len(vertices), "edges": len(edges), "sha256": digest.hexdigest()}


def execution_graph(execution: Any, max_edges: int = 20_000_000) -> dict[str, Any]:
    """Sizes of an ExecutionGraph and all its edges; those only up to ``max_edges``."""
    sizes = {"vertices": len(pa.table(execution.vertices_table())), "subtasks": execution.total_vertices}
    sizes |= {"edges": execution.total_edges}
    return sizes | {"sha256_inputs": _all_edges(execution) if execution.total_edges <= max_edges else None}


def _all_edges(execution: Any) -> str:
    digest = hashlib.sha256()
    for chunk in execution.execution_edge_chunks(1 << 20):
        columns = pa.table(chunk).columns  # consumer, subtask, input, producer, result, partition
        digest.update(np.stack([np.asarray(column) for column in columns], axis=1).astype("<i4").tobytes())
    return digest.hexdigest()


def regions(execution: Any) -> dict[str, Any]:
    """Pipelined regions: for each subtask, the first one of its region."""
    rows = pa.table(execution.pipelined_regions().subtasks_table())
    subtask, region = _subtasks(execution, rows), np.asarray(rows["region"])
    order = np.argsort(subtask)
    _, first, inverse = np.unique(region[order], return_index=True, return_inverse=True)
    return {"regions": len(first), "sha256": hashlib.sha256(_ints(first[inverse])).hexdigest()}


def restart(execution: Any) -> dict[str, Any]:
    """What runs again when subtask 0 of one of the first 16 vertices fails; all partitions readable, then none."""
    digest, counts = hashlib.sha256(), []
    failures = min(FAILURES, len(pa.table(execution.vertices_table())))
    for lost in ([], _partitions(execution)):
        for vertex in range(failures):
            rows = pa.table(execution.regions_to_restart(vertex, 0, lost=lost).subtasks_table())
            counts.append(len(rows))
            digest.update(_ints([len(rows)]) + _ints(np.sort(_subtasks(execution, rows))))
    return {"tasks": counts, "sha256": digest.hexdigest()}


def release(execution: Any) -> dict[str, Any]:
    """How many partitions are set free by each subtask, while all finish in their order."""
    book, digest, subtasks, total = execution.partition_release(), hashlib.sha256(), 0, 0
    for vertex, parallelism in enumerate(pa.table(execution.vertices_table())["parallelism"].to_pylist()):
        for subtask in range(parallelism):
            freed = sum(part.last - part.first + 1 for part in book.vertex_finished(vertex, subtask))
            if freed:
                digest.update(_ints([subtasks + subtask, freed]))
            total += freed
        subtasks += parallelism
    return {"partitions": total, "sha256": digest.hexdigest()}


def _subtasks(execution: Any, rows: pa.Table) -> Any:
    """Subtasks counted through all vertices in order of creation."""
    parallelism = np.asarray(pa.table(execution.vertices_table())["parallelism"], dtype="<i8")
    first = np.cumsum(parallelism) - parallelism
    return first[np.asarray(rows["vertex"])] + np.asarray(rows["subtask"])


def _partitions(execution: Any) -> list[tuple[int, int, int, int]]:
    """All partitions of all results: (producer, result, first, last)."""
    vertices = pa.table(execution.vertices_table()).select(["job_vertex", "parallelism"]).to_pylist()
    position = {vertex["job_vertex"]: (number, vertex["parallelism"]) for number, vertex in enumerate(vertices)}
    produced = [(*position[data.producer], data.result) for data in execution.job_graph.data_sets]
    return [(producer, result, 0, parallelism - 1) for producer, parallelism, result in produced]


# --- columns to bytes ---


def _ints(values: Any) -> bytes:
    return np.ascontiguousarray(values, dtype="<i4").tobytes()


def _ids(column: Any) -> bytes:
    """16 bytes per id; zeros where there is none."""
    return bytes.fromhex("".join(pc.fill_null(column.cast(pa.string()), "0" * 32).to_pylist()))


def _numbered(column: Any) -> Any:
    """Groups numbered by first appearance, -1 for none."""
    values = np.asarray(pc.fill_null(column.cast(pa.int64()), -1))
    groups, first = np.unique(values, return_index=True)
    first[groups == -1] = -1
    order = np.argsort(first, kind="stable")
    numbers = np.empty(len(groups), dtype="<i4")
    numbers[order] = np.arange(len(groups)) - (groups[:1] == -1).sum()
    return numbers[np.searchsorted(groups, values)]


def _operators(table: pa.Table, vertices: int) -> Iterable[bytes]:
    vertex, node = np.asarray(table["vertex"]), np.asarray(table["node"])
    yield _ints(np.bincount(vertex, minlength=vertices))
    rows = np.empty(len(table), dtype=[("node", "<i4"), ("id", "V16"), ("user", "V16")])
    rows["node"] = node
    rows["id"] = np.frombuffer(_ids(table["operator_id"]), dtype="V16")
    rows["user"] = np.frombuffer(_ids(table["user_defined_id"]), dtype="V16")
    yield rows[np.lexsort((node, vertex))].tobytes()


def _edges(table: pa.Table) -> Iterable[bytes]:
    yield _ints([len(table)])
    order = np.lexsort((np.asarray(table["input"]), np.asarray(table["target"])))
    for name in ("target", "input", "source", "result"):
        yield _ints(np.asarray(table[name])[order])
    for name, codes in (
        ("distribution", DISTRIBUTIONS),
        ("result_type", RESULT_TYPES),
        ("ship_strategy", SHIP_STRATEGIES),
    ):
        numbers = pc.index_in(table[name].cast(pa.string()), value_set=pa.array(codes))  # pyright: ignore[reportAttributeAccessIssue]
        yield _ints(np.asarray(numbers)[order])
