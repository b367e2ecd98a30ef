"""SPEC -> RESULT: all passes in order."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

from tests.reference import job_graph, record, stream_graph, streaming_plan
from tests.reference.chaining import Chainability
from tests.reference.errors import FlinkError
from tests.reference.hasher import operator_ids
from tests.reference.profile import PROFILES
from tests.reference.stream_graph import StreamGraph


def plan(spec: dict[str, Any], flink: str = "1.11") -> dict[str, Any]:
    """The RESULT of one SPEC as a version of Flink gives it."""
    profile = PROFILES[flink]
    result: dict[str, Any] = {"name": spec.get("name"), "flink": profile.release}
    try:
        graph = stream_graph.build(spec, profile)
        chainable = Chainability(graph)
        result["stream_graph"] = record.of_stream_graph(graph, chainable)
    except FlinkError as error:
        return {**result, "stream_graph": error.to_result()}
    result["hashes"] = _try(lambda: _hashes(graph, chainable))
    result["streaming_plan"] = _try(lambda: streaming_plan.render(graph))
    try:
        job = job_graph.build(graph, chainable)
    except FlinkError as error:
        return {**result, "job_graph": error.to_result()}
    result["job_graph"] = record.of_job_graph(graph, job)
    result["execution_graph"] = _try(lambda: record.of_execution_graph(job, profile))
    return result


def plan_deep(spec: dict[str, Any]) -> dict[str, Any]:
    """``plan`` for graphs that are thousands of operators deep: in a thread with a stack for its recursion."""
    results: list[dict[str, Any]] = []
    limit, size = sys.getrecursionlimit(), threading.stack_size(512 * 1024 * 1024)
    sys.setrecursionlimit(1_000_000)
    try:
        thread = threading.Thread(target=lambda: results.append(plan(spec)))
        thread.start()
        thread.join()
    finally:
        sys.setrecursionlimit(limit)
        threading.stack_size(size)
    return results[0]


def _try(stage: Callable[[], Any]) -> Any:
    try:
        return stage()
    except FlinkError as error:
        return error.to_result()


def _hashes(graph: StreamGraph, chainable: Chainability) -> dict[str, str]:
    hashes = operator_ids(graph, chainable)
    return {str(node): hashes[node].hex() for node in sorted(hashes)}
