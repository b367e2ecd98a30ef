"""The beginning of a run: the newest checkpoint of its checkpoint directory, or the savepoint that it is to begin
from."""

from __future__ import annotations

import logging
import time
import weakref
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.common.settings.settings import Settings
from penstock.errors import InvalidProgramError, SavepointError, UnsupportedError
from penstock.job.folder.files import Files
from penstock.job.folder.lease import JobFolder, Lease
from penstock.job.folder.manifest import StepManifest, TaskState
from penstock.job.savepoint.format import DRAIN, NAME, VERSION, AboutSavepoint, StoredSavepoint
from penstock.job.savepoint.store import bring_in, read_savepoint
from penstock.job.temporary import TemporaryFolder
from penstock.storage.stores import configured

if TYPE_CHECKING:
    from penstock.plan import Pipeline

LOG = logging.getLogger("penstock")
PATH = "execution.savepoint.path"


@dataclass(frozen=True)
class Restored:
    """The state that a program resumes from."""

    manifest: StepManifest
    savepoint: StoredSavepoint | None = None  # from which it begins; None if it has begun before


def restored(pipeline: Pipeline) -> Restored | None:
    """The state that a program resumes from, as it is now; None if it begins without state. Nothing is changed.

    A savepoint of Flink becomes one of ours, in a folder that goes with the result. SavepointError: there is no
    savepoint, or not all of Flink's comes over. Cost: that of the metadata; linear in the state of Flink's.
    """
    settings = pipeline.settings
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
        if newest is not None:
            _check_begun(newest, settings)
            return Restored(newest)
        if not settings.savepoint:
            return None
        savepoint = _taken_over(pipeline) if _is_flinks(settings.savepoint) else read_savepoint(settings.savepoint)
        return Restored(for_beginning(savepoint), savepoint)


def _is_flinks(place: str) -> bool:
    from penstock.flink.places import is_flinks  # loads the planner

    return not place.endswith(f"/{NAME}") and is_flinks(place)


def _taken_over(pipeline: Pipeline) -> StoredSavepoint:
    """A savepoint of Flink as one of ours, which is there as long as its description is."""
    from penstock.job.restore.from_flink.importer import import_state

    settings, folder = pipeline.settings, TemporaryFolder("penstock-from-flink-")
    try:
        imported = import_state(settings.savepoint or "", pipeline, str(folder.path), allow=settings.ignore_unclaimed)
    except BaseException:
        folder.remove()
        raise
    weakref.finalize(imported.savepoint, folder.remove)
    for loss in imported.losses:
        LOG.warning("Not taken over from Flink, as allowed: %s", loss.text)
    return imported.savepoint


def _about(place: str) -> AboutSavepoint:
    if not _is_flinks(place):
        return read_savepoint(place).about
    from penstock.job.restore.from_flink.importer import about_savepoint

    return about_savepoint(place)


def _check_begun(newest: StepManifest, settings: Settings) -> None:
    """A checkpoint directory that has checkpoints must have begun from the savepoint that the program names."""
    path, place = settings.savepoint, settings.checkpoint_directory
    if not path:
        return
    try:
        about = _about(path)
    except SavepointError as error:
        if not newest.origin:
            raise
        raise SavepointError(
            f"{error} The checkpoint directory {place!r} has a checkpoint {newest.version} of a job that began from a "
            f"savepoint: leave {PATH} out (--from-savepoint) to resume from there."
        ) from error
    origin, began = newest.origin, about.id
    if about.kind == VERSION and not path.endswith(f"@{about.version}"):  # the newest checkpoint, which was another one
        origin, began = origin.rpartition("-")[0], began.rpartition("-")[0]
    if origin != began:
        other = "from another one" if newest.origin else "without one"
        raise InvalidProgramError(
            f"The program should begin from the savepoint {path!r}, but the checkpoint directory {place!r} already has "
            f"a checkpoint {newest.version}, of a job that began {other}. Leave {PATH} out (--from-savepoint) to "
            "resume from there, or set execution.checkpointing.dir to a directory that does not exist yet."
        )


def for_beginning(savepoint: StoredSavepoint) -> StepManifest:
    """The state of a savepoint as a job begins from it; after a drain, tasks that had ended continue."""
    manifest = savepoint.manifest
    if savepoint.about.kind != DRAIN:
        return manifest
    tasks = {key: tuple(TaskState() for _ in subtasks) for key, subtasks in manifest.tasks.items()}
    return replace(manifest, tasks=tasks, plan="")


def begun(lease: Lease, files: Files, settings: Settings, restored_from: StoredSavepoint | None) -> str | None:
    """Have a new checkpoint directory begin from the savepoint. Returns a line for the user if it did now.

    ``restored_from`` is the savepoint that the program was fitted to, if it was read before.
    """
    if not settings.savepoint:
        return None
    newest = lease.newest()
    if newest is not None and not newest.is_nothing:
        _check_begun(newest, settings)
        return None
    savepoint = restored_from or read_savepoint(settings.savepoint)
    manifest = bring_in(replace(savepoint, manifest=for_beginning(savepoint)), files)
    lease.commit(replace(manifest, version=lease.version + 1))
    about, place = savepoint.about, settings.checkpoint_directory
    where = "" if place is None else f" the checkpoint directory {place!r}"
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(about.created / 1000))
    count = len(savepoint.manifest.operators)
    whose = f"the job {about.job!r}" if about.job else "a job of Flink"
    return (
        f"Starting{where} from {settings.savepoint!r}: checkpoint {about.version} of {whose}, {when}, "
        f"{count} operator{'s' * (count != 1)} with state."
    )
