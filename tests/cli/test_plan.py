"""``penstock plan``: a result for each line, in order, whatever the line holds."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from penstock.plan import PROFILES, plan_record


def spec(name: str, parallelism: int = 2, **more) -> dict:
    node = {"uid": None, "slot_sharing_group": "default", "parallelism": parallelism, "chaining_strategy": "ALWAYS"}
    return {
        "name": name,
        "nodes": [
            {"id": 1, "name": "Source: s", "kind": "source", **node},
            {"id": 2, "name": "Map é", "kind": "operator", **node},
        ],
        "edges": [{"source": 1, "target": 2, "partitioner": "FORWARD", "shuffle_mode": "UNDEFINED", "input": 0}],
        **more,
    }


@pytest.fixture
def planned(penstock, tmp_path):
    def call(*lines: str | bytes, flags=()):
        path = tmp_path / "specs.jsonl"
        path.write_bytes(b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines) + b"\n")
        result = penstock("plan", *flags, path)
        assert result.exit_code == 0, result.output
        return [json.loads(line) for line in result.stdout.splitlines()]

    return call


def test_results_come_in_the_order_of_the_lines(planned):
    results = planned(*(json.dumps(spec(f"g{number}", number)) for number in range(1, 8)))
    assert [result["name"] for result in results] == [f"g{number}" for number in range(1, 8)]
    assert [result["execution_graph"]["total_vertices"] for result in results] == list(range(1, 8))


def test_a_result_is_the_planners_own(planned):
    line = json.dumps(spec("same"))
    assert planned(line) == [json.loads(plan_record(line))]


def test_the_profile_is_an_option(planned):
    for flink in PROFILES:
        assert planned(json.dumps(spec("g")), flags=["--flink", flink])[0]["flink"].startswith(flink)


def test_an_unknown_profile_is_a_usage_error(penstock, tmp_path):
    path = tmp_path / "specs.jsonl"
    path.write_text("{}\n")
    assert penstock("plan", "--flink", "0.9", path).exit_code == 2


@pytest.mark.parametrize(
    "record",
    [
        {"spec": spec("inside")},
        {"spec": spec("inside"), "result": {"spec": 1}},
        {"note": '"spec": {}', "result": [1, {"spec": None}], "spec": spec("inside")},
    ],
    ids=["alone", "first", "last"],
)
def test_a_record_holds_its_spec(planned, record):
    for separators in ((",", ":"), (" , ", " : ")):
        assert planned(json.dumps(record, separators=separators)) == [
            json.loads(plan_record(json.dumps(spec("inside"))))
        ]


def test_an_operator_may_be_called_spec(planned):
    graph = spec("g")
    graph["nodes"][1]["name"] = "spec"
    assert [vertex["name"] for vertex in planned(json.dumps(graph))[0]["job_graph"]["vertices"]] == [
        "Source: s -> spec"
    ]


@pytest.mark.parametrize(
    "line",
    [
        "no json",
        "{",
        '{"spec": {',
        '{"spec"',
        "[1, 2]",
        "7",
        '{"spec": 5}',
        b"\xff\xfe{}",
        "[" * 100_000,
    ],
    ids=lambda line: str(line[:12]),
)
def test_a_bad_line_is_answered_and_the_next_one_planned(planned, line):
    bad, good = planned(line, json.dumps(spec("good")))
    assert set(bad["error"]) == {"class", "message"}
    assert bad["error"]["message"]
    assert good["name"] == "good"


def test_an_object_that_is_no_graph_is_refused_at_the_first_step(planned):
    for line in ('{"name": "g"}', '{"name": "g", "nodes": 5, "edges": []}'):
        assert planned(line)[0]["stream_graph"]["error"]["message"]


def test_a_refused_step_stands_in_its_place(planned):
    graph = spec("duplicate uid")
    graph["nodes"][0]["uid"] = graph["nodes"][1]["uid"] = "x"
    result = planned(json.dumps(graph))[0]
    assert result["hashes"]["error"]["class"] == "java.lang.IllegalArgumentException"


def test_blank_lines_are_skipped(planned):
    assert len(planned("", json.dumps(spec("a")), "   ", json.dumps(spec("b")), "")) == 2


def test_a_dash_reads_standard_input(penstock):
    result = penstock("plan", "-", stdin=json.dumps(spec("piped")))
    assert json.loads(result.stdout)["name"] == "piped"


def test_a_file_that_cannot_be_read_is_an_error(penstock, tmp_path):
    result = penstock("plan", tmp_path / "absent.jsonl")
    assert result.exit_code != 0
    assert "absent.jsonl" in result.stderr


def test_each_line_is_answered_before_the_next_is_read():
    command = [sys.executable, "-m", "penstock.cli", "plan", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for name in ("one", "two"):
            process.stdin.write(json.dumps(spec(name)) + "\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["name"] == name
        process.stdin.close()
    assert process.returncode == 0


def test_a_closed_pipe_ends_it_quietly(tmp_path):
    path = tmp_path / "specs.jsonl"
    path.write_text((json.dumps(spec("g")) + "\n") * 2000)
    command = f"'{sys.executable}' -m penstock.cli plan '{path}' | head -n 1"
    run = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert json.loads(run.stdout)["name"] == "g"
    assert run.stderr == ""
