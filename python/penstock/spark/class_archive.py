"""Spark's classes as the JVM keeps them in memory, in a file: with it, a JVM starts in half the CPU time.

Java calls it an application class data archive. One file serves one Java and one Spark. The JVM itself checks whether
it fits, and does without it where it does not. ``penstock prepare`` makes it; without it nothing changes.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

_QUIET = "-Xlog:cds=off -Xlog:cds+dynamic=off"


def archive_path() -> Path | None:
    """Where the archive is, or would be, for the Java and the Spark of this process; None where there is no Java, or
    one that does not say which."""
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
    """What makes a JVM use the archive; nothing where there is none, or a blank in its path, which Spark would cut."""
    path = archive_path()
    return f" -XX:SharedArchiveFile={path} {_QUIET}" if path and path.is_file() and " " not in str(path) else ""
