"""Jobs on clusters of their own, a process each: ``python -m tests.spark.cluster lost|speculated FOLDER``.

``lost`` runs on a ``local-cluster`` and kills an executor in the middle of a task, with the shuffle files it holds;
``speculated`` runs on a standalone cluster, whose workers have addresses of their own (a second attempt of a task never
runs on the host of the first), and lets a task take so long that another attempt overtakes it. Both compare with the
local executor, and print what shows that it has happened.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark

from penstock.local import LocalExecutor
from penstock.spark import SparkExecutor
from penstock.spark.session import open_session
from tests.job.dying import dawdle, facts, kill_executor, mortal

HOME = os.path.dirname(pyspark.__file__)
FAST_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
SETTINGS = {
    "spark.executorEnv.PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    "spark.driver.extraJavaOptions": FAST_JVM,
    "spark.executor.extraJavaOptions": FAST_JVM,
}
SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.minTaskRuntime": "500ms",
    "spark.executor.memory": "512m",
}


def lost(folder: Path) -> str:
    """Kill an executor while it runs a source, and one while it runs what reads the first level's shuffle files."""
    executor = SparkExecutor(open_session("local-cluster[2,1,1024]", SETTINGS), progress=False)
    for place in ("map", "window"):
        compare(executor, folder / place, place, kill_executor)
    return "lost two executors"


def speculated(folder: Path) -> str:
    """Let a subtask sleep until another attempt has done its work."""
    with standalone(folder) as master:
        executor = SparkExecutor(open_session(master, SETTINGS | SPECULATION), progress=False)
        compare(executor, folder / "job", "map", dawdle)
    attempts = [report.task for report in executor.reports if report.attempt > 0]
    return f"overtaken: {', '.join(attempts)}"


def compare(executor, folder, place, dies) -> None:
    """Run a program that dies at a place, and compare with the local executor."""
    folder.mkdir()
    marker = folder / "marker"
    program = mortal(folder / "out", marker, place, dies)
    program.settings["penstock.files.shared-folders"] = str(folder)
    found = facts(executor, program, folder / "out")
    assert marker.exists()
    assert found == facts(LocalExecutor(), mortal(folder / "expected", marker), folder / "expected")


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
    environment = {"SPARK_DAEMON_MEMORY": "256m", "SPARK_DAEMON_JAVA_OPTS": FAST_JVM, **environment}
    with open(log, "w") as file:
        process = subprocess.Popen([*command, name, *arguments], env=environment, stdout=file, stderr=file)
    stack.callback(process.wait)
    stack.callback(process.terminate)
    for _ in range(600):
        found = re.search(pattern, log.read_text())
        if found:
            return found.group()
        if process.poll() is not None:
            break
        time.sleep(0.2)
    raise RuntimeError(log.read_text())


if __name__ == "__main__":
    os.environ |= {"SPARK_HOME": HOME, "PYSPARK_PYTHON": sys.executable}
    print({"lost": lost, "speculated": speculated}[sys.argv[1]](Path(sys.argv[2])))
