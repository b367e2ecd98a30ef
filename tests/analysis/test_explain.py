"""A plan as a text in every format, at every level; names of strangers stay text."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from typing import Any

import pytest

from penstock.analysis.builder import model_of_graph, model_of_record
from penstock.analysis.explain import explain
from penstock.analysis.model import ProgramModel
from penstock.analysis.pictures import dot, mermaid
from penstock.analysis.texts import FORMATS, LEVELS, in_dot, in_markdown, in_mermaid, markdown
from penstock.datastream import StreamExecutionEnvironment
from penstock.errors import InvalidProgramError
from penstock.plan import PROFILES, Pipeline, StreamGraph, shapes
from tests.analysis.programs import Counting, pairs, planned
from tests.golden.load import plan_records

HOSTILE = [
    "<script>alert(1)</script>",
    '"]; x --> y; click y "javascript:alert(1)"',
    "a | b `c` \\| **d** [e](https://f) @g #1 <b>",
    "line\nbreak\r\x1b[31m\u202egnp.exe\u2028",
    "\\N \\G \\l &lt; &#60;",
    "#quot; #35; end",
    "x" * 10_000,
    "  ",
    "```\n# title",
]


def counts(env: StreamExecutionEnvironment) -> None:
    pairs(env).process(Counting()).uid("counts").set_parallelism(4).print()


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    return planned(counts)


@pytest.mark.parametrize("flink", PROFILES)
def test_flinks_own_formats_are_equal_to_the_byte(flink: str) -> None:
    streams = jobs = 0
    for record in plan_records(flink):
        result = record["result"]
        if isinstance(result.get("streaming_plan"), str):
            graph = StreamGraph.from_json(json.dumps(record["spec"]))
            assert graph.streaming_plan_json() == result["streaming_plan"]
            streams += 1
            if "error" not in result["job_graph"]:
                assert graph.job_graph(flink=flink).json_plan() == result["job_graph"]["json_plan"]
                jobs += 1
    assert min(streams, jobs) > 400


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_names_every_operator(pipeline: Pipeline, form: str) -> None:
    text = pipeline.explain(form)  # type: ignore[arg-type]
    for name in ("Source: Collection Source", "KeyedProcess", "Sink: Print to Std. Out"):
        assert name in text
    assert text == explain(pipeline, form)


@pytest.mark.parametrize("form", ["terminal", "markdown", "json"])
def test_a_level_is_one_of_the_graphs(pipeline: Pipeline, form: str) -> None:
    texts = {level: explain(pipeline, form, level) for level in LEVELS}
    assert len(set(texts.values())) == 3 if form != "json" else texts["job"] == texts["execution"]
    if form == "json":
        assert "vertices" not in json.loads(texts["stream"])
    else:
        assert ["Fan-out".lower() in text.lower() for text in texts.values()] == [False, False, True]


def test_verdicts_and_origins_stand_in_the_text(pipeline: Pipeline) -> None:
    text = explain(pipeline, "markdown", "stream")
    assert "| not chained: `partitioner is HASH, only FORWARD chains` |" in text
    assert "| uid `counts` |" in text
    assert "| position |" in text
    assert re.search(r"counts *\n?.* uid\b", explain(pipeline, "terminal", "stream"), re.DOTALL)


def test_json_is_the_model_with_states(pipeline: Pipeline) -> None:
    model = ProgramModel.from_dict(json.loads(explain(pipeline, "json")))
    assert [len(operator.states or ()) for operator in model.operators] == [1, 3, 0]


def test_a_notebook_gets_the_same_text(monkeypatch: pytest.MonkeyPatch) -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection([1]).map(str).print()
    elsewhere = env.explain()
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert env.explain() == elsewhere
    assert "Source: Collection Source" in elsewhere


def test_an_environment_explains_its_program_and_goes_on() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(executor="local")
    counts(env)
    assert "counts" in env.explain("markdown", "stream")
    assert json.loads(env.explain("flink-stream")) == json.loads(env.get_execution_plan())
    env.execute()


def test_a_refused_program_says_so_in_every_text() -> None:
    refused = planned(lambda env: pairs(env).map(str).uid("same").map(str).uid("same").print())
    for form in ("terminal", "markdown"):
        assert "Refused" in explain(refused, form)
        assert '"same"' in explain(refused, form)
    assert "digraph" in explain(refused, "dot", "execution")


@pytest.mark.parametrize(
    ("form", "level"), [("html", None), ("terminal", "task"), ("flink-job", "job"), ("flink-stream", "stream")]
)
def test_unknown_formats_and_levels_are_refused(pipeline: Pipeline, form: str, level: str | None) -> None:
    with pytest.raises(InvalidProgramError, match=r"Give one|Leave the level out"):
        explain(pipeline, form, level)


def test_a_picture_grows_with_the_program_and_not_with_its_parallelism() -> None:
    wide = model_of_graph(shapes.all_to_all(20_000))
    assert sum(edge.execution_edges for edge in wide.job_edges) == 20_000**2
    for text in (dot(wide, "execution"), mermaid(wide, "execution"), markdown(wide)):
        assert len(text) < 2_000
        assert "400,000,000" in text


def hostile_model() -> ProgramModel:
    nodes: list[dict[str, Any]] = [{"id": 0, "name": "Source: a", "kind": "source", "uid": HOSTILE[1]}]
    edges: list[dict[str, Any]] = []
    for number, name in enumerate(HOSTILE, 1):
        group = HOSTILE[2] if number % 2 else "default"
        nodes.append({"id": number, "name": name, "kind": "operator", "slot_sharing_group": group})
        edges.append({"source": number - 1, "target": number, "side_output": name, "partitioner": "REBALANCE"})
    return model_of_record({"nodes": nodes, "edges": edges, "settings": {"job_name": HOSTILE[0]}})


def test_names_in_markdown_are_code_and_rows_stay_rows() -> None:
    text = markdown(hostile_model())
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert {line.count("|") for line in rows} <= {5, 6, 7}
    assert not any(line.count("`") % 2 for line in rows)
    outside = re.sub(r"`[^`]*`|<code>[^<]*</code>", "", text)
    assert not re.search(r"[<>@\[\]\\]|https|\x1b|\u202e", outside.replace("→", ""))
    assert max(map(len, rows)) < 5_000


def test_names_in_mermaid_are_inside_their_quotes() -> None:
    for level in LEVELS:
        for line in mermaid(hostile_model(), level).splitlines()[1:]:
            assert re.fullmatch(
                r" +(subgraph v\d+\[(\"[^\"]*\")\]|end|[nv]\d+\[\"[^\"]*\"\]"
                r"|[nv]\d+ (==>|-\.->|-->)\|\"[^\"]*\"\| [nv]\d+)",
                line,
            ), line
            assert not re.search(r"<(?!br/>)|>(?![ |])|`", re.sub(r"(==|-\.-|--)>|<br/>", "", line))


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@pytest.mark.parametrize("level", LEVELS)
def test_graphviz_reads_names_back_as_they_are(level: str) -> None:
    model = hostile_model()
    command = ["dot", "-Tjson0"]
    read = json.loads(subprocess.run(command, input=dot(model, level).encode(), capture_output=True, check=True).stdout)
    labels = " ".join(str(thing.get("label")) for thing in read["objects"])
    assert "javascript" in labels
    assert len(read["edges"]) == len(model.edges)
    nodes = [thing for thing in read["objects"] if "nodes" not in thing and "subgraphs" not in thing]
    assert len(nodes) == len(model.operators)


def test_a_text_of_each_format() -> None:
    assert in_markdown("a|b") == "<code>a&#124;b</code>"
    assert in_markdown("a <b> @c") == "`a <b> @c`"
    assert in_mermaid('a "b"') == "a #34;b#34;"
    assert in_dot('a "b" \\N &lt;') == '"a \\"b\\" \\\\N &amp;lt;"'
    assert in_dot("\u202e\n") == '"\\\\u202e\\\\n"'
