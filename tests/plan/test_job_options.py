"""What a JobGraph takes from outside the program, and what nodes carry into it beside their operator."""

from __future__ import annotations

import pytest

from penstock.errors import OperatorIdError, StreamGraphError
from penstock.plan import StreamGraph, StreamGraphBuilder, operator_id

OTHER = "00112233445566778899aabbccddeeff"


def chained(**sink: object) -> StreamGraph:
    builder = StreamGraphBuilder()
    builder.add_node(1, "Source: Files", "source", input_format="TextInputFormat", coordinator="FileCoordinator")
    builder.add_node(2, "Sink: Archive", "sink", output_format="TextOutputFormat", **sink)  # type: ignore[arg-type]
    builder.add_edge(1, 2)
    return builder.build()


def test_formats_and_coordinators_reach_their_vertex_by_operator_id() -> None:
    graph = chained()
    ids = graph.operator_ids()
    (vertex,) = graph.job_graph().vertices
    assert vertex.input_formats == [(ids[1], "TextInputFormat")]
    assert vertex.output_formats == [(ids[2], "TextOutputFormat")]
    assert vertex.operator_coordinators == [(ids[1], "FileCoordinator")]
    assert StreamGraph.from_json(graph.to_json()).to_json() == graph.to_json()


def test_additional_hashes_are_alternatives_behind_the_uid_hash() -> None:
    graph = chained(user_hash=OTHER.upper())
    ids = graph.operator_ids()
    (vertex,) = graph.job_graph(additional_hashes=[{1: operator_id("old")}, {2: operator_id("older")}]).vertices
    assert vertex.operator_ids == [
        (ids[2], OTHER), (ids[2], None), (ids[2], operator_id("older")),
        (ids[1], None), (ids[1], operator_id("old")), (ids[1], None),
    ]  # fmt: skip
    assert vertex.id == ids[1], "an alternative never replaces the ID"


@pytest.mark.parametrize(("table", "error"), [({7: OTHER}, StreamGraphError), ({1: "abc"}, OperatorIdError)])
def test_additional_hashes_are_checked(table: dict[int, str], error: type[Exception]) -> None:
    with pytest.raises(error, match=r"7|abc"):
        chained().job_graph(additional_hashes=[table])


def test_savepoint_and_artifacts_are_carried() -> None:
    job = chained().job_graph(
        savepoint_path="s3://bucket/savepoint-1", allow_non_restored_state=True, artifacts={"model": "/m"}
    )
    assert job.savepoint_restore == ("s3://bucket/savepoint-1", True)
    assert job.artifacts == {"model": "/m"}
    plain = chained().job_graph()
    assert (plain.savepoint_restore, plain.artifacts) == (None, {})


def test_checkpointing_names_the_vertices_that_take_part() -> None:
    builder = StreamGraphBuilder(
        checkpointing_enabled=True, checkpoint_interval=500, checkpointing_mode="AT_LEAST_ONCE"
    )
    builder.add_node(1, "Source: A", "source")
    builder.add_node(2, "Sink: B", "sink")
    builder.add_edge(1, 2, partitioner="HASH")
    job = builder.build().job_graph()
    expected = {"enabled": True, "mode": "AT_LEAST_ONCE", "interval": 500}
    assert job.checkpointing == {**expected, "trigger": [1], "acknowledge": [1, 0], "confirm": [1, 0]}
    assert job.buffer_timeouts() == [100]
