"""Sets of events, and where they are."""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
WORK = Path(os.environ.get("NEXMARK_WORK", ROOT / "target" / "nexmark"))
FORMATS = ("csv", "jsonl", "parquet")


class EventSet(NamedTuple):
    """What ``generate.py`` makes events of."""

    events: int
    seed: int = 1
    disorder: int = 500
    rate: int = 10_000

    def __str__(self) -> str:
        return f"{self.events}-s{self.seed}-d{self.disorder}-r{self.rate}"

    @classmethod
    def of(cls, name: str) -> EventSet:
        """The set of a name, such as ``100000-s1-d0-r1000``."""
        events, seed, disorder, rate = name.split("-")
        return cls(int(events), int(seed[1:]), int(disorder[1:]), int(rate[1:]))

    def folder(self, formats: Iterable[str]) -> Path:
        """Its folder; written if it lacks one of these formats."""
        from generate import generate

        WORK.mkdir(parents=True, exist_ok=True)
        with open(WORK / f"{self}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # two processes must not write at once
            return generate(self.events, self.seed, self.disorder, self.rate, WORK, sorted(formats))


SMALL = EventSet(20_000, seed=5, disorder=2_000, rate=500)
"""For tests."""
GOLDEN = (
    SMALL,
    EventSet(100_000, seed=1, disorder=0, rate=1_000),
    EventSet(100_000, seed=2, disorder=3_000, rate=10_000),
    EventSet(100_000, seed=3, disorder=500, rate=2_000),
    EventSet(100_000, seed=4, disorder=3_900, rate=1_000),
)
"""Those whose results are kept."""


def csv_sha256(folder: Path) -> str:
    """Of all lines of a set."""
    digest = hashlib.sha256()
    for path in sorted((folder / "csv").iterdir()):
        digest.update(path.read_bytes())
    return digest.hexdigest()
