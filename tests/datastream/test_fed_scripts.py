"""The programs of the run scripts, fed bit by bit, and killed on the way: they give what Flink gave for all at once."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.datastream import feeding, pool
from tests.datastream.compare_runs import differences
from tests.datastream.deliberate_differences import OF_ATTEMPTS, PROGRAMS
from tests.datastream.run_exactly_once import once
from tests.datastream.run_scripts import main
from tests.datastream.test_run_scripts import records
from tests.effort import one_of

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PARTS = 2
ONE_OF = one_of(30)
"""One in so many programs per mode, in each mode others."""

LONG = 3_600_000
"""Milliseconds of an interval that does not pass: the first step is a checkpoint, and the last one."""

MODES = {
    "1": ("1", None),
    "7": ("7", None),
    "all": ("all", None),
    "random": ("random:1", None),
    "1, killed": ("1", 2),
    "random, killed": ("random:1", 2),
    "random, one checkpoint": ("random:1", None, LONG),
    "1, some are checkpoints": ("1", None, 10),
}


def chosen(feed: str, kill: int | None, interval: int | None = None, when: str | None = None) -> argparse.Namespace:
    return argparse.Namespace(feed=feed, kill=kill, interval=interval, when=when, spark=False, jobs=1, timeout=300)


def wrong(names: list[str], options: argparse.Namespace) -> dict[str, Any]:
    """What differs from what Flink gave, by program, but for what is meant to."""
    wrong_ones: dict[str, Any] = {}
    lines = [json.dumps(records()[name]["script"]) for name in names]
    for name, result in zip(names, pool.results(lines, options), strict=True):
        if "unsupported" in result or "defect" in result:
            wrong_ones[name] = result
            continue
        sentences = list(differences(result, records()[name]["result"]))
        if bool(sentences) != (name in PROGRAMS):
            wrong_ones[name] = sentences or "no difference"
    return wrong_ones


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("mode", MODES)
def test_programs_give_what_flink_gave(mode: str, part: int) -> None:
    first = (list(MODES).index(mode) * PARTS + part) % (PARTS * ONE_OF)
    names = list(records())[first :: PARTS * ONE_OF]
    wrong_ones = wrong(names, chosen(*MODES[mode]))
    assert not {name: difference for name, difference in wrong_ones.items() if name not in OF_ATTEMPTS}


def test_attempts_begin_where_the_last_step_has_ended() -> None:
    assert set(wrong(list(OF_ATTEMPTS), chosen("1", None))) == set(OF_ATTEMPTS)
    assert not wrong(list(OF_ATTEMPTS), chosen("all", None))


@pytest.mark.slow
@pytest.mark.parametrize("when", feeding.WHEN)
@pytest.mark.parametrize("kill", range(2))
def test_a_program_that_is_killed_goes_on_from_its_last_checkpoint(kill: int, when: str) -> None:
    """Of these, nothing waits for what a sink commits, and nothing is kept in a field."""
    names = ["iterate_countdown", "trace_two_tasks_p2", "window_tumbling_offset", "keyed_sum", "state_all_kinds_p2"]
    assert not wrong(names, chosen("2", kill, LONG, when))


@pytest.mark.slow
@pytest.mark.parametrize("when", feeding.WHEN)
@pytest.mark.parametrize("kill", range(6)[:: one_of(3)])
def test_it_does_not_matter_when_a_program_is_killed(kill: int, when: str) -> None:
    """Of these, each goes on from something else than state: a source that is idle, a source that waits for a sink, a
    loop that is not empty, functions that trace, a failure after records were written."""
    names = [
        "watermarks_idle_source_comes_back",
        "iterate_countdown",
        "trace_operator_branching",
        "trace_two_tasks_p2",
        "fail_output_written_before",
        "window_tumbling_offset",
    ]
    assert not wrong(names, chosen("2", kill, when=when))


def test_a_source_that_waits_for_a_sink_makes_the_same_calls_when_it_goes_on() -> None:
    items: list[Any] = [["a", n, n] if n % 2 else {"await": ["out", n // 2]} for n in range(1, 12)]
    script = {"name": "awaits", "calls": [["env", "source", items], [0, "map", {"fn": "Add", "args": [1]}]]}
    script["calls"] += [[1, "rebalance"], [2, "collect", "out"]]
    [result] = pool.results([json.dumps(script)], chosen("1", 4, when="after"))
    texts = result["output"]["out"]["texts"]
    assert [text for _, text in texts] == [f"(a,{n + 1},{n})" for n in range(1, 12, 2)]


def test_chance_is_the_same_every_time_and_small_steps_are_the_most() -> None:
    draw, again, other = (feeding.sizes(f"random:{seed}", "name", 0) for seed in (1, 1, 2))
    drawn = [draw() for _ in range(500)]
    assert drawn == [again() for _ in range(500)]
    assert drawn != [other() for _ in range(500)]
    assert (min(drawn), max(drawn)) == (1, 49)
    assert sorted(drawn)[250] in range(5, 10)


def test_of_openings_the_first_counts_and_of_closings_the_last() -> None:
    lines = ["open a", "a 1", "close a", "open a", "open b", "a 2", "a 2", "close a", "close b"]
    assert once(lines) == ["open a", "a 1", "open b", "a 2", "a 2", "close a", "close b"]


@pytest.mark.slow
def test_random_programs_are_lines_as_well() -> None:
    """Those of seeds, killed on the way; what is wrong with one is a line, too."""
    lines = [json.dumps({"random": seed}) for seed in range(3)]
    assert [list(result) for result in pool.results(lines, chosen("random:2", 1))] == [["equal"]] * 3
    assert list(next(pool.results(['{"random": []}'], chosen("2", None)))) == ["defect"]


@pytest.mark.slow
def test_the_command_feeds_and_kills() -> None:
    names = ("keyed_sum", "fail_at_map")
    text = "".join(json.dumps(records()[name]["script"]) + "\n" for name in names)
    command = [sys.executable, "tests/datastream/run_scripts.py", "--feed", "1", "--kill", "2"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=ROOT, check=True)
    for name, line in zip(names, done.stdout.splitlines(), strict=True):
        assert list(differences(json.loads(line), records()[name]["result"])) == []
    assert "Resuming from checkpoint" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["--kill", "2"], ["--feed", "0"], ["--feed", "random"], ["--feed", "some"]])
def test_options_without_a_meaning_are_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        main(arguments)
    assert (refused.value.code, capsys.readouterr().out) == (2, "")
