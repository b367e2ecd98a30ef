"""Programs that show watermarks, which no function of Penstock can show so far: everything but the watermark is equal.

They run with a function that writes records and timestamps only, and the watermark's text is taken from what Flink
wrote. The command of the run scripts knows nothing of this; to it such programs are unsupported.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from tests.datastream.run_functions import StampWithoutWatermark
from tests.datastream.run_scripts import result_of
from tests.datastream.test_run_scripts import differences_of, records

STAMP = {"fn": "Stamp"}
WITHOUT = {"fn": StampWithoutWatermark.__name__}
COMPARED_AT_LEAST = 21
"""How many programs give what Flink gave, beyond those of test_run_scripts.py. It falls only when they run whole."""


def script_without(script: dict[str, Any]) -> dict[str, Any]:
    calls = [[WITHOUT if argument == STAMP else argument for argument in call] for call in script["calls"]]
    return {**script, "calls": calls}


def result_without(result: dict[str, Any]) -> dict[str, Any]:
    output = {
        sink: {**written, "texts": [[subtask, re.sub(r" wm=\S+$", "", text)] for subtask, text in written["texts"]]}
        for sink, written in result["output"].items()
    }
    return {**result, "output": output}


@cache
def found() -> dict[str, list[str]]:
    """Differences by program, of those that can run."""
    showing = {name: record for name, record in records().items() if any(STAMP in call for call in _calls(record))}
    by_name = {
        name: differences_of(script_without(record["script"]), result_without(record["result"]))
        for name, record in showing.items()
    }
    return {name: sentences for name, sentences in by_name.items() if sentences is not None}


def _calls(record: dict[str, Any]) -> list[list[Any]]:
    return record["script"]["calls"]


def test_the_rest_of_what_they_show_is_what_flink_gave() -> None:
    assert not {name: sentences for name, sentences in found().items() if sentences}


def test_how_much_was_compared() -> None:
    assert len(found()) >= COMPARED_AT_LEAST


def test_they_are_unsupported_as_they_are() -> None:
    results = {name: result_of(records()[name]["script"]) for name in found()}
    assert all(result == {"unsupported": "process with Stamp"} for result in results.values()), results


def test_the_comparison_sees_another_timestamp() -> None:
    record = records()["watermarks_from_source"]
    expected = result_without(record["result"])
    expected["output"]["out"]["texts"][3][1] = "(a,4,20) ts=21"
    sentences = differences_of(script_without(record["script"]), expected)
    assert sentences is not None
    assert len(sentences) == 2  # chained and unchained
