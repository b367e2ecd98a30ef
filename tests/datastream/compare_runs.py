"""Compares what a program of the run scripts gave with what it gave in Flink."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.datastream.deliberate_differences import users_errors


def differences(result: dict[str, Any], expected: dict[str, Any]) -> Iterator[str]:
    """One sentence per part of the result that differs."""
    if "refused" in result:
        yield f"refused: {result['refused']}"
        return
    yield from _outputs(result["output"], expected.get("output"))
    for part in ("trace", "late_dropped"):
        if result.get(part) != expected.get(part):
            yield f"{part}: {result.get(part)} is not {expected.get(part)}"
    if expected.get("counts") and result.get("counts") != expected["counts"]:
        yield f"counts: {result.get('counts')} is not {expected['counts']}"
    error = users_errors(expected["error"]) if "error" in expected else None
    if result.get("error") != error:
        yield f"error: {result.get('error')} is not {error}"


def _outputs(actual: dict[str, Any], expected: dict[str, Any] | None) -> Iterator[str]:
    if expected is None:
        return
    if actual.keys() != expected.keys():
        yield f"sinks: {sorted(actual)} is not {sorted(expected)}"
        return
    for sink, wanted in expected.items():
        if not _same_texts(actual[sink]["texts"], wanted["texts"], wanted["ordered"]):
            yield f"sink {sink}: {actual[sink]['texts']} is not {wanted}"


def _same_texts(actual: list[Any], wanted: list[Any], ordered: bool) -> bool:
    """Texts stand by subtask; without subtasks (a random start is on the way) they alone count, in any order."""
    if any(subtask is None for subtask, _ in wanted):
        return sorted(text for _, text in actual) == sorted(text for _, text in wanted)
    return actual == wanted if ordered else sorted(actual) == sorted(wanted)
