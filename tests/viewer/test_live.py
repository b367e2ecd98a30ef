"""Running jobs on a page: what `penstock run --watch` and `penstock watch` tell of them."""

from __future__ import annotations

import http.client
import json
import os
import re
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner

from penstock.cli import group
from penstock.cli.page_view import PageView
from penstock.common import Types
from penstock.common.jobs.job_control import JobControl
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.environment import executors
from penstock.datastream.functions import KeyedProcessFunction
from penstock.errors import CheckpointDirectoryError
from penstock.metrics.running_job import lag
from penstock.viewer import page
from penstock.viewer.follower import JobFollower
from tests.viewer.test_page import TEMPLATE


@pytest.fixture(autouse=True)
def template(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "_template", lambda: TEMPLATE)


def got(url: str) -> bytes:
    place = urlsplit(url)
    connection = http.client.HTTPConnection(str(place.hostname), place.port, timeout=60)
    connection.request("GET", place.path)
    return connection.getresponse().read()


class Asking(KeyedProcessFunction):
    """Asks for the page of its own job while it runs; it is pickled by value, so both places are in the environment."""

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        seen = Path(os.environ["TEST_SEEN"])
        if not seen.exists():
            seen.write_bytes(got(os.environ["TEST_FEED"]))
        yield value


def test_a_job_has_a_page_while_it_runs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ends: list[dict[str, Any]] = []
    pages: list[str] = []
    monkeypatch.setenv("TEST_SEEN", str(tmp_path / "seen"))

    @contextmanager
    def watching(control: JobControl) -> Generator[None, None, None]:
        with PageView()(control):
            address = re.search(r"http://\S+/", capsys.readouterr().err)
            assert address is not None
            monkeypatch.setenv("TEST_FEED", f"{address[0]}feed")
            pages.append(got(address[0]).decode())
            yield
            last = threading.Timer(0.2, lambda: ends.append(json.loads(got(f"{address[0]}feed"))))
            last.start()
        last.join()

    with executors.observe(watching):
        env = StreamExecutionEnvironment.get_execution_environment(executor="local")
        env.set_parallelism(2)
        numbers = env.from_collection(list(range(10)), Types.LONG()).name("Numbers")
        numbers.key_by(lambda number: number % 5, Types.LONG()).process(Asking()).name("Ask").print()
        env.execute("watched")
    seen = json.loads((tmp_path / "seen").read_text())
    assert {vertex["name"] for vertex in seen["vertices"]} == {"Source: Numbers", "Ask -> Sink: Print to Std. Out"}
    assert seen["status"] == "RUNNING"
    assert (ends[0]["status"], ends[0]["version"]) == ("FINISHED", 1)
    assert "Asking.process_element" in pages[0]


def program(folder: Path, job: Path) -> Path:
    file = folder / "sums.py"
    file.write_text(
        "from penstock.common import Configuration, Types\n"
        "from penstock.datastream import StreamExecutionEnvironment\n"
        f"settings = Configuration({{'execution.checkpointing.dir': {str(job)!r}, 'penstock.executor': 'local'}})\n"
        "env = StreamExecutionEnvironment.get_execution_environment(settings)\n"
        "pair = Types.TUPLE([Types.LONG(), Types.LONG()])\n"
        "numbers = env.generate_sequence(1, 300).uid('numbers').map(lambda n: (n % 3, n), pair).uid('pairs')\n"
        "numbers.key_by(lambda p: p[0], Types.LONG()).sum(1).uid('sums').name('Sums').add_sink(lambda p: None)\n"
        "env.execute('followed')\n"
    )
    return file


def test_a_job_is_followed_by_its_folder(tmp_path: Path) -> None:
    from penstock.analysis.builder import model_of
    from penstock.cli.program import Planning, run_program

    file = program(tmp_path, tmp_path / "job")
    run_program(str(file), ())
    following = JobFollower(str(tmp_path / "job"), model_of(Planning().plan(str(file))))
    numbers = following.numbers()
    assert numbers is not None
    assert (numbers["job"], numbers["status"]) == ("followed", "NOT RUNNING")
    assert numbers["version"] >= 1
    assert [vertex["id"] for vertex in numbers["vertices"]] == [vertex.id for vertex in following.model.vertices]
    assert sum(vertex["state_bytes"] > 0 for vertex in numbers["vertices"]) == 1

    vertices = numbers["vertices"]
    assert [numbers["in_rate"], numbers["out_rate"]] == [0, 0]
    assert [vertex[rate] for vertex in vertices for rate in ("in_rate", "out_rate")] == [0] * 2 * len(vertices)

    alone = JobFollower(str(tmp_path / "job"), None)
    assert "Sums" in {vertex.name for vertex in alone.model.operators}
    assert alone.numbers() is not None


def test_a_job_that_lives_has_rates_until_it_commits_nothing_any_more(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from penstock.cli.program import run_program
    from penstock.job.folder.owners import Owners

    run_program(str(program(tmp_path, tmp_path / "job")), ())
    monkeypatch.setattr(Owners, "living", lambda self: object())
    now = [0]
    following = JobFollower(str(tmp_path / "job"), None, now=lambda: now[0])
    newest = following._newest()
    assert newest is not None
    older = replace(newest, time=newest.time - 1000, counters=dict.fromkeys(newest.counters, ()))
    following._recent.appendleft(older)
    rates = []
    for later in (0, 5_000, 60_000):
        now[0] = newest.time + later
        numbers = following.numbers()
        assert numbers is not None
        rates.append(max(vertex["out_rate"] for vertex in numbers["vertices"]))
    assert rates[0] == rates[1] >= 300
    assert rates[2] == 0


@pytest.mark.parametrize(
    ("watermark", "behind"),
    [(1_700_000_000_000 - 1_500, 1_500), (1_700_000_000_000 + 5, -5), (100_000, None), (1_700_000_000, None)],
)
def test_a_watermark_that_is_no_time_of_the_clock_has_no_lag(watermark: int, behind: int | None) -> None:
    assert lag(1_700_000_000_000, watermark) == behind


def test_what_is_no_job_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointDirectoryError, match=r"no job\.json"):
        JobFollower(str(tmp_path), None)
    result = CliRunner().invoke(group, ["watch", str(tmp_path)])
    assert (result.exit_code, "no job.json" in " ".join(result.stderr.split())) == (1, True)
