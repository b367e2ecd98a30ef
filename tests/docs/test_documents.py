"""Every program and every command in README.md and docs/ runs, and prints what the page says it prints.

The ``python`` blocks of a page run in order in one namespace, on the local executor; those marked ``python spark``
run on Spark, as all of them would for a reader. A ``text`` block right after one is its output. In a ``console``
block each ``$`` line is run, and what stands below it is its output.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from penstock.datastream import executors
from tests.docs.documents import PAGES, ROOT, Block, blocks, commands


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


def run_page(page: Path, selected: list[Block], capfd) -> int:
    from penstock.local import LocalExecutor

    names: dict[str, object] = {"__name__": "__main__"}
    for block in selected:
        code = compile("\n" * (block.line - 1) + block.text, str(page), "exec")
        with nullcontext() if "spark" in block.words else executors.override(LocalExecutor()):
            exec(code, names)
        printed = capfd.readouterr().out
        if block.output is not None:
            assert printed == block.output, f"{page.name}:{block.line} prints something else than the page says"
    return len(selected)


@pytest.mark.parametrize("page", PROGRAMS, ids=lambda page: page.name)
@pytest.mark.usefixtures("workplace")
def test_programs_run_locally(page, capfd):
    programs = [block for block in blocks(page) if block.language == "python" and "spark" not in block.words]
    run_page(page, programs, capfd)


@pytest.mark.spark
@pytest.mark.parametrize(
    "page",
    [page for page in PROGRAMS if any("spark" in block.words for block in blocks(page))],
    ids=lambda page: page.name,
)
@pytest.mark.usefixtures("workplace")
def test_programs_run_on_spark(page, capfd):
    """The page's Spark programs, after the local ones they may build on."""
    assert run_page(page, [block for block in blocks(page) if block.language == "python"], capfd) > 0


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
    import re

    links = [
        (page, target)
        for page in PAGES
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8"))
        if "://" not in target
    ]
    assert len(links) > 10
    assert [f"{page.name}: {target}" for page, target in links if not (page.parent / target).exists()] == []
