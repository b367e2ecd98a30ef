"""``penstock savepoint read`` prints states; the commands that edit make new savepoints."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from tests.flink_savepoints.golden import place
from tests.savepoints.programs import PAIRS, Things, outputs, taken

from penstock.savepoints import Savepoint

FLINK = Path(__file__).parents[2] / "examples" / "flink-savepoint" / "savepoint-5dd913-a4816598a894"
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


def test_a_state_of_flink_is_printed_in_each_form(penstock):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    rows = lines(penstock("savepoint", "read", FLINK, "count", "count"))
    assert {"key": "k9", "value": 4, "key_group": 6} in rows
    for form, read in (
        ("arrow", lambda data: pa.ipc.open_stream(data).read_all()),
        ("parquet", lambda data: pq.read_table(io.BytesIO(data))),
    ):
        result = penstock("savepoint", "read", "--format", form, FLINK, "count", "count")
        assert read(result.stdout_bytes).to_pylist() == rows
    result = penstock("savepoint", "read", "--format", "csv", FLINK, "count", "count")
    assert len(list(csv.DictReader(io.StringIO(result.stdout)))) == len(rows)
    refused = penstock("savepoint", "read", FLINK, "count")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "positions of a source are lists" in " ".join(refused.stderr.split())


def test_all_states_are_exported(penstock, tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    result = penstock("savepoint", "export", GOLDEN, tmp_path / "ours")
    assert result.exit_code == 0, result.stderr
    written = {path.relative_to(tmp_path / "ours").as_posix() for path in (tmp_path / "ours").rglob("*.parquet")}
    assert result.stdout.splitlines() == [f"{tmp_path}/ours/{name}" for name in OURS]
    assert written == set(OURS)
    table = pq.read_table(tmp_path / "ours/many/states/by.parquet")
    assert table.equals(Savepoint(GOLDEN).read("many", "by").to_arrow())
    result = penstock("savepoint", "export", "--format", "csv", "--state", "count", FLINK, tmp_path / "flink")
    assert result.stdout == f"{tmp_path}/flink/count/states/count.csv\n"
    for arguments, why in (
        ((FLINK, tmp_path / "ours"), "There are files at"),
        (("--state", "lost", FLINK, tmp_path / "new"), "has no state 'lost' to export"),
        (("--operator", "lost", FLINK, tmp_path / "new"), "has no operator 'lost' to export"),
    ):
        refused = penstock("savepoint", "export", *arguments)
        assert refused.exit_code == 1
        assert why in " ".join(refused.stderr.split())
    assert not (tmp_path / "new").exists()


OURS = [
    *(f"many/states/{name}.parquet" for name in ("all", "by", "count", "last", "sum")),
    "many/timers.parquet",
    "rules/states/rules.parquet",
    "windows/states/window-contents.parquet",
    "windows/timers.parquet",
]


def test_a_state_that_cannot_be_exported_is_refused_and_others_are_written(penstock, tmp_path):
    pytest.importorskip("pyarrow")
    result = penstock("savepoint", "export", place("1.11.4", "types_b"), tmp_path / "out")
    assert result.exit_code == 1
    assert result.stderr.count("error: ") == 1
    assert "State 'a-kryo' of operator" in result.stderr
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert sorted(map(str, files)) == sorted(result.stdout.splitlines())
    assert "a-kryo.parquet" not in {path.name for path in files}


def test_names_of_strangers_stay_in_the_folder():
    from penstock.cli.savepoint_tables import _file_name

    assert [_file_name(name) for name in ("a b", "a/b", "..", ".", "é", "../x")] == [
        *("a b", "a%2Fb", "%2E%2E", "%2E", "%C3%A9", "..%2Fx"),
    ]


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
