"""Every program of the run scripts that uses only what runs gives what it gave when Flink 1.11.4 ran it."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Configuration
from penstock.datastream import StreamExecutionEnvironment
from penstock.runtime.operators import window
from penstock.runtime.windows.time_window import TimeWindow
from tests.datastream.compare_runs import differences
from tests.datastream.deliberate_differences import PROGRAMS, WINDOW_STARTS
from tests.datastream.run_scripts import result_of
from tests.golden.load import read_lines

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = 472
PARTS = 4


@cache
def records() -> dict[str, dict[str, Any]]:
    lines = map(json.loads, read_lines("runs.jsonl.gz"))
    return {record["script"]["name"]: record for record in lines}


def differences_of(script: dict[str, Any], expected: dict[str, Any]) -> list[str] | None:
    """Differences of one program, unchained too where Flink gives the same either way; None if it cannot run yet."""
    sentences: list[str] = []
    for chaining in (True, False) if script.get("chaining") == "any" else (True,):
        result = result_of(script, chaining=chaining)
        if "unsupported" in result:
            return None
        sentences += [f"chaining={chaining}: {sentence}" for sentence in differences(result, expected)]
    return sentences


def test_the_golden_file_is_the_whole_one() -> None:
    assert len(records()) == SCRIPTS


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_programs_give_what_flink_gave(part: int) -> None:
    """All of them run, and those differ that are meant to."""
    chosen = {name: records()[name] for name in list(records())[part::PARTS]}
    sentences = {name: differences_of(record["script"], record["result"]) for name, record in chosen.items()}
    assert [name for name in chosen if sentences[name] is None] == []
    assert {name: sentences[name] for name in chosen if sentences[name] and name not in PROGRAMS} == {}
    assert [name for name in chosen if sentences[name]] == [name for name in chosen if name in PROGRAMS]


def _flinks_start(timestamp: int, offset: int, size: int) -> int:
    """Start of a window as Flink computes it, with Java's remainder."""
    shifted = timestamp - offset + size
    return timestamp - (shifted % size if shifted >= 0 else -(-shifted % size))


def test_window_starts_are_all_that_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TimeWindow, "get_window_start_with_offset", staticmethod(_flinks_start))
    monkeypatch.setattr(window, "taker", lambda parts: None)  # whose loops have the start written out
    monkeypatch.setattr(window, "native_windows", lambda *parts: None)  # which have it in Rust
    names = [name for name, why in PROGRAMS.items() if why == WINDOW_STARTS]
    assert names
    wrong = {name: differences_of(records()[name]["script"], records()[name]["result"]) for name in names}
    assert not {name: sentences for name, sentences in wrong.items() if sentences}


@pytest.mark.parametrize("part", ["output", "trace", "counts", "error"])
def test_the_comparison_sees_a_change(part: str) -> None:
    """In each part of a result, so that equal programs mean something."""
    name = "fail_output_written_before" if part == "error" else "trace_two_tasks_p2"
    expected = json.loads(json.dumps(records()[name]["result"]))
    result = result_of(records()[name]["script"])
    assert list(differences(result, expected)) == []
    change = {
        "output": lambda: next(iter(expected["output"].values()))["texts"].pop(),
        "trace": lambda: next(iter(expected["trace"].values())).reverse(),
        "counts": lambda: expected["counts"][0].__setitem__(3, 99),
        "error": lambda: expected["error"][-1].__setitem__(1, "another message"),
    }
    change[part]()
    assert len(list(differences(result, expected))) == 1


def test_the_setting_for_shared_objects_is_understood(recwarn: pytest.WarningsRecorder) -> None:
    make = StreamExecutionEnvironment.get_execution_environment
    make(Configuration.from_dict({"pipeline.object-reuse": "true"}))
    assert not recwarn.list


def test_the_command_writes_a_line_per_script() -> None:
    ran, failed = (records()[name] for name in ("keyed_sum", "fail_at_map"))
    lacking = {"name": "lacking", "calls": [["env", "source", [["a", 1, 1]]], [0, "asQueryableState", "q"]]}
    text = "\n".join([json.dumps(ran["script"]), json.dumps(failed), "", json.dumps(lacking)]) + "\n"
    command = [sys.executable, "tests/datastream/run_scripts.py"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=ROOT, check=True)
    first, second, third = map(json.loads, done.stdout.splitlines())
    assert list(differences(first, ran["result"])) == []
    assert second["error"] == [["java.io.IOException", "in map"], ["java.lang.RuntimeException", "the cause"]]
    assert third == {"unsupported": "asQueryableState"}


def test_a_source_that_waits_sees_what_reached_a_sink_behind_several_exchanges() -> None:
    calls = [
        ["env", "setParallelism", 1],
        ["env", "source", [["a", 1, 1], {"await": ["out", 1]}, ["a", 2, 2]]],
        [1, "rescale"],
        [2, "map", {"fn": "Add", "args": [1]}],
        [3, "setParallelism", 2],
        [4, "global"],
        [5, "map", {"fn": "Mul", "args": [10]}],
        [6, "disableChaining"],
        [7, "collect", "out"],
        [8, "disableChaining"],
    ]
    result = result_of({"name": "awaits", "calls": calls})
    assert result["output"]["out"]["texts"] == [[0, "(a,20,1)"], [0, "(a,30,2)"]]


def test_a_task_may_have_a_name_longer_than_a_files() -> None:
    """And tasks whose long names begin alike have traces of their own."""
    traced = {"fn": "Trace", "args": ["t"]}
    calls: list[list[Any]] = [["env", "source", [["a", 1, 1]]]]
    for name in ("long " * 60 + "one", "long " * 60 + "two"):
        last = len(calls) - 1
        calls += [[last, "map", traced], [last + 1, "name", name], [last + 2, "startNewChain"]]
    trace = result_of({"name": "long", "calls": [*calls, [6, "collect", "out"]]})["trace"]
    assert [lines for _, lines in sorted(trace.items())] == [["open t", "t (a,1,1)", "close t"]] * 2
    assert min(map(len, trace)) > 255


def test_counts_without_subtasks_are_summed_by_name() -> None:
    """As Flink's metrics are: two operators of one name, and what their names are cut to, are one there."""
    same = "same " * 20
    calls: list[list[Any]] = [
        ["env", "source", [["a", number, number] for number in range(6)]],
        [0, "rebalance"],
        [1, "map", {"fn": "Add", "args": [1]}],
        [2, "setParallelism", 2],
        [3, "name", same + "one"],
        [4, "filter", {"fn": "Less", "args": [3]}],
        [5, "setParallelism", 2],
        [6, "name", same + "two"],
        [7, "collect", "out"],
    ]
    result = result_of({"name": "same", "calls": calls})
    counts = {name: [subtask, *counted] for name, subtask, *counted in result["counts"]}
    assert len(counts) == len(result["counts"]) == 3
    assert counts[same[:80]] == [None, 12, 8]
