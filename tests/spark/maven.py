"""Jars from Maven Central, for tests that need one."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


def jar(artifact: str, folder: Path) -> Path:
    """A jar, or the test is skipped.

    Args:
        artifact: ``group:name:version``.
        folder: where it is to be.
    """
    mvn = shutil.which("mvn")
    if mvn is None:
        pytest.skip(f"needs {artifact}, and there is no Maven to fetch it with")
    command = [mvn, "-q", "-B", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={folder}"]
    fetched = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=folder)
    if fetched.returncode:
        pytest.skip(f"needs {artifact}, and Maven could not fetch it: {fetched.stdout.strip()[:200]}")
    _, name, version = artifact.split(":")
    return folder / f"{name}-{version}.jar"
