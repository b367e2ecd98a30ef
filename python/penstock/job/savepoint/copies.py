"""Savepoints are copied, so that nothing is missing in the copy, and removed, so that nothing stays of them."""

from __future__ import annotations

import contextlib
import os
from dataclasses import replace
from pathlib import Path

from penstock.errors import SavepointError
from penstock.job.folder.files import Files
from penstock.job.savepoint.format import NAME, VERSION, Savepoint, written
from penstock.job.savepoint.store import check_sizes, exists
from penstock.job.savepoint.transfer import carry
from penstock.storage.storage import is_local, join, real_place
from penstock.storage.stores import storage_of


def copy_savepoint(savepoint: Savepoint, place: str | Path) -> Savepoint:
    """Copy a savepoint with all its files, also those that it refers to; it keeps its id.

    Cost: a second name for each file on one local file system, else a copy of each, by the store itself within one.
    Returns the copy, which can be moved. It is there as a whole, or this raises."""
    _check_own(savepoint, "'penstock savepoint create' takes a savepoint of one")
    target = real_place(str(place))
    storage, path = storage_of(target), join(target, NAME)
    copy = replace(savepoint, place=target, reference=None)
    if storage.size(path) is not None or target in (savepoint.place, savepoint.home):
        raise exists(path)
    try:
        names = savepoint.manifest.files()
        carry((storage_of(savepoint.place), savepoint.state), (storage, copy.state), names, lambda: None)
        check_sizes(copy, storage)
        if not storage.create(path, written(copy)):
            raise exists(path)
    except OSError as error:
        raise SavepointError(f"{savepoint.place!r} cannot be copied to {target!r}: {error}.") from error
    return copy


def remove_savepoint(savepoint: Savepoint) -> None:
    """Remove a savepoint: its file first, then the state files that it names; one by reference lets its checkpoint
    directory remove them. It can be repeated as long as the first file is there."""
    _check_own(savepoint, "its job removes them")
    storage, home = storage_of(savepoint.place), savepoint.home
    storage.delete([join(savepoint.place, NAME)])
    if home is not None:
        Files(home, storage).pins.free(savepoint.about.version, savepoint.about.id)
    else:
        storage.delete([join(savepoint.state, name) for name in dict.fromkeys(savepoint.manifest.files())])
    if is_local(savepoint.place):
        for folder in (join(savepoint.place, "state"), savepoint.place):
            with contextlib.suppress(OSError):  # something else is in it
                os.rmdir(folder)


def release(version: Savepoint) -> int:
    """Have a checkpoint directory keep a checkpoint no longer for savepoints by reference, as these are gone. Those
    that are not cannot be used any more once the job has removed it. Returns for how many savepoints it was kept."""
    if version.about.kind != VERSION:
        raise SavepointError(
            f"{version.place!r} is not a checkpoint directory. Give JOB@VERSION; 'penstock savepoint show' has them."
        )
    pins = Files(version.place).pins
    needed = [by for _, kind, number, by in pins.there() if kind == "for" and number == version.about.version]
    for by in needed:
        pins.free(version.about.version, by)
    return len(needed)


def kept(version: Savepoint) -> tuple[int, ...]:
    """The versions that the checkpoint directory keeps beyond their time of which a savepoint is one. One listing; no
    request for any other savepoint."""
    if version.about.kind != VERSION:
        return ()
    return tuple(sorted({number for number, _ in Files(version.place).pins.pinned()}))


def _check_own(savepoint: Savepoint, instead: str) -> None:
    if savepoint.about.kind == VERSION:
        raise SavepointError(f"{savepoint.place!r} is a checkpoint directory, not a savepoint; {instead}.")
