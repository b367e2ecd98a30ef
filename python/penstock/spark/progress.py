"""A progress line on standard error while a job runs."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from typing import Any

from penstock.job.deployment import Deployment

_INTERVAL = 0.25
_WIDTH = 78


@contextlib.contextmanager
def progress(session: Any, deployment: Deployment, wanted: bool | None) -> Iterator[None]:
    """Show which level of the job runs, and how many of its tasks are done; the line disappears at the end.

    Args:
        session: the job's session. Over Spark Connect there is nothing to see.
        deployment: the job.
        wanted: None means: if standard error is a terminal.
    """
    tracker = _tracker(session) if (sys.stderr.isatty() if wanted is None else wanted) else None
    if tracker is None:
        yield
        return
    stop = threading.Event()
    thread = threading.Thread(target=_watch, args=(tracker, deployment, stop), daemon=True, name="penstock-progress")
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _tracker(session: Any) -> Any:
    try:
        return session.sparkContext.statusTracker()
    except Exception:  # Spark Connect has no SparkContext
        return None


def _watch(tracker: Any, deployment: Deployment, stop: threading.Event) -> None:
    first: int | None = None
    while not stop.wait(_INTERVAL):
        with contextlib.suppress(Exception):  # a line less is better than a job less
            stages = [tracker.getStageInfo(i) for i in sorted(tracker.getActiveStageIds())]
            running = [s for s in stages if s is not None]
            if not running:
                continue
            first = running[0].stageId if first is None else first
            _write(_line(running[0], running[0].stageId - first, deployment))
    if first is not None:
        _write("")


def _line(stage: Any, level: int, deployment: Deployment) -> str:
    levels = len(deployment.levels)
    names = [vertex.name for vertex in deployment.levels[min(level, levels - 1)]]
    text = f"stage {level + 1}/{levels}, {stage.numCompletedTasks}/{stage.numTasks} tasks: {', '.join(names)}"
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"


def _write(text: str) -> None:
    sys.stderr.write(f"\r\x1b[K{text}")
    sys.stderr.flush()
