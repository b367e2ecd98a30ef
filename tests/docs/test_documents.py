"""Every program and every command in README.md and docs/ runs, and prints what the page says it prints.

The ``python`` blocks of a page run in order in one namespace, on the local executor; those marked ``python spark``
run on Spark, as all of them would for a reader. A ``text`` block right after one is its output. In a ``console``
block each ``$`` line is run, and what stands below it is its output.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.documents import PAGES, ROOT, Block, blocks, commands, run_programs


def marked(page: Path, block: Block):
    marks = [pytest.mark.spark] if "spark" in block.words else []
    return pytest.param(page, block, id=f"{page.name}:{block.line}", marks=marks)


PROGRAMS = [page for page in PAGES if any(block.language == "python" for block in blocks(page))]
COMMANDS = [marked(page, block) for page in PAGES for block in blocks(page) if block.language == "console"]


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """An empty current directory with the examples in it."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", PROGRAMS, ids=lambda page: page.name)
@pytest.mark.usefixtures("workplace")
def test_programs_run_locally(page):
    programs = [block for block in blocks(page) if block.language == "python" and "spark" not in block.words]
    assert run_programs(page, programs) == len(programs)


ON_SPARK = [page for page in PROGRAMS if any("spark" in block.words for block in blocks(page))]


@pytest.mark.spark
@pytest.mark.parametrize("page", ON_SPARK, ids=lambda page: page.name)
def test_programs_run_on_spark(page, workplace):
    """In a process of its own, because a process can have one Spark, and other tests have theirs."""
    command = [sys.executable, "-m", "tests.docs.documents", str(page)]
    path = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run(command, cwd=workplace, env=path, capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) == sum(block.language == "python" for block in blocks(page))


@pytest.mark.parametrize(("page", "block"), COMMANDS)
def test_commands_print_what_the_page_shows(page, block, workplace):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    assert commands(block), f"{page.name}:{block.line} is a console block without a command"
    for command, output in commands(block):
        run = subprocess.run(
            command,
            shell=True,
            cwd=workplace,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        shown = "\n".join(line.rstrip() for line in (run.stdout + run.stderr).strip("\n").splitlines())
        if output:
            assert shown == output
        else:
            assert run.returncode == 0, shown


def test_there_is_something_to_run():
    """A guard against a pattern that no longer finds the blocks."""
    programs = [block for page in PAGES for block in blocks(page) if block.language == "python"]
    assert len(programs) >= 20
    assert sum(block.output is not None for block in programs) >= 10
    assert len(COMMANDS) >= 3


def test_links_between_pages_lead_somewhere():
    links = [
        (page, target)
        for page in PAGES
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8"))
        if "://" not in target
    ]
    assert len(links) > 10
    assert [f"{page.name}: {target}" for page, target in links if not (page.parent / target).exists()] == []
