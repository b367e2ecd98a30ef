"""Bringing an archive of the driver's to the executors, by Spark's own means; tasks find it by its name."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def ship(session: Any, archive: Path | None) -> None:
    """Have Spark bring an archive wherever it runs a task, once.

    Args:
        session: the job's.
        archive: with a name that no other has; None for none.
    """
    if archive is None:
        return
    try:
        spark = session.sparkContext
    except Exception:  # Spark Connect has no SparkContext; files of a session are artifacts there
        session.addArtifacts(str(archive), file=True)
        return
    if all(file.rpartition("/")[2] != archive.name for file in spark.listFiles):
        spark.addFile(str(archive))
