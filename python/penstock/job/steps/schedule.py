"""How many records a step reads, so that it takes about its target time, and how often steps are committed."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from penstock.common.settings.settings import Settings
from penstock.job.deployment import Deployment
from penstock.job.folder.manifest import StepManifest
from penstock.runtime.config.tasks import TaskReport
from penstock.runtime.io.sinks import PublishedSink

NEVER = 1 << 62  # milliseconds between two checkpoints, where only the last step is one
_FIRST, _LEAST, _MOST = 5_000, 100, 5_000_000


class Pace:
    """Records per subtask of a source and step. ``behind``: the last step has read all that it might."""

    behind = False

    def __init__(self, fixed: int, target: int) -> None:
        self._fixed, self._target = fixed, target
        self.records: int = fixed or _FIRST

    def took(self, most: int, millis: float) -> None:
        self.behind = most >= self.records
        if self._fixed or not most:
            return
        fitting = int(most * self._target / max(millis, 1.0))
        if fitting < self.records or self.behind:  # it grows only if what may be read is read
            self.records = min(max(fitting, self.records // 2, _LEAST), 2 * self.records, _MOST)


def paced(deployment: Deployment) -> Settings:
    """The settings of a program, with the checkpoint interval that it is run with.

    Every commit ends the files of sinks that add files. A program without an interval would commit each step, which may
    make thousands of tiny files; so it has an interval of its own."""
    settings = deployment.job.settings
    adds = any(isinstance(end.sink, PublishedSink) and end.sink.adds and not end.sink.sends for end in deployment.ends)
    if settings.checkpoint_interval is not None or not adds:
        return settings
    return replace(settings, checkpoint_interval=settings.file_commits or None)


class Checkpoints:
    """The interval of a job, and what has been made since its last checkpoint."""

    def __init__(self, interval: int | None) -> None:
        self._interval = interval
        self._last = time.monotonic()
        self.forget()

    def forget(self) -> None:
        """Drop the time since the last checkpoint."""
        self.steps = 0
        self.reports: list[TaskReport] = []
        self.collected: dict[str, list[Any]] = {}
        self.files: set[str] = set()

    @property
    def due(self) -> bool:
        return self._interval is None or (time.monotonic() - self._last) * 1000 >= self._interval

    @property
    def wanted(self) -> bool:
        """Whether a checkpoint is due that would make anything durable."""
        return self.steps > 0 and self.due

    def add(self, manifest: StepManifest, reports: Sequence[TaskReport], collected: Mapping[str, list[Any]]) -> None:
        self.steps += 1
        self.reports += [report for report in reports if report.files or report.committables]
        self.files.update(file.name for file in manifest.state_files())
        for sink, records in collected.items():
            self.collected.setdefault(sink, []).extend(records)

    def taken(self) -> None:
        """A checkpoint stands, with all that was made before."""
        self._last = time.monotonic()
        self.forget()
