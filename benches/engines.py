"""Runs the programs of ``running/`` in processes of their own, each engine in an environment of its own.

Engines that are no dependency of the benches are installed from PyPI the first time, into ``target/engines``.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import jars
from results import ROOT

FOLDER = ROOT / "target" / "engines"
RUNNING = Path(__file__).with_name("running")
REQUIREMENTS = {"PyFlink": "apache-flink==2.3.*", "Bytewax": "bytewax[kafka]>=0.21"}
FLINK = "Flink's Java"
"""An engine whose programs are those of ``nexmark/flink``, in a JVM that a job of ours starts."""


@dataclass(frozen=True)
class Program:
    """A job of ``running/``.

    Attributes:
        job: module and function that makes it.
        tiny: its data for the first run, whose cost is that of starting.
        data: its data.
        rounds: how often it runs over them.
        arguments: of the function.
    """

    job: str
    tiny: Any
    data: Any
    rounds: int = 3
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Run:
    """One run of a job.

    Attributes:
        cpu: seconds of ``jvm`` and ``python``.
        wall: seconds.
        result: number and checksum of its records.
        peak_bytes: resident memory by kind of process: ``driver``, ``jvm``, ``python`` (workers).
        shuffle_bytes: what Spark's stages wrote for the next ones.
        first_record: wall seconds to the first record at a sink, where the sink looks.
    """

    job: str
    cpu: dict[str, float]
    wall: float
    result: list[int]
    peak_bytes: dict[str, int]
    first_record: float | None = None
    shuffle_bytes: int | None = None

    @property
    def cpu_seconds(self) -> float:
        """Of everything."""
        return sum(self.cpu.values())


def run(
    programs: Sequence[Program], engine: str | None = None, timeout: float = 600, *, prepared: bool = False
) -> list[Run]:
    """Run programs one after the other in one process.

    Args:
        programs: to run.
        engine: one of REQUIREMENTS, or FLINK; None: the environment of the benches.
        timeout: seconds for everything.
        prepared: whether ``penstock prepare`` has been run.

    Raises:
        AssertionError: the process failed; the end of what it said.
    """
    path = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(RUNNING)]))
    unprepared = os.environ.get("PENSTOCK_BENCH_CACHE", FOLDER / "no cache")  # smoke runs may be quick
    archive = {"XDG_CACHE_HOME": str(_prepared() if prepared else unprepared)}
    environment = {
        **os.environ,
        **archive,
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": path if engine is None else str(RUNNING),
    }
    command = [str(python(engine)), str(RUNNING / "rounds.py"), json.dumps([asdict(program) for program in programs])]
    process = subprocess.Popen(
        [*command, str(time.time())],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        out, errors = process.communicate(timeout=timeout)
    finally:
        end(process)
    assert process.returncode == 0, f"status {process.returncode}: {errors.strip()[-3000:]}"
    return [Run(**json.loads(line)) for line in out.splitlines() if line.startswith('{"job"')]


@cache
def _prepared() -> Path:
    """A cache folder in which ``penstock prepare`` has left its archive."""
    folder = FOLDER / "cache"
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder)}
    subprocess.run([sys.executable, "-m", "penstock.cli", "prepare"], env=environment, check=True)
    return folder


def end(process: subprocess.Popen[str]) -> None:
    """Nothing of it may run on beside the next measurement."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.wait()


def python(engine: str | None) -> Path:
    """The interpreter of an engine's environment."""
    return Path(sys.executable) if engine in (None, FLINK) else FOLDER / engine.lower() / "bin" / "python"


def installed(engine: str) -> bool:
    """Whether its environment is there, whole, and what is asked for."""
    if engine == FLINK:
        return jars.JARS["flink"].exists()
    home = FOLDER / engine.lower()
    wanted = home / "wanted.txt"
    return (home / "installed.txt").exists() and wanted.exists() and wanted.read_text() == REQUIREMENTS[engine]


def missing(engine: str) -> str | None:
    """Why an engine cannot run here, in a sentence; ``None`` when it can. Installs it the first time (minutes)."""
    if engine == FLINK:
        return jars.missing("flink")
    FOLDER.mkdir(parents=True, exist_ok=True)
    with open(FOLDER / f"{engine.lower()}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if installed(engine):
            return None
        home = FOLDER / engine.lower()
        for command in (
            [sys.executable, "-m", "venv", "--clear", str(home)],
            [str(python(engine)), "-m", "pip", "install", "--quiet", REQUIREMENTS[engine]],
        ):
            completed = subprocess.run(command, capture_output=True, text=True, check=False)
            if completed.returncode:
                return f"{engine} could not be installed (is there a network?): {completed.stderr.strip()[-500:]}"
        (home / "wanted.txt").write_text(REQUIREMENTS[engine])
        freeze = [str(python(engine)), "-m", "pip", "freeze"]
        (home / "installed.txt").write_text(subprocess.check_output(freeze, text=True))
    return None


def version(engine: str) -> str:
    """What is installed of an engine; ``none`` when nothing is."""
    if not installed(engine):
        return "none"
    name = re.split(r"[\[>=]", REQUIREMENTS[engine])[0]
    match = re.search(rf"^{name}==(.*)$", (FOLDER / engine.lower() / "installed.txt").read_text(), re.M)
    return match[1] if match else "unknown"
