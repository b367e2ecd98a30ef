"""Kill the job until it has been killed as often as asked: ``python -m tests.chaos [--kills 100] [--seed 1]``.

Half of the kills are those of drivers on the local executor, at random moments; a third are before single changes of
files, chosen evenly among all; the others are on Spark, of its driver, its JVM and its Python workers. After each job
its output must be exact, and nothing may be left. ``--all-changes`` dies before every single change instead.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

from tests.chaos.changes import changes, died
from tests.chaos.lives import Chaos

LOCAL = {"penstock.executor": "local", "penstock.step.records": "5"}
SPARK = {
    "penstock.executor": "spark",
    "spark.master": "local[2,4]",
    "spark.ui.enabled": "false",
    "spark.driver.memory": "512m",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "penstock.step.records": "10",
}
PER_JOB = 10


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--all-changes", action="store_true", help="before every change of a file, on the local executor"
    )
    parser.add_argument("--no-spark", action="store_true")
    options = parser.parse_args()
    began, chance = time.monotonic(), random.Random(options.seed)
    with tempfile.TemporaryDirectory(prefix="chaos-") as folder:
        if options.all_changes:
            print(f"{sum(1 for _ in died(Path(folder)))} deaths, each before another change: exact.")
            return 0
        third = options.kills // 3
        spark = 0 if options.no_spark else options.kills - third - options.kills // 2
        _changes(Path(folder), third)
        _jobs(Path(folder), LOCAL, chance, ("driver",), options.kills - third - spark)
        _jobs(Path(folder), SPARK, chance, ("driver", "worker", "worker", "jvm"), spark)
    print(f"{options.kills} kills: exact, and nothing left. {time.monotonic() - began:.0f} seconds.")
    return 0


def _changes(folder: Path, number: int) -> None:
    """Die before so many changes, evenly among all."""
    root = folder / "changes"
    root.mkdir()
    all_ = changes(root)
    for at, what in died(root, [all_ * i // number for i in range(number)]):
        print(f"died before change {at} of {all_}: {os.path.basename(what)}")


def _jobs(folder: Path, settings: dict[str, str], chance: random.Random, victims: tuple[str, ...], kills: int) -> None:
    """Kill jobs so often, some times each."""
    number = 0
    while kills > 0:
        root = folder / f"{settings['penstock.executor']}-{number}"
        root.mkdir()
        chaos = Chaos(root, settings, chance, victims)
        try:
            chaos.run(min(kills, PER_JOB))
        except BaseException:
            kept = tempfile.mkdtemp(prefix="chaos-failed-")
            shutil.copytree(root, kept, dirs_exist_ok=True)
            print(f"FAILED: see {kept}")
            raise
        print(f"job {number} on {settings['penstock.executor']}: killed {chaos.kills}")
        kills -= sum(chaos.kills.values())
        number += 1


if __name__ == "__main__":
    sys.exit(main())
