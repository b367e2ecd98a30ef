"""Running jobs on a page: what `penstock run --watch` and `penstock watch` tell of them."""

from __future__ import annotations

import http.client
import json
import os
import re
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner

from penstock.cli import group
from penstock.cli.page_view import PageView
from penstock.common import Types
from penstock.common.job_control import JobControl
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.environment import executors
from penstock.datastream.functions import KeyedProcessFunction
from penstock.errors import JobFolderError
from penstock.viewer import page
from penstock.viewer.following import Following
from tests.viewer.test_page import TEMPLATE


@pytest.fixture(autouse=True)
def template(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "_template", lambda: TEMPLATE)


def got(url: str) -> bytes:
    place = urlsplit(url)
    connection = http.client.HTTPConnection(str(place.hostname), place.port, timeout=20)
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
    monkeypatch.setenv("TEST_SEEN", str(tmp_path / "seen"))

    @contextmanager
    def watching(control: JobControl) -> Generator[None, None, None]:
        with PageView()(control):
            address = re.search(r"http://\S+/", capsys.readouterr().err)
            assert address is not None
            monkeypatch.setenv("TEST_FEED", f"{address[0]}feed")
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
    assert {each["name"] for each in seen["vertices"]} == {"Source: Numbers", "Ask -> Sink: Print to Std. Out"}
    assert seen["status"] == "RUNNING"
    assert (ends[0]["status"], ends[0]["version"]) == ("FINISHED", 1)


def program(folder: Path, job: Path) -> Path:
    file = folder / "sums.py"
    file.write_text(
        "from penstock.common import Configuration, Types\n"
        "from penstock.datastream import StreamExecutionEnvironment\n"
        f"settings = Configuration({{'penstock.job.folder': {str(job)!r}, 'penstock.executor': 'local'}})\n"
        "env = StreamExecutionEnvironment.get_execution_environment(settings)\n"
        "pair = Types.TUPLE([Types.LONG(), Types.LONG()])\n"
        "numbers = env.generate_sequence(1, 300).uid('numbers').map(lambda n: (n % 3, n), pair).uid('pairs')\n"
        "numbers.key_by(lambda p: p[0], Types.LONG()).sum(1).uid('sums').name('Sums').add_sink(lambda p: None)\n"
        "env.execute('followed')\n"
    )
    return file


def test_a_job_is_followed_by_its_folder(tmp_path: Path) -> None:
    from penstock.analysis.reading import model_of
    from penstock.cli.program import capture_plan, run_program

    file = program(tmp_path, tmp_path / "job")
    run_program(str(file), ())
    following = Following(str(tmp_path / "job"), model_of(capture_plan(str(file), ())))
    numbers = following.numbers()
    assert numbers is not None
    assert (numbers["job"], numbers["status"]) == ("followed", "NOT RUNNING")
    assert numbers["version"] >= 1
    assert [each["id"] for each in numbers["vertices"]] == [each.id for each in following.model.vertices]
    assert sum(each["state_bytes"] > 0 for each in numbers["vertices"]) == 1

    alone = Following(str(tmp_path / "job"), None)
    assert "Sums" in {each.name for each in alone.model.operators}
    assert alone.numbers() is not None


def test_what_is_no_job_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(JobFolderError, match=r"no job\.json"):
        Following(str(tmp_path), None)
    result = CliRunner().invoke(group, ["watch", str(tmp_path)])
    assert (result.exit_code, "no job.json" in " ".join(result.stderr.split())) == (1, True)
