"""Programs in steps over Spark Connect; ``python -m tests.spark.connect_steps MASTER FOLDER END`` dies in a step."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cloudpickle

from penstock.common import Types, WatermarkStrategy
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors import SparkSink
from penstock.spark import job_sessions, steps
from penstock.spark.session import open_session
from tests.sparks import sums

cloudpickle.register_pickle_by_value(sums)  # tasks do not find this project
END = sums.LENGTH


@contextmanager
def before_steps(act: Callable[[int, Any], object]) -> Iterator[None]:
    """Within the block something happens before each step, given how many have begun, and the session."""

    original, count = steps.SparkSteps.step, itertools.count()

    def counted(runner: steps.SparkSteps, *args: Any) -> Any:
        act(next(count), runner._session.get())
        return original(runner, *args)

    steps.SparkSteps.step = counted  # type: ignore[method-assign]
    try:
        yield
    finally:
        steps.SparkSteps.step = original  # type: ignore[method-assign]


def compared(folder: Path, end: int) -> int | str:
    """How many lines there are, if they are those of the numbers before ``end``."""
    lines = sums.lines_in(folder)
    return len(lines) if lines == sums.expected(0, end) else f"{len(lines)} other lines"


def resumed(spark: Any, folder: Path) -> Any:
    """Sums of numbers, in two runs."""
    sums.run(folder, END, **spark)
    sums.run(folder, 2 * END, **spark)
    return compared(folder, 2 * END)


def ended_by_server(spark: Any, folder: Path) -> Any:
    """The server ends the session of the job: after a pause, and right before a step."""
    ended: list[str] = []

    def act(step: int, session: Any) -> None:
        if step in (1, 3):
            ended.append(session.session_id)
            session.client.release_session()
            job_sessions.IDLE = 0 if step == 1 else 60

    seconds = job_sessions.IDLE
    try:
        with before_steps(act):
            sums.run(folder, END, **spark)
    finally:
        job_sessions.IDLE = seconds
    return compared(folder, END), len(set(ended))


def client_killed(spark: Any, folder: Path) -> Any:
    """The client dies while a step runs, and comes back."""
    master = spark["master"]
    command = [sys.executable, "-m", __name__, master, str(folder), str(END)]
    codes = [subprocess.run(command, check=False, stderr=subprocess.PIPE).returncode for _ in range(2)]
    sums.run(folder, END, **spark)
    return codes, compared(folder, END)


def endless(spark: Any, folder: Path) -> Any:
    """A program that never ends, until it is stopped; and what a DataFrame has that it reads beside, as tables."""
    session = spark.get("spark") or open_session(spark["master"], {})
    env = StreamExecutionEnvironment.get_execution_environment(sums.configuration(folder, endless=True), **spark)
    rows = env.from_spark(session.range(1000, 1010, 1, 2)).map(lambda row: row.id, Types.LONG())
    numbers = env.from_source(sums.Numbers(END), WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
    table = numbers.union(rows).map(lambda number: (number,), Types.ROW_NAMED(["n"], [Types.LONG()]))
    table.sink_to(SparkSink(format="json", path=str(folder / "table"), mode="append"))
    client = env.execute_async("endless")
    until, values = time.monotonic() + 300, list[int]()
    while len(values) < END + 10 and time.monotonic() < until and not client.get_job_execution_result().done():
        time.sleep(0.5)
        if any((folder / "table").glob("*.json")):
            values = sorted(row.n for row in session.read.json(str(folder / "table")).collect())
    client.stop().result()
    client.get_job_execution_result().result(300)
    return values == [*range(END), *range(1000, 1010)], client.get_job_status().result().name


PROGRAMS: dict[str, Callable[[Any, Path], Any]] = {
    "resumed": resumed,
    "ended": ended_by_server,
    "endless": endless,
    "client": client_killed,
}


def die_in_second_step() -> None:
    """Have this process die in the second step of a job, when its rows are there."""

    def die(*arguments: Any, step: int, **more: Any) -> Any:
        rows = original(*arguments, step=step, **more)
        begun.append(step)
        if len(begun) == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return rows

    begun: list[int] = []
    original, steps.driver_rows = steps.driver_rows, die


def main(master: str, folder: str, end: str) -> None:
    """Read the numbers before ``end``, and die in the second step."""
    die_in_second_step()
    sums.run(Path(folder), int(end), master=master)


if __name__ == "__main__":
    main(*sys.argv[1:])
