"""CONTRIBUTING.md and pyproject.toml name the parts of the package as they are."""

from __future__ import annotations

import re
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
BESIDE = {"__pycache__", "_stubs"}
"""Folders that are no part: what Python leaves, and the door's types, which go with `_native`."""


def parts() -> set[str]:
    """The folders of the package."""
    return {folder.name for folder in (REPOSITORY / "python" / "penstock").iterdir() if folder.is_dir()} - BESIDE


def test_the_table_of_contributing_has_every_part_and_no_other() -> None:
    table = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Where code goes")[2]
    cells = re.findall(r"^\| (`.*?`) \|", table.partition("\nImports go")[0], re.MULTILINE)
    assert len(cells) > 20
    named: set[str] = set()
    for cell in cells:
        first, *others = re.findall(r"`([^`]+)`", cell)
        if first.startswith("python/penstock/"):
            named |= {name.strip("/").rpartition("/")[2] for name in (first, *others)}
        elif "<" not in first:
            assert all((REPOSITORY / name).exists() for name in (first, *others)), cell
    assert named == parts()


def test_what_is_checked_strictly_is_there() -> None:
    project = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    strict = re.findall(r'^  "(.*)",$', project.partition("strict = [")[2].partition("]")[0], re.MULTILINE)
    assert "python/penstock/local" in strict
    assert [path for path in strict if not (REPOSITORY / path).exists()] == []
