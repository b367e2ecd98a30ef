"""Processes that run the job, and their ends; and what must be there when it is over."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.job.folder.lease import JobFolder
from penstock.storage.stores import storage_of
from tests.chaos.job import GO, expected
from tests.soak.processes import below, kind

if TYPE_CHECKING:
    from tests.chaos.cluster import Cluster

LIMIT = 900.0
"""Seconds that a life may take."""
PATIENCE = 30.0
"""Seconds without a new version after which somebody is killed all the same: the job may wait for its last records."""


class Life:
    def __init__(
        self,
        root: Path,
        settings: Mapping[str, str],
        log: Path | None = None,
        lease: float | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.root, self.log = root, log or root.with_name(f"{root.name}.log")
        command = [sys.executable, "-m", "tests.chaos.job", str(root), json.dumps(dict(settings))]
        more = [] if lease is None else [str(lease)]
        with open(self.log, "ab") as out:
            self.process = subprocess.Popen(
                [*command, *more],
                stdout=out,
                stderr=out,
                start_new_session=True,
                env={**os.environ, **(environment or {})},
            )
        self.began = time.monotonic()

    @property
    def over(self) -> bool:
        return self.process.poll() is not None

    def until(self, steps: int, seconds: float = LIMIT) -> bool:
        """Wait until it has committed some more steps, or time is up; False if it has ended before."""
        goal, end = progress(self.root) + steps, time.monotonic() + seconds
        while not self.over and progress(self.root) < goal and time.monotonic() < end:
            self._alive()
            time.sleep(0.005)
        return not self.over

    def kill(self) -> None:
        """Kill it, and wait until all below it have noticed."""
        others = below(self.process.pid)[1:]
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()
        end = time.monotonic() + 120
        while any(kind(pid) in ("java", "python", "python3") for pid in others) and time.monotonic() < end:
            time.sleep(0.05)
        left = [pid for pid in others if kind(pid) == "java"]
        assert not left, f"{left} outlive the driver: {[kind(pid) for pid in left]}"

    def workers(self) -> list[int]:
        """The Python workers of a job on Spark."""
        processes = below(self.process.pid)
        jvms = {pid for pid in processes if kind(pid) == "java"}
        return [pid for jvm in jvms for pid in below(jvm) if kind(pid).startswith("python")]

    def jvms(self) -> list[int]:
        return [pid for pid in below(self.process.pid)[1:] if kind(pid) == "java"]

    def end(self) -> int:
        while not self.over:
            self._alive()
            time.sleep(0.02)
        return self.process.returncode

    def _alive(self) -> None:
        if time.monotonic() - self.began > LIMIT:
            self.kill()
            raise TimeoutError(f"The job has not ended in {LIMIT:.0f} seconds. {tail(self.log)}")


def tail(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-30:])


def progress(root: Path) -> int:
    """The newest version of a local checkpoint directory; else how many versions the job's own sink shows."""
    with contextlib.suppress(FileNotFoundError):
        names = os.listdir(root / "job" / "manifests")
        return max((int(name[9:-5]) for name in names if name.endswith(".json")), default=0)
    with contextlib.suppress(FileNotFoundError):
        return len(os.listdir(root / "ledger"))
    return 0


@dataclass(frozen=True)
class Kill:
    victim: str
    version: int
    seconds: float

    def __str__(self) -> str:
        return f"{self.victim} at version {self.version} ({self.seconds:.1f} s)"


