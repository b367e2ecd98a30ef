"""Odd words: phrases that the package should not contain, with what to write instead, and how often they occur today.

A count may only fall. ``python -m tests.house.words`` lists all places, ``--update`` writes lower counts into
``words.json``.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import penstock

PACKAGE = Path(penstock.__file__).parent
BUDGET = Path(__file__).with_suffix(".json")

TEXT = {
    r"(?<![Tt]here )\b(?:is|are|was|were) no\b(?! (?:longer|more))": "is not a ..., has no ..., does not ...",
    r"(?<![Tt]here )\b(?:is|are) none\b": "is not one, there is none",
    r"\b(?:has|have) not the\b": "does not have the",
    r"\bhas not (?:a|an|its|any)\b": "does not have",
    r"\bof which\b": "whose, its, and of these",
    r"\bfor which\b": "(a second sentence)",
    r"\bwhat (?:it|they|he|one) (?:is|are) (?:given|told)\b": "its arguments",
    r"\b(?:is|are|was|were|been) told\b": "is given, knows, is reported",
    r"\btells? of\b": "reports, shows",
    r"\b(?:go|goes|going|went) on (?:from|with)\b": "resumes from, continues with",
    r"\bgone on\b": "continued, resumed",
    r"\b(?:foretell|foretold|foretelling)\b": "predict, check in advance",
    r"\bsaid so\b": "declared",
    r"\b(?:who|nobody|somebody|whoever) (?:asks?|knows?|looks?|reads?)\b": "callers, it is unknown, not used",
    r"\bis to be (?:said|told)\b": "is reported",
    r"\blies? (?:under|in|at|where)\b": "is under, is in",
    r"\bstands? (?:in|there|at|where|beside|for itself)\b": "is in, is there",
    r"\b(?:anew|afresh)\b": "again, new",
    r"\bbesides\b": "also",
    r"\bsuch a one\b": "one",
    r"\bjob folder\b": "checkpoint directory",
    r"\bhands? (?:on|over|out)\b": "passes, returns",
    r"\bwhether or not\b": "even if",
    r"\bin vain\b": "without effect",
    r"^What (?!is\b)": "(the thing, as a noun: The records that ...)",
    r"^(?:Who|Whose|Whom)\b": "(the thing, as a noun)",
}
"""In docstrings and messages, as regular expressions, with a better wording."""
NAMES = {
    "each": "the thing: operator, record, path",
    "made": "result, or the thing",
    "told": "message, given",
    "found": "result, or the thing",
    "said": "text, message",
    "given": "values, arguments",
    "own": "the thing",
    "there": "existing, the thing",
}
"""Variables, by name."""
MODULES = {r"ing$": "a noun of what is in it", r"^(?:given|spoken|told|ended)$": "a noun of what is in it"}
"""Names of modules, as regular expressions."""
USUAL = frozenset(
    {
        "testing",
        "drawing",
        "finding",
        "partitioning",
        "settings",
        "serialization",
        "chaining",
        "string",
        "binding",
        "naming",
    }
)
"""Modules whose name is the field's word."""


class Place(NamedTuple):
    """Where an odd word is."""

    word: str
    path: str
    line: int
    text: str


def places() -> Iterator[Place]:
    """All odd words of the package."""
    texts = {word: re.compile(word) for word in TEXT}
    any_word = re.compile("|".join(TEXT))
    for file in sorted(PACKAGE.rglob("*.py")):
        path = str(file.relative_to(PACKAGE.parent))
        for word in MODULES:
            if re.search(word, file.stem) and file.stem not in USUAL:
                yield Place(f"module {word}", path, 1, file.stem)
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = " ".join(node.value.split())
                for word, pattern in texts.items() if any_word.search(text) else ():
                    yield from (Place(f"text {word}", path, node.lineno, match[0]) for match in pattern.finditer(text))
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in NAMES:
                yield Place(f"name {node.id}", path, node.lineno, node.id)
            elif isinstance(node, ast.arg) and node.arg in NAMES:
                yield Place(f"name {node.arg}", path, node.lineno, node.arg)


def counts() -> dict[str, int]:
    """How often each odd word occurs."""
    numbers = Counter(place.word for place in places())
    words = [*(f"text {word}" for word in TEXT), *(f"name {name}" for name in NAMES), *(f"module {m}" for m in MODULES)]
    return {word: numbers[word] for word in words}


def budget() -> dict[str, int]:
    """How often each may occur."""
    return json.loads(BUDGET.read_text(encoding="utf-8"))


def instead(word: str) -> str:
    """What to write instead of an odd word."""
    kind, _, pattern = word.partition(" ")
    return {"text": TEXT, "name": NAMES, "module": MODULES}[kind][pattern]


def update() -> None:
    """Write today's counts, where they are lower than the budget or new."""
    known = budget() if BUDGET.exists() else {}
    lower = {word: min(count, known.get(word, count)) for word, count in counts().items()}
    BUDGET.write_text(json.dumps(lower, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if "--update" in sys.argv:
        update()
    else:
        wanted = sys.argv[1:]
        for place in places():
            if not wanted or any(part in f"{place.path} {place.word}" for part in wanted):
                print(f"{place.path}:{place.line}: {place.text!r}: {instead(place.word)}")
