"""``penstock savepoint import`` and ``penstock run --from-savepoint`` with savepoints of the real Flink and PyFlink."""

from __future__ import annotations

import json

import pytest
from tests.flink_savepoints.golden import place
from tests.moves.golden import lines, savepoint

PROGRAM = """
from penstock.common import Types
from penstock.datastream import KeyedProcessFunction, StreamExecutionEnvironment, ValueStateDescriptor


class Count(KeyedProcessFunction):
    def open(self, context):
        self.count = context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, word, ctx):
        self.count.update((self.count.value() or 0) + 1)
        yield f"{word}: {self.count.value()}"


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
words = env.from_collection(WORDS, Types.STRING())
words.key_by(lambda word: word, Types.STRING()).process(Count(), Types.STRING()).uid("UID").print()
env.execute("counts")
"""


@pytest.fixture
def counts(tmp_path):
    def written(uid="count", words=("k0", "k1", "never")):
        path = tmp_path / "counts.py"
        path.write_text(PROGRAM.replace("WORDS", repr(list(words))).replace("UID", uid))
        return path

    return written


def line(name="value_count", flink="2.3.0"):
    return next(line for line in lines() if (line["name"], line["flink"]) == (name, flink))


def before(key):
    """How often a key has come in Flink."""
    return sum(item[0] == key for item in line()["first"] if isinstance(item, list))


@pytest.mark.parametrize("flink", ["2.3.0", "1.11.4"])
def test_a_run_begins_from_flinks_savepoint(penstock, counts, tmp_path, flink):
    source = savepoint(line(flink=flink))
    job = "--checkpoint-directory", tmp_path / "job"
    result = penstock("run", "--local", "--from-savepoint", source, *job, counts())
    assert result.exit_code == 0, result.output
    assert sorted(result.stdout.splitlines()) == [f"k0: {before('k0') + 1}", f"k1: {before('k1') + 1}", "never: 1"]
    assert "of a job of Flink" in result.stderr
    again = penstock("run", "--local", "--from-savepoint", source, *job, counts())
    assert (again.exit_code, "Resuming from checkpoint" in again.stderr) == (0, True)
    other = penstock("run", "--local", "--from-savepoint", savepoint(line("map_counts")), *job, counts())
    assert (other.exit_code, "a job that began from another one" in " ".join(other.stderr.split())) == (1, True)


def test_an_import_says_what_has_come_over(penstock, counts, tmp_path):
    source = savepoint(line())
    result = penstock("savepoint", "import", source, counts(), tmp_path / "new")
    assert result.exit_code == 0, result.output
    keys = {item[0] for item in line()["first"] if isinstance(item, list)}
    assert result.stdout.splitlines()[0] == f"{tmp_path}/new: made of {source}"
    assert f"    count: {len(keys)}" in result.stdout
    assert penstock("savepoint", "verify", tmp_path / "new").exit_code == 0
    run = penstock("run", "--local", "--from-savepoint", tmp_path / "new", counts())
    assert sorted(run.stdout.splitlines()) == [f"k0: {before('k0') + 1}", f"k1: {before('k1') + 1}", "never: 1"]
    again = penstock("savepoint", "import", source, counts(), tmp_path / "new")
    assert (again.exit_code, "There is a savepoint already" in " ".join(again.stderr.split())) == (1, True)
    ours = penstock("savepoint", "import", tmp_path / "new", counts(), tmp_path / "newer")
    assert (ours.exit_code, "is a savepoint of Penstock already" in " ".join(ours.stderr.split())) == (1, True)


def test_state_that_does_not_come_over_is_refused_and_named(penstock, counts, tmp_path, caplog):
    source, program = savepoint(line()), counts(uid="other")
    for command in (
        ("savepoint", "import", source, program, tmp_path / "new"),
        ("run", "--local", "-s", source, program),
    ):
        result = penstock(*command)
        assert result.exit_code == 1
        assert "the program has no operator with this ID or the uid 'count'" in result.stderr
        assert not result.stdout
    result = penstock("savepoint", "import", "--json", "-n", source, program, tmp_path / "new")
    document = json.loads(result.stdout)
    assert document["operators"] == []
    (loss,) = document["losses"]
    assert (loss["state"], "no operator with this ID" in loss["reason"]) == ("", True)
    run = penstock("run", "--local", "-n", "-s", source, program)
    assert sorted(run.stdout.splitlines()) == ["k0: 1", "k1: 1", "never: 1"]
    assert "Not taken over from Flink, as allowed" in caplog.text


def test_a_savepoint_of_flink_is_not_one_of_ours(penstock):
    result = penstock("savepoint", "drop", place("2.3.0", "co_a"), "new", "uid")
    assert (result.exit_code, "`penstock savepoint import`" in " ".join(result.stderr.split())) == (1, True)


def test_pickles_of_pyflink_are_read_only_when_that_is_asked(penstock, tmp_path):
    from tests.pyflink_savepoints import golden

    (objects,) = [line for line in golden.lines() if (line["name"], line["flink"]) == ("objects", "2.3.0")]
    program = tmp_path / "objects.py"
    text = golden.PROGRAMS.read_text()
    program.write_text(
        f"{text}\nfrom pyflink.datastream import StreamExecutionEnvironment\n"
        "env = StreamExecutionEnvironment.get_execution_environment()\n"
        f"env.set_parallelism(1).set_max_parallelism({objects['max_parallelism']})\n"
        "objects(env.from_collection([], Types.STRING())).print()\nenv.execute()\n"
    )
    command = "savepoint", "import", "--pyflink", "-n", golden.place(objects), program
    refused = penstock(*command, tmp_path / "one")
    assert refused.exit_code == 1
    assert "fractions.Fraction" in refused.stderr
    assert penstock(*command[:3], "--unpickle", *command[3:], tmp_path / "two").exit_code == 0
