"""Every program and every command in README.md and docs/ runs, and prints what the page says it prints.

The ``python`` blocks of a page run in order in one namespace, on the local executor; those marked ``python spark``
run on Spark, as all of them would for a reader. A ``text`` block right after one is its output. In a ``console``
block each ``$`` line is run, and what stands below it is its output.
"""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from penstock.datastream.environment import executors
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
    run = subprocess.run(command, cwd=workplace, env=path, capture_output=True, text=True, timeout=600, check=False)
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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_code_has_left_its_block(page):
    prose = re.sub(r"^ *```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    assert re.findall(r"^(?:print\(|import |from \w+ import ).*", prose, re.MULTILINE) == []


def test_there_is_something_to_run():
    """A guard against a pattern that no longer finds the blocks."""
    programs = [block for page in PAGES for block in blocks(page) if block.language == "python"]
    assert len(programs) >= 20
    assert sum(block.output is not None for block in programs) >= 10
    assert len(COMMANDS) >= 3


REPOSITORY = "https://github.com/penstock/penstock/"
RAW = "https://raw.githubusercontent.com/penstock/penstock/main/"


def test_links_between_pages_lead_somewhere():
    """Also those to files that are not part of the site, which name the repository."""
    others = [ROOT / "CHANGELOG.md", ROOT / "SECURITY.md", ROOT / "examples" / "README.md", ROOT / "mkdocs.yml"]
    links = [
        (page, target)
        for page in (*PAGES, *others)
        for target in re.findall(
            r"\]\(([^)#\s]+)[^)]*\)|: (https://\S+)$", page.read_text(encoding="utf-8"), re.MULTILINE
        )
    ]
    places = [(page, place) for page, target in links if (place := _place(page, "".join(target))) is not None]
    assert len(places) > 40
    assert [f"{page.name}: {place}" for page, place in places if not place.exists()] == []


def _place(page: Path, target: str) -> Path | None:
    """The file that a link means, None if it is none of this repository."""
    if target.startswith((f"{REPOSITORY}blob/main/", f"{REPOSITORY}tree/main/")):
        return ROOT / target.removeprefix(REPOSITORY).split("/", 2)[2]
    if target.startswith(RAW):
        return ROOT / target.removeprefix(RAW)
    return None if "://" in target else page.parent / target


PUBLIC = [
    "common",
    "common.bulk_writer",
    "common.serialization",
    "datastream",
    "datastream.connectors",
    "datastream.formats",
    "datastream.window",
    "errors",
    "flink",
    "lint",
    "local",
    "metrics",
    "plan",
    "plan.shapes",
    "savepoints",
    "spark",
    "testing",
]


@pytest.mark.parametrize("package", PUBLIC)
def test_the_reference_has_every_public_name(package):
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "reference").glob("*.md"))
    entries = set(re.findall(r"^::: (\S+)$", pages, re.MULTILINE))
    module = f"penstock.{package}"
    names = getattr(importlib.import_module(module), "__all__", [])
    shared = set(importlib.import_module("penstock.common").__all__) if package != "common" else set()
    missing = [name for name in names if f"{module}.{name}" not in entries and name not in shared]
    assert module in entries or (names and missing == [])


@pytest.mark.usefixtures("workplace")
def test_the_picture_of_the_readme_shows_the_plan_of_its_program():
    """Its operators, its chains with their parallelism, and as many subtasks and stages as there are."""
    program = next(block for block in blocks(ROOT / "README.md") if block.language == "python")
    names: dict[str, Any] = {}
    with executors.override("local"):
        exec(program.text.replace("env.execute", "graph = env.get_stream_graph()  # "), names)
    vertices = names["graph"].job_graph().vertices
    shown = re.findall(
        r"<text[^>]*>(.*?)</text>", (ROOT / "docs" / "assets" / "pipeline.svg").read_text(encoding="utf-8")
    )
    texts = [re.sub(r"^(Source|Sink): ", "", vertex.name).replace("->", "→") for vertex in vertices]
    assert [text for text in texts if text not in shown] == []
    assert Counter(text for text in shown if text.startswith("× ")) == Counter(f"× {v.parallelism}" for v in vertices)
    subtasks = [f"{index + 1}/{v.parallelism}" for v in vertices for index in range(v.parallelism)]
    assert Counter(text for text in shown if re.fullmatch(r"\d/\d", text)) == Counter(subtasks)
    assert sum(text.startswith("stage ") for text in shown) == len(vertices)


def test_the_readme_is_short():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 120
    begin = lines.index("<!-- figures: written by benches/report.py -->")
    assert lines.index("<!-- /figures -->") - begin <= 8
