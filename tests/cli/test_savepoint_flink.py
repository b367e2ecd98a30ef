"""``penstock savepoint`` with savepoints of Apache Flink, and ``check`` with ours too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.flink_savepoints.golden import by_name, place, spec

OURS = Path(__file__).parents[1] / "golden" / "savepoints" / "format-1"
COUNTS = """
from penstock.datastream.functions import KeyedProcessFunction
from penstock.datastream.state import ValueStateDescriptor

class Count(KeyedProcessFunction):
    def open(self, context):
        self.count = context.get_state(ValueStateDescriptor("count", Types.INT()))
    def process_element(self, value, ctx):
        yield value

env.set_parallelism(2)
words = env.from_collection(["a"], type_info=Types.STRING()).uid("src")
counted = words.key_by(lambda word: word, Types.STRING()).process(Count(), Types.STRING()).name("count")
counted.uid("UID").print().uid("out")
env.execute("counts")
"""


@pytest.fixture
def counts(program):
    """The program of the golden savepoints, in Python, with a uid of one's choice."""
    return lambda uid="count": program(COUNTS.replace("UID", uid))


def test_show(penstock):
    shown = penstock("savepoint", "show", place("2.3.0", "f_two"))
    assert shown.exit_code == 0
    assert "Savepoint 1 of Flink (written by 2.3, format 6, canonical)" in shown.stdout
    assert "6730ef7375fb60f9d9bbdfdfd174d803" in shown.stdout
    content = json.loads(penstock("savepoint", "show", "--json", place("2.3.0", "f_two")).stdout)
    assert {operator["uid"]: operator["bytes"] for operator in content["operators"]} == {
        "src": 0,
        "count": 948,
        "second": 950,
        "out": 0,
    }


def test_hostile_names_are_inert(penstock, counts, tmp_path):
    """Half a surrogate pair, a colour, a bell and a turn of the writing direction."""
    data = Path(place("2.3.0", "f_two")).read_bytes()
    evil = b"\xed\xa0\x80\x1b[31m\x07\xe2\x80\xae"
    at = data.index(b"second")
    (tmp_path / "_metadata").write_bytes(data[: at - 2] + len(evil).to_bytes(2, "big") + evil + data[at + 6 :])
    for arguments in (
        ("show", tmp_path),
        ("show", "--json", tmp_path),
        ("facts", tmp_path),
        ("diff", tmp_path, place("2.3.0", "f_two")),
        ("check", "--flink", "2.3", tmp_path, counts()),
    ):
        output = penstock("savepoint", *arguments)
        assert not set("\x1b\x07\u202e") & set(output.output)
        assert "ud800" in output.output
    assert "ud800" in penstock("uid", "--find", "6730ef7375fb60f9d9bbdfdfd174d803", "--savepoint", tmp_path).output


def test_facts(penstock):
    output = penstock("savepoint", "facts", place("2.3.0", "f_two"), place("1.11.4", "f_two"))
    assert output.exit_code == 0
    new, old = map(json.loads, output.stdout.splitlines())
    assert new["savepoint"] == by_name()["2.3.0", "f_two"]["savepoint"]
    assert old["savepoint"] == by_name()["1.11.4", "f_two"]["savepoint"]
    broken = penstock("savepoint", "facts", "/there/is/none")
    assert (broken.exit_code, json.loads(broken.stdout)["error"]["class"]) == (0, "java.io.FileNotFoundException")


def test_restores(penstock):
    asked = {"savepoint": place("2.3.0", "f_two"), "spec": spec("2.3.0", "f_base")}
    lines = "\n".join([json.dumps(asked), "nonsense", json.dumps({**asked, "allow_non_restored_state": True})])
    answered = penstock("savepoint", "restores", "--flink", "2.3", stdin=lines)
    assert answered.exit_code == 0
    refused, wrong, restored = map(json.loads, answered.stdout.splitlines())
    assert (refused["restored"], refused["stage"], wrong["line"], restored["restored"]) == (False, "plan", 2, True)


def test_check_of_a_program_that_fits(penstock, counts):
    checked = penstock("savepoint", "check", "--flink", "2.3", place("2.3.0", "f_base"), counts())
    assert (checked.exit_code, checked.stderr) == (0, "")
    assert "Flink 2.3 restores it from" in checked.stdout
    assert "max parallelism 128" in checked.stdout


def test_check_of_a_program_that_does_not(penstock, counts):
    checked = penstock("savepoint", "check", "--flink", "2.3", place("2.3.0", "f_base"), counts("renamed"))
    assert checked.exit_code == 1
    assert "Flink 2.3 refuses to restore it" in checked.stdout
    assert "Flink says: IllegalStateException: Failed to rollback" in checked.stdout
    assert "left-behind" in checked.stdout
    allowed = penstock("savepoint", "check", "-n", "--json", place("1.11.4", "f_base"), counts("renamed"))
    assert allowed.exit_code == 0
    document = json.loads(allowed.stdout)
    assert (document["kind"], document["restored"], document["good"]) == ("flink", True, True)
    assert {finding["code"] for finding in document["findings"]} == {"left-behind", "starts-empty"}


def test_check_names_a_later_flink(penstock, counts):
    checked = penstock("savepoint", "check", place("2.3.0", "f_base"), counts())
    assert checked.exit_code == 1
    assert "--flink 2.3" in checked.stderr


