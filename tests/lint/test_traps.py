"""Traps that people fall into are found, and what comes close to them is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.lint import LintConfiguration, lint
from tests.lint.programs import cases, planned

TRAPS = {about: (code, body) for title, body in cases("traps.txt").items() for code, about in [title.split(" ", 1)]}
"""By what they are: the rule that finds them, and the program."""
RIGHT = cases("near_traps.txt")


@pytest.mark.parametrize("about", TRAPS)
def test_a_trap_is_found(about: str, tmp_path: Path) -> None:
    code, body = TRAPS[about]
    file = tmp_path / "trap.py"
    configuration = LintConfiguration(extend_select=(code,))
    findings = [finding for finding in lint(planned(file, body), configuration, file=str(file)) if finding.code == code]
    assert findings, about
    assert all(finding.line is None or finding.file == str(file) for finding in findings)


OTHERS = ("PS001", "PS006", "PS105", "PS106", "PS204", "PS401")
"""Rules that the streams of the examples would be found by, whatever is done with them."""


@pytest.mark.parametrize("about", RIGHT)
def test_what_comes_close_is_right(about: str, tmp_path: Path) -> None:
    file = tmp_path / "right.py"
    configuration = LintConfiguration(ignore=OTHERS)
    assert lint(planned(file, RIGHT[about]), configuration, file=str(file)) == []
