"""The beginning of a run: the newest checkpoint of its checkpoint directory, or the savepoint that it is to begin
from."""

from __future__ import annotations

import time
from dataclasses import replace

from penstock.common.settings.settings import Settings
from penstock.errors import InvalidProgramError, SavepointError, UnsupportedError
from penstock.job.folder.files import Files
from penstock.job.folder.lease import JobFolder, Lease
from penstock.job.folder.manifest import StepManifest, TaskState
from penstock.job.savepoint.format import DRAIN, VERSION, StoredSavepoint
from penstock.job.savepoint.store import bring_in, read_savepoint
from penstock.storage.stores import configured

PATH = "execution.savepoint.path"


def restored_manifest(settings: Settings) -> StepManifest | None:
    """The manifest that a program resumes from, as it is now; None if it begins. Nothing is changed."""
    if settings.batch and settings.savepoint:
        raise UnsupportedError(
            f"{PATH} is {settings.savepoint!r}, but the program runs in BATCH mode, which has no state to restore. Run "
            "it in STREAMING mode."
        )
    if not (settings.checkpoint_directory or settings.savepoint):
        return None
    with configured(settings.storage_options):
        place = settings.checkpoint_directory
        newest = None if place is None else JobFolder(place).newest(unpickle=False)
        newest = None if newest is None or newest.is_nothing else newest
        if not settings.savepoint:
            return newest
        savepoint = _savepoint(newest, settings)
        return for_beginning(savepoint) if newest is None else newest


def _savepoint(newest: StepManifest | None, settings: Settings) -> StoredSavepoint:
    """The savepoint that the program names. A checkpoint directory that has checkpoints must have begun from it."""
    path, place = settings.savepoint or "", settings.checkpoint_directory
    try:
        savepoint = read_savepoint(path)
    except SavepointError as error:
        if newest is None or not newest.origin:
            raise
        raise SavepointError(
            f"{error} The checkpoint directory {place!r} has a checkpoint {newest.version} of a job that began from a "
            f"savepoint: leave {PATH} out (--from-savepoint) to resume from there."
        ) from error
    if newest is None:
        return savepoint
    about, origin, began = savepoint.about, newest.origin, savepoint.about.id
    if about.kind == VERSION and not path.endswith(f"@{about.version}"):  # the newest checkpoint, which was another one
        origin, began = origin.rpartition("-")[0], began.rpartition("-")[0]
    if origin != began:
        other = "from another one" if newest.origin else "without one"
        raise InvalidProgramError(
            f"The program should begin from the savepoint {path!r}, but the checkpoint directory {place!r} already has "
            f"a checkpoint {newest.version}, of a job that began {other}. Leave {PATH} out (--from-savepoint) to "
            "resume from there, or set execution.checkpointing.dir to a directory that does not exist yet."
        )
    return savepoint


def for_beginning(savepoint: StoredSavepoint) -> StepManifest:
    """The state of a savepoint as a job begins from it; after a drain, tasks that had ended continue."""
    manifest = savepoint.manifest
    if savepoint.about.kind != DRAIN:
        return manifest
    tasks = {key: tuple(TaskState() for _ in subtasks) for key, subtasks in manifest.tasks.items()}
    return replace(manifest, tasks=tasks, plan="")


def begun(lease: Lease, files: Files, settings: Settings) -> str | None:
    """Have a new checkpoint directory begin from the savepoint. Returns a line for the user if it did now."""
    if not settings.savepoint:
        return None
    newest = lease.newest()
    newest = None if newest is None or newest.is_nothing else newest
    savepoint = _savepoint(newest, settings)
    if newest is not None:
        return None
    manifest = bring_in(replace(savepoint, manifest=for_beginning(savepoint)), files)
    lease.commit(replace(manifest, version=lease.version + 1))
    about, place = savepoint.about, settings.checkpoint_directory
    where = "" if place is None else f" the checkpoint directory {place!r}"
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(about.created / 1000))
    count = len(savepoint.manifest.operators)
    return (
        f"Starting{where} from {settings.savepoint!r}: checkpoint {about.version} of the job {about.job!r}, {when}, "
        f"{count} operator{'s' * (count != 1)} with state."
    )
