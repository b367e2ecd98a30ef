"""Scripts that hang, crash, or are killed: each has its line, in its place, and the others theirs."""

from __future__ import annotations

import argparse
import json
import os
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.datastream import pool, workers

pytestmark = pytest.mark.slow

CHOSEN = argparse.Namespace(feed="1", kill=None, when=None, spark=False, jobs=None, timeout=0.3)


class Several(pool.Worker):
    """A process that runs several scripts at a time, as that of Spark does, without Spark."""

    slots = 3
    deaths = 4


def patient(kind: type[pool.Worker]) -> type[pool.Worker]:
    """Workers that give up only the word that hangs, however slow the machine is."""

    class Patient(kind):
        def give(self, task: pool.Task, patience: float) -> None:
            super().give(task, patience if task.line == '"hangs"' else 300.0)

    return Patient


@pytest.fixture(params=[pool.Worker, Several])
def run(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Any]]:
    """Runs words in the place of scripts."""

    def runs(words: list[str], **options: Any) -> list[Any]:
        monkeypatch.setattr(workers, "outcome", outcome)
        monkeypatch.setattr(pool, "Worker", patient(request.param))
        chosen = argparse.Namespace(**vars(CHOSEN) | options)
        return list(pool.results(map(json.dumps, words), chosen))

    return runs


def outcome(message: dict[str, Any], make: Any, chosen: argparse.Namespace, rest: Callable[[], None]) -> Any:
    """What a word does."""
    word = json.loads(message["line"])
    marks = Path(message["root"], "marks")
    with marks.open("a") as file:
        file.write(f"{os.getpid()}\n")
    if word == "hangs":
        threading.Event().wait()
    if word == "crashes":
        os._exit(3)
    if chosen.kill is not None and message["life"] == 0 and word != "short":
        rest()
    time.sleep(0.01)
    return {"word": word, "pids": marks.read_text().split()}


def words(results: list[Any]) -> list[str]:
    return [result.get("word") or result["defect"] for result in results]


HANGS, CRASHED = "it has not ended within 0.3 seconds", "its process has ended: exit code 3"


def test_results_come_in_the_order_of_the_scripts(run: Any) -> None:
    numbers = [str(number) for number in range(30)]
    assert words(run(numbers)) == numbers
    assert words(run([])) == []


def test_scripts_that_hang_or_crash_have_a_line_and_the_others_theirs(run: Any) -> None:
    results = run(["a", "crashes", "b", "hangs", "c", "d", "crashes", "e"])
    assert words(results) == ["a", CRASHED, "b", HANGS, "c", "d", CRASHED, "e"]


def test_killed_scripts_run_in_two_processes(run: Any) -> None:
    scripts = [*"abcdefghij", "short", *"klm"]
    results = run(scripts, kill=1)
    assert words(results) == scripts
    lives = {result["word"]: len(set(result["pids"])) for result in results}
    assert lives == {word: 1 if word == "short" else 2 for word in scripts}


def test_killed_scripts_go_on_beside_those_that_hang_or_crash(run: Any) -> None:
    results = run(["a", "hangs", "b", "c", "crashes", "d", "e", "f"], kill=1)
    assert words(results) == ["a", HANGS, "b", "c", CRASHED, "d", "e", "f"]


def test_processes_die_of_several_scripts_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each death of a Spark costs the start of another one."""
    started: Counter[Any] = Counter()

    class Counted(Several):
        def _start(self, chosen: argparse.Namespace) -> None:
            started["processes"] += 1
            super()._start(chosen)

    monkeypatch.setattr(workers, "outcome", outcome)
    monkeypatch.setattr(pool, "Worker", patient(Counted))
    numbers = [str(number) for number in range(16)]
    chosen = argparse.Namespace(**vars(CHOSEN) | {"kill": 1, "jobs": 1})
    assert words(list(pool.results(map(json.dumps, numbers), chosen))) == numbers
    assert started["processes"] <= 16 / Several.deaths + 1


def test_a_line_that_is_no_script_has_a_line() -> None:
    results = list(pool.results(["{", '"text"', "\n", "[]"], CHOSEN))
    assert [list(result) for result in results] == [["defect"]] * 3


def test_nothing_is_left(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    folders: list[str] = []
    make = pool.feeding.make_folder
    monkeypatch.setattr(pool.feeding, "make_folder", lambda: folders.append(make()) or folders[-1])
    run(["a", "hangs", "crashes", "b"], kill=1)
    assert len(folders) >= 4
    assert not any(map(os.path.exists, folders))
