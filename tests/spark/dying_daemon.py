"""Spark's Python daemon, which dies as DYING says: ``python -m tests.spark.dying_daemon FOLDER``."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path


def die_at(moment: str, times: int, counter: str) -> None:
    def die() -> None:
        with open(counter, "a+b", buffering=0) as file:
            if file.tell() < times and file.write(b"x"):
                os.kill(os.getpid(), signal.SIGKILL)

    def fork() -> int:
        if moment == "fork":
            die()
        worker = forked()
        if worker == 0 and moment == "child":
            die()
        return worker

    if moment == "start":
        die()
    forked, os.fork = os.fork, fork


def main(folder: Path) -> None:
    """A job in steps on ``local[2]``, where Spark tries no task twice."""
    from penstock.common import Configuration, Types
    from penstock.datastream import StreamExecutionEnvironment
    from penstock.spark.session import open_session
    from tests.running import INTERPRETED

    session = open_session("local[2]", {"spark.python.daemon.module": "tests.spark.dying_daemon", **INTERPRETED})
    configuration = Configuration({"execution.checkpointing.dir": str(folder / "job")})
    env = StreamExecutionEnvironment.get_execution_environment(configuration, spark=session).set_parallelism(2)
    (folder / "in.txt").write_text("1\n2\n3\n")
    env.read_text_file(str(folder / "in.txt")).map(int, Types.LONG()).uid("n").print()
    env.execute("survives")


if __name__ == "__main__":
    if len(sys.argv) > 1 and os.path.isdir(sys.argv[1]):
        main(Path(sys.argv[1]))
    else:
        moment, times, counter = os.environ["DYING"].split(",")
        die_at(moment, int(times), counter)
        from penstock.spark import daemon

        daemon.main()
