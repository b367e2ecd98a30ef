"""What the command line tests share: calling the command in this process, and small programs to call it with."""

from __future__ import annotations

import textwrap

import pytest
from click.testing import CliRunner

from penstock.cli import group

PRELUDE = """
import sys
from penstock.common import Types
from penstock.datastream import StreamExecutionEnvironment
env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
"""


@pytest.fixture
def penstock():
    """Calls ``penstock ARGUMENTS``; the result has ``exit_code``, ``stdout``, ``stderr``."""

    def call(*arguments, stdin=None):
        return CliRunner().invoke(group, [str(argument) for argument in arguments], input=stdin, prog_name="penstock")

    return call


@pytest.fixture
def program(tmp_path):
    """Writes a program file: the prelude, then the given lines."""

    def write(lines: str, name: str = "program.py"):
        path = tmp_path / name
        path.write_text(PRELUDE + textwrap.dedent(lines), encoding="utf-8")
        return path

    return write
