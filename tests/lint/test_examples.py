"""The examples have no finding: who copies one has nothing to mend. What one shows on purpose it says in a comment."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.cli.program import Planning
from penstock.lint import lint

EXAMPLES = Path(__file__).parents[2] / "examples"
NO_PLAN = {"plan_from_parquet.py", "test_sessions.py"}
ON_SPARK = {"spark_tables.py"}
PROGRAMS = [
    pytest.param(file, marks=[pytest.mark.spark] if file.name in ON_SPARK else [], id=file.name)
    for file in sorted([*EXAMPLES.glob("*.py"), *EXAMPLES.glob("*/*.py")])
    if file.name not in NO_PLAN
]


@pytest.mark.parametrize("file", PROGRAMS)
def test_an_example_has_no_findings(file: Path) -> None:
    assert lint(Planning().plan(str(file)), file=str(file)) == []


def test_there_are_examples() -> None:
    assert len(PROGRAMS) > 15
