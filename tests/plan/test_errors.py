"""Every malformed graph: which error, which exception Flink throws there, and that the message names what is wrong."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from penstock import errors
from penstock.errors import ExecutionGraphError, JobGraphError, OperatorIdError, PlanError, SpecError, StreamGraphError
from penstock.plan import StreamGraph, StreamGraphBuilder, plan_record


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


ILLEGAL_ARGUMENT = "java.lang.IllegalArgumentException"
ILLEGAL_STATE = "java.lang.IllegalStateException"
UNSUPPORTED = "java.lang.UnsupportedOperationException"

Build = Callable[[Any], None]


def two_nodes(graph: Any, source: dict[str, Any], sink: dict[str, Any], **edge: Any) -> None:
    graph.add_node(1, "Source: Clicks", "source", **{"parallelism": 1, **source})
    graph.add_node(2, "Sink: Archive", "sink", **{"parallelism": 1, **sink})
    graph.add_edge(1, 2, **edge)


def unknown_target(graph: Any) -> None:
    graph.add_node(1, "Source: Clicks", "source")
    graph.add_edge(1, 99)


def unknown_source(graph: Any) -> None:
    graph.add_node(1, "Sink: Archive", "sink")
    graph.add_edge(-5, 1)


def duplicate_id(graph: Any) -> None:
    graph.add_node(7, "Source: Clicks", "source")
    graph.add_node(7, "Sink: Archive", "sink")


def duplicate_uid(graph: Any) -> None:
    two_nodes(graph, {"uid": "same"}, {"uid": "same"})


def forward_across_parallelisms(graph: Any) -> None:
    two_nodes(graph, {"parallelism": 2}, {"parallelism": 3}, partitioner="FORWARD")


def parallelism_over_max(graph: Any) -> None:
    two_nodes(graph, {}, {"parallelism": 4, "max_parallelism": 3})


def parallelism_over_bound(graph: Any) -> None:
    two_nodes(graph, {}, {"parallelism": 32769})


def max_parallelism_over_bound(graph: Any) -> None:
    two_nodes(graph, {}, {"parallelism": 4, "max_parallelism": 32769})


def max_parallelism_zero(graph: Any) -> None:
    two_nodes(graph, {}, {"parallelism": 4, "max_parallelism": 0})


def short_user_hash(graph: Any) -> None:
    two_nodes(graph, {}, {"user_hash": "abcd"})


def user_hash_not_hex(graph: Any) -> None:
    two_nodes(graph, {}, {"user_hash": "zz" * 16})


def cycle(graph: Any) -> None:
    graph.add_node(1, "Source: Clicks", "source", uid="s")
    graph.add_node(2, "Loop Begin", "operator", uid="a")
    graph.add_node(3, "Loop End", "operator", uid="b")
    graph.add_edge(1, 2)
    graph.add_edge(2, 3, partitioner="REBALANCE")
    graph.add_edge(3, 2, partitioner="REBALANCE")


def self_loop(graph: Any) -> None:
    graph.add_node(1, "Source: Clicks", "source", uid="s")
    graph.add_node(2, "Ouroboros", "operator", uid="a")
    graph.add_edge(1, 2)
    graph.add_edge(2, 2, partitioner="REBALANCE")


def never_reached_input(graph: Any) -> None:
    graph.add_node(1, "Source: Clicks", "source")
    graph.add_node(2, "Orphan", "operator")
    graph.add_node(3, "Starving Join", "two_input")
    graph.add_edge(1, 3, 1)
    graph.add_edge(2, 3, 2)


def no_slot_sharing_group(graph: Any) -> None:
    two_nodes(graph, {}, {"slot_sharing_group": None})


def co_location_without_slot_sharing(graph: Any) -> None:
    two_nodes(graph, {}, {"slot_sharing_group": None, "co_location_group": "together"})


def co_location_across_slot_sharing(graph: Any) -> None:
    two_nodes(
        graph,
        {"slot_sharing_group": "g1", "co_location_group": "together"},
        {"slot_sharing_group": "g2", "co_location_group": "together"},
    )


def blocking_with_timeout(graph: Any) -> None:
    graph.add_node(1, "Source: Clicks", "source", buffer_timeout=50)
    graph.add_node(2, "Sink: Archive", "sink")
    if isinstance(graph, SpecWriter):
        graph.add_edge(1, 2, partitioner="HASH")
        graph.spec["edges"][0]["shuffle_mode"] = "BATCH"
    else:
        graph.add_edge(1, 2, partitioner="HASH", shuffle_mode="BATCH")


@dataclass(frozen=True)
class Case:
    """``says``: what the message must contain; ``operators``: what the error must list."""

    build: Build
    error: type[PlanError] | tuple[type[PlanError], ...]
    flink_class: str
    says: tuple[str, ...]
    operators: tuple[str, ...] = ()


CASES = [
    Case(unknown_target, StreamGraphError, "java.lang.NullPointerException", ("99", "Clicks")),
    Case(unknown_source, StreamGraphError, "java.lang.NullPointerException", ("-5", "Archive")),
    Case(duplicate_id, StreamGraphError, "java.lang.RuntimeException", ("7",), ("Clicks", "Archive")),
    Case(duplicate_uid, OperatorIdError, ILLEGAL_ARGUMENT, ("same", "Clicks", "Archive"), ("Clicks", "Archive")),
    Case(forward_across_parallelisms, StreamGraphError, UNSUPPORTED, ("FORWARD", "2", "3"), ("Clicks", "Archive")),
    Case(
        parallelism_over_max, ExecutionGraphError, "org.apache.flink.runtime.JobException", ("4", "3"), ("Archive",)
    ),
    Case(parallelism_over_bound, ExecutionGraphError, ILLEGAL_ARGUMENT, ("32769", "32768"), ("Archive",)),
    Case(max_parallelism_over_bound, ExecutionGraphError, ILLEGAL_ARGUMENT, ("32769", "32768"), ("Archive",)),
    Case(max_parallelism_zero, ExecutionGraphError, ILLEGAL_ARGUMENT, ("0", "32768"), ("Archive",)),
    Case(short_user_hash, (OperatorIdError, JobGraphError), ILLEGAL_ARGUMENT, ("abcd",), ("Archive",)),
    Case(
        user_hash_not_hex, (OperatorIdError, JobGraphError), "java.lang.NumberFormatException", ("zz",), ("Archive",)
    ),
    Case(cycle, JobGraphError, "java.lang.StackOverflowError", ("cycl",), ("Loop Begin", "Loop End")),
    Case(self_loop, JobGraphError, "java.lang.StackOverflowError", ("cycl",), ("Ouroboros",)),
    Case(never_reached_input, (OperatorIdError, JobGraphError), ILLEGAL_ARGUMENT, (), ("Starving Join",)),
    Case(no_slot_sharing_group, JobGraphError, ILLEGAL_STATE, ("slot sharing",), ("Archive",)),
    Case(co_location_without_slot_sharing, JobGraphError, ILLEGAL_STATE, ("together", "slot sharing"), ("Archive",)),
    Case(co_location_across_slot_sharing, JobGraphError, ILLEGAL_STATE, ("together",), ("Clicks", "Archive")),
    Case(blocking_with_timeout, JobGraphError, UNSUPPORTED, ("50",), ("Clicks",)),
]  # fmt: skip


def through_builder(build: Build) -> None:
    builder = StreamGraphBuilder()
    build(builder)
    builder.build().job_graph().execution_graph()


def through_json(build: Build) -> None:
    StreamGraph.from_json(json.dumps(as_spec(build))).job_graph().execution_graph()


def as_spec(build: Build) -> dict[str, Any]:
    writer = SpecWriter(build.__name__)
    build(writer)
    return writer.spec


@pytest.mark.parametrize("way", [through_builder, through_json])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.build.__name__)
def test_a_malformed_graph_is_refused_with_its_reason(case: Case, way: Callable[[Build], None]) -> None:
    with pytest.raises(case.error) as caught:
        way(case.build)
    error = caught.value
    assert error.flink_class == case.flink_class
    for text in (*case.says, *case.operators):
        assert text in str(error)
    for operator in case.operators:
        assert any(operator in named for named in error.operators), error.operators


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.build.__name__)
def test_the_record_shows_the_same_refusal(case: Case) -> None:
    record = json.loads(plan_record(json.dumps(as_spec(case.build))))
    refusals = [stage["error"] for stage in record.values() if isinstance(stage, dict) and "error" in stage]
    assert refusals
    assert refusals[-1]["class"] == case.flink_class
    with pytest.raises(case.error) as caught:
        through_json(case.build)
    assert refusals[-1]["message"] == str(caught.value)


def test_errors_survive_pickling() -> None:
    with pytest.raises(OperatorIdError) as caught:
        through_builder(duplicate_uid)
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is OperatorIdError
    assert (str(again), again.flink_class, again.operators) == (
        str(caught.value),
        caught.value.flink_class,
        caught.value.operators,
    )


def test_every_kind_of_plan_error_is_in_the_table() -> None:
    kinds = {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, PlanError)}
    covered = {kind for case in CASES for kind in (case.error if isinstance(case.error, tuple) else (case.error,))}
    assert kinds - {PlanError, SpecError} == covered


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("kind", "spout"),
        ("chaining_strategy", "SOMETIMES"),
        ("parallelism", "four"),
        ("parallelism", 2**40),
        ("id", None),
        ("name", 7),
        ("yielding", "yes"),
    ],
)
def test_a_wrong_value_in_a_spec_names_field_and_value(field: str, value: Any) -> None:
    spec = as_spec(lambda graph: two_nodes(graph, {}, {}))
    spec["nodes"][1][field] = value
    with pytest.raises(SpecError) as caught:
        StreamGraph.from_dict(spec)
    assert field in str(caught.value)
    assert str(value) in str(caught.value) or json.dumps(value) in str(caught.value)


@pytest.mark.parametrize(
    ("field", "value"), [("partitioner", "ROUND_ROBIN"), ("shuffle_mode", "LAZY"), ("input", 3), ("input", -1)]
)
def test_a_wrong_value_of_an_edge_names_field_and_value(field: str, value: Any) -> None:
    spec = as_spec(lambda graph: two_nodes(graph, {}, {}))
    spec["edges"][0][field] = value
    with pytest.raises(SpecError) as caught:
        StreamGraph.from_dict(spec)
    assert field in str(caught.value)
    assert str(value) in str(caught.value)


@pytest.mark.parametrize(
    "options", [{"kind": "spout"}, {"chaining_strategy": "SOMETIMES"}, {"id": 2**31}, {"parallelism": -(2**40)}]
)
def test_the_builder_refuses_wrong_values_at_once(options: dict[str, Any]) -> None:
    arguments = {"id": 1, "name": "Map", "kind": "operator", **options}
    with pytest.raises((PlanError, OverflowError, TypeError, ValueError)):
        StreamGraphBuilder().add_node(**arguments)


@pytest.mark.parametrize("options", [{"exchange_mode": "SOME_EDGES"}, {"schedule_mode": "NEVER"}])
def test_the_builder_refuses_unknown_settings(options: dict[str, Any]) -> None:
    with pytest.raises((PlanError, ValueError), match=r"SOME_EDGES|NEVER"):
        StreamGraphBuilder(**options)


def test_a_builder_is_consumed() -> None:
    builder = StreamGraphBuilder()
    builder.add_node(1, "Source: Clicks", "source")
    builder.build()
    with pytest.raises(errors.PenstockError, match="build"):
        builder.build()
    with pytest.raises(errors.PenstockError, match="build"):
        builder.add_node(2, "Map", "operator")


ADVICE = ' Give it as FORMAT in docs/planning.md describes: {"nodes": [...], "edges": [...]} with the fields and types listed there.'  # noqa: E501
SOURCE = {"id": 1, "name": "S", "kind": "source"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("no json", "the text is not JSON: expected a value at line 1 column 2, near `no json`."),
        ("", "the text is not JSON: EOF while parsing a value at line 1 column 0, near ``."),
        ('{"nodes": [],\n "edges": [,]}',
         'edges[0]: the text is not JSON: expected value at line 2 column 12, near ` "edges": [,]}`.'),
        ("[1]", "it was given a list, `[1]`, and a graph is an object with nodes and edges."),
        (" null", "it was given null, `null`, and a graph is an object with nodes and edges."),
        ('"é"' + "x" * 9, 'it was given a string, `"é"xxxxxxxxx`, and a graph is an object with nodes and edges.'),
        ('{"nodes": [7], "edges": []}', "nodes[0]: invalid type: integer `7`, expected an object."),
    ],
)  # fmt: skip
def test_text_that_is_no_graph_is_refused_with_the_call_and_the_place(text: str, says: str) -> None:
    with pytest.raises(SpecError) as caught:
        StreamGraph.from_json(text)
    assert str(caught.value) == f"StreamGraph.from_json() cannot read the graph: {says}{ADVICE}"
    record = json.loads(plan_record(text))
    assert record["stream_graph"]["error"]["message"] == f"plan_record() cannot read the graph: {says}{ADVICE}"


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ([], "it was given a list, `[]`, and a graph is an object with nodes and edges."),
        (True, "it was given a boolean, `true`, and a graph is an object with nodes and edges."),
        ({"nodes": []}, "missing field `edges`."),
        ({"nodes": [{**SOURCE, "uid": {1}}], "edges": []}, "TypeError: Object of type set is not JSON serializable."),
        ({"nodes": [{**SOURCE, "parallelism": "2"}], "edges": []},
         'nodes[0].parallelism: invalid type: string "2", expected a 32-bit integer.'),
    ],
)  # fmt: skip
def test_data_that_is_no_graph_is_refused_with_the_call_and_the_field(spec: Any, says: str) -> None:
    with pytest.raises(SpecError) as caught:
        StreamGraph.from_dict(spec)
    assert str(caught.value) == f"StreamGraph.from_dict() cannot read the graph: {says}{ADVICE}"


def test_a_number_that_json_has_not_is_refused_by_its_name() -> None:
    with pytest.raises(SpecError, match=r"from_dict\(\) cannot read the graph: ValueError: Out of range float values"):
        StreamGraph.from_dict({"nodes": [{**SOURCE, "parallelism": float("nan")}], "edges": []})


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda graph: graph.add_node(3, "Map", "mapper"),
         'add_node(), node 3 (Map): kind is "mapper", expected one of source, operator, two_input, sink.'),
        (lambda graph: graph.add_node(3, "Map", "operator", chaining_strategy="MAYBE"),
         'add_node(), node 3 (Map): chaining_strategy is "MAYBE", expected one of ALWAYS, NEVER, HEAD.'),
        (lambda graph: graph.add_edge(1, 2, shuffle_mode="LAZY"),
         'add_edge(), the edge 1 -> 2: shuffle_mode is "LAZY", expected one of PIPELINED, BATCH, UNDEFINED.'),
        (lambda graph: graph.add_edge(1, 2, 1),
         'the edge Clicks-1 -> Archive-2 has input 1, but Archive-2 is of kind "sink". Give the edge input 0, or Archive-2 another kind: two_input takes input 1 or 2, the others 0.'),  # noqa: E501
        (lambda graph: graph.build().job_graph(flink="3"),
         'Plans of Flink "3" are not reproduced. Give flink="1.11" or flink="2.3".'),
    ],
)  # fmt: skip
def test_the_builder_says_what_is_wrong_where(call: Callable[[Any], None], says: str) -> None:
    builder = StreamGraphBuilder()
    builder.add_node(1, "Clicks", "source")
    builder.add_node(2, "Archive", "sink")
    with pytest.raises(errors.PenstockError) as caught:
        call(builder)
    assert str(caught.value) == says


@pytest.mark.parametrize("parallelism", [0, -3])
def test_a_parallelism_of_zero_or_less_is_unset(parallelism: int) -> None:
    spec = {"nodes": [{**SOURCE, "parallelism": parallelism}], "edges": []}
    builder = StreamGraphBuilder()
    builder.add_node(1, "S", "source", parallelism=parallelism)
    for graph in (StreamGraph.from_dict(spec), builder.build()):
        job = graph.job_graph()
        assert job.vertices[0].parallelism == -1
        assert job.execution_graph().vertices[0].parallelism == 1
