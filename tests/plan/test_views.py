"""The typed objects of ``penstock.plan`` say what the golden records say, for every record."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

from penstock.plan import StreamGraph, StreamGraphBuilder
from tests.golden.load import PLAN_RECORDS, differences, plan_record, plan_records


def is_planned(record: dict[str, Any]) -> bool:
    return "error" not in record["result"].get("job_graph", {"error": None})


PLANNED = [record for record in plan_records() if is_planned(record)]


def job_graph_fields(job: Any) -> dict[str, Any]:
    """The ``job_graph`` of a RESULT, as far as the views have it."""
    return {
        "name": job.name,
        "schedule_mode": job.schedule_mode,
        "maximum_parallelism": job.maximum_parallelism,
        "vertices": [vertex_fields(vertex) for vertex in job.vertices],
        "topological_order": list(job.topological_order),
        "slot_sharing_groups": [
            {"vertices": members, "resources": resources_fields(resources)}
            for members, resources in job.slot_sharing_groups
        ],
        "co_location_groups": job.co_location_groups,
        "checkpointing": {key: job.checkpointing[key] for key in ("interval", "trigger", "acknowledge", "confirm")},
        "edge_buffer_timeouts": job.buffer_timeouts(),
        "json_plan": job.json_plan(),
    }


def vertex_fields(vertex: Any) -> dict[str, Any]:
    return {
        "id": vertex.id,
        "head": vertex.head,
        "name": vertex.name,
        "parallelism": vertex.parallelism,
        "max_parallelism": vertex.max_parallelism,
        "invokable": vertex.invokable,
        "operator_ids": [list(pair) for pair in vertex.operator_ids],
        "operator_nodes": list(vertex.operator_nodes),
        "slot_sharing_group": vertex.slot_sharing_group,
        "co_location_group": vertex.co_location_group,
        "inputs": [
            {
                "source": edge.source,
                "result": edge.result,
                "distribution": edge.distribution,
                "result_type": edge.result_type,
                "ship_strategy": edge.ship_strategy,
            }
            for edge in vertex.inputs
        ],
        "min_resources": resources_fields(vertex.min_resources),
        "preferred_resources": resources_fields(vertex.preferred_resources),
        "results": [
            {"type": result.result_type, "consumers": [list(consumer) for consumer in result.consumers]}
            for result in vertex.results
        ],
        "in_edges": list(vertex.in_edges),
        "out_edges": list(vertex.out_edges),
        "chain": [operator_fields(operator) for operator in vertex.chain],
    }


def resources_fields(quantities: tuple[float, int, int, int] | None) -> dict[str, float] | None:
    names = ("cpu", "heap_mb", "off_heap_mb", "managed_mb")
    return None if quantities is None else dict(zip(names, quantities, strict=True))


def operator_fields(operator: Any) -> dict[str, Any]:
    return {
        "node": operator.node,
        "operator_id": operator.operator_id,
        "operator_name": operator.name,
        "chain_index": operator.chain_index,
        "chain_start": operator.chain_start,
        "chain_end": operator.chain_end,
        "managed_memory_fraction": operator.managed_memory_fraction,
        "chained_outputs": list(operator.chained_outputs),
        "non_chained_outputs": list(operator.non_chained_outputs),
        "number_of_outputs": operator.number_of_outputs,
    }


def narrowed(expected: Any, like: Any) -> Any:
    """``expected`` with only the keys that ``like`` has, at every depth."""
    if isinstance(like, dict):
        return {key: narrowed(expected[key], value) for key, value in like.items()}
    if isinstance(like, list) and isinstance(expected, list) and len(like) == len(expected):
        return [narrowed(theirs, ours) for theirs, ours in zip(expected, like, strict=True)]
    return expected


def assert_same(actual: Any, expected: Any, name: str) -> int:
    compared, problems = differences(actual, narrowed(expected, actual))
    assert not problems, "\n".join([name, *problems[:10]])
    return compared


def test_job_graph_views_equal_the_golden_records() -> None:
    compared = 0
    for record in PLANNED:
        job = StreamGraph.from_dict(record["spec"]).job_graph()
        compared += assert_same(job_graph_fields(job), record["result"]["job_graph"], record["spec"]["name"])
    assert len(PLANNED) > 400
    assert compared > 90_000


def test_stream_graph_views_equal_the_golden_records() -> None:
    looked_at = 0
    for record in plan_records():
        expected = record["result"]["stream_graph"]
        if "error" in expected:
            continue
        looked_at += 1
        graph = StreamGraph.from_dict(record["spec"])
        assert list(graph.source_ids) == expected["source_ids"]
        ours = [
            {"partitioner": e.partitioner, "shuffle_mode": e.shuffle_mode, "buffer_timeout": e.buffer_timeout}
            for e in graph.edges
        ]
        assert_same(ours, expected["edges"], record["spec"]["name"])
        assert [edge.index for edge in graph.edges] == list(range(len(graph.edges)))
        listed = [(node["id"], node["name"], node["kind"]) for node in record["spec"]["nodes"]]
        assert [(node.id, node.name, node.kind) for node in graph.nodes][: len(listed)] == listed
        if "error" not in record["result"]["hashes"]:
            assert graph.operator_ids() == {int(k): v for k, v in record["result"]["hashes"].items()}
        if isinstance(record["result"]["streaming_plan"], str):
            assert graph.streaming_plan_json() == record["result"]["streaming_plan"]
    assert looked_at > PLAN_RECORDS["1.11"] - 10


def test_execution_graph_views_equal_the_golden_records() -> None:
    looked_at = 0
    for record in PLANNED:
        expected = record["result"]["execution_graph"]
        if "error" in expected:
            continue
        looked_at += 1
        execution = StreamGraph.from_dict(record["spec"]).job_graph().execution_graph()
        assert (execution.total_vertices, execution.total_edges) == (
            expected["total_vertices"],
            expected["total_edges"],
        )
        for vertex, theirs in zip(execution.vertices, expected["vertices"], strict=True):
            assert (vertex.job_vertex, vertex.parallelism, vertex.max_parallelism) == (
                theirs["job_vertex"],
                theirs["parallelism"],
                theirs["max_parallelism"],
            )
            last = vertex.parallelism
            assert vertex.task_name(last - 1) == f"{vertex.name} ({last}/{last})"
    assert looked_at > 400


def test_nodes_know_their_edges() -> None:
    graph = StreamGraph.from_dict(plan_record("hw_diamond")["spec"])
    for node in graph.nodes:
        assert all(graph.edges[index].target == node.id for index in node.in_edges)
        assert all(graph.edges[index].source == node.id for index in node.out_edges)
    assert sum(len(node.in_edges) for node in graph.nodes) == len(graph.edges)


@pytest.mark.parametrize("name", ["hw_wordcount", "hw_iteration", "hw_names", "hw_resources", "hw_empty"])
def test_a_stream_graph_survives_pickle_json_and_dict(name: str) -> None:
    spec = plan_record(name)["spec"]
    graph = StreamGraph.from_dict(spec)
    for again in (
        pickle.loads(pickle.dumps(graph)),
        StreamGraph.from_json(graph.to_json()),
        StreamGraph.from_dict(graph.to_dict()),
        StreamGraph.from_json(json.dumps(spec)),
    ):
        assert again.to_json() == graph.to_json()
        assert again.operator_ids() == graph.operator_ids()
        assert repr(again) == repr(graph)
    assert json.loads(graph.to_json()) == graph.to_dict()


def test_reprs_say_what_the_thing_is() -> None:
    graph = StreamGraph.from_dict(plan_record("hw_wordcount")["spec"])
    job = graph.job_graph()
    execution = job.execution_graph()
    for thing in (graph, job, execution, graph.nodes[0], graph.edges[0], job.vertices[0], execution.vertices[0]):
        text = repr(thing)
        assert type(thing).__name__ in text
        assert "0x" not in text, "an address says nothing"
        assert len(text) < 1000
    assert "Flat Map" in repr(graph.nodes[2])
    assert "Source: Custom File Source" in repr(job.vertices[-1])
    assert repr(graph.verdicts()[0])


def test_views_are_frozen() -> None:
    graph = StreamGraph.from_dict(plan_record("hw_wordcount")["spec"])
    job = graph.job_graph()
    for thing, name in ((graph, "edges"), (graph.nodes[0], "name"), (job, "name"), (job.vertices[0], "name")):
        with pytest.raises((AttributeError, TypeError)):
            setattr(thing, name, "changed")


def test_virtual_nodes_are_resolved_as_edges_are_added() -> None:
    """The outermost partitioner wins, a union gives an edge per branch in order, a side output names its tag."""
    builder = StreamGraphBuilder()
    for id_ in (1, 2):
        builder.add_node(id_, f"Source: S{id_}", "source", parallelism=1)
    builder.add_node(9, "Map", "operator", parallelism=2)
    builder.add_node(10, "Late", "operator", parallelism=2)
    builder.add_virtual_partition(3, 1, "SHUFFLE")
    builder.add_virtual_partition(4, 3, "HASH")
    builder.add_union(5, [4, 2])
    builder.add_virtual_side_output(6, 1, "late")
    builder.add_edge(5, 9)
    builder.add_edge(6, 10)
    graph = builder.build()
    described = [(e.source, e.target, e.partitioner, e.side_output, e.partition_node) for e in graph.edges]
    assert described == [
        (1, 9, "HASH", None, 4),
        (2, 9, "REBALANCE", None, None),
        (1, 10, "REBALANCE", "late", None),
    ]


def test_a_loop_takes_its_slot_sharing_group_late() -> None:
    builder = StreamGraphBuilder()
    builder.add_node(1, "Source: S", "source", parallelism=2)
    builder.add_node(2, "Body", "operator", parallelism=2, slot_sharing_group="body")
    builder.add_iteration(7, -1, -2, parallelism=2, timeout=100)
    builder.add_edge(-1, 2)
    builder.add_edge(2, -2)
    for end in (-1, -2):
        builder.set_slot_sharing_group(end, "body")
    graph = builder.build()
    assert {node.slot_sharing_group for node in graph.nodes if node.id != 1} == {"body"}
    assert len(graph.job_graph().vertices) == 4
