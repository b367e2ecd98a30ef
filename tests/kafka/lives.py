"""Drivers in processes of their own, forked from one that has loaded all: ``python -m tests.kafka.lives``."""

from __future__ import annotations

import faulthandler
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

LOADED = (
    "confluent_kafka.admin",
    "penstock.datastream.connectors",
    "penstock.job.steps.loop",
    "penstock.local",
    "penstock.connectors.kafka.transactions",
    "tests.kafka.counting",
    "tests.kafka.dying",
)


class Lives:
    def __init__(self, log: Path) -> None:
        self._log = log
        with open(log, "wb") as file:
            command = [sys.executable, "-m", "tests.kafka.lives"]
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=file, text=True
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._asking, self._answers = self._process.stdin, self._process.stdout

    def run(self, module: str, *arguments: object) -> int:
        """The exit code of a driver; minus the signal, if it was killed."""
        print(json.dumps([dict(os.environ), module, *map(str, arguments)]), file=self._asking, flush=True)
        return int(self._answers.readline())

    def log_text(self) -> str:
        return self._log.read_text()[-5_000:]

    def close(self) -> None:
        """End it; it must wait for a driver."""
        self._asking.close()
        self._answers.close()
        self._process.wait(180)


def main() -> None:
    """Fork drivers, until the input ends. A driver comes back from this, too, and ends as a program does."""
    faulthandler.enable()  # the log says where a driver has crashed
    for module in LOADED:
        importlib.import_module(module)
    for line in sys.stdin:
        environment, module, *arguments = json.loads(line)
        child = os.fork()
        if not child:
            os.dup2(2, 1)
            os.environ.update(environment)
            importlib.import_module(module).main(*arguments)
            return
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
