"""Streaming DataFrames over Spark Connect: ``python -m tests.spark.connect_streams FOLDER [PROGRAM …]``; prints JSON.

``… classic FOLDER`` reads on in a Spark of its own, and ``… dies FOLDER MASTER`` dies in its second step."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from penstock.common import Types
from penstock.datastream import MapFunction
from penstock.errors import JobCancelledError
from penstock.spark import connect_queries, job_sessions, steps
from penstock.spark.session import open_session
from tests.running import INTERPRETED
from tests.spark import test_streams as classic
from tests.spark.cluster import FAST_JVM, HOME
from tests.spark.test_streams import counted, environment, lines_of, to_files, visible, write

LOG = "server"
MASTERS: list[str] = []  # the URL of the server
SILENCE = 2.0  # seconds that a query waits for a program that is dead


def read_on(spark: Any, folder: Path) -> None:
    """Count the words of the files that have not been read."""
    env = environment(spark, folder / "job")
    counted(env, lines_of(spark, folder / "in"), folder / "out")
    env.execute("words")


def of_its_own(*arguments: str) -> int:
    """The exit code of this module in a process of its own."""
    environment = {name: text for name, text in os.environ.items() if name != "SPARK_CONNECT_MODE_ENABLED"}
    command = [sys.executable, "-m", "tests.spark.connect_streams", *arguments]
    return subprocess.run(command, env=environment, check=False).returncode


def both_ways(spark: Any, folder: Path) -> None:
    """One job: over Spark Connect, in a Spark of its own, and back. What a dead program has left goes."""
    for number, read in enumerate((read_on, lambda _, folder: of_its_own("classic", str(folder)), read_on)):
        write(folder / "in", f"f{number}", "a", "b" if number else "c")
        (folder / "job/queries/left/batches").mkdir(parents=True)
        write(folder / "job/queries/left/batches/0", "part-0", "")
        read(spark, folder)
        assert not (folder / "job/queries").exists()
    assert visible(folder / "out") == ["('a', 1)", "('a', 2)", "('a', 3)", "('b', 1)", "('b', 2)", "('c', 1)"]


def killed(spark: Any, folder: Path) -> None:
    """A program dies when a step has read a micro-batch. The query ends by itself, and the next program goes on."""
    for number in range(3):
        write(folder / "in", f"f{number}", "a")
        time.sleep(0.05)
    assert of_its_own("dies", str(folder), MASTERS[-1]) == -signal.SIGKILL
    until = time.monotonic() + 120
    while "no sign of life" not in (log := (folder.parent / LOG).read_text()):
        assert time.monotonic() < until, log
        time.sleep(0.1)
    read_on(spark, folder)
    assert visible(folder / "out") == ["('a', 1)", "('a', 2)", "('a', 3)"]


def ended(spark: Any, folder: Path) -> None:
    """The server ends the session of the job: after a pause, and right before a step."""
    from tests.spark.connect_steps import before_steps

    sessions: set[str] = set()

    def act(step: int, session: Any) -> None:
        sessions.add(session.session_id)
        if step in (1, 4):
            session.client.release_session()
            job_sessions.IDLE = 0 if step == 1 else 60

    for number in range(4):
        write(folder / "in", f"f{number}", "a")
    seconds = job_sessions.IDLE
    try:
        with before_steps(act):
            read_on(spark, folder)
    finally:
        job_sessions.IDLE = seconds
    assert visible(folder / "out") == [f"('a', {number})" for number in range(1, 5)]
    assert len(sessions) == 3, sessions


class Subtask(MapFunction):
    def open(self, context: Any) -> None:
        self.number = context.get_index_of_this_subtask()

    def map(self, value: Any) -> Any:
        return self.number, value


def partitions(spark: Any, folder: Path) -> None:
    """More partitions than subtasks: each is read by one of them, in order, or in the order that is asked for."""
    spark.conf.set("spark.sql.files.maxPartitionBytes", "1000")  # a partition for each file
    for number in range(5):
        write(folder / "in", f"f{number}", *(f"{99 - line} of {number}" for line in range(50)))
    read: dict[str | None, list[Any]] = {}
    for order in (None, "value"):
        env = environment(spark)
        lines = spark.readStream.text(str(folder / "in"))
        typed = env.from_spark(lines, Types.STRING(), order_by=order).map(Subtask())
        with typed.execute_and_collect() as records:
            read[order] = list(records)
    spark.conf.unset("spark.sql.files.maxPartitionBytes")
    for order, records in read.items():
        assert len({line for _, line in records}) == len(records) == 250
        shares = [[line for subtask, line in records if subtask == number] for number in range(2)]
        files = [list(dict.fromkeys(line.split()[2] for line in share)) for share in shares]
        assert sorted(map(len, files)) == [2, 3], files
        for share, of in zip(shares, files, strict=True):
            in_order = [f"{99 - line} of {number}" for number in of for line in range(50)]
            assert share == (in_order if order is None else sorted(share))


def cancelled(spark: Any, folder: Path) -> None:
    """A stream without an end, until it is cancelled."""
    numbers = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 5).load().select("value")
    env = environment(spark, folder / "job", once=False)
    to_files(env.from_spark(numbers, Types.LONG()), folder / "out")
    client, until = env.execute_async("numbers"), time.monotonic() + 240
    while len(visible(folder / "out")) < 15:
        assert time.monotonic() < until
        time.sleep(0.05)
    client.cancel().result()
    assert isinstance(client.get_job_execution_result().exception(60), JobCancelledError)
    assert sorted(map(int, visible(folder / "out"))) == list(range(len(visible(folder / "out"))))
    assert not (folder / "job/queries").exists()


PROGRAMS: dict[str, Callable[[Any, Path], object]] = {
    "second run": classic.test_a_second_run_goes_on_behind_the_files_of_the_first,
    "failed step": lambda spark, folder: classic.test_a_step_that_fails_is_read_again(spark, folder, {}),
    "several sources": classic.test_two_streams_a_frame_and_a_collection_meet_in_one_job,
    "idle subtask": classic.test_a_subtask_without_partitions_holds_no_watermark_back,
    "refused": classic.test_what_cannot_be_gone_on_with_is_refused,
    "failing stream": classic.test_a_stream_that_spark_cannot_read_fails_the_job,
    "both ways": both_ways,
    "ended": ended,
    "killed": killed,
    "partitions": partitions,
}
ENDLESS: dict[str, Callable[[Any, Path], object]] = {"cancelled": cancelled}
"""Programs that serverless platforms do not allow."""


def result_of(program: Callable[[Any, Path], object], spark: Any, folder: Path) -> str:
    """What came of a program."""
    from tests.spark.connect_server import strict

    folder.mkdir()
    try:
        with nullcontext() if program in ENDLESS.values() else strict():
            program(spark, folder)
    except BaseException:  # pytest's own failures are no exceptions of the other kind
        return traceback.format_exc()
    return "passed"


def main(folder: Path, *names: str) -> None:
    """Run all programs, or some, in one session."""
    from tests.spark.connect_server import server

    results: dict[str, str] = {}
    with server(folder / LOG) as master:
        MASTERS.append(master)
        session = open_session(master, {})
        try:
            for name, program in (PROGRAMS | ENDLESS).items():
                if not names or name in names:
                    began = time.monotonic()
                    results[name] = result_of(program, session, folder / name.replace(" ", "-"))
                    print(name, results[name], f"{time.monotonic() - began:.1f} s", file=sys.stderr)
        finally:
            session.stop()
    print(json.dumps(results))


def main_classic(folder: Path) -> None:
    options = {"spark.driver.extraJavaOptions": FAST_JVM, **INTERPRETED}
    read_on(open_session("local[1,4]", options), folder)


def main_dies(folder: Path, master: str) -> None:
    def die(*arguments: Any, step: int, **more: Any) -> Any:
        rows = original(*arguments, step=step, **more)
        begun.append(step)
        if len(begun) == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return rows

    begun: list[int] = []
    original, steps.driver_rows = steps.driver_rows, die
    connect_queries.BEAT, connect_queries.SILENCE = 0.2, SILENCE
    read_on(open_session(master, {}), folder)


if __name__ == "__main__":
    os.environ |= {"SPARK_HOME": HOME, "PYSPARK_PYTHON": sys.executable}
    if sys.argv[1] == "classic":
        main_classic(Path(sys.argv[2]))
    elif sys.argv[1] == "dies":
        main_dies(Path(sys.argv[2]), sys.argv[3])
    else:
        main(Path(sys.argv[1]), *sys.argv[2:])
