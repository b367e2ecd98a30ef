"""What IDs are made of, and which edits move them."""

from __future__ import annotations

import json

import pytest

from penstock.analysis.builder import model_of, model_of_graph
from penstock.analysis.why import find, ingredients, tried_edits, why
from penstock.datastream import StreamExecutionEnvironment
from penstock.errors import InvalidProgramError, UnknownNameError
from penstock.plan import PROFILES, Pipeline, StreamGraph
from tests.analysis.programs import planned
from tests.golden.load import plan_records


def chain(env: StreamExecutionEnvironment) -> None:
    numbers = env.from_collection([1]).map(str).name("texts").map(str).name("more")
    numbers.key_by(str).reduce(max).name("greatest").map(str).uid("last").print()


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    return planned(chain)


@pytest.mark.parametrize("flink", PROFILES)
def test_the_ingredients_of_every_golden_id_give_this_id(flink: str) -> None:
    seen = 0
    for record in plan_records(flink):
        expected = record["result"].get("hashes", {"error": None})
        if "error" not in expected:
            by_node = ingredients(StreamGraph.from_json(json.dumps(record["spec"])))
            assert {
                str(node): ingredients_of_one.operator_id for node, ingredients_of_one in by_node.items()
            } == expected, record["spec"]["name"]
            seen += len(expected)
    assert seen > 2_500


def test_the_ingredients_are_place_chained_outputs_and_inputs(pipeline: Pipeline) -> None:
    ids = pipeline.stream_graph.operator_ids()
    ingredients_of_more = why(model_of(pipeline, states=False), pipeline.stream_graph, "more").made_of
    assert (ingredients_of_more.place, ingredients_of_more.chained_outputs, ingredients_of_more.uid) == (2, (), None)
    assert [operator.operator_id for operator in ingredients_of_more.inputs] == [ids[2]]
    assert ingredients(pipeline.stream_graph)[1].chained_outputs == (0,)


def test_each_edit_says_what_the_planner_says(pipeline: Pipeline) -> None:
    """Those of a position, and of a uid, which only another uid moves."""
    graph = pipeline.stream_graph
    model = model_of(pipeline, states=False)
    more = {edit.what: edit.moved for edit in tried_edits(graph, find(model, "more").node)}
    assert len(more) >= 16
    assert more["rename it"] is more["change its max parallelism"] is False
    assert more["add an operator that reads it too, behind rebalance()"] is False
    assert more["give it a uid"] is more["put an operator before it"] is more["put an operator behind it"] is True
    assert more["keep it out of chains: disable_chaining()"] is True
    greatest = {edit.what: edit.moved for edit in tried_edits(graph, find(model, "greatest").node)}
    assert greatest["put an operator behind it"] is False
    assert greatest["rebalance() what it emits"] is True
    last = tried_edits(graph, find(model, "last").node)
    assert [edit.what for edit in last if edit.moved] == ["change its uid", "take its uid away"]
    assert len(last) > 15


def test_an_edit_is_made_as_a_program_makes_it(pipeline: Pipeline) -> None:
    """The same operator put in by the API gives the ID that the edit foretold."""

    def edited(env: StreamExecutionEnvironment) -> None:
        numbers = env.from_collection([1]).map(str).name("texts").map(int).map(str).name("more")
        numbers.key_by(str).reduce(max).name("greatest").map(str).uid("last").print()

    model = model_of(pipeline, states=False)
    foretold = {edit.what: edit.operator_id for edit in tried_edits(pipeline.stream_graph, find(model, "more").node)}
    assert foretold["put an operator before it"] == find(model_of(planned(edited), states=False), "more").operator_id


def test_an_operator_is_found_by_uid_name_number_and_id(pipeline: Pipeline) -> None:
    model = model_of(pipeline, states=False)
    more = find(model, "more")
    assert (
        find(model, str(more.node))
        == find(model, more.operator_id)
        == find(model, more.operator_id[:6].upper())
        == more
    )
    assert find(model, "last").uid == "last"
    for unknown, message in (("nobody", "No operator is called 'nobody'"), ("", "No operator is called")):
        with pytest.raises(UnknownNameError, match=message):
            find(model, unknown)
    with pytest.raises(UnknownNameError, match="Several operators are called 'Map': 2 'Map', 3 'Map'"):
        find(model_of(planned(lambda env: env.from_collection([1]).map(str).map(str).print())), "Map")


def test_what_no_source_reaches_has_no_id() -> None:
    spec = {
        "nodes": [{"id": 1, "name": "Source: a", "kind": "source"}, {"id": 2, "name": "alone", "kind": "operator"}],
        "edges": [],
    }
    graph = StreamGraph.from_dict(spec)
    with pytest.raises(InvalidProgramError, match="no source reaches it"):
        why(model_of_graph(graph), graph, "alone")
