"""Jars from Maven Central, for servers that tests start, kept in the user's cache."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>penstock.tests</groupId><artifactId>server</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
{}
  </dependencies>
</project>
"""
DEPENDENCY = "    <dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"
RESOLVE_SECONDS = 300


def jars(name: str, *artifacts: str) -> Path:
    """The folder of jars of artifacts (``group:name:version``) and of what they need; fetched when it is not there.

    Args:
        name: of the folder in the cache; another one for other artifacts.

    Raises:
        LookupError: they cannot be had here.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "penstock-tests", name)
    jar_folder = cache / "jars"
    if jar_folder.is_dir():
        return jar_folder
    maven = shutil.which("mvn")
    if maven is None or shutil.which("java") is None:
        raise LookupError(f"no Maven or no Java here to get {name} with")
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        dependencies = (DEPENDENCY.format(*artifact.split(":")) for artifact in artifacts)
        Path(folder, "server.xml").write_text(POM.format("\n".join(dependencies)))
        goal = ["dependency:copy-dependencies", "-DoutputDirectory=jars", "-DincludeScope=runtime"]
        command = [maven, "-q", "-B", "-f", "server.xml", *goal]
        try:
            subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=RESOLVE_SECONDS)
        except (subprocess.SubprocessError, OSError) as error:
            raise LookupError(f"Maven could not get {name}: {error}") from error
        with contextlib.suppress(OSError):  # another process was quicker
            os.rename(Path(folder, "jars"), jar_folder)
    return jar_folder
