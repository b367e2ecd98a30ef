"""Writes savepoints, finds, reads, copies and removes them, and brings them into checkpoint directories."""

from __future__ import annotations

import contextlib
import os
import re
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from penstock.errors import CheckpointDirectoryError, SavepointError
from penstock.job.folder.files import Files
from penstock.job.folder.lease import JobFolder
from penstock.job.folder.manifest import Output, StepManifest, unpickled
from penstock.job.savepoint.checks import check_manifest
from penstock.job.savepoint.format import (
    NAME,
    SAVEPOINT,
    VERSION,
    AboutSavepoint,
    Reference,
    StoredSavepoint,
    bare,
    damaged,
    parsed,
    written,
)
from penstock.job.savepoint.transfer import carry
from penstock.storage.storage import Entry, Storage, is_local, join, real_place
from penstock.storage.stores import storage_of

AT = re.compile(r"(.+)@(\d+)")  # A checkpoint of a checkpoint directory


def check_published(files: Files, manifest: StepManifest) -> None:
    """No output of a checkpoint waits to be published. No request if it has none; else some, and one for each."""
    if not manifest.outputs:
        return
    newest = files.newest(unpickle=False)
    if newest is None or newest.last_step > manifest.last_step:  # a step follows when the one before has published
        return
    if files.owners.left_published(newest.epoch) or not any(map(_waits, manifest.outputs)):
        return
    older = [str(version) for version in newest.retained]
    raise SavepointError(
        f"Checkpoint {manifest.version} of {files.place!r} has outputs that are not published yet, because its job has "
        "died or is about to publish them; a job that begins from this checkpoint would not have them. Start the job "
        "once more with its checkpoint directory, which publishes them"
        + (f", or use {files.place}@{older[-1]}, whose outputs are." if older else ".")
    )


def _waits(output: Output) -> bool:
    """Whether an output waits; one that is sent or committed by a sink may have been."""
    if output.sent or output.committable is not None:
        return True
    if is_local(output.pending):
        return os.path.exists(output.pending)
    return storage_of(output.pending).size(output.pending) is not None


def new_place(folder: str | Path, job_id: str) -> str:
    """A folder for a new savepoint, named as Flink names them; it is not made."""
    return join(real_place(str(folder)), f"savepoint-{job_id[:6]}-{uuid.uuid4().hex[:12]}")


