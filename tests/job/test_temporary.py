"""Folders of a run: gone with it, or with the next one if it was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest

from penstock.job.temporary import TemporaryFolder

KILLED = """
import os, signal
from penstock.job.temporary import TemporaryFolder
(TemporaryFolder("penstock-test-").path / "file").write_text("left")
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def tempdir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_it_goes_when_it_is_not_needed_any_more(tempdir: Path) -> None:
    folder = TemporaryFolder("penstock-test-")
    (folder.path / "inner").mkdir()
    (folder.path / "inner" / "file").touch()
    assert os.listdir(folder.path) == ["inner"]
    folder.remove()
    folder.remove()
    assert not list(tempdir.iterdir())


def test_a_job_without_a_folder_has_one_of_those(tempdir: Path) -> None:
    program = """
    import os, signal
    from penstock.datastream import SourceFunction, StreamExecutionEnvironment

    class Three(SourceFunction):
        def run(self, context):
            for number in range(3):
                context.collect(number)

        def cancel(self):
            pass

    env = StreamExecutionEnvironment.get_execution_environment(executor="local").enable_checkpointing(10)
    env.add_source(Three()).add_sink(lambda n: os.kill(os.getpid(), signal.SIGKILL) if n == WHEN else None)
    env.execute()
    """
    for kill, left in ((0, 1), (-1, 0)):
        text = textwrap.dedent(program).replace("WHEN", str(kill))
        subprocess.run([sys.executable, "-c", text], env={**os.environ, "TMPDIR": str(tempdir)}, check=kill < 0)
        assert len(list(tempdir.glob("penstock-job-*"))) == left


def test_those_of_the_dead_go_and_those_of_the_living_stay(tempdir: Path) -> None:
    living, other = TemporaryFolder("penstock-test-"), tempdir / "penstock-test-of-somebody"
    other.mkdir()
    died = subprocess.run([sys.executable, "-c", KILLED], env={**os.environ, "TMPDIR": str(tempdir)}, check=False)
    assert died.returncode == -signal.SIGKILL
    assert len(list(tempdir.glob("penstock-test-*/folder/file"))) == 1
    another = TemporaryFolder("penstock-test-")
    assert {*tempdir.iterdir()} == {living.path.parent, other, another.path.parent}
