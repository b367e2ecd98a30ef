"""Where the output of a running job waits: hidden, on the file system of its target. Beside a target that becomes
visible whole, in a folder to which files are added.

The names have the id of the job's run. Those of a job that runs in steps have the id of its job folder before it: by
that the next run finds what an earlier one has left.

Tasks know the names here. Who makes the folders, locks, publishes and removes them is the driver
(:mod:`penstock.job.commit.pending`).
"""

from __future__ import annotations

import re
import uuid
from pathlib import Path

from penstock.runtime.config.tasks import JobConfig

ATTEMPT = r"[0-9a-f]{32}-\d+-[0-9a-f]{32}"
"""What :func:`attempt_file` calls a file, as a pattern."""

_STEPS = re.compile(r"\.(?:(.+)\.)?steps-([0-9a-f]{32})-([0-9a-f]{32})", re.DOTALL)
_FOLDER = re.compile(r"\.(?:(.+)\.)?pending-([0-9a-f]{32})", re.DOTALL)


def pending_folder(target: Path, job_id: str) -> Path:
    """Where the output of a job for a target waits."""
    return target.parent / f".{target.name}.pending-{job_id}"


def pending_inside(target: Path, job_id: str) -> Path:
    """Where the files wait that a job adds to a folder."""
    return target / f".pending-{job_id}"


def target_of(folder: Path) -> Path | None:
    """The target beside or in which a pending folder lies; None for any other path."""
    match = _FOLDER.fullmatch(folder.name)
    return folder.parent / (match[1] or "") if match else None


def pending_place(target: str, job_id: str, *, adds: bool) -> str:
    """Where the output of a job waits that is on a store; its name is made as on a local file system.

    Args:
        target: the URL of the output.
        job_id: of the job.
        adds: whether the target is a folder to which files are added.
    """
    above, _, name = target.rpartition("/")
    return f"{target.rstrip('/')}/.pending-{job_id}" if adds else f"{above}/.{name}.pending-{job_id}"


def waiting_place(target: str, job: JobConfig, *, adds: bool) -> str:
    """Where the output of a job for a target waits, on any file system, whether the job is one step or many.

    Args:
        target: path or URL, as it travels.
        job: whose.
        adds: whether the target is a folder to which files are added.
    """
    if job.folder_id is None:
        return pending_place(target, job.job_id, adds=adds)
    above, _, name = target.rpartition("/")
    own = f"steps-{job.folder_id}-{job.job_id}"
    return f"{target.rstrip('/')}/.{own}" if adds else f"{above}/.{name}.{own}"


def prepared_place(job: JobConfig) -> str:
    """The folder in the job folder where what is prepared waits, if it is large.

    Args:
        job: one with a job folder.
    """
    return waiting_place(f"{(job.folder or '').rstrip('/')}/prepared", job, adds=True)


def run_of(folder: str, beside: str) -> str | None:
    """The id of the run to which a folder belongs, if it is one of steps for the same target and by the same job folder
    as another; None for any other place.

    Args:
        folder: any path or URL.
        beside: of :func:`waiting_place`, for a job with a job folder.
    """
    (above, _, name), (own_above, _, own_name) = folder.rpartition("/"), beside.rpartition("/")
    found, own = _STEPS.fullmatch(name), _STEPS.fullmatch(own_name)
    if not (found and own) or (above, found[1], found[2]) != (own_above, own[1], own[2]):
        return None
    return found[3]


def steps_of(folder: str) -> tuple[str, str] | None:
    """The target of a folder of :func:`waiting_place` of a job with a job folder, and the id of that; None for any
    other place."""
    above, _, name = folder.rpartition("/")
    match = _STEPS.fullmatch(name)
    return (f"{above}/{match[1]}" if match[1] else above, match[2]) if match else None


def target_place(folder: str) -> str | None:
    """The target of a pending folder on a store; None for any other place."""
    above, _, name = folder.rpartition("/")
    match = _FOLDER.fullmatch(name)
    return (f"{above}/{match[1]}" if match[1] else above) if match else None


def attempt_name(operator_id: str, subtask: int) -> str:
    """A name for the file of one attempt; no two attempts have the same."""
    return f"{operator_id}-{subtask}-{uuid.uuid4().hex}"


def attempt_file(folder: Path, operator_id: str, subtask: int) -> Path:
    """The file of one attempt in a local folder."""
    return folder / attempt_name(operator_id, subtask)