def write_savepoint(
    files: Files,
    manifest: StepManifest,
    place: str | Path,
    kind: str = SAVEPOINT,
    go_on: Callable[[], None] = lambda: None,
    pin: Callable[[int, str], None] | None = None,
) -> StoredSavepoint:
    """Make a savepoint of a checkpoint, which must stay there meanwhile; as a whole, or this raises.

    On one local file system a second name for each file, else a copy. ``pin``, for one by reference, keeps it."""
    target = real_place(str(place))
    about = _about(manifest, uuid.uuid4().hex, kind, time.time_ns() // 1_000_000)
    savepoint = StoredSavepoint(target, about, bare(manifest), None if pin is None else _reference(files, target))
    storage, path = storage_of(target), join(target, NAME)
    if target == files.place or target.startswith(f"{files.state}/"):
        raise SavepointError(f"{target!r} would lie inside of what it is taken of. Choose another folder.")
    try:
        if storage.size(path) is not None:
            raise exists(path)
        if pin is None:
            carry((files.storage, files.state), (storage, savepoint.state), manifest.files(), go_on)
            finish(savepoint, storage, path)
        else:
            _refer(savepoint, files, storage, path, pin)
    except FileNotFoundError as error:
        raise _gone(target, manifest, files, error) from error
    except OSError as error:
        raise SavepointError(f"{target!r} cannot be written: {error}. Give a folder with room, to write to.") from error
    return savepoint


def _refer(
    savepoint: StoredSavepoint, files: Files, storage: Storage, path: str, pin: Callable[[int, str], None]
) -> None:
    """Have the checkpoint directory keep the state, and then the savepoint refer to it."""
    if is_local(savepoint.place):
        os.makedirs(savepoint.place, exist_ok=True)
    pin(savepoint.about.version, savepoint.about.id)
    try:
        finish(savepoint, storage, path)
    except SavepointError:  # there is none; after another error there may be
        files.pins.free(savepoint.about.version, savepoint.about.id)
        raise


def finish(savepoint: StoredSavepoint, storage: Storage, path: str) -> None:
    """Write the file of a savepoint, once all its state is there. SavepointError: some is not, or the file exists."""
    check_sizes(savepoint, storage)
    if not storage.create(path, written(savepoint)):
        raise exists(path)


def _reference(files: Files, target: str) -> Reference:
    """Where the files of a checkpoint directory are, seen from a savepoint."""
    about = files.about()
    reference = None if about is None else Reference.between(target, files.place, about.id)
    if reference is None:
        raise SavepointError(
            f"The savepoint {target!r} cannot refer to the state in {files.place!r}, which is on another storage. "
            "Choose one on the same, or take it with its files (no --reference, penstock.savepoint.reference: false)."
        )
    return reference


def _about(manifest: StepManifest, savepoint_id: str, kind: str, time: int) -> AboutSavepoint:
    values = manifest.job, manifest.job_id, time, manifest.version, kind, manifest.parallelism
    return AboutSavepoint(savepoint_id, *values)


def _gone(target: str, manifest: StepManifest, files: Files, error: FileNotFoundError) -> SavepointError:
    return SavepointError(
        f"{target!r} could not be made: {error.filename or error!s} is missing, which checkpoint {manifest.version} of "
        f"{files.place!r} needs. If the job has continued meanwhile, take one of the newest checkpoint."
    )


def exists(path: str) -> SavepointError:
    """The error for a place where there is a savepoint already."""
    return SavepointError(f"There is a savepoint already: {path!r}. It is not replaced; choose another folder.")


def check_sizes(savepoint: StoredSavepoint, storage: Storage) -> None:
    """All files are there, and as long as they should be. One listing."""
    existing = {entry.path.rpartition("/")[2]: entry.size for entry in storage.list(savepoint.state)}
    wanted: Mapping[str, int | None] = {
        **dict.fromkeys(savepoint.manifest.files()),
        **{file.name: file.bytes for file in savepoint.manifest.state_files()},
    }
    for name, size in wanted.items():
        path = join(savepoint.state, name)
        if name not in existing:
            raise damaged(savepoint.place, f"the file {path!r} is not there")
        if size is not None and existing[name] != size:
            raise damaged(savepoint.place, f"the file {path!r} should have {size} bytes and has {existing[name]}")


def read_savepoint(place: str | Path) -> StoredSavepoint:
    """The content of a savepoint, or (``JOB``, ``JOB@VERSION``) a checkpoint. Nothing is unpickled."""
    text = str(place)
    try:
        savepoint = _read_folder(text)
        if savepoint is None and (match := AT.fullmatch(text)) is not None:
            savepoint = _read_folder(match[1], int(match[2]))
    except SavepointError:
        raise
    except CheckpointDirectoryError as error:
        raise SavepointError(str(error)) from error
    except (OSError, ValueError) as error:
        raise SavepointError(
            f"The savepoint {text!r} cannot be read: {error}. Check the path, and that you may read what is there."
        ) from error
    if savepoint is None:
        raise _no_savepoint(text)
    return savepoint


def _read_folder(place: str, version: int | None = None) -> StoredSavepoint | None:
    """The savepoint, or the checkpoint of a job, that lies somewhere; None if there is neither."""
    folder = real_place(place)
    if folder.endswith(f"/{NAME}"):
        folder = folder.removesuffix(f"/{NAME}")
    storage = storage_of(folder)
    if version is None:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            return _at_home(parsed(storage.get(join(folder, NAME)), folder), storage)
    files = Files(folder, storage)
    try:
        about = files.about()
    except NotADirectoryError:
        return None
    if about is None:
        return None
    job = JobFolder(folder)
    manifest = job.newest(unpickle=False) if version is None else job.read(version, unpickle=False)
    if manifest is None or manifest.is_nothing:
        raise SavepointError(
            f"The checkpoint directory {folder!r} has no checkpoint yet: its job has not finished a step. Start the "
            "job, or give another directory."
        )
    state = bare(manifest)
    try:
        check_manifest(state)
    except ValueError as error:
        raise damaged(files.path(manifest.version), str(error)) from error
    return StoredSavepoint(folder, _about(manifest, f"{about.id}-{manifest.version}", VERSION, manifest.time), state)


def _at_home(savepoint: StoredSavepoint, storage: Storage) -> StoredSavepoint:
    """A savepoint by reference refers to the checkpoint directory that it was taken of. One request if it is such."""
    home = savepoint.home
    if savepoint.reference is None or home is None:
        return savepoint
    try:
        about = Files(home, storage).about()
    except (CheckpointDirectoryError, OSError):
        about = None
    if about is None or about.id != savepoint.reference.job:
        why = "there is no checkpoint directory" if about is None else "there is another job's folder"
        raise SavepointError(
            f"The savepoint {savepoint.place!r} has its state in the checkpoint directory {home!r}, and {why}. Bring "
            "that back, or move both together. `penstock savepoint copy` makes one that can be moved alone."
        )
    return savepoint


def versions_of(savepoint: StoredSavepoint) -> tuple[int, ...]:
    """The versions in the checkpoint directory if a savepoint is one of them; none for any other savepoint."""
    return JobFolder(savepoint.place).versions() if savepoint.about.kind == VERSION else ()


def _no_savepoint(place: str) -> SavepointError:
    folder = real_place(place.removesuffix(f"/{NAME}"))
    entries: list[Entry] = storage_of(folder).list(folder)
    names = {entry.path.rpartition("/")[2] for entry in entries}
    if not entries and is_local(folder) and not os.path.exists(folder):
        why = "there is no such folder"
    elif "_metadata" in names:
        return SavepointError(
            f"There is no savepoint of Penstock at {place!r}: its file _metadata is that of one of Apache Flink. "
            "`penstock savepoint import` makes one of Penstock of it, `penstock savepoint show`, `read` and `entries` "
            "say what is in it, and `penstock run --from-savepoint` begins from it as it is."
        )
    elif [entry.path for entry in entries] == [folder]:
        why = "it is a file"
    elif names == {"state"}:
        why = f"it has state, but no {NAME}: it was not finished, and can be removed"
    else:
        why = f"it has no {NAME}, nor is it a checkpoint directory"
    return SavepointError(
        f"There is no savepoint at {place!r}: {why}. Give the folder that was printed when it was taken, or JOB or "
        "JOB@VERSION for a checkpoint directory."
    )


def bring_in(savepoint: StoredSavepoint, files: Files) -> StepManifest:
    """Put the state files of a savepoint into a checkpoint directory. Returns the manifest to commit there."""
    storage = storage_of(savepoint.place)
    if savepoint.about.kind == VERSION:
        job = Files(savepoint.place, storage)
        check_published(job, job.load(savepoint.about.version, unpickle=False))
    check_sizes(savepoint, storage)
    try:
        manifest = unpickled(savepoint.manifest)
    except Exception as error:
        raise SavepointError(
            f"The savepoint {savepoint.place!r} has a position of a source that this program cannot read: {error!r}. "
            "Make its class importable under the name that it had when the savepoint was taken."
        ) from error
    try:
        carry((storage, savepoint.state), (files.storage, files.state), manifest.files(), lambda: None)
    except FileNotFoundError as error:
        raise _gone(files.place, manifest, Files(savepoint.place, storage), error) from error
    return replace(manifest, version=1, origin=savepoint.about.id)


def copy_savepoint(savepoint: StoredSavepoint, place: str | Path) -> StoredSavepoint:
    """Copy a savepoint with all its files, also those that it refers to, as a whole; it keeps its id."""
    _check_own(savepoint, "'penstock savepoint create' takes a savepoint of one")
    target = real_place(str(place))
    storage, path = storage_of(target), join(target, NAME)
    copy = replace(savepoint, place=target, reference=None)
    if storage.size(path) is not None or target in (savepoint.place, savepoint.home):
        raise exists(path)
    try:
        names = savepoint.manifest.files()
        carry((storage_of(savepoint.place), savepoint.state), (storage, copy.state), names, lambda: None)
        finish(copy, storage, path)
    except OSError as error:
        raise SavepointError(f"{savepoint.place!r} cannot be copied to {target!r}: {error}.") from error
    return copy


def remove_savepoint(savepoint: StoredSavepoint) -> None:
    """Remove a savepoint, its own file first; the state of one by reference is its job's to remove."""
    _check_own(savepoint, "its job removes them")
    storage, home = storage_of(savepoint.place), savepoint.home
    storage.delete([join(savepoint.place, NAME)])
    if home is not None:
        Files(home, storage).pins.free(savepoint.about.version, savepoint.about.id)
    else:
        storage.delete([join(savepoint.state, name) for name in dict.fromkeys(savepoint.manifest.files())])
    for folder in (join(savepoint.place, "state"), savepoint.place):
        storage.remove_folder(folder)


def release(version: StoredSavepoint) -> int:
    """Have a checkpoint directory keep a checkpoint no longer for savepoints by reference. Returns for how many."""
    if version.about.kind != VERSION:
        raise SavepointError(f"{version.place!r} is not a checkpoint directory. Give JOB@VERSION.")
    pins = Files(version.place).pins
    needed = [by for _, kind, number, by in pins.entries() if kind == "for" and number == version.about.version]
    for by in needed:
        pins.free(version.about.version, by)
    return len(needed)


def kept(version: StoredSavepoint) -> tuple[int, ...]:
    """The versions that the checkpoint directory, if it is one, keeps beyond their time. One listing."""
    if version.about.kind != VERSION:
        return ()
    return tuple(sorted({number for number, _ in Files(version.place).pins.pinned()}))


def _check_own(savepoint: StoredSavepoint, instead: str) -> None:
    if savepoint.about.kind == VERSION:
        raise SavepointError(f"{savepoint.place!r} is a checkpoint directory, not a savepoint; {instead}.")
