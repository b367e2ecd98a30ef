"""Spark's classes as the JVM keeps them in memory, in a file: with it, a JVM starts in half the CPU time.

``penstock prepare`` makes this application class data archive, for one Java and one Spark. The JVM checks whether it
fits, and otherwise does without.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

_QUIET = "-Xlog:cds=off -Xlog:cds+dynamic=off"


def archive_path() -> Path | None:
    """Where the archive for this process's Java and Spark is, or would be; None without a Java that says which it
    is."""
    import pyspark

    home = java_home()
    release = home / "release" if home is not None else None
    if release is None or not release.is_file():
        return None
    identity = "\0".join([str(home), release.read_text(), pyspark.__version__, str(Path(pyspark.__file__).parent)])
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "penstock")
    return cache / f"spark-{pyspark.__version__}-{hashlib.sha256(identity.encode()).hexdigest()[:16]}.jsa"


def java_home() -> Path | None:
    """The folder of the Java that Spark will start."""
    home = os.environ.get("JAVA_HOME")
    if home:
        return Path(os.path.realpath(home))
    java = shutil.which("java")
    return Path(os.path.realpath(java)).parent.parent if java else None


def java_options() -> str:
    """What makes a JVM use the archive; "" without one, or with a blank in its path, at which Spark would cut."""
    path = archive_path()
    return f" -XX:SharedArchiveFile={path} {_QUIET}" if path and path.is_file() and " " not in str(path) else ""
