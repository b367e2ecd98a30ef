"""The parts of ``python -m tests.chaos``: who dies, where, how often of a hundred times, and what came of it."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tests.chaos.changes import changes, died
from tests.chaos.job import DAWDLES
from tests.chaos.lives import Chaos
from tests.matrix.knobs import COMPILED
from tests.running import INTERPRETED
from tests.s3 import new_bucket, s3_service

if TYPE_CHECKING:
    from tests.chaos.cluster import Cluster

LOCAL = {"penstock.executor": "local", "penstock.step.records": "5"}
SPARK = {
    "penstock.executor": "spark",
    "spark.master": "local[2,4]",
    "spark.ui.enabled": "false",
    "spark.driver.memory": "512m",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "penstock.step.records": "10",
    **INTERPRETED,
}
SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.minTaskRuntime": "300ms",
    DAWDLES: "overtaken",
}
PER_JOB = 10
"""Kills of a job; then another one begins."""


class Defect(Exception):
    """What should not be; its text says what to run again."""


@dataclass(frozen=True)
class Outcome:
    """A line of the table: the output was exact."""

    where: str
    victim: str
    kills: int
    when: str
    left: str
    end: str


@dataclass
class Places:
    """Where parts run; what they need is started when they ask for it."""

    folder: Path
    stack: ExitStack
    seed: int
    before: int | None = None
    every: bool = False
    native: str | None = None

    @cached_property
    def bucket(self) -> str:
        """URL of an empty bucket on an S3 endpoint of this machine."""
        url, variables = new_bucket(self.stack.enter_context(s3_service()))
        os.environ |= variables
        return url

    @property
    def settings(self) -> dict[str, str]:
        """Those that every job has."""
        return {} if self.native is None else {COMPILED: self.native}

    @property
    def again(self) -> str:
        """The options of all parts, to run one again."""
        return f"--native {self.native} " if self.native else ""

    @cached_property
    def cluster(self) -> Cluster:
        from tests.chaos.cluster import Cluster

        return Cluster(self.folder / "cluster", self.stack)

    @contextmanager
    def kept(self, name: str, again: str) -> Iterator[Path]:
        """A folder for a job, which is there after a defect."""
        root = self.folder / name
        root.mkdir(parents=True)
        try:
            yield root
        except Exception as error:
            kept = tempfile.mkdtemp(prefix="chaos-failed-")
            shutil.copytree(self.folder, kept, dirs_exist_ok=True, ignore=shutil.ignore_patterns("cluster"))
            again = f"make chaos ARGS='{self.again}{again}'"
            raise Defect(f"{type(error).__name__}: {error}\nSee {kept}. Again: {again}") from error


@dataclass(frozen=True)
class Deaths:
    """A part: the driver dies before single changes, chosen by chance."""

    what: str
    share: int
    store: bool = False

    def run(self, places: Places, name: str, kills: int) -> Iterator[Outcome]:
        bucket = f"{places.bucket}/{name}" if self.store else None
        with places.kept(name, f"--parts {name} --seed {places.seed}") as root:
            all_ = changes(root, bucket, places.settings)
        numbers: Iterable[int] = sorted(random.Random(places.seed).sample(range(all_), min(kills, all_)))
        if places.before is not None:
            numbers = [places.before]
        elif places.every:
            numbers = range(all_)
        met, left = list[int](), 0
        for number in numbers:
            with places.kept(f"{name}/deaths-{number}", f"--parts {name} --before {number}") as root:
                for death in died(root, [number], bucket, places.settings):
                    print(f"{name}: died before change {number} of {all_}: {_short(death.change)}", flush=True)
                    met.append(death.number)
                    left += death.left
        when = f"before changes {_span(met)} of {all_}"
        yield Outcome(self.what, "driver", len(met), when, f"{left} files", "nothing")


@dataclass(frozen=True)
class Kills:
    """A part: jobs are killed at random moments."""

    what: str
    share: int
    settings: Mapping[str, str]
    victims: tuple[str, ...] = ("driver",)
    pause: float = 0.12
    apart: int = 12
    store: bool = False
    cluster: bool = False

    def run(self, places: Places, name: str, kills: int) -> Iterator[Outcome]:
        done: list[Chaos] = []
        seed = places.seed
        while kills > 0:
            most = min(kills, PER_JOB)
            with places.kept(f"{name}-{seed}", f"--parts {name} --seed {seed} --kills {most}") as root:
                chaos = self.job(places, root, random.Random(f"{name} {seed}"))
                chaos.run(most)
            print(f"{name}, seed {seed}: {', '.join(map(str, chaos.kills))}", flush=True)
            done.append(chaos)
            kills -= len(chaos.kills)
            seed += 1
        yield from self._outcomes(done)

    def job(self, places: Places, root: Path, chance: random.Random) -> Chaos:
        settings, cluster = {**self.settings, **places.settings}, places.cluster if self.cluster else None
        if cluster is not None:
            settings = cluster.settings | settings | {"penstock.files.shared-folders": str(root)}
        if self.store:
            settings["execution.checkpointing.dir"] = f"{places.bucket}/{root.name}/job"
        lease = 0.0 if self.store else None  # there are no locks
        return Chaos(root, settings, chance, self.victims, cluster, self.apart, self.pause, lease)

    def _outcomes(self, done: list[Chaos]) -> Iterator[Outcome]:
        left = f"{sum(sum(chaos.left) for chaos in done)} files"
        cleaned = sum(chaos.cleaned for chaos in done)
        end = f"{cleaned} files, which the next start removed" if cleaned else "nothing"
        all_ = [kill for chaos in done for kill in chaos.kills]
        for victim, number in Counter(kill.victim for kill in all_).items():
            moments = [kill for kill in all_ if kill.victim == victim]
            seconds = _span(round(kill.seconds, 1) for kill in moments)
            when = f"at versions {_span(kill.version for kill in moments)}, {seconds} s after the driver's start"
            yield Outcome(self.what, victim, number, when, left, end)
            left = end = ""  # it is of all victims together


@dataclass(frozen=True)
class Speculation:
    """A part: nobody is killed; tasks that take their time are overtaken by other attempts."""

    what: str
    job: Kills
    share: int = 0

    def run(self, places: Places, name: str, kills: int) -> Iterator[Outcome]:
        with places.kept(name, f"--parts {name}") as root:
            chaos = self.job.job(places, root, random.Random(places.seed))
            chaos.run(0)
            overtaken = len(list((root / SPECULATION[DAWDLES]).iterdir()))
            assert overtaken, "no task was overtaken"
        end = f"{chaos.cleaned} files, which the next start removed" if chaos.cleaned else "nothing"
        yield Outcome(self.what, f"none; {overtaken} tasks were overtaken", 0, "", "", end)


def _short(change: str) -> str:
    return " ".join(word.rpartition("/")[2] for word in change.split())


def _span(numbers: Iterable[float]) -> str:
    """The least and the largest of some numbers."""
    ordered = sorted(numbers)
    return f"{ordered[0]} to {ordered[-1]}" if ordered[:1] != ordered[-1:] else f"{ordered[0]}" if ordered else "none"


_SPARKS = ("driver", "worker", "worker", "jvm")
_CLUSTERS = ("driver", "executor", "executor", "executor", "worker", "worker", "worker", "host", "host", "jvm")

PARTS: dict[str, Deaths | Kills | Speculation] = {
    "changes": Deaths("local executor, before a change of a file", 25),
    "local": Kills("local executor", 15, LOCAL),
    "store-changes": Deaths("S3 endpoint, before a change of a file or of the store", 12, store=True),
    "store": Kills("S3 endpoint", 6, LOCAL | {"penstock.step.records": "20"}, apart=4, store=True),
    "store-spark": Kills("S3 endpoint, Spark", 4, SPARK, _SPARKS, pause=0.4, apart=4, store=True),
    "spark": Kills("Spark, local[2,4]", 13, SPARK, _SPARKS, pause=0.4),
    "cluster": Kills(
        "cluster of two workers", 25, {"penstock.step.records": "10"}, _CLUSTERS, pause=0.5, apart=5, cluster=True
    ),
    "speculation": Speculation(
        "cluster of two workers, speculation",
        Kills("", 0, SPECULATION | {"penstock.step.records": "20"}, ("worker",), cluster=True),
    ),
}
