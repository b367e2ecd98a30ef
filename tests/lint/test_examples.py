"""The examples have no findings but these, which are true: they show one thing each, and are no production programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.cli.program import capture_plan
from penstock.lint import lint

EXAMPLES = Path(__file__).parents[2] / "examples"
NO_PLAN = {"plan_from_parquet.py", "test_sessions.py"}
ON_SPARK = {"spark_tables.py"}
FOUND = {
    "clickstream.py": ["PS206"],  # its journals are never silent
    "fraud_rules.py": ["PS006", "PS006", "PS105"],  # sources without uid, a sum for every card
    "visits.py": ["PS006", "PS001"],  # the page it belongs to is about uids that are missing
}
PROGRAMS = [
    file for file in sorted([*EXAMPLES.glob("*.py"), *EXAMPLES.glob("*/*.py")]) if file.name not in NO_PLAN | ON_SPARK
]


@pytest.mark.parametrize("file", PROGRAMS, ids=lambda file: file.name)
def test_an_example_has_no_other_findings(file: Path) -> None:
    findings = lint(capture_plan(str(file), ()), file=str(file))
    assert [each.code for each in findings] == FOUND.get(file.name, [])
    assert all(each.file == str(file) for each in findings)


def test_there_are_examples() -> None:
    assert len(PROGRAMS) > 15
