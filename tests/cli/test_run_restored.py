"""``penstock run`` with the options that say what a job begins from, and at which parallelism."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from penstock.common.settings import cores
from penstock.job.folder.lease import JobFolder

pytestmark = pytest.mark.slow

PROGRAM = """
env = StreamExecutionEnvironment.get_execution_environment()  # whose parallelism nobody has set
numbers = env.from_collection(NUMBERS, type_info=Types.LONG()).uid("numbers")
keyed = numbers.key_by(lambda number: number % 3, Types.LONG())
keyed.sum().uid("UID").map(lambda total: total, Types.LONG()).print()
env.execute("sums")
"""


@pytest.fixture
def sums(program):
    """A program of sums of numbers, whose operator has a uid."""
    return lambda numbers, uid="sum": program(PROGRAM.replace("NUMBERS", repr(numbers)).replace("UID", uid))


def printed(captured) -> list[int]:
    return sorted(int(line.rpartition("> ")[2]) for line in captured.splitlines())


def test_a_job_goes_on_in_its_folder_and_another_begins_from_it(penstock, sums, tmp_path, capfd):
    def run(*options):
        result = penstock("run", "--local", *options)
        assert result.exit_code == 0, result.output
        return printed(result.stdout + capfd.readouterr().out)

    old, new = tmp_path / "old", tmp_path / "new"
    assert run("--checkpoint-directory", old, sums([1, 2, 4])) == [1, 2, 5]
    version = JobFolder(str(old)).newest().version + 1  # as which the next driver writes it once more
    assert run("--checkpoint-directory", old, "--parallelism", "2", sums([1, 2, 4, 5])) == [7]
    begun = ("--from-savepoint", f"{old}@{version}", "--checkpoint-directory", new)
    assert run(*begun, "-p", "3", sums([1, 2, 4, 8])) == [10]
    assert {operator.parallelism for operator in JobFolder(str(new)).newest().operators.values()} >= {3}
    assert run(*begun, sums([1, 2, 4, 8, 16])) == [21]


def test_state_that_would_be_left_behind_is_refused_unless_it_is_allowed(penstock, sums, tmp_path, capfd):
    place = tmp_path / "job"
    assert penstock("run", "--local", "--checkpoint-directory", place, sums([1, 2])).exit_code == 0
    refused = penstock("run", "--local", "--checkpoint-directory", place, sums([1, 2, 4], "other"))
    assert refused.exit_code == 1
    assert "There is state for operator" in refused.stderr
    capfd.readouterr()
    options = ("--checkpoint-directory", place, "--allow-non-restored-state")
    result = penstock("run", "--local", *options, sums([1, 2, 4], "other"))
    assert result.exit_code == 0, result.output
    assert printed(result.stdout + capfd.readouterr().out) == [4]


def test_a_reactive_job_takes_the_cores_that_there_are(penstock, sums, tmp_path, monkeypatch):
    monkeypatch.setattr(cores, "_configured", [3])
    place = tmp_path / "job"
    result = penstock("run", "--local", "--reactive", "--checkpoint-directory", place, sums([1, 2]))
    assert result.exit_code == 0, result.output
    assert {operator.parallelism for operator in JobFolder(str(place)).newest().operators.values()} == {3}
    refused = penstock("run", "--local", "--reactive", "-p", "2", sums([1, 2]))
    assert refused.exit_code == 2
    assert "Give one" in refused.stderr


def test_the_old_name_of_the_option_is_understood_and_named(penstock, sums, tmp_path):
    result = penstock("run", "--local", "--job-folder", tmp_path / "job", sums([1, 2]))
    assert result.exit_code == 0, result.output
    assert "--job-folder is the old name of --checkpoint-directory: use that" in result.stderr
    assert JobFolder(str(tmp_path / "job")).newest() is not None
    assert "--job-folder" not in penstock("run", "--help").stdout
    both = penstock("run", "--local", "--job-folder", "a", "--checkpoint-directory", "b", sums([1]))
    assert (both.exit_code, "Give the latter only" in both.stderr) == (2, True)
    result = penstock("run", "--local", "--conf", f"penstock.job.folder={tmp_path}/job", sums([1, 2]))
    assert result.exit_code == 0, result.output
    assert "penstock: penstock.job.folder is the old name of the setting execution.checkpointing.dir" in result.stderr


def test_no_savepoint_is_an_error_in_a_line(penstock, sums, tmp_path):
    result = penstock("run", "--local", "-s", tmp_path / "nothing", sums([1]))
    assert result.exit_code == 1
    assert "There is no savepoint at" in result.stderr
    assert "Traceback" not in result.stderr


ENDLESS = """
from penstock.common import WatermarkStrategy
from penstock.datastream.connectors import DataGeneratorSource, RateLimiterStrategy

env = StreamExecutionEnvironment.get_execution_environment()
count = int(sys.argv[1])
made = DataGeneratorSource(lambda n: n, count or None, Types.LONG(), RateLimiterStrategy.per_second(1000))
numbers = env.from_source(made, WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
numbers.key_by(lambda n: 0, Types.LONG()).sum().uid("sum").add_sink(lambda value: None).uid("sink")
env.execute("sums")
"""


def test_a_job_that_runs_is_rescaled(penstock, program, tmp_path):
    path, job = program(ENDLESS), tmp_path / "job"
    command = [sys.executable, "-m", "penstock.cli", "run", "--local", "--checkpoint-directory", job, path, "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    try:
        until = time.monotonic() + 60
        while not list((job / "manifests").glob("manifest-*.json")):
            assert time.monotonic() < until
            time.sleep(0.05)
        result = penstock("rescale", "--local", "--savepoint", tmp_path / "kept", job, "3", path, "1")
        assert result.exit_code == 0, result.output
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
    assert len(list((tmp_path / "kept").iterdir())) == 1
    newest = JobFolder(str(job)).newest()
    assert newest.parallelism == 3
    assert {operator.parallelism for operator in newest.operators.values()} == {3}
