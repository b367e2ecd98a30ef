"""Every neutral script gives exactly what Flink 1.11.4 made of it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.datastream.api_scripts import result_of
from tests.golden.load import read_lines

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = 458


@cache
def records() -> dict[str, dict[str, Any]]:
    lines = map(json.loads, read_lines("api_scripts.jsonl.gz"))
    return {record["script"]["name"]: record for record in lines}


def comparable(result: dict[str, Any]) -> dict[str, Any]:
    """A result without what is not contract: error texts, and the order of edges beyond each node's own."""
    result = json.loads(json.dumps(result), object_hook=_without_messages)
    graph = result.get("stream_graph", {})
    if "edges" in graph:
        leaving, entering = defaultdict(list), defaultdict(list)
        for edge in graph.pop("edges"):
            leaving[edge["source"]].append(edge)
            entering[edge["target"]].append(edge)
        graph["out_edges"], graph["in_edges"] = dict(leaving), dict(entering)
    return result


def _without_messages(value: dict[str, Any]) -> dict[str, Any]:
    if set(value) >= {"class", "message"}:
        return {key: value[key] for key in ("class", "call") if key in value}
    return value


def test_the_golden_file_is_the_whole_one() -> None:
    assert len(records()) == SCRIPTS


@pytest.mark.parametrize("name", records())
def test_script(name: str) -> None:
    record = records()[name]
    assert comparable(result_of(record["script"])) == comparable(record["result"])


def test_the_command_writes_a_line_per_script() -> None:
    script, refused = (records()[name] for name in ("wordcount", "refused_parallelism_zero"))
    lacking = {"script": {"name": "later", "calls": [["env", "fromSequence", 1, 2]]}}
    text = "\n".join([json.dumps(script["script"]), json.dumps(refused), json.dumps(lacking)]) + "\n"
    command = [sys.executable, "tests/datastream/api_scripts.py"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=ROOT, check=True)
    first, second, third = map(json.loads, done.stdout.splitlines())
    assert comparable(first) == comparable(script["result"])
    assert second["build"]["error"]["call"] == 2
    assert third == {"unsupported": "fromSequence"}