@dataclass
class Chaos:
    """Kills a job until it has ended."""

    root: Path
    settings: Mapping[str, str]
    chance: random.Random
    victims: tuple[str, ...] = ("driver",)
    cluster: Cluster | None = None
    apart: int = 12
    pause: float = 0.12
    lease: float | None = None
    kills: list[Kill] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    cleaned: int = 0
    _turns: list[str] = field(default_factory=list)

    def run(self, most: int) -> None:
        """Run the job to its end, killed a number of times at most; then look at what it has left."""
        while self._lived(most):
            self.left.append(len(waste(self.root, self.settings)))
        if self.victims != ("driver",):  # tasks can outlive their step, and a driver, and write after the last look
            self.cleaned = len(waste(self.root, self.settings))
            assert not self.cleaned or not self._lived(0)
        check(self.root, self.settings)

    def _lived(self, most: int) -> bool:
        """Let the job live once; whether it was killed."""
        environment = None if self.cluster is None else self.cluster.environment
        life = Life(self.root, {**self.settings, GO: "yes"}, lease=self.lease, environment=environment)
        try:
            killed = self._live(life, most)
            if not killed:
                (self.root / GO).touch()
            status = life.end()
        finally:
            if not life.over:
                life.kill()
        assert status == 0 or killed, f"The job has ended by {status}. {tail(life.log)}"
        return status != 0

    def _live(self, life: Life, most: int) -> bool:
        """Kill somebody, again and again, until the driver is dead, or the job over, or has been killed so often."""
        while len(self.kills) < most:
            if self.chance.random() < 0.15:
                self._wait(life, self.chance.uniform(0, 12 * self.pause))  # while it starts, or takes over
            elif not life.until(self.chance.randrange(self.apart), PATIENCE):
                break
            self._wait(life, self.chance.uniform(0, self.pause))
            victim = self._turn()
            if not life.over and self._kill(life, victim):
                if victim in ("driver", "jvm"):
                    return True
                life.until(2, PATIENCE)  # else Spark gives up for good reason: too much dies at once
            if life.over:
                break
        return False

    def _turn(self) -> str:
        if not self._turns:
            self._turns = list(self.victims)
            self.chance.shuffle(self._turns)
        return self._turns[-1]

    def _wait(self, life: Life, seconds: float) -> None:
        end = time.monotonic() + seconds
        while not life.over and time.monotonic() < end:
            time.sleep(min(0.02, seconds))

    def _kill(self, life: Life, victim: str) -> bool:
        """Kill one of a kind, if there is one."""
        pids = self._pids(life, victim)
        if not pids:
            return False
        self._turns.pop()
        self.kills.append(Kill(victim, progress(self.root), time.monotonic() - life.began))
        if victim == "driver":
            life.kill()
        elif victim == "host":
            assert self.cluster is not None
            self.cluster.lose(self.chance)
        else:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.chance.choice(pids), signal.SIGKILL)
        return True

    def _pids(self, life: Life, victim: str) -> list[int]:
        if victim in ("driver", "host"):
            return [life.process.pid]
        if victim == "jvm":
            return life.jvms()
        if self.cluster is None:
            return life.workers()
        return self.cluster.workers() if victim == "worker" else self.cluster.executors()


def check(root: Path, settings: Mapping[str, str]) -> None:
    """The output is exact, and nothing is left that nobody needs."""
    assert outputs(root, settings) == expected(), f"{root} is not what it should be"
    left = waste(root, settings)
    assert not left, left


def outputs(root: Path, settings: Mapping[str, str]) -> dict[str, list[str]]:
    place = _target(root, settings)
    lines: dict[str, list[str]] = {}
    for name, folder in {"sums": f"{place}/sums", "ledger": f"{root}/ledger", "sections": f"{place}/sections"}.items():
        storage = storage_of(folder)
        texts = (storage.get(path).decode() for path in _files(folder) if "/." not in path)
        lines[name] = sorted(line for text in texts for line in text.splitlines())
    return lines


def waste(root: Path, settings: Mapping[str, str]) -> list[str]:
    """Files that nobody needs: that the next start is to remove, or that should not be there when the job has ended."""
    place = _target(root, settings)
    folder = JobFolder(f"{place}/job")
    newest, versions = folder.newest(), folder.versions()
    named = {
        "state": {name for version in versions for name in folder.read(version).files()},
        "manifests": {f"manifest-{version}.json" for version in versions},
        "lease": {"lock", *(name.format(0 if newest is None else newest.epoch) for name in _OWN)},
        "": {"job.json", "committed"},
    }
    unneeded: list[str] = []
    for path in {*_files(str(root)), *_files(place)}:
        name = path.rpartition("/")[2]
        inside, known = path.partition("/job/")[2], path.startswith(f"{place}/job/")
        unknown = known and name not in named.get(inside.rpartition("/")[0], ())
        if unknown or "/." in path.removeprefix(str(root)) or name == "unfinished":
            unneeded.append(path)
    return unneeded


_OWN = ("owner-{}.json", "beat-{}", "left-{}")


def _files(folder: str) -> list[str]:
    if "://" not in folder:
        return [str(path) for path in Path(folder).rglob("*") if path.is_file()]
    import fsspec

    fs, path = fsspec.core.url_to_fs(folder)
    fs.invalidate_cache()
    return [fs.unstrip_protocol(file) for file in fs.find(path)]


def _target(root: Path, settings: Mapping[str, str]) -> str:
    return settings.get("execution.checkpointing.dir", f"{root}/job").removesuffix("/job")
