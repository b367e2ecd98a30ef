"""The typed objects of a plan as Flink 2.3 say what its golden records say; where they differ from 1.11."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

from penstock.errors import JobGraphError
from penstock.plan import PROFILES, JobGraph, StreamGraph, StreamGraphBuilder
from tests.golden.load import differences, plan_records

PLANNED = [record for record in plan_records("2.3") if "error" not in record["result"].get("job_graph", {"error": 0})]


def vertex_fields(vertex: Any) -> dict[str, Any]:
    """What the views have of a vertex of a RESULT, data sets and chains above all."""
    return {
        "id": vertex.id,
        "head": vertex.head,
        "inputs": [{"source": edge.source, "result": edge.result} for edge in vertex.inputs],
        "results": [
            {"id": result.id, "type": result.result_type, "consumers": [list(pair) for pair in result.consumers]}
            for result in vertex.results
        ],
        "in_edges": vertex.in_edges,
        "number_of_vertex_outputs": len(vertex.results),
        "chain": [
            {
                "chain_index": operator.chain_index,
                "chain_start": operator.chain_start,
                "managed_memory_fraction_operator": operator.managed_memory_fraction,
                "number_of_outputs": operator.number_of_outputs,
            }
            for operator in vertex.chain
        ],
    }


def narrowed(expected: Any, like: Any) -> Any:
    if isinstance(like, dict):
        return {key: narrowed(expected[key], value) for key, value in like.items()}
    if isinstance(like, list) and isinstance(expected, list) and len(like) == len(expected):
        return [narrowed(theirs, ours) for theirs, ours in zip(expected, like, strict=True)]
    return expected


def test_views_equal_the_golden_records() -> None:
    for record in PLANNED:
        job = StreamGraph.from_dict(record["spec"]).job_graph(flink="2.3")
        expected = record["result"]["job_graph"]
        ours = {
            "vertices": [vertex_fields(vertex) for vertex in job.vertices],
            "topological_order": job.topological_order,
            "slot_sharing_groups": [{"vertices": members} for members, _ in job.slot_sharing_groups],
            "co_location_groups": job.co_location_groups,
            "json_plan": job.json_plan(),
        }
        problems = differences(ours, narrowed(expected, ours))[1]
        assert not problems, "\n".join([record["spec"]["name"], *problems[:10]])
        assert (job.flink, job.verify()) == ("2.3", [])
    assert len(PLANNED) > 400


def shared(records: list[dict[str, Any]]) -> list[JobGraph]:
    jobs = [StreamGraph.from_dict(record["spec"]).job_graph(flink="2.3") for record in records]
    return [job for job in jobs if len(job.data_sets) < len(job.edges)]


def test_shared_data_sets_are_consistent_everywhere() -> None:
    jobs = shared(PLANNED)
    assert len(jobs) > 10
    for job in jobs:
        assert [data_set.index for data_set in job.data_sets] == list(range(len(job.data_sets)))
        assert len({data_set.id for data_set in job.data_sets}) == len(job.data_sets)
        read = [(edge.source, edge.result, edge.target, edge.input) for edge in job.edges]
        written = [(d.producer, d.result, *consumer) for d in job.data_sets for consumer in d.consumers]
        assert sorted(read) == sorted(written)
        assert pa.table(job.edges_table()).column("result").to_pylist() == [edge.result for edge in job.edges]
        leaving = [edge for vertex in job.vertices for edge in vertex.out_edges]
        assert leaving == [edge.stream_edge for edge in job.edges]
        indices = pa.table(job.operators_table()).column("chain_index").to_pylist()
        assert sorted(indices) == sorted(operator.chain_index for vertex in job.vertices for operator in vertex.chain)


def test_execution_graphs_read_shared_data_sets_once_per_edge() -> None:
    looked_at = 0
    for job in shared(PLANNED):
        try:
            execution = job.execution_graph()
        except Exception:  # parallelisms out of bounds, which the golden records hold
            continue
        looked_at += 1
        assert execution.verify() == []
        edges = pa.table(execution.execution_edges())
        assert edges.num_rows == execution.total_edges
        position = {vertex.job_vertex: at for at, vertex in enumerate(execution.vertices)}
        columns = [edges.column(name).to_pylist() for name in ("consumer", "input", "producer", "result")]
        asked = {(position[e.target], e.input, position[e.source], e.result) for e in job.edges}
        assert set(zip(*columns, strict=True)) == asked
    assert looked_at > 5


def test_regions_and_releases_follow_the_profile() -> None:
    """One co-location constraint makes the whole job one region in 1.11, and nothing of the kind in 2.3."""
    builder = StreamGraphBuilder()
    for source in (1, 2):
        builder.add_node(source, f"Source: {source}", "source", parallelism=2, co_location_group=f"c{source}")
    graph = builder.build()
    counts = [len(graph.job_graph(flink=flink).execution_graph().pipelined_regions()) for flink in PROFILES]
    assert counts[0] == 1 < counts[1]


def test_iterations_are_refused_by_2_3() -> None:
    record = next(record for record in plan_records() if record["spec"]["name"] == "hw_iteration")
    with pytest.raises(JobGraphError, match=r"Flink 2\.3 has none") as caught:
        StreamGraph.from_dict(record["spec"]).job_graph(flink="2.3")
    assert caught.value.flink_class is None


def test_a_declared_weight_survives_and_none_stays_none() -> None:
    builder = StreamGraphBuilder()
    builder.add_node(1, "Source: s", "source", parallelism=1)
    builder.add_node(2, "Sink: k", "sink", parallelism=1, managed_memory_weight=1)
    builder.add_edge(1, 2)
    graph = builder.build()
    assert [node.managed_memory_weight for node in graph.nodes] == [None, 1]
    again = StreamGraph.from_json(graph.to_json())
    assert json.loads(again.to_json()) == json.loads(graph.to_json())
    fractions = [[o.managed_memory_fraction for o in again.job_graph(flink=f).vertices[0].chain] for f in PROFILES]
    assert fractions == [[0.5, 0.5], [0.0, 1.0]]
