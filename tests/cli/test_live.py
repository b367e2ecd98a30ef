"""``penstock run --progress``: what is shown of jobs while they run."""

from __future__ import annotations

import io
import os
import pty
import re
import select
import subprocess
import sys
import time

import pytest
from rich.console import Console
from tests.job.steps.loops import chain, pipeline

from penstock.cli.live import LiveView, PlainView
from penstock.common.jobs.job_control import JobControl
from penstock.job.deployment import deploy
from penstock.job.steps.counts import StepSummary
from penstock.job.steps.progress import Progress

pytestmark = pytest.mark.slow

SECONDS = 60
SLOW = """
def slow(n):
    import time
    time.sleep(0.01)
    return n

env.from_collection(list(range(300)), Types.INT()).map(slow, Types.INT()).name("slow").filter(lambda n: n > 298).print()
env.execute("watched")
"""


@pytest.fixture
def control() -> JobControl:
    plan, control = pipeline(), JobControl("clicks")
    deployment = deploy(plan)
    progress = Progress(deployment, control, plan.job_graph)
    source = next(vertex.index for level in deployment.levels for vertex in level)
    progress.step(StepSummary(3, 1.0, 1.05, {}, {}, {(source, 0): chain(deployment, source, [(0, 50), (50, 50)])}))
    return control


def text(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", console.file.getvalue())


def test_a_job_is_drawn_until_it_has_ended(control, monkeypatch) -> None:
    monkeypatch.setattr("penstock.cli.live._LATER", 0)
    console = Console(file=io.StringIO(), force_terminal=True, width=100, height=30)
    view = LiveView(console)
    with view(control), view(JobControl("of which nothing is known")):
        assert control.shown
        console.print(view.drawn())
    assert 'Job "clicks"' in text(console)
    assert "odd" in text(console)
    assert view._live is None
    assert not list(view._jobs)


def test_a_view_that_fails_fails_no_job(control) -> None:
    control.observed = object()
    with LiveView(Console(file=io.StringIO(), force_terminal=True))(control), PlainView(0.01)(control):
        time.sleep(0.05)


def test_a_line_now_and_then_and_in_the_end(control, capsys) -> None:
    with PlainView(SECONDS)(control):
        pass
    output, until = "", time.monotonic() + SECONDS
    with PlainView(0.01)(control):
        while output.count("\n") < 3 and time.monotonic() < until:
            time.sleep(0.01)
            output += capsys.readouterr().err
    lines = (output + capsys.readouterr().err).splitlines()
    assert len(lines) > 2
    assert lines[0].startswith('penstock: Job "clicks" · CREATED · 0:00:00 · ')
    assert lines[0].endswith(" out, version 3, step 50 ms")


def on_a_terminal(path, tmp_path, *options: str) -> tuple[bytes, str]:
    """What a terminal is sent by the standard error of a run, and the standard output, which goes to a file."""
    shown, terminal = pty.openpty()
    command = [sys.executable, "-m", "penstock.cli", "run", *options, str(path)]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "30"}
    with open(tmp_path / "out", "w") as out:
        run = subprocess.Popen(command, stdout=out, stderr=terminal, env=environment)
    os.close(terminal)
    screen = b""
    while select.select([shown], [], [], SECONDS)[0]:
        try:
            piece = os.read(shown, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        screen += piece
    os.close(shown)
    assert run.wait(SECONDS) == 0, screen
    return screen, (tmp_path / "out").read_text()


def test_a_program_in_a_terminal_is_shown_and_its_output_is_whole(program, tmp_path) -> None:
    screen, out = on_a_terminal(program(SLOW), tmp_path, "--local")
    assert out == "299\n"
    assert b'Job "watched"' in screen
    assert b"slow" in screen


def test_metrics_stay_on_the_terminal(program, tmp_path) -> None:
    """Nothing is erased behind them, and nothing else is left."""
    screen, _ = on_a_terminal(program(SLOW), tmp_path, "--local", "--metrics")
    before, _, behind = screen.partition(b"Metrics of job")
    assert b"\x1b[2K" in before  # the view, which is erased
    assert b"slow" in behind
    assert b"\x1b[2K" not in behind
    assert b"RUNNING" not in behind


def test_the_view_goes_on_while_spark_starts(program, tmp_path) -> None:
    """Standard error is a pipe then, whose other end holds lines back."""
    path = program(
        """
        import time
        from penstock.spark.session import quiet_start
        from penstock.local import LocalExecutor

        class Starting(LocalExecutor):
            def prepare(self, pipeline, control):
                job = super().prepare(pipeline, control)
                def run():
                    control.observed.waiting("Spark to start")
                    with quiet_start():
                        time.sleep(3.2)
                    return job()
                return run

        env = StreamExecutionEnvironment.get_execution_environment(executor=Starting())
        env.from_collection([1]).print()
        env.execute("started")
        """
    )
    screen, _ = on_a_terminal(path, tmp_path)
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", screen.decode())
    assert len(set(re.findall(r"0:00:0\d", shown))) > 1
    assert "waits for Spark to start" in shown


@pytest.mark.parametrize("wanted", ["auto", "none"])
def test_no_terminal_no_view(penstock, program, wanted) -> None:
    result = penstock(
        "run", "--local", "--progress", wanted, program("env.from_collection([1]).print(); env.execute()")
    )
    assert (result.exit_code, result.stderr) == (0, "")


def test_lines_where_there_is_no_terminal(penstock, program) -> None:
    path = program("env.from_collection([1]).map(lambda n: n).print(); env.execute('short')")
    result = penstock("run", "--local", "--progress", "plain", path)
    assert result.stderr.count('penstock: Job "short"') == 1
    assert ", version 1, step " in result.stderr
