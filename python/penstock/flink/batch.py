"""Predicts many restores, one per line, for ``penstock savepoint restores``. A bad line never stops the others."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any, cast

from penstock.errors import PenstockError
from penstock.flink.facts import RELEASES, failure
from penstock.flink.restore import Prediction, predict_restore, wrapping_exceptions
from penstock.flink.savepoint import read_savepoint

_KEYS = {"savepoint", "spec", "allow_non_restored_state"}


def restores(lines: Iterable[str], flink: str) -> Iterator[dict[str, Any]]:
    """The verdict for each line that is not blank."""
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            yield _verdict(number, *_parsed(text), flink)
        except (ValueError, RecursionError) as error:
            yield _unanswered(number, str(error))


def _parsed(text: str) -> tuple[str, dict[str, Any], bool]:
    try:
        data = json.loads(text)
    except ValueError as error:
        raise ValueError(f"the line is not JSON: {error}") from error
    if not isinstance(data, dict):
        raise ValueError("the line is not a JSON object")
    values = cast(dict[str, Any], data)
    place, spec, allowed = (values.get(key) for key in ("savepoint", "spec", "allow_non_restored_state"))
    if values.keys() - _KEYS:
        raise ValueError(f"the line has {sorted(values.keys() - _KEYS)[0]!r}; it may have {', '.join(sorted(_KEYS))}")
    if not isinstance(place, str) or not place or "\0" in place:
        raise ValueError("`savepoint` must be the path of a savepoint")
    if not isinstance(spec, dict):
        raise ValueError("`spec` must be a described graph")
    if not isinstance(allowed, bool) and allowed is not None:
        raise ValueError("`allow_non_restored_state` must be true or false")
    return place, cast(dict[str, Any], spec), bool(allowed)


def _unanswered(number: int, message: str) -> dict[str, Any]:
    return {"line": number, "error": {"class": "penstock.errors.ConfigurationError", "message": message}}


def _verdict(number: int, place: str, spec: dict[str, Any], allowed: bool, flink: str) -> dict[str, Any]:
    about = {
        "savepoint": place,
        "program": spec.get("name"),
        "flink": RELEASES[flink],
        "allow_non_restored_state": allowed,
    }
    try:
        savepoint = read_savepoint(place, flink)
    except PenstockError as error:
        failed = failure(error)
        wrapped = list(wrapping_exceptions(flink, failed["error"]["class"])) if error.flink_class else []
        return {**about, "restored": False, "stage": "plan", "error": failed["error"], "wrapped_in": wrapped}
    try:
        return {**about, **outcome(predict_restore(savepoint, spec, flink, allowed))}
    except PenstockError as error:
        return {**_unanswered(number, str(error)), **about}


def outcome(prediction: Prediction) -> dict[str, Any]:
    """A prediction as JSON."""
    refusal = prediction.refusal
    if refusal is None:
        return {"restored": True, "vertices": [asdict(vertex) for vertex in prediction.vertices]}
    error = {"class": refusal.flink_class, "message": refusal.flink_message}
    return {"restored": False, "stage": refusal.stage, "error": error, "wrapped_in": list(refusal.wrapped_in)}
