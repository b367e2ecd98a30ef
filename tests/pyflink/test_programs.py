"""Programs written for PyFlink, as they are: each prints what is recorded of it.

All run in this process, as the command line runs them, and one in three on Spark, in one session; some by the command
line itself, too.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from penstock.cli.program import run_program
from penstock.datastream.environment import executors
from penstock.pyflink.finder import PYFLINK, Py4JFinder, PyFlinkFinder
from tests.pyflink.on_pyflink import BEGIN, END
from tests.pyflink.record_outputs import outputs
from tests.pyflink.recorded import unpacked

ROOT = Path(__file__).parents[2]
FOLDER = unpacked("programs")
PROGRAMS = sorted(FOLDER.glob("*.py"))
ON_SPARK = PROGRAMS[::3]
"""The drop-in is the same above both executors, and that both give the same is held by programs of its own."""
BY_COMMAND = [FOLDER / "functions_print.py", FOLDER / "word_count.py"]


@contextmanager
def led_away() -> Generator[None, None, None]:
    """After the block ``pyflink`` means nothing any more."""
    try:
        yield
    finally:
        sys.meta_path[:] = [entry for entry in sys.meta_path if not isinstance(entry, PyFlinkFinder | Py4JFinder)]
        for name in [name for name in sys.modules if name.partition(".")[0] == PYFLINK]:
            del sys.modules[name]


def shown(program: Path, executor: executors.Executor) -> list[str]:
    """The lines that a program prints, run in this process."""
    output = io.StringIO()
    with led_away(), redirect_stdout(output):
        run_program(str(program), [], executor, pyflink=True)
    return sorted(output.getvalue().splitlines())


def printed(program: Path, *options: str, command: str = "run") -> list[str]:
    """The lines that a program prints, run by the command line."""
    arguments = [sys.executable, "-m", "penstock.cli", command, "--pyflink", *options, str(program)]
    run = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


def recorded(program: Path) -> list[str]:
    """The lines that it prints on the real PyFlink, in order of the alphabet."""
    return sorted(program.with_suffix(".txt").read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_prints_what_pyflink_prints(program: Path) -> None:
    assert shown(program, executors.get("local")) == recorded(program)


@pytest.mark.spark
@pytest.mark.parametrize("program", ON_SPARK, ids=lambda path: path.stem)
def test_so_it_does_on_spark(program: Path, spark: Any) -> None:
    assert shown(program, executors.get("spark", spark=spark)) == recorded(program)


@pytest.mark.slow
@pytest.mark.parametrize("program", BY_COMMAND, ids=lambda path: path.stem)
def test_by_the_command_line(program: Path) -> None:
    assert sorted(printed(program, "--local")) == recorded(program)


@pytest.mark.spark
def test_by_the_command_line_on_spark() -> None:
    program, *_ = BY_COMMAND
    assert sorted(printed(program, "--master", "local[2]")) == recorded(program)


NEIGHBOUR = """
from pyflink.common import Row
from pyflink.datastream import MapFunction

class Mine(MapFunction):
    def map(self, value):
        from pyflink.common.typeinfo import Types
        return Row(value, Types.INT() is not None)
"""
PROGRAM = """
import logging, sys
import neighbour
logging.basicConfig(stream=sys.stdout, level=logging.INFO)
from pyflink.datastream import StreamExecutionEnvironment
env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
env.from_collection([1]).map(neighbour.Mine()).print()
env.execute()
"""


@pytest.fixture
def beside(tmp_path: Path) -> Path:
    """A program that takes its function from a module beside it, which imports pyflink itself, and that logs where it
    prints: nothing of ours or py4j's comes there."""
    (tmp_path / "neighbour.py").write_text(NEIGHBOUR)
    (tmp_path / "program.py").write_text(PROGRAM)
    return tmp_path / "program.py"


def test_modules_beside_a_program_import_pyflink_too(beside: Path) -> None:
    assert printed(beside, "--local") == ["<Row(1, True)>"]


@pytest.mark.spark
def test_on_executors_too(beside: Path) -> None:
    assert printed(beside, "--master", "local[1]") == ["<Row(1, True)>"]


def test_a_program_is_explained_as_it_is() -> None:
    lines = printed(FOLDER / "word_count.py", "--json", command="explain")
    assert '"name": "word count",' in "".join(lines)


def test_there_are_programs() -> None:
    assert len(PROGRAMS) >= 5
    assert "SPARK_REMOTE" not in os.environ


def test_the_recorder_tells_the_outputs_apart() -> None:
    lines = [f"{BEGIN}a\n", "1\n", "2\n", f"{END}a\n", f"{BEGIN}failed\n", "3\n", f"{BEGIN}b\n", f"{END}b\n"]
    assert outputs(lines) == {"a": "1\n2\n", "b": ""}
