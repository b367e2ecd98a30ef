"""Programs that the real Flink ran: their outputs by subtask and in order, their record counts, their failures."""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from pathlib import Path

import pytest

from tests.runtime.run_scripts import NEEDS_COPIES, WRITTEN, Interpreter, Lacking

GOLDEN = Path(__file__).parents[1] / "golden" / "runs.jsonl.gz"
NEEDS_WATERMARKS = {"watermarks_minimum_over_subtasks"}
"""Its order is that of watermarks, although no function shows one."""


def records():
    with gzip.open(GOLDEN, "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            name = record["script"]["name"]
            if name not in NEEDS_WATERMARKS and not NEEDS_COPIES.fullmatch(name):
                yield record["script"], record["result"]


def differences(script, result, chaining):
    interpreter = Interpreter(script, chaining)
    failure = interpreter.run()
    if "error" in result:
        yield from failure_differences(failure, result["error"])
    elif failure is not None:
        yield f"failed: {failure}"
    for sink, expected in result.get("output", {}).items():
        if not same_output(WRITTEN[sink], expected):
            yield f"sink {sink}: {WRITTEN[sink]} is not {expected}"
    if failure is None and "counts" in result:
        summed = any(subtask is None for _, subtask, _, _ in result["counts"])
        counts = counted(interpreter.executor.reports, summed)
        if counts != sorted(result["counts"], key=json.dumps):
            yield f"counts: {counts}"


def failure_differences(failure, expected):
    """The user's exception and its causes; what Flink wraps around them is not compared."""
    messages = [message for name, message in expected[2:] if not name.endswith("ExecutionException")]
    found, error = [], failure.__cause__ if failure else None
    while error is not None:
        found.append(str(error))
        error = error.__cause__
    if found != messages:
        yield f"failure: {found} is not {messages}"


def same_output(found, expected):
    """Golden texts show watermarks, ours do not; without a subtask the texts alone count."""
    wanted = [[subtask, re.sub(r" wm=\S+", "", text)] for subtask, text in expected["texts"]]
    if any(subtask is None for subtask, _ in wanted):
        return sorted(text for _, text in found) == sorted(text for _, text in wanted)
    if expected["ordered"]:
        return sorted(found, key=lambda item: item[0]) == wanted
    return sorted(found) == sorted(wanted)


def counted(reports, summed):
    if not summed:
        rows = [[c.name[:80], r.subtask, c.records_in, c.records_out] for r in reports for c in r.counters]
        return sorted(rows, key=json.dumps)
    sums = defaultdict(lambda: [0, 0])
    for report in reports:
        for c in report.counters:
            sums[c.name[:80], c.operator_id][0] += c.records_in
            sums[c.name[:80], c.operator_id][1] += c.records_out
    return sorted(([name, None, *counts] for (name, _), counts in sums.items()), key=json.dumps)


@pytest.mark.filterwarnings("ignore:These settings have no effect")
def test_programs_give_what_flink_gave():
    ran, wrong = 0, {}
    for script, result in records():
        for chaining in (True, False) if script.get("chaining") == "any" else (True,):
            try:
                found = list(differences(script, result, chaining))
            except Lacking:
                break
            ran += 1
            if found:
                wrong[script["name"], chaining] = found
    assert not wrong
    assert ran >= 170
