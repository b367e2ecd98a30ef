"""The architecture, CONTRIBUTING.md and pyproject.toml name the parts of the repository as they are."""

from __future__ import annotations

import re
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
BESIDE = {"__pycache__", "_stubs"}
"""Folders that are no part: what Python leaves, and the door's types, which go with `_native`."""


def parts() -> set[str]:
    """The folders of the package."""
    return {folder.name for folder in (REPOSITORY / "python" / "penstock").iterdir() if folder.is_dir()} - BESIDE


def test_the_table_of_the_architecture_has_every_part_and_no_other() -> None:
    cells = first_cells("docs/architecture.md", "## The house")
    names = [name for cell in cells for name in cell]
    packages = {name.removeprefix("penstock.") for name in names if name.startswith("penstock.")}
    assert packages == parts()
    crates = {name for name in names if name.startswith("rust/")}
    assert crates == {f"rust/{path.parent.name}" for path in (REPOSITORY / "rust").glob("*/Cargo.toml")}
    assert len(packages) + len(crates) == len(names)


def test_the_folders_that_contributing_names_are_there() -> None:
    cells = first_cells("CONTRIBUTING.md", "## Where code goes")
    assert len(cells) > 5
    assert [name for cell in cells for name in cell if "<" not in name and not (REPOSITORY / name).exists()] == []


def first_cells(page: str, heading: str) -> list[list[str]]:
    """The names in the first cell of each row of the table below a heading."""
    section = (REPOSITORY / page).read_text(encoding="utf-8").partition(f"{heading}\n")[2].partition("\n##")[0]
    return [re.findall(r"`([^`]+)`", cell) for cell in re.findall(r"^\| (`.*?`) \|", section, re.MULTILINE)]


def test_what_is_checked_strictly_is_there() -> None:
    project = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    strict = re.findall(r'^  "(.*)",$', project.partition("strict = [")[2].partition("]")[0], re.MULTILINE)
    assert "python/penstock/local" in strict
    assert [path for path in strict if not (REPOSITORY / path).exists()] == []
