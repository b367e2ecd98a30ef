"""What a crash leaves of a job on a store, and what becomes of it: see :mod:`penstock.job.commit.recovery`.

A job whose lease was renewed in the last minutes is left alone. There is no lock, so of one that is given up an empty
manifest says so to its driver, should that still live.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from penstock.errors import ConfigurationError, PenstockError
from penstock.job.commit.manifest import Manifest, Output, newest_manifest, write_manifest
from penstock.job.commit.pending import MARKER, Marker
from penstock.job.commit.publish import exists_already
from penstock.job.commit.recovery import Leftover, Verdict
from penstock.job.commit.stores import (
    LEASE,
    LEASE_SECONDS,
    StoreTarget,
    publish,
    read_marker,
    remove,
    stranger,
)
from penstock.runtime.io.pending import ATTEMPT, target_place
from penstock.runtime.io.storage import join, located, parents
from penstock.runtime.io.stores import Store


def pending_at(path: str) -> Iterator[str]:
    """Pending folders of an output on a store, and those of outputs in it if it is a folder (not of folders inside
    those). O(entries of the folder it is in, its own, and those of the folders in it).

    Args:
        path: URL of the output.

    Raises:
        ConfigurationError: the store cannot be reached.
    """
    place = located(path)
    if target_place(place) is not None:
        yield place
        return
    yield from _beside(place)
    yield from _pending_in(place)
    for entry in Store(place).list(place):
        if entry.size < 0 and target_place(entry.path) is None:
            yield from _inside(entry.path)


def _beside(target: str) -> list[str]:
    above = next(parents(target), None)
    return [] if above is None else [found for found in _pending_in(above) if target_place(found) == target]


def _inside(target: str) -> list[str]:
    return [found for found in _pending_in(target) if target_place(found) == target]


def _pending_in(folder: str) -> list[str]:
    return [e.path for e in Store(folder).list(folder) if e.size < 0 and target_place(e.path) is not None]


def settle(target: StoreTarget) -> None:
    """Before a job writes to a target: finish or remove what an earlier one has left of it, with all its outputs.

    Raises:
        ConfigurationError: a job that runs writes there too, or the earlier one's output cannot be published.
    """
    inside = _inside(target.place) if target.adds else []
    for folder in (*_beside(target.place), *inside):
        found = recover(folder)
        if found is not None and found.verdict is Verdict.RUNNING and folder not in inside:
            raise ConfigurationError(
                f"The output {target.place!r} is that of the job {found.job!r} too, which is still running, or has "
                f"died in the last {LEASE_SECONDS / 60:.0f} minutes. Wait for it, or write elsewhere; if its driver is "
                f"dead, `penstock clean --dead {target.place}` ends the wait."
            )
        if found is not None and found.verdict is Verdict.LEAVE and found.job is not None:
            raise ConfigurationError(
                f"An earlier run of the job {found.job!r} has left the output {target.place!r} unfinished, and it "
                f"cannot be cleaned up: {found.reason}"
            )


def recover(folder: str, *, dry_run: bool = False, dead: bool = False) -> Leftover | None:
    """Finish or remove the job of a pending folder, with all its pending folders. It can be repeated, also after it was
    itself interrupted.

    Args:
        folder: one of the job's pending folders.
        dry_run: only say what would be done.
        dead: its driver is known to be, so nobody waits until its lease is over.

    Returns:
        What was done; None if the folder is gone, as when another process does the same.
    """
    marker: Marker | None = None
    try:
        if not Store(folder).list(folder):
            return None
        marker = read_marker(folder)
        return _remains(folder, dry_run) if marker is None else _job(folder, marker, dry_run, dead)
    except (OSError, PenstockError) as error:
        targets = _targets(marker.folders if marker else (folder,))
        return Leftover(folder, marker.job if marker else None, targets, Verdict.LEAVE, str(error))


def _targets(folders: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(filter(None, map(target_place, folders)))


def _remains(folder: str, dry_run: bool) -> Leftover:
    """A folder without marker: its job is over, and late tasks may have written to it."""
    leftover = Leftover(folder, None, _targets((folder,)), Verdict.REMOVE)
    strange = stranger(folder)
    if strange is not None:
        return replace(leftover, verdict=Verdict.LEAVE, reason=f"{strange!r} in it is not known to be Penstock's.")
    if not dry_run:
        remove([folder])
    return leftover


def _job(folder: str, marker: Marker, dry_run: bool, dead: bool) -> Leftover:
    home = marker.home_place
    leftover = Leftover(home, marker.job, _targets(marker.folders), Verdict.RUNNING)
    if read_marker(home) != marker:
        raise ConfigurationError(
            f"{home!r}, which says whether the job was committed, is not there. Bring it back, or remove {folder!r} by "
            "hand."
        )
    if not dead and _alive(home):
        return leftover
    manifest = newest_manifest(home)
    if manifest is None and not dry_run:
        manifest = _given_up(marker)
    _check(marker, manifest)
    committed = manifest is not None and bool(manifest.operators)
    if not dry_run:
        if manifest is not None:
            publish(marker, manifest.outputs)
        remove(marker.folders)
    return replace(leftover, verdict=Verdict.PUBLISH if committed else Verdict.REMOVE)


def _alive(home: str) -> bool:
    """Whether a lease was renewed not long ago, by the store's own clock."""
    store = Store(home)
    try:
        renewed = store.modified(join(home, LEASE))
    except FileNotFoundError:  # it comes after the marker
        renewed = store.modified(join(home, MARKER))
    return (store.now(home) - renewed).total_seconds() < LEASE_SECONDS


def _given_up(marker: Marker) -> Manifest | None:
    """The manifest that stands: an empty one now, unless the driver was quicker."""
    empty = Manifest(marker.job, marker.job_id, 1, (), ())
    return empty if write_manifest(marker.home_place, empty) else newest_manifest(marker.home_place)


def _check(marker: Marker, manifest: Manifest | None) -> None:
    """Everything is as a job leaves it.

    Raises:
        ConfigurationError: it is not, or an output cannot be published.
    """
    for folder in marker.folders:
        strange = stranger(folder)
        if strange is not None:
            raise ConfigurationError(f"{strange!r} in {folder!r} is not known to be Penstock's; take it away.")
    for output in manifest.outputs if manifest else ():
        if not _is_own(output, marker):
            raise ConfigurationError(f"Its manifest publishes {output.target!r} from elsewhere, as no job does.")
        if not output.overwrite:
            _check_place(output)


def _is_own(output: Output, marker: Marker) -> bool:
    """Whether an output waits where that of a job waits, and goes where this place says."""
    folder, _, name = output.pending.rpartition("/")
    target = target_place(folder)
    if folder not in marker.folders or target is None or not re.fullmatch(ATTEMPT, name):
        return False
    return output.target == target or (output.target.startswith(f"{target}/") and "/../" not in output.target)


def _check_place(output: Output) -> None:
    """Nothing stands in the place of an output but what may be a copy of it.

    Raises:
        ConfigurationError: it does.
    """
    store = Store(output.pending)
    waits, stands = store.size(output.pending), store.size(output.target)
    if waits is not None and stands is not None and waits != stands:
        raise exists_already(output.target)
