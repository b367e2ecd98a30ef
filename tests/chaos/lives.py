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
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from penstock.job.folder.lease import JobFolder
from penstock.runtime.io.stores import storage_of
from tests.chaos.job import expected
from tests.soak.processes import below, kind

LIMIT = 240.0
"""Seconds that a life may take."""


class Life:
    """A process that runs the job.

    Args:
        root: of its files.
        settings: of the job.
        log: takes what it says; a file beside its files.
        lease: seconds after which a silent driver counts as dead, on a file system that is taken to have no locks; None
            for as it is.
    """

    def __init__(
        self, root: Path, settings: Mapping[str, str], log: Path | None = None, lease: float | None = None
    ) -> None:
        self.root, self.log = root, log or root.with_name(f"{root.name}.log")
        command = [sys.executable, "-m", "tests.chaos.job", str(root), json.dumps(dict(settings))]
        more = [] if lease is None else [str(lease)]
        with open(self.log, "ab") as out:
            self.process = subprocess.Popen([*command, *more], stdout=out, stderr=out, start_new_session=True)
        self._began, self._first = time.monotonic(), progress(root)

    @property
    def over(self) -> bool:
        """Whether the process has ended."""
        return self.process.poll() is not None

    def until(self, steps: int) -> bool:
        """Wait until it has committed some steps; False if it has ended before."""
        while not self.over and progress(self.root) < self._first + steps:
            self._alive()
            time.sleep(0.005)
        return not self.over

    def kill(self) -> None:
        """Kill it, and wait until all below it have noticed."""
        others = below(self.process.pid)[1:]
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()
        end = time.monotonic() + 30
        while any(kind(each) in ("java", "python", "python3") for each in others) and time.monotonic() < end:
            time.sleep(0.05)
        left = [each for each in others if kind(each) == "java"]
        assert not left, f"{left} outlive the driver: {[kind(each) for each in left]}"

    def workers(self) -> list[int]:
        """The Python workers of a job on Spark."""
        found = below(self.process.pid)
        jvms = {each for each in found if kind(each) == "java"}
        return [each for jvm in jvms for each in below(jvm) if kind(each).startswith("python")]

    def jvms(self) -> list[int]:
        """The driver's JVM."""
        return [each for each in below(self.process.pid)[1:] if kind(each) == "java"]

    def end(self) -> int:
        """Wait until it has ended; how."""
        while not self.over:
            self._alive()
            time.sleep(0.02)
        return self.process.returncode

    def _alive(self) -> None:
        if time.monotonic() - self._began > LIMIT:
            self.kill()
            raise TimeoutError(f"The job has not ended in {LIMIT:.0f} seconds. {tail(self.log)}")


def tail(log: Path) -> str:
    """The last lines of a log."""
    return "\n".join(log.read_text(errors="replace").splitlines()[-30:])


def progress(root: Path) -> int:
    """The newest version of a local job folder; else how many versions the job's own sink shows."""
    with contextlib.suppress(FileNotFoundError):
        names = os.listdir(root / "job" / "manifests")
        return max((int(name[9:-5]) for name in names if name.endswith(".json")), default=0)
    with contextlib.suppress(FileNotFoundError):
        return len(os.listdir(root / "ledger"))
    return 0


