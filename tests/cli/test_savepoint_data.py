"""``penstock savepoint read`` prints states; the commands that edit make new savepoints."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from tests.savepoints.programs import PAIRS, Things, outputs, taken

from penstock.savepoints import Savepoint

GOLDEN = Path(__file__).parents[1] / "golden" / "savepoints" / "format-1"


def lines(result) -> list:
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_states_are_lines_of_json(penstock):
    rows = lines(penstock("savepoint", "read", GOLDEN, "many", "by"))
    assert {"key": 4, "value": {"odd": 53, "even": 46}} in rows
    assert len(rows) == 7
    assert lines(penstock("savepoint", "read", GOLDEN, "rules", "rules")) == [{"key": "rule", "value": 1001}]
    positions = lines(penstock("savepoint", "read", GOLDEN, "numbers"))
    assert {row["split"]: row["position"] for row in positions} == {"part-0": 30, "part-1": 30}


def test_timers_are_csv(penstock):
    result = penstock("savepoint", "read", "--timers", "--format", "csv", GOLDEN, "windows")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert len(rows) == 7
    assert {row["namespace"] for row in rows} == {'{"start": 50, "end": 100}'}
    assert {(row["domain"], row["time"]) for row in rows} == {("event", "99")}
    assert penstock("savepoint", "read", "--timers", GOLDEN, "windows", "x").exit_code == 2


def test_arrow_is_a_stream(penstock):
    pa = pytest.importorskip("pyarrow")
    result = penstock("savepoint", "read", "--format", "arrow", GOLDEN, "many", "all")
    table = pa.ipc.open_stream(result.stdout_bytes).read_all()
    assert table.schema == pa.schema({"key": pa.int64(), "value": pa.list_(pa.int64())})
    assert table.num_rows == 7


def test_objects_are_asked_for(penstock, tmp_path):
    outputs(tmp_path / "job", PAIRS, function=Things())
    place = taken(tmp_path / "job", tmp_path / "savepoint")
    refused = penstock("savepoint", "read", place, "many", "thing")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "can run any code" in refused.stderr
    rows = lines(penstock("savepoint", "read", "--unpickle", place, "many", "thing"))
    assert {row["key"]: row["value"] for row in rows}["k0"] == {"number": 35}


def test_edits_make_new_savepoints(penstock, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    steps = [
        ("drop", GOLDEN, "a", "rules"),
        ("drop", "a", "b", "many", "all"),
        ("rename-uid", "b", "c", "many", "lots"),
        ("set-max-parallelism", "c", "d", "lots", 500),
        ("drop", GOLDEN, "e1", "numbers"),
        ("drop", "e1", "e2", "windows"),
        ("merge", "d", "e2", "f"),
    ]
    for step in steps:
        result = penstock("savepoint", *step)
        assert result.exit_code == 0, (step, result.stderr)
        assert result.stdout == f"{tmp_path / (step[-1] if step[0] == 'merge' else step[2])}\n"
        assert penstock("savepoint", "verify", result.stdout.strip()).exit_code == 0
    last = {operator.uid: operator for operator in Savepoint("f").operators()}
    assert set(last) == {"lots", "windows", "rules", "many"}
    assert (last["lots"].max_parallelism, last["many"].max_parallelism) == (500, 128)
    assert {state.name for state in last["lots"].states} == {"by", "count", "last", "sum"}


def test_what_cannot_be_is_said_in_words(penstock, tmp_path):
    for step, message in [
        (("merge", GOLDEN, GOLDEN, tmp_path / "new"), "in both savepoints"),
        (("drop", GOLDEN, tmp_path / "new", "few"), "uid or OperatorID 'few'"),
        (("set-max-parallelism", GOLDEN, tmp_path / "new", "many", 1), "cannot be 1"),
        (("rename-uid", GOLDEN, GOLDEN, "many", "few"), "savepoint already"),
    ]:
        result = penstock("savepoint", *step)
        assert result.exit_code == 1, step
        assert message in " ".join(result.stderr.split())
        assert "Traceback" not in result.stderr
    assert not (tmp_path / "new" / "savepoint.json").exists()


@pytest.mark.parametrize("command", ["read", "drop", "rename-uid", "set-max-parallelism", "merge"])
def test_help_has_examples_and_lines_that_fit(penstock, command):
    result = penstock("savepoint", command, "--help")
    assert f"  penstock savepoint {command} " in result.stdout.split("Examples:")[1]
    assert max(map(len, result.stdout.splitlines())) <= 100
