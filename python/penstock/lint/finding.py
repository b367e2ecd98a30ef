"""Findings: a message of a rule with its place; and lists of findings as text, as JSON and as annotations of GitHub."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from penstock.display.text import annotation, visible

FORMAT = 1  # version of :func:`as_json`


@dataclass(frozen=True)
class Finding:
    """One thing that a rule has found; plain data."""

    code: str  # of the rule, such as ``PS001``
    rule: str  # its name, such as ``stateful-operator-without-uid``
    message: str  # the problem, its effect, and what to do
    node: int | None = None  # id of the StreamNode that is meant; None for the program as a whole
    operator: str | None = None  # its name
    file: str | None = None  # where the operator is made; None if unknown
    line: int | None = None  # in that file, from 1
    last_line: int | None = None  # the last line of the call that begins there

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain data, for JSON."""
        return asdict(self)

    @property
    def place(self) -> tuple[str, int, int, str]:
        """The sort key of findings: file, line, node, code; those of the program as a whole come first."""
        return (self.file or "", self.line or 0, -1 if self.node is None else self.node, self.code)

    def __str__(self) -> str:
        place = (str(part) for part in (self.file, self.line) if part is not None)
        return f"{':'.join(place) or '<program>'}: {self.code} {self.message}"


def as_text(findings: Sequence[Finding], where: str = "") -> str:
    """A line for each, ``FILE:LINE: CODE message``, and a last one that counts, all safe for a terminal; ``where`` is
    what was looked at, if not the whole program."""
    lines = [visible(str(_relative(finding))) for finding in findings]
    number, within = len(findings), where and f" in {visible(where)}"
    count = "Nothing found" if not number else f"Found {number} {'thing' if number == 1 else 'things'}"
    return "\n".join([*lines, f"{count}{within}."])


def as_json(findings: Sequence[Finding]) -> str:
    """One document: ``format``, and ``findings`` with the attributes of :class:`Finding`."""
    return json.dumps({"format": FORMAT, "findings": [finding.to_dict() for finding in findings]}, indent=2)


def as_github(findings: Sequence[Finding]) -> str:
    """A workflow command of GitHub for each, which shows it beside the line in a pull request."""
    return "\n".join(
        annotation(
            "error", f"{finding.code} ({finding.rule})", finding.message, finding.file, finding.line, finding.last_line
        )
        for finding in map(_relative, findings)
    )


def _relative(finding: Finding) -> Finding:
    """With a relative path, if the file is below the current folder."""
    if finding.file is None or not os.path.isabs(finding.file):
        return finding
    path = os.path.relpath(finding.file)
    return finding if path.startswith(os.pardir) else replace(finding, file=path)
