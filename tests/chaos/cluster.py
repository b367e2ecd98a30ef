"""A standalone cluster of two workers, whose processes can be killed; see :mod:`tests.spark.apart`."""

from __future__ import annotations

import contextlib
import os
import random
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pyspark

from tests.soak.processes import below, kind
from tests.spark.apart import HOSTS, SETTINGS, start_host, start_master
from tests.spark.bare import Bare

_EXECUTOR, _WORKER = "CoarseGrainedExecutorBackend", "deploy.worker.Worker"


class Cluster:
    def __init__(self, folder: Path, stack: ExitStack) -> None:
        folder.mkdir()
        self._folder, self._stack, self._bare = folder, stack, Bare(folder / "bare")
        home = os.path.dirname(pyspark.__file__)
        self.environment = {"PYSPARK_PYTHON": self._bare.python, "SPARK_HOME": home}
        self._master = start_master(stack, folder)
        self.settings = SETTINGS | {"penstock.executor": "spark", "spark.master": self._master}
        for host in HOSTS:
            start_host(stack, folder, self._bare, host, self._master)

    def executors(self) -> list[int]:
        return [pid for pid in self._java() if _EXECUTOR in _command(pid)]

    def workers(self) -> list[int]:
        processes = [process for pid in self.executors() for process in below(pid)]
        return [pid for pid in processes if kind(pid).startswith("python")]

    def lose(self, chance: random.Random) -> None:
        """Kill all processes of a host, then have it come back, without anything that ran there."""
        host = chance.choice(HOSTS)
        [worker] = [pid for pid in self._java() if _WORKER in _command(pid) and f"--host {host} " in _command(pid)]
        for pid in below(worker):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        start_host(self._stack, self._folder, self._bare, host, self._master)

    def _java(self) -> list[int]:
        return [pid for pid in below(os.getpid()) if kind(pid) == "java"]


def _command(pid: int) -> str:
    """The command of a process; "" if it has ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return ""


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """A cluster that ends with the block."""
    with ExitStack() as stack:
        yield Cluster(folder, stack)
