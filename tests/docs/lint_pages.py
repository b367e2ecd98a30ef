"""Writes the pages of ``docs/lints`` out of the rules' docstrings: ``python -m tests.docs.lint_pages``."""

from __future__ import annotations

import re

from penstock.lint import RULES
from penstock.lint.rules import table
from tests.docs.documents import ROOT

FOLDER = ROOT / "docs" / "lints"
INDEX = FOLDER / "index.md"
_PART = re.compile(r"(<!-- rules: written by tests/docs/lint_pages\.py -->\n).*?(<!-- end -->\n)", re.DOTALL)


def pages() -> dict[str, str]:
    """The pages of the rules, by name of the file."""
    return {f"{code}.md": rule.page() for code, rule in RULES.items()}


def index(text: str) -> str:
    """The page of all rules with its tables anew."""
    return _PART.sub(lambda match: f"{match[1]}\n{table()}\n{match[2]}", text)


if __name__ == "__main__":
    for stale in FOLDER.glob("PS*.md"):
        stale.unlink()
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    INDEX.write_text(index(INDEX.read_text(encoding="utf-8")), encoding="utf-8")
