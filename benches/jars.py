"""Programs in Java that are measured: built by Maven where they are missing (network, minutes)."""

from __future__ import annotations

import fcntl
import os
import shlex
import shutil
import subprocess
from functools import cache
from pathlib import Path

_HOME = Path(__file__).resolve().parent / "nexmark"
JARS = {name: _HOME / name / "target" / jar for name, jar in (("flink", "nexmark.jar"), ("beam", "nexmark-beam.jar"))}


def missing(name: str) -> str | None:
    """Why a program cannot run here, in a sentence; ``None`` when it can. Builds it where it is missing or old."""
    return without("java", "mvn") or _build(name)


def without(*tools: str) -> str | None:
    """Which of some commands is not installed, in a sentence; ``None`` when all are."""
    return next((f"{tool} is not installed" for tool in tools if not shutil.which(tool)), None)


def java(name: str) -> list[str]:
    """The command of a JVM with a program."""
    return ["java", *shlex.split(os.environ.get("NEXMARK_JAVA_OPTIONS", "-Xmx6g")), "-jar", str(JARS[name])]


@cache
def _build(name: str) -> str | None:
    jar, project = JARS[name], _HOME / name
    sources = [project / "pom.xml", *(project / "src").rglob("*.java")]
    jar.parent.mkdir(exist_ok=True)
    with open(jar.parent / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two processes must not build at once
        if jar.exists() and jar.stat().st_mtime > max(path.stat().st_mtime for path in sources):
            return None
        command = ["mvn", "--quiet", "--batch-mode", "package"]
        completed = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    if completed.returncode == 0:
        return None
    return f"Maven could not build the programs (is there a network?): {completed.stdout.strip()[-1500:]}"
