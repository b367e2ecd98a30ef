"""Findings as text, as JSON, and as annotations of GitHub."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from penstock.lint.finding import Finding
from penstock.lint.rules import RULES

FORMAT = 1
"""Version of what :func:`as_json` gives."""


def as_text(findings: Sequence[Finding]) -> str:
    """A line for each, ``FILE:LINE: CODE message``, and a last one that counts; texts of the program are made harmless
    for a terminal."""
    lines = [_harmless(str(_relative(each))) for each in findings]
    number = len(findings)
    told = "Nothing found." if not number else f"Found {number} {'thing' if number == 1 else 'things'}."
    return "\n".join([*lines, told])


def as_json(findings: Sequence[Finding]) -> str:
    """One document: ``format``, and ``findings`` with the attributes of :class:`~penstock.lint.Finding`."""
    return json.dumps({"format": FORMAT, "findings": [each.to_dict() for each in findings]}, indent=2)


def as_github(findings: Sequence[Finding]) -> str:
    """A command of a GitHub workflow for each, which shows it beside the line in a pull request."""
    return "\n".join(_annotation(_relative(each)) for each in findings)


def _annotation(finding: Finding) -> str:
    places = [("file", finding.file), ("line", finding.line), ("endLine", finding.last_line)]
    title = f"{finding.code} ({RULES[finding.code].name()})" if finding.code in RULES else finding.code
    told = ",".join(
        f"{name}={_property(str(value))}" for name, value in [*places, ("title", title)] if value is not None
    )
    return f"::error {told}::{_data(finding.message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _relative(finding: Finding) -> Finding:
    """With a path that is relative to the current folder, where the file is in it."""
    from dataclasses import replace

    if finding.file is None or not os.path.isabs(finding.file):
        return finding
    path = os.path.relpath(finding.file)
    return finding if path.startswith(os.pardir) else replace(finding, file=path)


def _harmless(text: str) -> str:
    """Controls, and characters that change the direction of writing, as escapes."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode("ascii") for each in text)
