"""Every example runs, and prints what its docstring (a notebook: its stored output) says; the list of them is complete.

word_count.py has a test of its own; test_sessions.py is a test, and runs as one (``testpaths`` in pyproject.toml).
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import runpy
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from tests.effort import one_of

from penstock.datastream.environment import executors

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
FILES = sorted(path for path in EXAMPLES.iterdir() if path.suffix in (".py", ".ipynb"))
PROGRAMS = [path for path in FILES if path.suffix == ".py" and path.name not in ("word_count.py", "test_sessions.py")]
WITHOUT_SPARK = [path for path in PROGRAMS if path.name != "spark_tables.py"]
NOTEBOOKS = [path for path in FILES if path.suffix == ".ipynb"]


def promised(program: Path) -> str:
    """What stands below ``Prints::`` in a program's docstring."""
    docstring = ast.get_docstring(ast.parse(program.read_text(encoding="utf-8"))) or ""
    return textwrap.dedent(docstring.partition("Prints::\n\n")[2]) + "\n"


@pytest.mark.parametrize("program", WITHOUT_SPARK, ids=lambda path: path.stem)
def test_a_program_prints_what_its_docstring_says(program: Path) -> None:
    with executors.override("local"), contextlib.redirect_stdout(io.StringIO()) as printed:
        runpy.run_path(str(program), run_name="__main__")
    assert printed.getvalue() == promised(program)


ON_SPARK = """
import runpy, sys
for path in sys.argv[1:]:
    print("program", path, flush=True)
    runpy.run_path(path, run_name="__main__")
    sys.stdout.flush()
"""


@pytest.mark.spark
def test_programs_print_the_same_on_spark() -> None:
    """In a process of its own, because a process can have one Spark, and other tests have theirs."""
    programs = PROGRAMS[:: one_of(2)]
    command = [sys.executable, "-c", ON_SPARK, *map(str, programs)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout == "".join(f"program {program}\n{promised(program)}" for program in programs)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_a_docstring_says_how_to_run_it(program: Path) -> None:
    docstring = ast.get_docstring(ast.parse(program.read_text(encoding="utf-8"))) or ""
    assert re.search(rf"^    (penstock run --local|python) examples/{program.name}$", docstring, re.MULTILINE)


def shown(notebook: Any) -> list[str]:
    """The text of each code cell's output: what it printed, then its value."""
    cells = [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]
    return ["".join(out.get("text") or out["data"]["text/plain"] for out in outputs) for outputs in cells]


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_is_stored_in_it(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import nbformat  # not above: it takes two seconds, in each process that collects tests
    from nbclient import NotebookClient

    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))  # no history of the user's
    stored, run = nbformat.read(path, as_version=4), nbformat.read(path, as_version=4)
    place = {"metadata": {"path": os.fspath(tmp_path)}}
    NotebookClient(run, timeout=120, kernel_name="python3", resources=place).execute()
    assert shown(run) == shown(stored)
    assert any(shown(stored))


def test_the_program_of_the_readme_is_the_first_example_and_that_of_the_demo() -> None:
    source = (EXAMPLES / "counts.py").read_text(encoding="utf-8")
    code = source.partition('"""\n\n')[2].strip()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"```python\n{code}\n```\n\n```text\n{promised(EXAMPLES / 'counts.py')}```" in readme
    assert "penstock run --local examples/counts.py" in readme
    demo = (ROOT / ".ci" / "demo").read_text(encoding="utf-8")
    assert "program=examples/counts.py" in demo
    for command in ("explain", "view", "run"):
        assert f'"$bin/penstock" {command}' in demo


def test_the_readme_says_which_python_has_penstock() -> None:
    """Whoever follows it in an empty shell has the commands that it names."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = readme.partition("```sh\n")[2].partition("```")[0].splitlines()
    names = [command.split("#")[0].strip() for command in commands]
    assert names[:2] == ["make demo", ". .venv/bin/activate"]
    assert all(name.split()[0] in ("penstock", "python") for name in names[2:])


def test_the_list_has_every_example() -> None:
    listed = re.findall(r"^\| \[(.+?)\]\((.+?)\) \| (.+?) \|$", (EXAMPLES / "README.md").read_text(), re.MULTILINE)
    assert sorted(target for _, target, _ in listed) == [path.name for path in FILES]
    assert all(name == target and sentence.endswith(".") for name, target, sentence in listed)
