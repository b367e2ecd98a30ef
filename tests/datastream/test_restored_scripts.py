"""The programs of the run scripts, stopped with a savepoint and begun from it by another job, at the same and at
another parallelism: they give what Flink gave for all at once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.datastream import feeding, restoring, workers
from tests.datastream.compare_runs import differences
from tests.datastream.deliberate_differences import OF_ATTEMPTS, PROGRAMS, RESTORED
from tests.datastream.test_run_scripts import records
from tests.effort import one_of

ROOT = Path(__file__).resolve().parents[2]
PARTS = 2
ONE_OF = one_of(40)
"""One in so many programs per mode, in each mode others."""

MODES = [("1", 1, None), ("1", 2, None), ("1", 3, 3), ("2", 1, 2), ("random:1", 2, 4), ("1", 6, 5)]


def wrong(names: list[str], feed: str, steps: int, parallelism: int | None, *, spark: bool = False) -> dict[str, Any]:
    """What differs from what Flink gave, by program, but for what is meant to."""
    wrong_ones: dict[str, Any] = {}
    make, _ = workers.executors(spark)
    for name in names:
        with feeding.folder() as root:
            result = restoring.restored_result(records()[name]["script"], make(), root, feed, steps, parallelism)
        expected = records()[name]["result"]
        if "unsupported" in result or "defect" in result:
            wrong_ones[name] = result
            continue
        if said_by_nobody(result):
            result, expected = comparable(result), comparable(expected)
        sentences = list(differences(result, expected))
        if bool(sentences) != (name in PROGRAMS):
            wrong_ones[name] = sentences or "no difference"
    return wrong_ones


def said_by_nobody(result: dict[str, Any]) -> bool:
    """Whether the result does not say which subtask has counted."""
    return any(subtask is None for _, subtask, *_ in result.get("counts", ()))


def comparable(result: dict[str, Any]) -> dict[str, Any]:
    """A result where subtasks do not count; nor do traces, which are by subtask."""
    plain = {key: value for key, value in restoring.without_subtasks(result).items() if key != "trace"}
    output = {sink: {**texts, "ordered": False} for sink, texts in plain.get("output", {}).items()}
    return {**plain, "output": output} if "output" in plain else plain


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize(("feed", "steps", "parallelism"), MODES)
def test_programs_give_what_flink_gave(feed: str, steps: int, parallelism: int | None, part: int) -> None:
    mode = MODES.index((feed, steps, parallelism))
    names = list(records())[(mode * PARTS + part) % (PARTS * ONE_OF) :: PARTS * ONE_OF]
    wrong_ones = wrong(names, feed, steps, parallelism)
    assert not {name: difference for name, difference in wrong_ones.items() if name not in RESTORED}


@pytest.mark.slow
def test_what_is_in_no_state_is_lost() -> None:
    names = sorted(RESTORED.keys() - OF_ATTEMPTS.keys())
    assert sorted(wrong(names, "1", 1, None)) == names
    assert not wrong(names, "all", 1, None)


@pytest.mark.spark
@pytest.mark.parametrize("parallelism", [None, 3])
def test_programs_give_what_flink_gave_on_spark(parallelism: int | None) -> None:
    rescaled = () if parallelism is None else ("--rescale", str(parallelism))
    names = ["keyed_sum", "iterate_countdown", "window_tumbling_offset", "trace_two_tasks_p2"]
    by_command(names, "--spark", "--feed", "2", "--restore", "2", *rescaled)


@pytest.mark.slow
def test_the_command_restores_and_rescales() -> None:
    by_command(["keyed_sum", "fail_at_map"], "--feed", "1", "--restore", "2", "--rescale", "3")


def by_command(names: list[str], *options: str) -> None:
    """The command gives what Flink gave, whatever the subtask. A process can have one Spark: it has its own."""
    text = "".join(json.dumps(records()[name]["script"]) + "\n" for name in names)
    command = [sys.executable, "tests/datastream/run_scripts.py", *options]
    run = subprocess.run(command, input=text, capture_output=True, text=True, cwd=ROOT, timeout=600, check=False)
    assert run.returncode == 0, run.stderr
    for name, line in zip(names, run.stdout.splitlines(), strict=True):
        assert not list(differences(comparable(json.loads(line)), comparable(records()[name]["result"]))), name


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--restore", "2"], "need --feed"),
        (["--feed", "1", "--rescale", "2"], "--rescale needs --restore"),
        (["--feed", "1", "--restore", "2", "--kill", "1"], "either killed or restored"),
    ],
)
def test_options_that_make_no_sense(options: list[str], why: str, capsys: pytest.CaptureFixture[str]) -> None:
    from tests.datastream.run_scripts import main

    with pytest.raises(SystemExit):
        main(options)
    assert why in capsys.readouterr().err
