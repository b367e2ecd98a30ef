"""What a program goes on from: the newest version of its job folder, or the savepoint that it is to begin from."""

from __future__ import annotations

import time
from dataclasses import replace

from penstock.common.settings import Settings
from penstock.errors import InvalidProgramError, SavepointError, UnsupportedError
from penstock.job.folder.files import Files
from penstock.job.folder.lease import JobFolder, Lease
from penstock.job.folder.manifest import StepManifest, TaskState
from penstock.job.savepoint.format import DRAIN, VERSION, Savepoint
from penstock.job.savepoint.taking import bring_in, read_savepoint

PATH = "execution.savepoint.path"


def carried(settings: Settings) -> StepManifest | None:
    """The manifest that a program goes on from, as it is now; None if it begins. Nothing is changed.

    Args:
        settings: of the program.

    Raises:
        SavepointError: there is none, or it is damaged.
        InvalidProgramError: the job folder was begun from something else.
        JobFolderError, OSError, ConfigurationError: the job folder cannot be read.
    """
    found = None if settings.job_folder is None else JobFolder(settings.job_folder).newest(unpickle=False)
    newest = None if found is None or found.is_nothing else found
    if not settings.savepoint:
        return newest
    if settings.batch:
        raise UnsupportedError(
            f"{PATH} is {settings.savepoint!r}, and the program runs in BATCH mode, which has no state to restore. Run "
            "it in STREAMING mode."
        )
    savepoint = _read(newest, settings)
    if newest is None:
        return for_beginning(savepoint)
    check_origin(newest, savepoint, settings)
    return newest


def _read(newest: StepManifest | None, settings: Settings) -> Savepoint:
    """The savepoint that the program names."""
    try:
        return read_savepoint(settings.savepoint or "")
    except SavepointError as error:
        if newest is None or not newest.origin:
            raise
        raise SavepointError(
            f"{error} The job folder {settings.job_folder!r} has a version {newest.version}, of a job that was begun "
            f"from a savepoint: leave {PATH} out (--from-savepoint) to go on from there."
        ) from error


def check_origin(newest: StepManifest, savepoint: Savepoint, settings: Settings) -> None:
    """A job folder that has versions was begun from this very savepoint, and goes on.

    Raises:
        InvalidProgramError: it was not.
    """
    if not _same(newest.origin, savepoint, settings.savepoint or ""):
        said = "from another one" if newest.origin else "without one"
        raise InvalidProgramError(
            f"The program is to begin from the savepoint {settings.savepoint!r}, and the job folder "
            f"{settings.job_folder!r} has a version {newest.version} already, of a job that was begun {said}. Leave "
            f"{PATH} out (--from-savepoint) to go on from there; to begin from the savepoint, give a "
            "penstock.job.folder that does not exist yet: the old one stays as it is."
        )


def _same(origin: str, savepoint: Savepoint, given: str) -> bool:
    """Whether a job that was begun from an origin was begun from this savepoint. Where the newest version of a job
    folder was meant, that may be a newer one now."""
    about = savepoint.about
    if about.kind == VERSION and not given.endswith(f"@{about.version}"):
        return origin.rpartition("-")[0] == about.id.rpartition("-")[0]
    return origin == about.id


def for_beginning(savepoint: Savepoint) -> StepManifest:
    """The state of a savepoint, as a job begins from it. After the end of time, tasks that had ended go on: more may be
    read by now."""
    manifest = savepoint.manifest
    if savepoint.about.kind != DRAIN:
        return manifest
    tasks = {key: tuple(TaskState() for _ in each) for key, each in manifest.tasks.items()}
    return replace(manifest, tasks=tasks, plan="")


def begun(lease: Lease, files: Files, settings: Settings) -> str | None:
    """Have a job folder that has no version yet begin from the savepoint that the program names; or see that it was.

    Args:
        lease: of the folder, which this driver has opened.
        files: of the folder.
        settings: of the program.

    Returns:
        A line for the user if it has begun from the savepoint now.

    Raises:
        SavepointError: there is none, it is damaged, or has lost a file.
        InvalidProgramError: the folder was begun from something else.
        FencedError, OSError, ConfigurationError: the folder cannot be written.
    """
    if not settings.savepoint:
        return None
    newest = lease.newest()
    there = None if newest is None or newest.is_nothing else newest
    savepoint = _read(there, settings)
    if newest is not None and there is not None:
        check_origin(newest, savepoint, settings)
        return None
    manifest = bring_in(replace(savepoint, manifest=for_beginning(savepoint)), files)
    lease.commit(replace(manifest, version=lease.version + 1))
    return _said(savepoint, settings)


def _said(savepoint: Savepoint, settings: Settings) -> str:
    about, where = savepoint.about, "" if settings.job_folder is None else f" the job folder {settings.job_folder!r}"
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(about.created / 1000))
    count = len(savepoint.manifest.operators)
    return (
        f"Beginning{where} from {settings.savepoint!r}: version {about.version} of the job {about.job!r}, {when}, "
        f"{count} operator{'s' * (count != 1)} with state."
    )
