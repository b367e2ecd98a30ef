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
        check_sizes(copy, storage)
        if not storage.create(path, written(copy)):
            raise exists(path)
    except OSError as error:
        raise SavepointError(f"{savepoint.place!r} cannot be copied to {target!r}: {error}.") from error
    return copy


def remove_savepoint(savepoint: Savepoint) -> None:
    """Remove a savepoint, its own file first; the state of one by reference is its job's to remove."""
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
    """Have a checkpoint directory keep a checkpoint no longer for savepoints by reference. Returns for how many."""
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
    """The versions that the checkpoint directory, if it is one, keeps beyond their time. One listing."""
    if version.about.kind != VERSION:
        return ()
    return tuple(sorted({number for number, _ in Files(version.place).pins.pinned()}))


def _check_own(savepoint: Savepoint, instead: str) -> None:
    if savepoint.about.kind == VERSION:
        raise SavepointError(f"{savepoint.place!r} is a checkpoint directory, not a savepoint; {instead}.")
