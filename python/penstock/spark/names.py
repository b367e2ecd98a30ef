"""What Spark's own pages call a job, and the functions of its levels. Workers load this too."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.job.deployment import Deployment

_LONGEST = 100


@contextlib.contextmanager
def described(session: Any, text: str) -> Iterator[None]:
    """Within the block Spark's pages call what this thread starts so. Over Connect nothing is changed. ``text`` is,
    for example, the name of the job and the number of the step."""
    try:
        spark = session.sparkContext
    except Exception:  # Spark Connect has no SparkContext
        yield
        return
    before = spark.getLocalProperty("spark.job.description")
    spark.setJobDescription(text)
    try:
        yield
    finally:
        spark.setLocalProperty("spark.job.description", before)


def description(deployment: Deployment, step: int | None = None) -> str:
    """What Spark's pages call a job."""
    levels = " ⇒ ".join(shortened([vertex.name for vertex in level]) for level in deployment.levels)
    number = "" if step is None else f", step {step:,}"
    return f"{deployment.job.name}{number}: {levels}"


def shortened(names: Sequence[str]) -> str:
    """The names of the chains of a level, so that they fit on Spark's pages."""
    text = " | ".join(names)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
