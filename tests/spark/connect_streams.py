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
from penstock.spark import connect_queries
from penstock.spark.session import open_session
from tests.running import INTERPRETED
from tests.spark import test_streams as classic
from tests.spark.cluster import FAST_JVM, HOME
from tests.spark.connect_steps import die_in_second_step
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
    """One job: over Spark Connect, where the program dies when a step has read a micro-batch, and the query ends by
    itself; then in a Spark of its own; and back."""
    for number in range(3):
        write(folder / "in", f"f{number}", "a", "b" if number else "c")
        time.sleep(0.05)
    assert of_its_own("dies", str(folder), MASTERS[-1]) == -signal.SIGKILL
    until = time.monotonic() + 120
    while "no sign of life" not in (log := (folder.parent / LOG).read_text()):
        assert time.monotonic() < until, log
        time.sleep(0.1)
    assert (folder / "job/queries").exists()
    assert of_its_own("classic", str(folder)) == 0
    assert not (folder / "job/queries").exists()
    write(folder / "in", "more", "a")
    (folder / "in/f0").unlink()  # what has been read is not looked at again
    read_on(spark, folder)
    assert not (folder / "job/queries").exists()
    assert visible(folder / "out") == [*(f"('a', {n})" for n in range(1, 5)), "('b', 1)", "('b', 2)", "('c', 1)"]


def failed(spark: Any, folder: Path) -> None:
    """A step fails by a record, and another one by the end of the session, which comes right before it."""
    from tests.spark.connect_steps import before_steps

    sessions: list[str] = []

    def act(step: int, session: Any) -> None:
        sessions.append(session.session_id)
        if step == 4:
            session.client.release_session()

    for number in range(4):
        write(folder / "in", f"f{number}", "bad" if number == 2 else "good")
        time.sleep(0.05)
    env = environment(spark, restart_strategy="fixed-delay", restart_strategy__fixed_delay__delay="1 ms")
    stream = env.from_spark(lines_of(spark, folder / "in"), Types.STRING())
    once = stream.map(classic.Once(str(folder / "failed")), Types.STRING()).map(lambda word: (word, 1), classic.PAIR)
    to_files(once.key_by(lambda pair: pair[0]).sum(1), folder / "out")
    with before_steps(act):
        env.execute()
    assert (folder / "failed").exists()
    assert visible(folder / "out") == ["('bad', 1)", "('good', 1)", "('good', 2)", "('good', 3)"]
    assert len(set(sessions)) == 2, sessions


class Subtask(MapFunction):
    def open(self, context: Any) -> None:
        self.number = context.get_index_of_this_subtask()

    def map(self, value: Any) -> Any:
        return self.number, value


def partitions(spark: Any, folder: Path) -> None:
    """Two streams of more partitions than there are subtasks, a DataFrame and a collection in one job. Each partition
    is read by one subtask, in order, or in the order that is asked for."""
    spark.conf.set("spark.sql.files.maxPartitionBytes", "1000")  # a partition for each file
    for number in range(5):
        write(folder / "in", f"f{number}", *(f"{99 - line} of {number}" for line in range(50)))
    env = environment(spark)
    lines = spark.readStream.text(str(folder / "in"))

    def stream(name: str, order: str | None) -> Any:
        rows = env.from_spark(lines, Types.STRING(), name, order_by=order).map(Subtask())
        return rows.map(lambda pair: (name, pair))

    whole = env.from_spark(spark.sql("select 'whole' as word"), Types.STRING()).map(lambda word: (word, None))
    collection = env.from_collection([("collection", None)])
    with stream("plain", None).union(stream("ordered", "value"), whole, collection).execute_and_collect() as collected:
        records = list(collected)
    spark.conf.unset("spark.sql.files.maxPartitionBytes")
    assert sorted(name for name, record in records if record is None) == ["collection", "whole"]
    for name in ("plain", "ordered"):
        read = [record for source, record in records if source == name]
        assert len({line for _, line in read}) == len(read) == 250
        shares = [[line for subtask, line in read if subtask == number] for number in range(2)]
        files = [list(dict.fromkeys(line.split()[2] for line in share)) for share in shares]
        assert sorted(map(len, files)) == [2, 3], files
        for share, of in zip(shares, files, strict=True):
            in_order = [f"{99 - line} of {number}" for number in of for line in range(50)]
            assert share == (in_order if name == "plain" else sorted(share))


def cancelled(spark: Any, folder: Path) -> None:
    """A stream without an end, until it is cancelled. A busy server may leave files of the query."""
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


PROGRAMS: dict[str, Callable[[Any, Path], object]] = {
    "refused": classic.test_what_cannot_be_gone_on_with_is_refused,
    "failing": classic.test_a_stream_that_spark_cannot_read_fails_the_job,
    "failed": failed,
    "both ways": both_ways,
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
                    results[name] = result_of(program, session, folder / name)
                    print(name, results[name], f"{time.monotonic() - began:.1f} s", file=sys.stderr)
        finally:
            session.stop()
    print(json.dumps(results))


def main_classic(folder: Path) -> None:
    options = {"spark.driver.extraJavaOptions": FAST_JVM, **INTERPRETED}
    read_on(open_session("local[1,4]", options), folder)


def main_dies(folder: Path, master: str) -> None:
    die_in_second_step()
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
