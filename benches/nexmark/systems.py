"""The systems that are measured, each in a process per query."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from inputs import EventSet

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))

import engines  # noqa: E402 - the path comes first
import jars  # noqa: E402

LOOP = "python-loop"
SYSTEMS = ("flink", "penstock-local", "penstock-spark", "penstock-off", LOOP, "duckdb", "pyflink", "beam")
IN_A_JVM = ("flink", "penstock-spark")
LIGHT = ("q0", "q1", "q2", "q13")
"""Queries with neither keys nor state."""
LOOPS = (*LIGHT, "q7", "q12", "q16")
"""Queries that a loop has, too: those, and aggregates of tumbling windows."""
BEAM = {
    "q0": "0", "q1": "1", "q2": "2", "q3": "3", "q4": "4", "q5": "5", "q7": "7", "q8": "8", "q9": "9", "q11": "11",
    "q12": "12", "q13": "BOUNDED_SIDE_INPUT_JOIN",
}  # fmt: skip
"""Queries of Beam's suite by what they are here."""
TINY = 1_000
"""Events of a job of PyFlink or Beam whose cost is that of starting."""
TIMEOUT = 1800


@dataclass(frozen=True)
class Round:
    """One job, from the building of the program to its end.

    Attributes:
        cpu: seconds of all processes of the system, user and system.
        rows, checksum: of the results.
        events: how many were read.
        spark: of ``cpu``, the seconds of Spark's JVM, which passes records on and looks at none.
    """

    round: int
    cpu: float
    wall: float
    rows: int
    checksum: int
    events: int
    spark: float = 0.0


def missing(system: str) -> str | None:
    """Why a system cannot run here, in a sentence; ``None`` when it can. Builds and installs what is missing."""
    if system in jars.JARS:
        return jars.missing(system)
    if system == "pyflink":  # the split assigner of Flink's programs is PyFlink's too
        return missing("flink") or engines.missing("PyFlink")
    if system == "penstock-spark":
        return jars.without("java")
    if system == "duckdb" and find_spec("duckdb") is None:
        return "duckdb is not installed"
    return None if system in SYSTEMS else f"there is no system {system!r}, only {', '.join(SYSTEMS)}"


def rounds(system: str, query: str, format: str, events: EventSet, number: int) -> list[Round]:
    """Run a query that many times in one process; none where the system does not have it.

    Raises:
        RuntimeError: it failed; the end of its messages.
    """
    if system == LOOP and (query not in LOOPS or format != "csv"):
        return []
    if system == "beam":  # makes its events, whatever the format is
        if query not in BEAM or format != "csv":
            return []
        command = [*jars.java("beam"), BEAM[query], str(events.events), str(number), str(TINY)]
    else:
        command = [*program(system, "time"), query, format, str(events.folder([format])), str(number)]
        if system == "pyflink":
            command.append(str(events._replace(events=TINY).folder([format])))
    printed = _run(system, command)
    facts = [json.loads(line) for line in printed.splitlines() if line.startswith('{"round"')]
    return [Round(**one, events=events.events) for one in facts]


def lines(system: str, queries: Sequence[str], format: str, folder: Path) -> dict[str, list[str]]:
    """The results of queries as texts, sorted."""
    with tempfile.TemporaryDirectory() as out:
        _run(system, [*program(system, "lines"), format, str(folder), out, *queries])
        return {query: sorted(Path(out, f"{query}.txt").read_text().splitlines()) for query in queries}


def program(system: str, what: str) -> list[str]:
    """The beginning of the command that runs queries on a system: to ``time`` them, or for their ``lines``."""
    if system == "flink":
        return [*jars.java("flink"), what]
    if system in (LOOP, "duckdb"):
        return python("loop_run.py" if system == LOOP else "duckdb_run.py")
    if system == "pyflink":
        return [str(engines.python("PyFlink")), str(HERE / "pyflink_run.py"), str(jars.JARS["flink"]), what]
    return [*python("penstock_run.py"), what, executor(system)]


def executor(system: str) -> str:
    """``local``, also for Penstock without native code, or ``spark``."""
    return "spark" if system == "penstock-spark" else "local"


def python(script: str) -> list[str]:
    """The command of a script beside this file."""
    return [os.environ.get("NEXMARK_PYTHON", sys.executable), str(HERE / script)]


def _run(system: str, command: list[str]) -> str:
    ours = None if system == "pyflink" else os.environ.get("PYTHONPATH")
    path = os.pathsep.join(filter(None, [str(HERE), ours]))  # for workers of Spark and PyFlink
    environment = {**os.environ, "PYTHONPATH": path}
    if system == "penstock-off":
        settings = json.loads(environment.get("SETTINGS", "{}"))
        environment["SETTINGS"] = json.dumps({**settings, "penstock.native": "off"})
    completed = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=TIMEOUT, check=False
    )  # fmt: skip
    if completed.returncode:
        raise RuntimeError(f"{shlex.join(command)} ended with {completed.returncode}: {completed.stderr[-3000:]}")
    return completed.stdout
