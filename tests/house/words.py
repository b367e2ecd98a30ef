"""Odd words: phrases and names that the package should not contain, with what to write instead."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import penstock

PACKAGE = Path(penstock.__file__).parent
ROOT = Path(__file__).resolve().parents[2]

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
        "setting",
        "settings",
        "lowering",
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
    """All odd words of the package, and odd names of tests, benches and examples."""
    for file in sorted(PACKAGE.rglob("*.py")):
        path = str(file.relative_to(PACKAGE.parent))
        for word in MODULES:
            if re.search(word, file.stem) and file.stem not in USUAL:
                yield Place(f"module {word}", path, 1, file.stem)
        yield from words_of(file.read_text(encoding="utf-8"), path)
    for file in sorted(file for folder in ("tests", "benches", "examples") for file in (ROOT / folder).rglob("*.py")):
        yield from names_of(ast.parse(file.read_text(encoding="utf-8")), str(file.relative_to(ROOT)))


def words_of(source: str, path: str) -> Iterator[Place]:
    """The odd words in the code of a module."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = " ".join(node.value.split())
            for word, pattern in _TEXTS.items() if _ANY_TEXT.search(text) else ():
                yield from (Place(f"text {word}", path, node.lineno, match[0]) for match in pattern.finditer(text))
    yield from names_of(tree, path)


def names_of(tree: ast.AST, path: str) -> Iterator[Place]:
    """The odd names that a module defines."""
    for node in ast.walk(tree):
        name = _defined(node)
        if name is not None and name.lstrip("_") in NAMES:
            yield Place(f"name {name.lstrip('_')}", path, getattr(node, "lineno", 0), name)


_TEXTS = {word: re.compile(word) for word in TEXT}
_ANY_TEXT = re.compile("|".join(TEXT))


def _defined(node: ast.AST) -> str | None:
    """The name of the variable, attribute, parameter or function that a node of the syntax tree defines."""
    match node:
        case ast.Name(ctx=ast.Store()):
            return node.id
        case ast.Attribute(ctx=ast.Store()):
            return node.attr
        case ast.arg():
            return node.arg
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return node.name
        case _:
            return None


def instead(word: str) -> str:
    """What to write instead of an odd word."""
    kind, _, pattern = word.partition(" ")
    return {"text": TEXT, "name": NAMES, "module": MODULES}[kind][pattern]
