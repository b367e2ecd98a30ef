"""Each supported Spark, in an environment of its own: ``python -m tests.sparks [OPTION…] [VERSION…]``.

Environments are kept in target/sparks. The package is that of the Python that runs this."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import penstock
from tests.sparks.environments import ROOT, Missing, python_of
from tests.sparks.page import OK, write
from tests.sparks.sums import LENGTH

VERSIONS = ("3.5", "4.0", "4.1", "4.2", "4.3")
SECONDS = 900
"""That a command may take."""
PROGRAMS = (
    *("window_tumbling", "window_session_touching_is_merged", "trigger_purging_event_time", "late_sliding_allowed"),
    *("count_window_all_slide", "watermarks_minimum_of_two", "timers_p2", "keyed_maxBy_last", "partition_rescale_3_2"),
    *("join_tumbling", "interval_join_only_later", "broadcast_rules_interleaved", "window_two_levels_p4"),
    *("trace_branching_two_sinks", "fail_in_keyed_element", "ops_side_output_unread", "r2", "r24", "r64", "r105"),
)
"""Of those that Flink ran."""
SHORT_LIVED = {"SPARK_SUBMIT_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
REFUSED = "refused"


class Failed(Exception):
    """A command has failed; the end of what it said."""


@dataclass(frozen=True)
class Spark:
    """A version, with its Python and that of the version beside it, which reads its savepoints."""

    version: str
    python: str
    beside: str

    def run(self, *arguments: str, python: str | None = None) -> str:
        """The last line of what a module of the tests prints."""
        environment = {key: value for key, value in os.environ.items() if key not in ("SPARK_HOME", "PYTHONPATH")}
        environment |= SHORT_LIVED | {"PYSPARK_PYTHON": python or self.python, "PYTHONPATH": str(ROOT)}
        command = [python or self.python, "-m", *arguments]
        run = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
        )
        if run.returncode:
            raise Failed(
                f"status {run.returncode} of {' '.join(arguments)[:300]}\n{(run.stdout + run.stderr).strip()[-3_000:]}"
            )
        return run.stdout.strip().rpartition("\n")[2]


def bounded(spark: Spark, folder: Path) -> None:
    """A word count, and programs that Flink ran."""
    spark.run("tests.sparks.words")
    spark.run("tests.spark.runs", *PROGRAMS)


def unbounded(spark: Spark, folder: Path) -> None:
    """The same programs, fed in steps."""
    spark.run("tests.spark.runs", "--feed", "random:1", *PROGRAMS)


def killed(spark: Spark, folder: Path) -> None:
    """Running sums, windows and timers, whose driver, JVM and workers are killed."""
    spark.run("tests.chaos", "--parts", "spark", "--kills", "4")


def savepoints(spark: Spark, folder: Path) -> None:
    """Running sums go from the local executor to this Spark, another, this one again, and back."""
    savepoint: tuple[str, ...] = ()
    for number, (executor, python) in enumerate(
        [("local", None), ("spark", None), ("spark", spark.beside), ("spark", None), ("local", None)]
    ):
        begin, end = number * LENGTH, (number + 1) * LENGTH
        place = str(folder / f"{number}")
        savepoint = (spark.run("tests.sparks.sums", executor, place, str(begin), str(end), *savepoint, python=python),)


def connected(spark: Spark, folder: Path) -> str | None:
    """Programs in one process, in steps, and without an end, over Spark Connect."""
    if tuple(map(int, spark.version.split("."))) >= (4, 3):
        spark.run("tests.spark.apart", "connect", str(folder), "streaming", "tables", "resumed")
        return None
    spark.run("tests.sparks.refused")
    return REFUSED


def clustered(spark: Spark, folder: Path) -> None:
    """Two executors, which are killed."""
    spark.run("tests.spark.cluster", str(folder), "lost")


PARTS: Mapping[str, Callable[[Spark, Path], str | None]] = {
    "bounded": bounded,
    "unbounded": unbounded,
    "kill": killed,
    "savepoint": savepoints,
    "Connect": connected,
    "cluster": clustered,
}


def main() -> int:
    """The command; how many versions have failed."""
    chosen = _options()
    pythons = {version: _python(version) for version in chosen.versions}
    existing = [version for version, python in pythons.items() if not isinstance(python, Missing)]
    results: dict[str, dict[str, str]] = {version: {} for version in chosen.versions}
    failures = 0
    for index, version in enumerate(existing):
        python, beside = pythons[version], pythons[existing[index - 1]]
        spark = Spark(version, str(python), str(beside))
        for name in chosen.parts:
            results[version][name] = result = _part(spark, name)
            failures += result not in (OK, REFUSED)
        if chosen.all:
            failures += _pytest(spark)
    for version, python in pythons.items():
        if isinstance(python, Missing):
            print(f"{version} was not run: {python}")
    if set(PARTS) <= set(chosen.parts) and existing == list(VERSIONS) and not failures:
        write(results, list(PARTS))
    return failures


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.sparks", description=__doc__)
    parser.add_argument("versions", nargs="*", metavar="VERSION", help=f"some of {', '.join(VERSIONS)}")
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS), metavar="PART")
    parser.add_argument("--all", action="store_true", help="then all tests with the mark spark")
    chosen = parser.parse_args()
    chosen.versions = chosen.versions or list(VERSIONS)
    return chosen


def _python(version: str) -> str | Missing:
    try:
        return python_of(version, Path(penstock.__file__).parents[1])
    except Missing as missing:
        return missing


def _part(spark: Spark, name: str) -> str:
    began = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix=f"spark-{spark.version}-{name}-"))
    try:
        result = PARTS[name](spark, folder) or OK
    except (Failed, subprocess.TimeoutExpired) as failure:
        print(f"{spark.version} {name} FAILED: {failure}\nSee {folder}.", flush=True)
        return "fails"
    shutil.rmtree(folder, ignore_errors=True)
    print(f"{spark.version} {name}: {result}, {time.monotonic() - began:.0f} s", flush=True)
    return result


def _pytest(spark: Spark) -> bool:
    """Whether the tests with the mark ``spark`` fail."""
    command = [
        spark.python,
        "-m",
        "pytest",
        "-p",
        "penstock.pytest_plugin",
        "-m",
        "spark",
        "-n",
        "2",
        "--dist",
        "worksteal",
        "-q",
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": spark.python}
    print(f"{spark.version}: the tests with the mark spark", flush=True)
    return bool(subprocess.run([*command, "--ignore=tests/docs"], cwd=ROOT, env=environment, check=False).returncode)


if __name__ == "__main__":
    sys.exit(bool(main()))
