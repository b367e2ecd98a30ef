"""Programs that never end, and are told to by whoever runs them: Docker, systemd, a terminal."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PROGRAM = """\
import os
import signal
import sys
import time
from penstock.common import Configuration, RestartStrategies, Types, WatermarkStrategy
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors import DataGeneratorSource, RateLimiterStrategy

folder, kind = sys.argv[1:]
if kind == "own":
    signal.signal(signal.SIGTERM, lambda *_: os._exit(7))  # an exception may be ignored where it comes up


def seen(line):
    with open(f"{folder}/seen", "a") as file:
        print(line, file=file)
    if kind == "slow":
        time.sleep(300)
    if kind == "fails":
        raise ConnectionError("the other side is away")


settings = Configuration({"execution.checkpointing.dir": f"{folder}/job"})
env = StreamExecutionEnvironment.get_execution_environment(settings)
env.set_parallelism(1).set_restart_strategy(RestartStrategies.fixed_delay_restart(1000, 3_600_000))
numbers = DataGeneratorSource(lambda n: n, None, Types.LONG(), RateLimiterStrategy.per_second(100))
numbers = env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
numbers.map(str, Types.STRING()).write_as_text(f"{folder}/out")
numbers.add_sink(seen)
env.execute("endless")
print("ended in order")
"""


def begun(tmp_path: Path, *command: str, kind: str = "works", before: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    """The program, once it has seen records."""
    program, seen = tmp_path / "program.py", tmp_path / "seen"
    program.write_text(PROGRAM)
    seen.unlink(missing_ok=True)
    process = subprocess.Popen(
        [*before, sys.executable, *command, str(program), str(tmp_path), kind],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    until = time.monotonic() + 360
    while not seen.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.05)
    return process


PENSTOCK = ("-c", "from penstock.cli import main; main()", "run")


def stops_and_goes_on(tmp_path: Path, *command: str) -> None:
    """By SIGTERM, twice; each number is there once."""
    for _ in range(2):
        process = begun(tmp_path, *command)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=360)
        assert (process.returncode, out) == (0, "ended in order\n"), err
        assert "Stopping after the current step is committed; terminate once more" in err
    assert "Resuming from checkpoint" in err
    lines = [int(line) for line in (tmp_path / "out").read_text().split()]
    assert lines == list(range(len(lines)))


def test_a_terminated_program_stops_in_order_and_goes_on(tmp_path) -> None:
    stops_and_goes_on(tmp_path, *PENSTOCK, "--local")


@pytest.mark.spark
def test_on_spark_too(tmp_path) -> None:
    stops_and_goes_on(tmp_path, *PENSTOCK, "--master", "local[1]")


def test_one_that_waits_to_begin_again_stops_at_once(tmp_path) -> None:
    process = begun(tmp_path, *PENSTOCK, "--local", kind="fails")
    time.sleep(0.3)  # it is in its pause, or will be
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (0, "ended in order\n"), err


def test_a_program_that_handles_the_signal_itself_goes_on_doing_so(tmp_path) -> None:
    process = begun(tmp_path, *PENSTOCK, "--local", kind="own")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=120)
    assert process.returncode == 7


@pytest.mark.parametrize(("wish", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
def test_a_second_signal_ends_a_step_that_takes_long(tmp_path, wish, status) -> None:
    """A shell shows a process that SIGTERM has ended as 143."""
    process = begun(tmp_path, *PENSTOCK, "--local", kind="slow")
    send_twice(process, process.pid, wish)
    assert process.returncode == status


CONTAINED = ("unshare", "--pid", "--fork", "--mount-proc")


def has_containers() -> bool:
    """Whether a process may be the first of a name space of its own, as it is in a container."""
    if shutil.which("unshare") is None:
        return False
    return subprocess.run([*CONTAINED, "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not has_containers(), reason="no name spaces of processes here: they need unshare, and root")
@pytest.mark.parametrize(("kind", "status"), [("works", 0), ("slow", 128 + signal.SIGTERM)])
def test_the_first_process_of_a_container_hears_both_signals(tmp_path, kind, status) -> None:
    process = begun(tmp_path, *PENSTOCK, "--local", kind=kind, before=CONTAINED)
    (first,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    if kind == "works":
        os.kill(int(first), signal.SIGTERM)
        process.communicate(timeout=120)
    else:
        send_twice(process, int(first), signal.SIGTERM)
    assert process.returncode == status


def send_twice(process: subprocess.Popen[str], pid: int, wish: signal.Signals) -> None:
    """Send a signal, and again when the program has heard it."""
    assert process.stderr is not None
    os.kill(pid, wish)
    while "Stopping after the current step" not in process.stderr.readline():
        assert process.poll() is None
    os.kill(pid, wish)
    try:
        process.communicate(timeout=120)
    finally:
        if process.poll() is None:
            os.kill(pid, signal.SIGKILL)
