"""Reads the golden files and compares results with them."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
PLAN_FILES = {"1.11": "public.jsonl.gz", "2.3": "public23.jsonl.gz"}
"""The records of each version of Flink."""

PLAN_RECORDS = {"1.11": 507, "2.3": 474}
"""How many records each file has: a test that finds another number has read the wrong file."""


def read_lines(name: str) -> list[str]:
    """The lines of a gzipped JSONL file of this folder."""
    with gzip.open(FOLDER / name, "rt", encoding="utf-8") as lines:
        return [line for line in lines if line.strip()]


@cache
def plan_records(flink: str = "1.11") -> tuple[dict[str, Any], ...]:
    """All ``{"spec": SPEC, "result": RESULT}`` records of a version of Flink; shared, so do not change them."""
    return tuple(json.loads(line) for line in read_lines(PLAN_FILES[flink]))


def plan_record(name: str) -> dict[str, Any]:
    """The record of one graph by its name."""
    for record in plan_records():
        if record["spec"]["name"] == name:
            return record
    raise KeyError(name)


def differences(actual: Any, expected: Any, path: str = "$") -> tuple[int, list[str]]:
    """Compare two JSON values field by field."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        if set(expected) == {"error"} and isinstance(expected["error"], dict):
            expected, actual = _classes(expected), _classes(actual)
        return _both(
            [(f"{path}.{key}", actual.get(key, "(absent)"), expected.get(key, "(absent)")) for key in expected | actual]
        )
    if isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            return 1, [f"{path}: {len(actual)} elements {_short(actual)}, expected {len(expected)} {_short(expected)}"]
        return _both([(f"{path}[{i}]", actual[i], expected[i]) for i in range(len(expected))])
    same = actual == expected and isinstance(actual, bool) == isinstance(expected, bool)
    return 1, [] if same else [f"{path}: {_short(actual)}, expected {_short(expected)}"]


def _classes(value: dict[str, Any]) -> dict[str, Any]:
    """An error object without its messages, and without the cause, which few errors have."""
    error = value.get("error")
    return {**value, "error": error.get("class")} if isinstance(error, dict) else value


def _both(pairs: list[tuple[str, Any, Any]]) -> tuple[int, list[str]]:
    count, texts = 0, []
    for path, actual, expected in pairs:
        leaves, sentences = differences(actual, expected, path)
        count += leaves
        texts += sentences
    return count, texts


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else text[:200] + "…"
