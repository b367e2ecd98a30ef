"""``penstock clean``: one line per job that died, and nothing touched that is not Penstock's."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from penstock.job.folder.lease import JobFolder

pytestmark = pytest.mark.slow

WRITES = """
import os
{death}
lines = env.from_collection(["a", "b"], type_info=Types.STRING())
lines{function}.write_as_text("{folder}/first")
lines.write_as_text("{folder}/second")
env.execute("two files")
"""
IN_A_FUNCTION = ".map(lambda line: os._exit(9), output_type=Types.STRING())"
BEFORE_THE_FIRST_RENAME = "import penstock.job.steps.outputs as c\nc.publish_files = lambda *_: os._exit(9)\n"


@pytest.fixture
def died(program, tmp_path):
    """Runs a program with two outputs whose process dies; the folder of the outputs."""

    def run(*, committed):
        folder = tmp_path / "data"
        folder.mkdir()
        lines = WRITES.format(
            folder=folder,
            death=BEFORE_THE_FIRST_RENAME if committed else "",
            function="" if committed else IN_A_FUNCTION,
        )
        command = [sys.executable, "-m", "penstock.cli", "run", "--local", str(program(lines))]
        assert subprocess.run(command, check=False).returncode == 9
        assert all(name.startswith(".") for name in os.listdir(folder))
        return folder

    return run


def test_a_job_that_was_not_committed_is_removed(penstock, died):
    folder = died(committed=False)
    outputs = f"job 'two files', output {folder}/first, {folder}/second\n"
    before = sorted(os.listdir(folder))
    assert penstock("clean", "--dry-run", folder).stdout == f"would remove: {outputs}"
    assert sorted(os.listdir(folder)) == before
    assert penstock("clean", folder).stdout == f"removed: {outputs}"
    assert os.listdir(folder) == []
    assert penstock("clean", folder).stdout == "nothing to clean\n"


def test_a_job_that_was_committed_is_published(penstock, died):
    folder = died(committed=True)
    outputs = f"job 'two files', output {folder}/first, {folder}/second\n"
    assert penstock("clean", "--dry-run", folder / "second", folder).stdout == f"would publish: {outputs}"
    result = penstock("clean", folder / "second")  # one output of a job is enough
    assert (result.stdout, result.exit_code) == (f"published: {outputs}", 0)
    assert sorted(os.listdir(folder)) == ["first", "second"]
    assert (folder / "first").read_text() == "a\nb\n"


def test_what_is_in_the_way_is_named(penstock, died):
    folder = died(committed=True)
    (folder / "second").write_text("precious")
    result = penstock("clean", f"file://{folder}")
    assert result.exit_code == 1
    assert result.stdout.startswith(f"left: job 'two files', output {folder}/first, {folder}/second\n")
    assert f"'{folder}/second' exists already" in result.stdout
    assert (folder / "second").read_text() == "precious"
    assert not (folder / "first").exists()


def test_paths_that_lead_nowhere_are_errors(penstock, tmp_path):
    assert penstock("clean").exit_code == 2
    result = penstock("clean", tmp_path / "no" / "output")
    assert result.exit_code == 1
    assert "does not exist" in " ".join(result.stderr.split())  # the line breaks depend on the path
    assert penstock("clean", "ftp://host/out").exit_code == 1
    assert penstock("clean", tmp_path / "out").exit_code == 0


STEPS = """
import os
from penstock.common import Configuration
{death}
settings = {{"execution.checkpointing.dir": "{folder}/job", "penstock.step.records": "1"}}
env.configure(Configuration.from_dict(settings))
lines = env.from_collection(["a", "b"], type_info=Types.STRING()){function}
lines.write_as_text("{folder}/data/out")
env.execute("lines")
"""
AT_THE_SECOND = ".map(lambda line: line if line == 'a' else os._exit(9), output_type=Types.STRING())"
BEHIND_A_MANIFEST = """
from penstock.job.steps.outputs import Outputs
publish = Outputs.publish
Outputs.publish = lambda self, outputs, version: os._exit(9) if outputs else publish(self, outputs, version)
"""


@pytest.fixture
def steps(program, tmp_path):
    """Runs a program in steps with one output, whose process may die; what there is in the folder of the output."""
    (tmp_path / "data").mkdir()

    def run(death="", function="", ends=9):
        lines = STEPS.format(folder=tmp_path, death=death, function=function)
        command = [sys.executable, "-m", "penstock.cli", "run", "--local", str(program(lines))]
        assert subprocess.run(command, check=False).returncode == ends
        return tmp_path / "data"

    return run


def test_what_a_job_in_steps_has_left_is_removed(penstock, steps):
    folder = steps(function=AT_THE_SECOND)
    [waiting] = [name for name in os.listdir(folder) if name != "out"]
    assert waiting.startswith(".out.steps-")
    description = f"job 'lines', output {folder}/out\n"
    assert penstock("clean", "--dry-run", folder).stdout == f"would remove: {description}"
    assert penstock("clean", folder / "out").stdout == f"removed: {description}"
    assert os.listdir(folder) == ["out"]
    assert (folder / "out").read_text() == "a\n"
    assert penstock("clean", folder).stdout == "nothing to clean\n"
    steps(ends=0)
    assert (folder / "out").read_text() == "a\nb\n"


def test_what_a_job_in_steps_has_committed_waits_for_its_next_run(penstock, steps):
    folder = steps(death=BEHIND_A_MANIFEST)
    result = penstock("clean", folder)
    assert result.exit_code == 1
    assert result.stdout.startswith(f"left: job 'lines', output {folder}/out\n")
    assert "Run the program again with that checkpoint directory" in " ".join(result.stdout.split())
    steps(ends=0)
    assert (folder / "out").read_text() == "a\nb\n"
    assert os.listdir(folder) == ["out"]


def test_what_may_belong_to_a_job_in_steps_elsewhere_is_left(penstock, steps, tmp_path):
    folder = steps(function=AT_THE_SECOND)
    before = sorted(os.listdir(folder))
    with JobFolder(str(tmp_path / "job")).open("lines"):
        assert penstock("clean", folder).stdout == f"still running: job 'lines', output {folder}/out\n"
    os.rename(tmp_path / "job", tmp_path / "moved")
    result = penstock("clean", folder)
    assert result.exit_code == 1
    assert "is not there" in result.stdout
    assert sorted(os.listdir(folder)) == before
