"""The hook for pre-commit, and the action for GitHub: of their schemas, and they call what is there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from penstock.cli import group

ROOT = Path(__file__).parents[2]
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
PAGE = (ROOT / "docs" / "never-lose-state.md").read_text()
LINTS = (ROOT / "docs" / "lints" / "index.md").read_text()


def options(command: str) -> set[str]:
    """The options of a command."""
    return {option for parameter in group.commands[command].params for option in parameter.opts}


def test_there_are_two_hooks() -> None:
    assert [hook["id"] for hook in HOOKS] == ["penstock-check", "penstock-lint"]


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
def test_a_hook_calls_a_command(hook) -> None:
    assert {"id", "name", "entry", "language"} <= set(hook)
    program, command, *rest = hook["entry"].split()
    assert (program, rest) == ("penstock", [])
    assert command in group.commands
    assert hook["pass_filenames"] is False
    assert f"id: {hook['id']}" in PAGE + LINTS


def test_the_action_has_only_inputs_and_options_that_there_are() -> None:
    (step,) = ACTION["runs"]["steps"]
    assert ACTION["runs"]["using"] == "composite"
    used = {name for value in step["env"].values() for name in re.findall(r"inputs\.([\w-]+)", value)}
    assert used == set(ACTION["inputs"])
    assert "${{" not in step["run"], "what comes from inputs is no part of the script"
    assert set(re.findall(r"(?<=[ (])--[\w-]+", step["run"])) <= options("check")
    steps = yaml.safe_load(re.findall(r"```yaml\n(steps:.*?)```", PAGE, re.DOTALL)[0])["steps"]
    assert set(steps[-1]["with"]) <= set(ACTION["inputs"])


@pytest.mark.parametrize(("status", "lock"), [(0, ""), (1, "my locks/a.lock")])
def test_the_script_of_the_action_runs(status: int, lock: str, tmp_path: Path) -> None:
    called = tmp_path / "bin"
    called.mkdir()
    fake = called / "penstock"
    fake.write_text(f"#!{sys.executable}\nimport sys\nprint(sys.argv[1:])\nsys.exit({status})\n")
    fake.chmod(0o755)
    (step,) = ACTION["runs"]["steps"]
    env = {"PROGRAM": "jobs/visits.py --window 20", "LOCK": lock, "SAVEPOINT": "", "ALLOW": "true"}
    summary = tmp_path / "summary"
    path = f"{called}{os.pathsep}{os.environ['PATH']}"
    run = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", step["run"]],
        env={**env, "PATH": path, "GITHUB_STEP_SUMMARY": str(summary)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == status
    options = ["--lock", lock] if lock else []
    rest = [*options, "--allow-non-restored-state", "jobs/visits.py", "--window", "20"]
    assert run.stdout == f"{['check', '--format', 'github', *rest]}\n"
    assert summary.read_text() == f"{['check', '--format', 'markdown', *rest]}\n"
