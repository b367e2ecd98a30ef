"""The command file and the prerequisite check: what a newcomer meets before anything is built."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from importlib.metadata import version
from pathlib import Path

import pytest

import penstock

ROOT = Path(__file__).parents[2]
CHECK = ROOT / ".ci" / "prerequisites"
TOOLS = ("sh", "sed", "head", "dirname", "mktemp", "rm", "printf")


@pytest.fixture
def machine(tmp_path):
    """Runs the check on a machine that has the basic tools and the given fakes, and nothing else."""

    def check(fakes: dict[str, str], *part: str) -> subprocess.CompletedProcess[str]:
        folder = tmp_path / "bin"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for tool in TOOLS:
            (folder / tool).symlink_to(shutil.which(tool) or f"/bin/{tool}")
        for name, script in fakes.items():
            (folder / name).write_text(f"#!/bin/sh\n{script}\n")
            (folder / name).chmod(0o755)
        environment = {"PATH": str(folder), "TMPDIR": str(tmp_path)}
        return subprocess.run(
            [str(CHECK), "python3", *part], env=environment, capture_output=True, text=True, check=False
        )

    return check


def a_good_machine() -> dict[str, str]:
    return {
        "python3": 'case "$2" in *version_info*) echo 3.10;; esac',
        "cc": "exit 0",
        "cargo": "echo 'cargo 1.95.0 (f2d3ce0bd 2026-03-21)'",
        "rustc": "echo 'rustc 1.95.0 (59807616e 2026-04-14)'",
        "java": "echo 'openjdk version \"17.0.15\" 2025-04-15' >&2",
    }


def test_this_machine_has_what_builds_the_package():
    run = subprocess.run([str(CHECK), "python3", "build"], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")


def test_a_good_machine_passes_silently(machine):
    run = machine(a_good_machine())
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_a_free_threaded_python_is_refused(machine):
    run = machine(a_good_machine() | {"python3": "echo 3.14t"})
    assert run.returncode == 1
    assert "'python3' is free-threaded" in run.stderr
    assert "make PYTHON=/path/to/python3.14 ..." in run.stderr


def test_an_empty_machine_is_told_everything_at_once(machine):
    run = machine({})
    assert run.returncode == 1
    for part in (
        "Python 3.10",
        "C compiler and linker",
        "cargo 1.",
        "rustc 1.",
        "Java 17",
        "https://rustup.rs",
        "apt install",
    ):
        assert part in run.stderr


@pytest.mark.parametrize(
    ("tool", "script", "text"),
    [
        ("python3", "echo 3.9", "'python3' is 3.9"),
        ("python3", 'case "$2" in *version_info*) echo 3.12;; *) exit 1;; esac', "python3-venv"),
        ("cc", "exit 1", "C compiler and linker"),
        ("cargo", "echo 'cargo 1.70.0 (abc 2023-01-01)'", "this one is 1.70.0"),
        ("rustc", "echo 'rustc 1.9.0 (abc 2016-01-01)'", "this one is 1.9.0"),
        ("java", "echo 'java version \"1.8.0_392\"' >&2", "is 8.0"),
        ("java", "echo 'openjdk version \"11.0.2\" 2019-01-15' >&2", "is 11.0.2"),
        ("java", "exit 127", "Java 17 or newer ('java' does not run"),
    ],
)
def test_one_thing_missing_is_named_alone(machine, tool, script, text):
    run = machine({**a_good_machine(), tool: script})
    assert run.returncode == 1
    assert text in run.stderr
    assert run.stderr.count("missing: ") == 1


@pytest.mark.parametrize(
    "line", ['openjdk version "21" 2023-09-19', 'openjdk version "25-ea" 2025-09-16', 'java version "17"']
)
def test_javas_that_are_new_enough(machine, line):
    run = machine({**a_good_machine(), "java": f"echo '{line}' >&2"})
    assert run.returncode == 0, run.stderr


def test_a_machine_without_java_and_node_builds_the_package(machine):
    fakes = a_good_machine()
    del fakes["java"]
    assert machine(fakes, "build").returncode == 0
    assert machine(fakes).stderr.count("missing: ") == 1
    assert "Java 17" in machine(fakes, "java").stderr


@pytest.mark.parametrize(
    ("target", "stamp", "needs"), [("develop", "", 0), ("check", ".developed", 0), ("test", "", 1)]
)
def test_neither_develop_nor_check_needs_java_or_node(tmp_path, target, stamp, needs):
    """What each would run, as make says it. The stamp is what `check` has made before it calls make again."""
    (tmp_path / stamp).touch()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    command = ["make", "-C", str(ROOT), "--dry-run", f"VENV={tmp_path}", f"VIEWER={tmp_path}/viewer.html", target]
    commands = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert f'prerequisites "python3" {"java" if needs else "build"}' in commands
    assert bool(re.search(r"npm |prerequisites \S+ (java|node)", commands)) == bool(needs)


def test_help_lists_every_target():
    makefile = (ROOT / "Makefile").read_text()
    targets = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert targets is not None
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    run = subprocess.run(["make", "-C", str(ROOT)], env=environment, capture_output=True, text=True, check=True)
    for target in targets[1].split():
        assert re.search(rf"^  make {target} +\S", run.stdout, re.MULTILINE), target


def test_ci_runs_the_readmes_command():
    assert (ROOT / ".ci" / "run").read_text().rstrip().endswith("make test")
    assert "`make test`" in (ROOT / "README.md").read_text()


def test_the_readme_names_the_rust_that_is_needed():
    wanted = re.search(r'^rust-version = "(.*)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    assert wanted is not None
    for page in ("README.md", "docs/getting-started.md"):
        assert f"Rust toolchain (≥ {wanted[1]})" in " ".join((ROOT / page).read_text().split())


def test_the_version_stands_in_one_place():
    manifest = re.search(r'^\[workspace\.package\]\nversion = "(.*)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    assert manifest is not None
    assert version("penstock") == penstock.__version__ == manifest[1]
    written = re.compile(rf'version\w*"?\s*[:=]\s*"{re.escape(manifest[1])}"')
    places = [ROOT / "pyproject.toml", *(ROOT / "python").rglob("*.py"), *(ROOT / "rust").glob("*/Cargo.toml")]
    assert [path for path in places if written.search(path.read_text(encoding="utf-8"))] == []


def test_the_changelog_begins_with_this_version():
    heading = re.search(
        r"^## \[(.+?)\] - (unreleased|\d{4}-\d\d-\d\d)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE
    )
    assert heading is not None
    assert heading[1] == penstock.__version__


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_workflows_run_commands_that_there_are():
    targets = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))
    runs = [run for path in WORKFLOWS for run in re.findall(r"run: make PYTHON=python (.*)", path.read_text())]
    named = {word for run in runs for word in re.sub(r"[A-Z]+=.*", "", run).split()}
    assert named >= {"check", "docs"}
    assert named <= targets


def test_one_list_of_pythons():
    """Tested by the workflow and by `make check-pythons`; the oldest is the one that the package asks for."""
    workflow = re.search(r"python: \[(.*)\]", (ROOT / ".github" / "workflows" / "tests.yml").read_text())
    script = re.search(r"^for version in (.*); do$", (ROOT / ".ci" / "check-pythons").read_text(), re.MULTILINE)
    assert workflow is not None
    assert script is not None
    pythons = re.findall(r'"([\d.]+)"', workflow[1])
    assert script[1].split() == pythons
    project = (ROOT / "pyproject.toml").read_text()
    assert f'requires-python = ">={pythons[0]}"' in project
    classified = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', project)
    assert classified == pythons[: len(classified)]


def test_the_workflow_has_the_oldest_rust():
    wanted = re.search(r'^rust-version = "(.*)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    assert wanted is not None
    assert f'rust: ["{wanted[1]}"]' in (ROOT / ".github" / "workflows" / "tests.yml").read_text()
