"""The pages of lints say what the rules' docstrings say."""

from __future__ import annotations

from penstock.lint import RULES
from tests.docs.lint_pages import FOLDER, INDEX, index, pages


def test_the_pages_are_as_they_are_written() -> None:
    pages_there = {file.name: file.read_text(encoding="utf-8") for file in FOLDER.glob("PS*.md")}
    assert pages_there == pages(), "write them by: python -m tests.docs.lint_pages"
    text = INDEX.read_text(encoding="utf-8")
    assert text == index(text), "write it by: python -m tests.docs.lint_pages"
    assert all(f"({code}.md)" in text for code in RULES)
    assert index(text.replace("(PS001.md)", "(stale.md)")) == text