def test_check_of_a_savepoint_of_ours(penstock, counts):
    checked = penstock("savepoint", "check", OURS, counts())
    assert checked.exit_code == 1
    assert "Penstock refuses to restore it" in checked.stdout
    allowed = penstock("savepoint", "check", "--json", "-n", OURS, counts())
    assert allowed.exit_code == 0
    document = json.loads(allowed.stdout)
    assert (document["kind"], document["restored"]) == ("penstock", True)
    assert {"left-behind", "starts-empty"} <= {finding["code"] for finding in document["findings"]}


def test_verify_and_diff(penstock):
    good = penstock("savepoint", "verify", place("2.3.0", "files_a"))
    assert (good.exit_code, good.stderr) == (0, "")
    assert "4 files beside _metadata" in good.stdout
    odd = Path(place("2.3.0", "list_a")).parents[1] / "odd" / "cut_half"
    bad = penstock("savepoint", "verify", odd)
    assert bad.exit_code == 1
    assert "at byte 1,126" in bad.stderr.replace("\n", " ").replace("  ", " ")
    differs = penstock("savepoint", "diff", place("2.3.0", "f_base"), place("2.3.0", "f_two"))
    assert differs.stdout == "operator second (uid second), 6730ef7375fb60f9d9bbdfdfd174d803: added (950 bytes)\n"
    mixed = penstock("savepoint", "diff", OURS, place("2.3.0", "f_two"))
    assert mixed.exit_code == 1
    assert "is a savepoint of Apache Flink" in mixed.stderr.replace("\n  ", " ")


def test_uids_of_ids(penstock, counts, tmp_path):
    ids = ["b71731f1c0df9c3076c4a455334d0ad6", "4D648856F35492026B8F75B0A6EC795E"]
    words = tmp_path / "words.txt"
    words.write_text("some\nout\n")
    graph = tmp_path / "graph.json"
    graph.write_text(json.dumps({"spec": spec("2.3.0", "f_base")}))
    where = ["--words", words, "--spec", graph, "--program", counts(), "--savepoint", place("2.3.0", "f_base")]
    output = penstock("uid", "--find", "-", *where, "--savepoint", OURS, stdin="\n".join(ids))
    assert output.exit_code == 0
    assert len(output.stdout.splitlines()) == 7
    assert f"{ids[0]}  uid 'count' of operator 'count'  ({graph})" in output.stdout
    assert f"{ids[1].lower()}  uid 'out'  ({words})" in output.stdout
    origins = json.loads(penstock("uid", "--json", "--find", ids[0], "--spec", graph).stdout)
    assert origins[ids[0]][0]["uid"] == "count"


def test_ids_that_are_not_found_or_none(penstock, tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("")
    missing = penstock("uid", "--find", "0" * 32, "--words", words)
    assert (missing.exit_code, missing.stdout) == (1, f"{'0' * 32}  not found\n")
    assert penstock("uid", "--find", "count", "--words", words).exit_code == 2
    assert penstock("uid", "--find", "0" * 32).exit_code == 2
    assert penstock("uid").exit_code == 2
    words.write_text("no graph")
    refused = penstock("uid", "--find", "0" * 32, "--spec", words)
    assert refused.exit_code == 1
    assert "SpecError" in refused.stderr


def test_many_texts(penstock):
    assert penstock("uid", "a", "b").stdout == (
        "897859f6655555855a890e51483ab5e6  a\need1d3b157a9987ae9944e541e132efa  b\n"
    )


def test_entries_are_lines_of_json(penstock):
    result = penstock("savepoint", "entries", place("2.3.0", "windows_a"))
    assert (result.exit_code, result.stderr) == (0, "")
    entries = [json.loads(line) for line in result.stdout.splitlines()]
    assert {entry["kind"] for entry in entries} == {"reducing", "list", "timers"}
    (first, *_) = (entry for entry in entries if entry["state"] == "window-contents")
    assert first == {
        "operator_id": "1228afe0298b7812a54a8a47f0a2c61f",
        "state": "window-contents",
        "kind": "reducing",
        "subtask": 0,
        "key_group": 6,
        "key": "k9",
        "namespace": {"start": 1500, "end": 2000},
        "value": ["k9", 199],
    }


def test_a_state_that_cannot_be_read_keeps_no_other_from_being_printed(penstock):
    result = penstock("savepoint", "entries", place("2.3.0", "types_b"))
    assert result.exit_code == 1
    assert "State 'a-kryo' of operator 'types'" in result.stderr
    assert {json.loads(line)["state"] for line in result.stdout.splitlines()} == {"b-decimal", "c-texts", "d-points"}
    chosen = penstock("savepoint", "entries", "--operator", "types", "--state", "c-texts", place("2.3.0", "types_b"))
    assert chosen.exit_code == 0
    assert {json.loads(line)["state"] for line in chosen.stdout.splitlines()} == {"c-texts"}


def test_files_of_rocksdb_are_refused_with_the_command_that_helps(penstock):
    result = penstock("savepoint", "entries", place("2.3.0", "native_rocksdb_a"))
    assert (result.exit_code, result.stdout) == (1, "")
    assert "flink savepoint -type canonical JOB_ID FOLDER" in " ".join(result.stderr.split())


def test_entries_of_a_place_without_a_savepoint(penstock, tmp_path):
    result = penstock("savepoint", "entries", tmp_path)
    assert result.exit_code == 1
    assert "There is no savepoint at" in result.stderr
