"""Jobs on clusters of their own: ``python -m tests.spark.cluster FOLDER lost late``, or ``FOLDER speculated``."""

from __future__ import annotations

import logging
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pyspark

from penstock.common import Configuration
from penstock.datastream import MapFunction, StreamExecutionEnvironment
from penstock.local import LocalExecutor
from penstock.spark import SparkExecutor
from penstock.spark.session import java_options, open_session
from tests.job.dying import dawdle, executor_above, facts, first, is_executor, kill_executor, mortal, parent_of
from tests.running import INTERPRETED
from tests.soak.processes import below

HOME = os.path.dirname(pyspark.__file__)
FAST_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
SETTINGS = {
    "spark.executorEnv.PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    "spark.driver.extraJavaOptions": FAST_JVM,
    "spark.executor.extraJavaOptions": FAST_JVM + java_options(),
    **INTERPRETED,
}
BOTH = {
    "spark.cores.max": "2",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "600s",
}
"""No task starts before both executors of one core are there: else one of them may run all."""
SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.minTaskRuntime": "500ms",
    "spark.executor.memory": "512m",
}


def two_executors() -> Any:
    """A session with a driver and two executors, all of which are there, also after some have ended."""
    session = open_session("local-cluster[2,1,1024]", SETTINGS | BOTH)
    end = time.monotonic() + 300
    while session.sparkContext._jsc.sc().getExecutorMemoryStatus().size() < 3:
        assert time.monotonic() < end, "an executor has not come back"
        time.sleep(0.1)
    return session


def lost(folder: Path) -> str:
    """Kill an executor while it runs a source, and one while it runs what reads the first level's shuffle files."""
    executor = SparkExecutor(two_executors(), progress=False)
    for place in ("map", "window"):
        compare(executor, folder / place, place, kill_executor)
    return "lost two executors"


AGAIN = "Spark has run the tasks again"


class Late(MapFunction):
    """The second subtask waits until the first one has ended, and kills the other executor."""

    def __init__(self, marker: str, ended: str) -> None:
        self.marker, self.ended = marker, ended

    def open(self, context: Any) -> None:
        self.subtask = context.get_index_of_this_subtask()

    def map(self, pair: Any) -> str:
        if self.subtask == 1 and first(self.marker):
            while not os.path.exists(self.ended):
                time.sleep(0.05)
            mine = executor_above(os.getpid())
            for other in (process for process in below(parent_of(mine)) if is_executor(process) and process != mine):
                os.kill(other, signal.SIGKILL)
            os.kill(os.getpid(), signal.SIGKILL)
        return f"{pair[0]} {pair[1]}"


def tell_of_the_end(context: Any, marker: Path, ended: Path) -> None:
    """Make a file when a task waits, as another file says, and the other one of its stage has ended."""
    tracker = context.statusTracker()
    while not ended.exists():
        time.sleep(0.05)
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()] if marker.exists() else []
        if [(stage.numTasks, stage.numCompletedTasks) for stage in stages if stage is not None] == [(2, 1)]:
            ended.touch()


def late(folder: Path) -> str:
    """Lose what tasks of the last level have read, when some of them have ended: Spark gives such a job up, or runs the
    tasks again by itself where it takes their results for determinate, as Spark 3.5 does."""
    messages: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: messages.append(record.getMessage())
    logging.getLogger("penstock").addHandler(handler)
    session = two_executors()
    executor = SparkExecutor(session, progress=False)
    settings = Configuration.from_dict(
        {"execution.checkpointing.dir": str(folder / "job"), "penstock.files.shared-folders": str(folder)}
    )
    env = StreamExecutionEnvironment.get_execution_environment(settings, executor=executor).set_parallelism(2)
    pairs = env.generate_sequence(0, 99).map(lambda number: (number % 10, number))
    sums = pairs.key_by(lambda pair: pair[0]).reduce(lambda one, other: (one[0], one[1] + other[1]))
    marker, ended = folder / "marker", folder / "ended"
    threading.Thread(target=tell_of_the_end, args=(session.sparkContext, marker, ended), daemon=True).start()
    sums.map(Late(str(marker), str(ended))).write_as_text(str(folder / "out"))
    env.execute("late")
    lines = sorted(line for file in (folder / "out").iterdir() for line in file.read_text().splitlines())
    assert lines == sorted(
        f"{key} {sum(range(key, last + 1, 10))}" for key in range(10) for last in range(key, 100, 10)
    )
    assert marker.exists()
    given_up = [text.partition("\n")[0] for text in messages if "rollback" in text]
    return f"lost late: {given_up[0] if given_up else AGAIN}"


def speculated(folder: Path) -> str:
    """Let a subtask sleep until another attempt has done its work."""
    with standalone(folder) as master:
        executor = SparkExecutor(open_session(master, SETTINGS | BOTH | SPECULATION), progress=False)
        compare(executor, folder / "job", "map", dawdle)
    attempts = [report.task for report in executor.reports if report.attempt > 0]
    return f"overtaken: {', '.join(sorted(attempts, key=lambda task: 'map' not in task))}"  # others may be, too


def compare(executor, folder, place, dies) -> None:
    """Run a program that dies at a place, and compare with the local executor."""
    folder.mkdir()
    marker = folder / "marker"
    program = mortal(folder / "out", marker, place, dies)
    program.settings["penstock.files.shared-folders"] = str(folder)
    result = facts(executor, program, folder / "out")
    assert marker.exists()
    assert result == facts(LocalExecutor(), mortal(folder / "expected", marker), folder / "expected")


@contextmanager
def standalone(folder: Path) -> Iterator[str]:
    """A master and two workers of one core each; the master's URL."""
    web = "--webui-port", "0"
    with ExitStack() as stack:
        url = start(
            stack, folder / "master", "master.Master", r"spark://\S+:\d+", "--host", "127.0.0.1", "--port", "0", *web
        )
        for host in ("127.0.0.2", "127.0.0.3"):
            size = "--cores", "1", "--memory", "600m", "--work-dir", str(folder / f"work-{host}")
            start(stack, folder / host, "worker.Worker", "Successfully registered", "--host", host, *size, *web, url)
        yield url


def start(
    stack: ExitStack,
    log: Path,
    name: str,
    pattern: str,
    *arguments: str,
    command: Sequence[str] = (f"{HOME}/bin/spark-class",),
    environment: Mapping[str, str] = os.environ,
) -> str:
    """Start a process of the cluster, which ends with the stack; the first text in its log that fits a pattern."""
    name = name if name.startswith("org.") else f"org.apache.spark.deploy.{name}"
    environment = {"SPARK_DAEMON_MEMORY": "256m", "SPARK_DAEMON_JAVA_OPTS": FAST_JVM + java_options(), **environment}
    with open(log, "w") as file:
        process = subprocess.Popen([*command, name, *arguments], env=environment, stdout=file, stderr=file)
    stack.callback(process.wait)
    stack.callback(process.terminate)
    for _ in range(1800):
        match = re.search(pattern, log.read_text())
        if match:
            return match.group()
        if process.poll() is not None:
            break
        time.sleep(0.2)
    raise RuntimeError(log.read_text())


if __name__ == "__main__":
    os.environ |= {"SPARK_HOME": HOME, "PYSPARK_PYTHON": sys.executable}
    root, jobs = Path(sys.argv[1]), {"lost": lost, "late": late, "speculated": speculated}
    for name in sys.argv[2:]:
        (root / name).mkdir()
        print(jobs[name](root / name), flush=True)
