"""``penstock clean``: one line per job that died, and nothing touched that is not Penstock's."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

WRITES = """
import os
{death}
lines = env.from_collection(["a", "b"], type_info=Types.STRING())
lines{function}.write_as_text("{folder}/first")
lines.write_as_text("{folder}/second")
env.execute("two files")
"""
IN_A_FUNCTION = ".map(lambda line: os._exit(9), output_type=Types.STRING())"
BEFORE_THE_FIRST_RENAME = "import penstock.job.commit.publish as c\nc.publish = lambda *_: os._exit(9)\n"


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
