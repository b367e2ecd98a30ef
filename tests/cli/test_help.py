"""The command explains itself."""

from __future__ import annotations

import subprocess
import sys

import pytest

import penstock as package

COMMANDS = [
    *("run", "watch", "stop", "rescale", "savepoint"),
    *("explain", "view", "diff", "lock", "check", "lint", "plan", "uid", "clean", "prepare"),
]


def test_the_group_lists_its_commands(penstock):
    result = penstock("--help")
    assert result.exit_code == 0
    for command in COMMANDS:
        assert f"\n  {command} " in result.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_examples_and_lines_that_fit(penstock, command):
    result = penstock(command, "--help")
    assert result.exit_code == 0
    assert f"Usage: penstock {command}" in result.stdout
    assert f"    penstock {command}" in result.stdout.split("Examples:")[1]
    assert max(map(len, result.stdout.splitlines())) <= 100


def test_version(penstock):
    assert penstock("--version").stdout == f"penstock, version {package.__version__}\n"


def test_an_unknown_command_is_a_usage_error(penstock):
    assert penstock("frobnicate").exit_code == 2


def test_the_console_script_and_the_module_are_the_same():
    run = subprocess.run([sys.executable, "-m", "penstock.cli", "uid", "a"], capture_output=True, text=True, check=True)
    assert run.stdout == "897859f6655555855a890e51483ab5e6\n"
