"""The systems that are measured, each in a process per query."""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).resolve().parent
FLINK = HERE / "flink"
JAR = FLINK / "target" / "nexmark.jar"
SYSTEMS = ("flink", "penstock-local", "penstock-spark", "duckdb")
TIMEOUT = 1800


@dataclass(frozen=True)
class Round:
    """One job, from the building of the program to its end.

    Attributes:
        cpu: seconds of all processes of the system, user and system.
        rows, checksum: of the results.
    """

    round: int
    cpu: float
    wall: float
    rows: int
    checksum: int


def missing(system: str) -> str | None:
    """Why a system cannot run here, in a sentence; ``None`` when it can. Builds what is missing of Flink's."""
    if system == "flink":
        return (
            next((f"{tool} is not installed" for tool in ("java", "mvn") if not shutil.which(tool)), None) or _build()
        )
    if system == "penstock-spark" and not shutil.which("java"):
        return "java is not installed"
    if system == "duckdb" and find_spec("duckdb") is None:
        return "duckdb is not installed"
    return None if system in SYSTEMS else f"there is no system {system!r}, only {', '.join(SYSTEMS)}"


@cache
def _build() -> str | None:
    sources = [FLINK / "pom.xml", *(FLINK / "src").rglob("*.java")]
    JAR.parent.mkdir(exist_ok=True)
    with open(JAR.parent / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two processes must not build at once
        if JAR.exists() and JAR.stat().st_mtime > max(path.stat().st_mtime for path in sources):
            return None
        command = ["mvn", "--quiet", "--batch-mode", "package"]
        completed = subprocess.run(command, cwd=FLINK, capture_output=True, text=True, check=False)
    if completed.returncode == 0:
        return None
    return f"Maven could not build the queries (is there a network?): {completed.stdout.strip()[-1500:]}"


def rounds(system: str, query: str, format: str, folder: Path, number: int) -> list[Round]:
    """Run a query that many times in one process.

    Raises:
        RuntimeError: it failed; the end of its messages.
    """
    if system == "flink":
        command = [*java(), "time", query, format, str(folder), str(number)]
    elif system == "duckdb":
        command = [*python("duckdb_run.py"), query, format, str(folder), str(number)]
    else:
        command = [*python("penstock_run.py"), "time", executor(system), query, format, str(folder), str(number)]
    return [Round(**json.loads(line)) for line in _run(command).splitlines() if line.startswith('{"round"')]


def lines(system: str, queries: Sequence[str], format: str, folder: Path) -> dict[str, list[str]]:
    """The results of queries as texts, sorted."""
    with tempfile.TemporaryDirectory() as out:
        if system == "flink":
            command = [*java(), "lines", format, str(folder), out, *queries]
        else:
            command = [*python("penstock_run.py"), "lines", executor(system), format, str(folder), out, *queries]
        _run(command)
        return {query: sorted(Path(out, f"{query}.txt").read_text().splitlines()) for query in queries}


def executor(system: str) -> str:
    """``local`` or ``spark``."""
    return system.removeprefix("penstock-")


def java() -> list[str]:
    """The command of Flink's JVM."""
    return ["java", *shlex.split(os.environ.get("NEXMARK_JAVA_OPTIONS", "-Xmx6g")), "-jar", str(JAR)]


def python(script: str) -> list[str]:
    """The command of a script beside this file."""
    return [os.environ.get("NEXMARK_PYTHON", sys.executable), str(HERE / script)]


def _run(command: list[str]) -> str:
    path = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")]))  # for Spark's workers
    environment = {**os.environ, "PYTHONPATH": path}
    completed = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=TIMEOUT, check=False
    )  # fmt: skip
    if completed.returncode:
        raise RuntimeError(f"{shlex.join(command)} ended with {completed.returncode}: {completed.stderr[-3000:]}")
    return completed.stdout
