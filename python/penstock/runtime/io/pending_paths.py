"""Where the output of a running job waits: in a hidden *pending folder* on the storage of its target. It lies beside a
target that becomes visible as a whole, and inside a folder to which files are added.

Its name has the id of the run. That of a job with a checkpoint directory also has the id of that directory, by which
the next run finds what an earlier one has left. The driver makes, publishes and removes the folders
(:mod:`penstock.job.commit`); tasks only need the names.
"""

from __future__ import annotations

import re
import uuid
from pathlib import Path
from typing import NamedTuple

from penstock.runtime.config.tasks import JobConfig

ATTEMPT = r"[0-9a-f]{32}-\d+-[0-9a-f]{32}"  # what :func:`attempt_file` calls a file, as a pattern

_NAME = re.compile(r"\.(?:(.+)\.)?(?:steps-([0-9a-f]{32})|pending)-([0-9a-f]{32})", re.DOTALL)


class PendingFolder(NamedTuple):
    """The parts of the path of a pending folder."""

    target: str  # the output whose files wait there
    inside: bool  # whether the folder lies in the target, and not beside it
    folder_id: str | None  # id of the job's checkpoint directory; None if the job commits once and has none
    job_id: str


def waiting_place(target: str, job: JobConfig, *, adds: bool) -> str:
    """The pending folder of a job for a target, a path or URL; ``adds`` says that files are added to the target."""
    above, _, name = target.rpartition("/")
    hidden = f"pending-{job.job_id}" if job.folder_id is None else f"steps-{job.folder_id}-{job.job_id}"
    return f"{target.rstrip('/')}/.{hidden}" if adds else f"{above}/.{name}.{hidden}"


def pending_of(path: str) -> PendingFolder | None:
    """The parts of the path of a pending folder; None for any other path."""
    above, _, name = path.rpartition("/")
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    return PendingFolder(f"{above}/{match[1]}" if match[1] else above, match[1] is None, match[2], match[3])


def prepared_place(job: JobConfig) -> str:
    """The folder in the checkpoint directory of a job where prepared records wait that are too many for a manifest."""
    return waiting_place(f"{(job.folder or '').rstrip('/')}/prepared", job, adds=True)


def attempt_name(operator_id: str, subtask: int) -> str:
    """A name for the file of one attempt; no two attempts have the same."""
    return f"{operator_id}-{subtask}-{uuid.uuid4().hex}"


def attempt_file(folder: Path, operator_id: str, subtask: int) -> Path:
    """The file of one attempt in a local folder."""
    return folder / attempt_name(operator_id, subtask)
