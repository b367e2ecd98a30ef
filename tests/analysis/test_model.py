"""The model of a plan says what the planner says, and survives JSON."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from penstock.analysis.builder import model_of, model_of_record
from penstock.analysis.model import ProgramModel
from penstock.datastream import StreamExecutionEnvironment
from penstock.errors import FileFormatError
from penstock.plan import PROFILES, default_max_parallelism
from tests.analysis.programs import Counting, pairs, planned
from tests.golden.load import plan_records


@pytest.mark.parametrize("flink", PROFILES)
def test_the_model_of_every_golden_graph_says_what_flink_says(flink: str) -> None:
    seen: Counter[str] = Counter()
    for record in plan_records(flink):
        spec, result = record["spec"], record["result"]
        if "error" in result["stream_graph"]:
            continue
        model = model_of_record(spec, flink)
        assert [edge.chained for edge in model.edges] == [edge["chainable"] for edge in result["stream_graph"]["edges"]]
        assert [edge.partitioner for edge in model.edges] == [e["partitioner"] for e in result["stream_graph"]["edges"]]
        if "error" not in result["hashes"]:
            assert {str(op.node): op.operator_id for op in model.operators if op.operator_id} == result["hashes"]
        jobs, executions = result["job_graph"], result.get("execution_graph", {"error": None})
        seen[f"refused {model.refused is not None}"] += 1
        assert (model.refused is not None) == ("error" in jobs or "error" in executions), spec["name"]
        if "error" in jobs:
            assert model.vertices == ()
            continue
        assert [(v.id, v.name) for v in model.vertices] == [(v["id"], v["name"]) for v in jobs["vertices"]]
        assert [list(v.operators) for v in model.vertices] == [
            [operator["node"] for operator in v["chain"]] for v in jobs["vertices"]
        ]
        if "error" not in executions:
            assert sum(edge.execution_edges for edge in model.job_edges) == executions["total_edges"]
            assert {v.index: v.max_parallelism for v in model.vertices} == {
                v["job_vertex"]: v["max_parallelism"] for v in executions["vertices"]
            }
        seen["planned"] += 1
    assert min(seen["refused True"], seen["planned"]) > 30, seen


def test_the_model_of_a_program_survives_json() -> None:
    model = model_of(planned(lambda env: pairs(env).process(Counting()).uid("counts").print()))
    assert ProgramModel.from_dict(json.loads(json.dumps(model.to_dict()))) == model
    assert [operator.stateful for operator in model.operators] == [True, True, False]


def test_where_operators_come_from() -> None:
    pinned = "0123456789ABCDEF0123456789abcdef"

    def program(env: StreamExecutionEnvironment) -> None:
        pairs(env).process(Counting()).uid("counts").set_uid_hash(pinned).name("Counts").print()

    _, counts, sink = model_of(planned(program)).operators
    assert (counts.origin, counts.uid, counts.pinned, counts.effective_id) == (
        "uid",
        "counts",
        pinned.lower(),
        pinned.lower(),
    )
    assert (sink.origin, sink.pinned, sink.effective_id) == ("position", None, sink.operator_id)
    assert (counts.name, counts.type, counts.kind, sink.kind) == ("Counts", "KeyedProcess", "operator", "sink")
    assert (counts.keyed, counts.key_type, sink.type) == (True, "Types.STRING()", "PrintSink")
    assert (counts.vertex, counts.chain_index, sink.vertex, sink.chain_index) == (0, 0, 0, 1)


def test_a_refused_program_has_its_operators_and_the_reason() -> None:
    model = model_of(planned(lambda env: pairs(env).map(str).uid("same").map(str).uid("same").print()))
    assert len(model.operators) == 4
    assert model.vertices == ()
    assert '"same"' in (model.refused or "")


@pytest.mark.parametrize("broken", [{}, {"format": 2}, {"format": 1, "name": "x"}])
def test_what_is_no_model_is_refused(broken: dict[str, object]) -> None:
    with pytest.raises(FileFormatError, match="penstock explain"):
        ProgramModel.from_dict(broken)


@pytest.mark.parametrize(("parallelism", "groups"), [(-1, 128), (1, 128), (85, 128), (86, 256), (30_000, 32_768)])
def test_the_default_number_of_key_groups_is_flinks(parallelism: int, groups: int) -> None:
    assert default_max_parallelism(parallelism) == groups
