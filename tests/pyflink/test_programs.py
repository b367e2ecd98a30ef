"""Programs written for PyFlink, as they are: each prints what the file beside it says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent / "programs"
PROGRAMS = sorted(FOLDER.glob("*.py"))


def printed(program: Path, *options: str) -> list[str]:
    """The lines that a program prints, run by the command line."""
    command = [sys.executable, "-m", "penstock.cli", "run", "--pyflink", *options, str(program)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_prints_what_pyflink_prints(program: Path) -> None:
    assert sorted(printed(program, "--local")) == sorted(program.with_suffix(".txt").read_text().splitlines())


@pytest.mark.spark
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_so_it_does_on_spark(program: Path) -> None:
    assert sorted(printed(program, "--master", "local[2]")) == sorted(
        program.with_suffix(".txt").read_text().splitlines()
    )


def test_there_are_programs() -> None:
    assert len(PROGRAMS) >= 5
    assert "SPARK_REMOTE" not in os.environ