@dataclass
class Chaos:
    """Kills a job until it has ended.

    Args:
        root: for its files; not there yet.
        settings: of the job.
        chance: chooses.
        victims: kinds of processes that die, more often the more often they are there; see :meth:`_pids`.
        executors: the pids of executors that are not below the driver.
        apart: more than the steps between two kills.
        lease: as for a :class:`Life`.

    Attributes:
        kills: how many there were, by kind.
    """

    root: Path
    settings: Mapping[str, str]
    chance: random.Random
    victims: tuple[str, ...] = ("driver",)
    executors: Callable[[], list[int]] = list
    apart: int = 12
    lease: float | None = None
    kills: dict[str, int] = field(default_factory=dict)

    def run(self, most: int) -> None:
        """Run the job to its end, killed a number of times at most; then look at what it has left."""
        left = most
        while True:
            life = Life(self.root, self.settings, lease=self.lease)
            try:
                left = self._live(life, left)
                status = life.end()
            finally:
                if not life.over:
                    life.kill()
            if status == 0:
                break
            died = status == -signal.SIGKILL or self.kills.get("jvm", 0) > self._jvms
            assert died, f"The job has ended by {status}. {tail(life.log)}"
            self._jvms = self.kills.get("jvm", 0)
        check(self.root, self.settings)

    _jvms = 0

    def _live(self, life: Life, left: int) -> int:
        """Kill somebody, again and again, until the driver is dead, or the job over, or no kills are left."""
        while left > 0:
            if self.chance.random() < 0.15:
                time.sleep(self.chance.uniform(0, 1.5))  # while it starts, or takes over
            elif not life.until(self.chance.randrange(self.apart)):
                break
            time.sleep(self.chance.uniform(0, 0.12))
            victim = self.chance.choice(self.victims)
            pids = self._pids(life, victim)
            if life.over or not pids:
                if life.over:
                    break
                continue
            left -= 1
            self.kills[victim] = self.kills.get(victim, 0) + 1
            if victim == "driver":
                life.kill()
                break
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.chance.choice(pids), signal.SIGKILL)
            if victim == "jvm":
                break
            life.until(2)  # else Spark gives up for good reason: too much dies at once
        return left

    def _pids(self, life: Life, victim: str) -> list[int]:
        if victim == "driver":
            return [life.process.pid]
        if victim == "worker":
            return life.workers()
        if victim == "jvm":
            return life.jvms()
        return self.executors()


def check(root: Path, settings: Mapping[str, str]) -> None:
    """The output is exact, and nothing is left that nobody needs."""
    assert outputs(root, settings) == expected(), f"{root} is not what it should be"
    left = list(leftovers(root, settings))
    assert not left, left


def outputs(root: Path, settings: Mapping[str, str]) -> dict[str, list[str]]:
    """The lines of each output, sorted."""
    place = _target(root, settings)
    found: dict[str, list[str]] = {}
    for name, folder in {"sums": f"{place}/sums", "ledger": f"{root}/ledger", "sections": f"{place}/sections"}.items():
        storage = storage_of(folder)
        texts = (storage.get(path).decode() for path in _files(folder) if "/." not in path)
        found[name] = sorted(line for text in texts for line in text.splitlines())
    return found


def leftovers(root: Path, settings: Mapping[str, str]) -> Iterator[str]:
    """Files that should not be there when the job has ended."""
    place = _target(root, settings)
    folder = JobFolder(f"{place}/job")
    versions = folder.versions()
    needed = {name for version in versions for name in folder.read(version).files()}
    newest = folder.newest()
    assert newest is not None
    named = {
        "state": needed,
        "manifests": {f"manifest-{version}.json" for version in versions},
        "lease": {"lock", *(name.format(newest.epoch) for name in _OWN)},
        "": {"job.json"},
    }
    for path in {*_files(str(root)), *_files(place)}:
        name = path.rpartition("/")[2]
        inside, known = path.partition("/job/")[2], path.startswith(f"{place}/job/")
        unknown = known and name not in named.get(inside.rpartition("/")[0], ())
        if unknown or "/." in path.removeprefix(str(root)) or name == "unfinished":
            yield path


_OWN = ("owner-{}.json", "beat-{}", "left-{}")


def _files(folder: str) -> list[str]:
    if "://" not in folder:
        return [str(path) for path in Path(folder).rglob("*") if path.is_file()]
    import fsspec

    fs, path = fsspec.core.url_to_fs(folder)
    fs.invalidate_cache()
    return [fs.unstrip_protocol(each) for each in fs.find(path)]


def _target(root: Path, settings: Mapping[str, str]) -> str:
    return settings.get("penstock.job.folder", f"{root}/job").removesuffix("/job")
