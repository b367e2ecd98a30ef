"""Processes that run the scripts of ``run_scripts.py``: several at a time, and some that are killed."""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tests.datastream import feeding, workers

PATIENCE = 600.0
"""Seconds that a script may take."""
AT_A_TIME = 4
"""Scripts in one Spark: one alone leaves the cores idle while the driver plans and commits."""
DEATHS = 16
"""Scripts that one Spark dies of."""
Result = workers.Result


def results(lines: Iterable[str], chosen: argparse.Namespace) -> Iterator[Result]:
    """The results of scripts, in their order."""
    with contextlib.closing(Pool(chosen)) as pool:
        yield from pool.results([line for line in lines if line.strip()])


@dataclass(eq=False)
class Task:
    line: str
    root: str = ""
    life: int = 0
    alone: bool = False
    until: float = math.inf
    result: Result | None = None

    def ends(self, result: Result) -> None:
        self.result = result
        shutil.rmtree(self.root, ignore_errors=True)

    def anew(self) -> None:
        """It is to run again, from its beginning."""
        shutil.rmtree(self.root, ignore_errors=True)
        self.root, self.life, self.alone = "", 0, True


class Worker:
    """A process that runs scripts, made of this one: it has loaded what they need."""

    slots = 1
    deaths = 1
    requests: IO[str]
    answers: int

    def __init__(self, chosen: argparse.Namespace) -> None:
        self.killing = chosen.kill is not None
        self.running: dict[int, Task] = {}
        self.resting: list[Task] = []
        self.leaving = False
        self._number, self._rest = 0, b""
        self._start(chosen)

    def _start(self, chosen: argparse.Namespace) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        (asked, ask), (answered, answer) = os.pipe(), os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.close(ask)
                os.close(answered)
                workers.serve(os.fdopen(asked), os.fdopen(answer, "w"), chosen, self.slots)
            finally:
                os._exit(0)
        os.close(asked)
        os.close(answer)
        self.requests, self.answers = os.fdopen(ask, "w"), answered

    def room(self, task: Task) -> bool:
        if self.leaving or any(other.alone for other in self.running.values()):
            return False
        if task.alone and (self.running or self.resting):
            return False
        return len(self.running) < self.slots and (task.life > 0 or self._mortal() < self.deaths)

    def _mortal(self) -> int:
        """How many scripts it is to die of."""
        return len(self.resting) + sum(task.life == 0 for task in self.running.values()) if self.killing else 0

    def give(self, task: Task, patience: float) -> None:
        if not task.root:
            task.root = feeding.make_folder()
        self._number += 1
        self.running[self._number] = task
        task.until = time.monotonic() + patience
        message = {"number": self._number, "line": task.line, "root": task.root, "life": task.life}
        with contextlib.suppress(BrokenPipeError):
            self.requests.write(json.dumps(message) + "\n")
            self.requests.flush()
        self.leaving |= self.slots > 1 and self.killing and self._mortal() >= self.deaths

    def hear(self) -> bool:
        """Take what it has said; False if it has died."""
        data = os.read(self.answers, 1 << 16)
        *lines, self._rest = (self._rest + data).split(b"\n")
        for message in map(json.loads, lines):
            task = self.running.pop(message["number"], None)
            if task is None:
                continue  # it came too late
            if "result" in message:
                task.ends(message["result"])
            else:
                self.resting.append(task)
                self.leaving |= len(self.resting) >= self.deaths
        return bool(data)

    def late(self, now: float) -> list[Task]:
        """Take those away whose time is over."""
        late = [number for number, task in self.running.items() if task.until <= now]
        self.leaving |= bool(late)
        return [self.running.pop(number) for number in late]

    def kill(self) -> str:
        """Kill it, if it lives; how it has ended."""
        os.kill(self.pid, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        self._close()
        return f"signal {-status}" if status < 0 else f"exit code {status}"

    def _close(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            self.requests.close()
        os.close(self.answers)


class SparkWorker(Worker):
    """A process with a Spark of its own, and a group of processes."""

    slots = AT_A_TIME
    deaths = DEATHS

    def _start(self, chosen: argparse.Namespace) -> None:
        self._place = tempfile.mkdtemp(prefix="penstock-worker-")
        self.slots = chosen.jobs or self.slots
        self._process = subprocess.Popen(
            [sys.executable, str(Path(workers.__file__).resolve()), json.dumps(vars(chosen) | {"slots": self.slots})],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, "TMPDIR": self._place, "SPARK_LOCAL_DIRS": self._place},
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.requests, self.answers = self._process.stdin, os.dup(self._process.stdout.fileno())

    def kill(self) -> str:
        """Kill it and all it has started."""
        status = self._process.poll()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._close()
        shutil.rmtree(self._place, ignore_errors=True)
        status = self._process.returncode if status is None else status
        return f"signal {-status}" if status < 0 else f"exit code {status}"


class Pool:
    """Workers, and what they have to do."""

    def __init__(self, chosen: argparse.Namespace) -> None:
        self._chosen = chosen
        self._kind: type[Worker] = SparkWorker if chosen.spark else Worker
        self._most = 1 if chosen.spark else chosen.jobs or workers.cores()
        self._workers: list[Worker] = []
        self._waiting: deque[Task] = deque()

    def results(self, lines: Iterable[str]) -> Iterator[Result]:
        """The results of scripts, in their order."""
        tasks = [Task(line) for line in lines]
        self._waiting.extend(tasks)
        for task in tasks:
            while task.result is None:
                self._deal()
                self._listen()
            yield task.result

    def close(self) -> None:
        """No script follows, and no result of those before is asked for."""
        for worker in self._workers:
            worker.kill()
            for task in (*worker.running.values(), *worker.resting):
                shutil.rmtree(task.root, ignore_errors=True)
        self._workers.clear()

    def _deal(self) -> None:
        """Give the workers what they have room for, and kill those that are to die."""
        self._give()
        for worker in list(self._workers):
            done = worker.leaving or (worker.resting and not any(map(worker.room, list(self._waiting)[:1])))
            if done and not worker.running:
                self._end(worker)
        self._give()

    def _give(self) -> None:
        while self._waiting:
            task = self._waiting[0]
            worker = next((worker for worker in self._workers if worker.room(task)), None)
            if worker is None:
                if sum(not worker.leaving for worker in self._workers) >= self._most:
                    return
                worker = self._kind(self._chosen)
                self._workers.append(worker)
            worker.give(self._waiting.popleft(), self._chosen.timeout)

    def _end(self, worker: Worker) -> str:
        """Kill a worker; its scripts that rest go on."""
        self._workers.remove(worker)
        how = worker.kill()
        for task in reversed(worker.resting):
            task.life += 1
            self._waiting.appendleft(task)
        return how

    def _listen(self) -> None:
        """Wait until a script has ended, or its time, or a worker."""
        until = min((task.until for worker in self._workers for task in worker.running.values()), default=math.inf)
        with selectors.DefaultSelector() as selector:
            for worker in self._workers:
                selector.register(worker.answers, selectors.EVENT_READ, worker)
            wait = None if until == math.inf else max(0.0, until - time.monotonic())
            heard = [key.data for key, _ in selector.select(wait)]
        for worker in heard:
            if not worker.hear():
                how = self._end(worker)
                for task in worker.running.values():
                    self._failed(worker, task, f"its process has ended: {how}")
        for worker in self._workers:
            for task in worker.late(time.monotonic()):
                self._failed(worker, task, f"it has not ended within {self._chosen.timeout:g} seconds")

    def _failed(self, worker: Worker, task: Task, how: str) -> None:
        """A script has ended its worker, or has hung; or another one has that ran beside it."""
        if task.alone or worker.slots == 1:
            task.ends({"defect": how})
        else:
            task.anew()
            self._waiting.append(task)
