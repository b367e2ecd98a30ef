"""What a killed job that ran in steps has left beside its outputs: files that wait, in folders named after its job
folder.

The next run with that job folder removes them, and publishes those that the newest manifest names. There may be no such
run: ``penstock clean`` removes them then, if the job folder says that no driver lives and none of them counts.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from penstock.errors import ConfigurationError, FolderHeldError, JobFolderError, PenstockError
from penstock.job.commit.pending import MARKER
from penstock.job.commit.recovery import Leftover, Verdict
from penstock.job.folder.lease import JobFolder
from penstock.job.folder.owners import Lock, check_free
from penstock.job.steps.places import remove
from penstock.runtime.io.pending import steps_of
from penstock.runtime.io.storage import join, parents, real_place
from penstock.runtime.io.stores import storage_of


def waiting_at(path: str) -> Iterator[str]:
    """Folders of jobs in steps beside or in an output, and those of outputs in it if it is a folder (not of folders
    inside those). O(entries of the folder it is in, its own, and those of the folders in it).

    Args:
        path: of the output, or its URL.
    """
    place = real_place(path)
    if steps_of(place) is not None:
        yield place
        return
    above = next(parents(place), None)
    if above is not None:
        yield from (each for each in _folders(above) if (found := steps_of(each)) and found[0] == place)
    for folder in _folders(place):
        if steps_of(folder) is not None:
            yield folder
        else:
            yield from (each for each in _folders(folder) if (found := steps_of(each)) and found[0] == folder)


def _folders(place: str) -> list[str]:
    return [entry.path for entry in storage_of(place).list(place) if entry.size < 0]


def clean(folder: str, *, dry_run: bool = False) -> Leftover | None:
    """Remove such a folder, unless a driver lives that may need it, or what is in it counts. It can be repeated.

    Args:
        folder: of :func:`waiting_at`.
        dry_run: only say what would be done.

    Returns:
        What was done; None if the folder is gone.
    """
    found = steps_of(folder)
    assert found is not None, "the name is that of such a folder"
    leftover = Leftover(folder, None, (found[0],), Verdict.REMOVE)
    try:
        said = _marker(folder)
        if said is None:
            return None
        leftover = replace(leftover, job=said["job"])
        with _free(said["job_folder"], found[1]) as job:
            _check_not_needed(folder, job)
            if not dry_run:
                remove(folder)
        return leftover
    except FolderHeldError:
        return replace(leftover, verdict=Verdict.RUNNING)
    except (OSError, PenstockError) as error:
        return replace(leftover, verdict=Verdict.LEAVE, reason=str(error))


def _marker(folder: str) -> dict[str, Any] | None:
    """What the folder says of itself; None if it is gone."""
    path = join(folder, MARKER)
    try:
        said = json.loads(storage_of(folder).get(path))
        return {"job": str(said["job"]), "job_folder": str(said["job_folder"])}
    except FileNotFoundError:
        if folder not in _folders(next(parents(folder))):
            return None
        raise
    except (ValueError, TypeError, KeyError) as error:
        raise ConfigurationError(f"{path!r} is not what a job writes: {error!r}.") from error


@contextlib.contextmanager
def _free(place: str, folder_id: str) -> Iterator[JobFolder]:
    """The job folder, which no driver has, nor takes as long as the block lasts where there are locks.

    Raises:
        FolderHeldError: one has.
        JobFolderError: it is not there.
    """
    job = JobFolder(place)
    about = job.files.about()
    if about is None or about.id != folder_id:
        raise JobFolderError(
            f"The job folder {place!r}, which says whether it is needed, is not there. If it was removed, and no job "
            "runs with it on another machine, remove this by hand."
        )
    owners = job.files.owners
    lock = Lock(owners.folder)
    try:
        check_free(owners, owners.highest(), lock)
        yield job
    finally:
        lock.release()


def _check_not_needed(folder: str, job: JobFolder) -> None:
    """Nothing in it is named by the newest manifest.

    Raises:
        JobFolderError: something is, or it cannot be told.
    """
    newest = job.newest()
    outputs = () if newest is None else newest.outputs
    named = {output.pending for output in outputs if output.pending.startswith(f"{folder}/")}
    there = {entry.path for entry in storage_of(folder).list(folder)}
    if named & there:
        raise JobFolderError(
            f"Version {newest.version if newest else 0} of the job folder {job.place!r} was committed, and what it has "
            "made is not visible yet. Run the program again with that job folder: it makes it visible, and goes on."
        )
