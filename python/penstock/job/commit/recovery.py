"""What a crash leaves of a job, and what becomes of it: finished if the job was committed, removed if not.

A run does this for its own targets before it starts, ``penstock clean`` for any. A job whose driver lives holds a lock,
and is left alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from types import MappingProxyType

from penstock.errors import ConfigurationError
from penstock.job.commit.manifest import Manifest, Output, newest_manifest
from penstock.job.commit.pending import NEW, OLD, Marker, hold, read_marker, remove, stranger
from penstock.job.commit.publish import Senders, base_of, check_outputs, publish
from penstock.runtime.io.pending import ATTEMPT, pending_folder, target_of


class Verdict(Enum):
    """What becomes of a leftover."""

    PUBLISH = "publish"
    """The job was committed: its outputs get their names."""
    REMOVE = "remove"
    """The job was not committed: it has not happened."""
    RUNNING = "running"
    """Its driver lives, or the file system cannot tell."""
    LEAVE = "leave"
    """Not Penstock's, or something is in the way; the reason says what."""


@dataclass(frozen=True)
class Leftover:
    """Pending folders of one job.

    Attributes:
        folder: the job's home, or the folder itself if it does not lead there.
        job: name of the job, None where nothing says it.
        targets: the outputs concerned.
        verdict: what became of it, or would.
        reason: why it was left.
    """

    folder: Path | str
    job: str | None
    targets: tuple[Path, ...] | tuple[str, ...]
    verdict: Verdict
    reason: str = ""


def pending_at(path: Path) -> Iterator[Path]:
    """Pending folders of an output, and those of outputs in it if it is a folder (not of folders inside those).
    O(entries of the folder it is in, its own, and those of the folders in it).

    Raises:
        ConfigurationError: the folder of the output is not there.
    """
    real = Path(os.path.realpath(path))
    if not real.parent.is_dir():
        raise ConfigurationError(f"The folder {str(real.parent)!r} does not exist, so nothing waits in it.")
    if target_of(real) is not None:
        yield real
        return
    yield from _beside(real)
    if real.is_dir():
        yield from _pending_in(real)
        for folder in sorted(real.iterdir()):
            if folder.is_dir() and not folder.is_symlink() and os.access(folder, os.R_OK) and target_of(folder) is None:
                yield from _inside(folder)


def _beside(target: Path) -> list[Path]:
    return [found for found in _pending_in(target.parent) if target_of(found) == target]


def _inside(target: Path) -> list[Path]:
    return [found for found in _pending_in(target) if target_of(found) == target]


def _pending_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if target_of(path) is not None and path.is_dir())


def settle(target: Path, *, adds: bool = False, by: Senders = MappingProxyType({})) -> None:
    """Before a job writes to a target: finish or remove what an earlier one has left of it, with all its outputs.

    Args:
        target: real and absolute.
        adds: it is a folder to which files are added, which several jobs may do at a time.
        by: sends what an earlier run has left to be sent.

    Raises:
        ConfigurationError: a job that runs writes there too, or the earlier one's output cannot be published.
    """
    beside = _beside(target) if os.access(target.parent, os.R_OK) else []
    inside = _inside(target) if adds and target.is_dir() and os.access(target, os.R_OK) else []
    for folder in (*beside, *inside):
        found = recover(folder, by=by)
        if found is not None and found.verdict is Verdict.RUNNING and folder not in inside:
            raise ConfigurationError(
                f"The output {str(target)!r} is that of the job {found.job!r} too, which is still running. Wait for "
                f"it, or write elsewhere. (If its driver is dead, then the file system has no locks: remove "
                f"{str(found.folder)!r} by hand.)"
            )
        if found is not None and found.verdict is Verdict.LEAVE and found.job is not None:
            raise ConfigurationError(
                f"An earlier run of the job {found.job!r} has left the output {str(target)!r} unfinished, and it "
                f"cannot be cleaned up: {found.reason}"
            )


def recover(folder: Path, *, dry_run: bool = False, by: Senders = MappingProxyType({})) -> Leftover | None:
    """Finish or remove the job of a pending folder, with all its pending folders. It can be repeated, also after it was
    itself interrupted.

    Args:
        folder: one of the job's pending folders.
        dry_run: only say what would be done.
        by: sends what is to be sent.

    Returns:
        What was done; None if the folder is gone, as when another process does the same.
    """
    marker: Marker | None = None
    try:
        marker = read_marker(folder)
        return _remains(folder, dry_run) if marker is None else _job(folder, marker, dry_run, by)
    except (OSError, ConfigurationError) as error:
        if not folder.exists():
            return None
        targets = _targets(marker.folders if marker else (str(folder),))
        return Leftover(folder, marker.job if marker else None, targets, Verdict.LEAVE, str(error))


def _targets(folders: tuple[str, ...]) -> tuple[Path, ...]:
    return tuple(filter(None, (target_of(Path(folder)) for folder in folders)))


def _remains(folder: Path, dry_run: bool) -> Leftover:
    """A folder whose making, or removal, was interrupted. Another's folder may have such a name."""
    leftover = Leftover(folder, None, _targets((str(folder),)), Verdict.REMOVE)
    strange = stranger(folder, remains=True)
    if strange is not None:
        return replace(leftover, verdict=Verdict.LEAVE, reason=f"{strange!r} in it is not known to be Penstock's.")
    if not dry_run:
        remove([str(folder)])
    return leftover


def _job(folder: Path, marker: Marker, dry_run: bool, by: Senders) -> Leftover:
    leftover = Leftover(marker.home, marker.job, _targets(marker.folders), Verdict.RUNNING)
    if read_marker(marker.home) != marker:
        raise ConfigurationError(
            f"{str(marker.home)!r}, which says whether the job was committed, is not there. Bring it back, or remove "
            f"{str(folder)!r} by hand."
        )
    lock = hold(marker.home)
    if lock is None:
        return leftover
    with lock:
        manifest = newest_manifest(str(marker.home))
        _check(marker, manifest, by)
        if not dry_run:
            if manifest is not None:
                publish(manifest.outputs, by)
            remove(marker.folders)
    return replace(leftover, verdict=Verdict.REMOVE if manifest is None else Verdict.PUBLISH)


def _is_own(output: Output, marker: Marker) -> bool:
    """Whether an output waits where that of a job waits, and goes beside that place, or into the folder it is in."""
    pending, target, base = Path(output.pending), Path(output.target), base_of(output)
    if base is None:
        return pending == pending_folder(target, marker.job_id) / NEW
    waits = str(pending.parent) in marker.folders and bool(re.fullmatch(ATTEMPT, pending.name))
    return waits and base in target.parents and ".." not in target.parts


def _check(marker: Marker, manifest: Manifest | None, by: Senders) -> None:
    """Everything is as a job leaves it.

    Raises:
        ConfigurationError: it is not, or an output cannot be published.
    """
    outputs = manifest.outputs if manifest else ()
    for output in outputs:
        if not _is_own(output, marker):
            raise ConfigurationError(f"Its manifest publishes {output.target!r} from elsewhere, as no job does.")
        if not (base_of(output) or Path(output.target).parent).is_dir():
            raise ConfigurationError(f"The folder of {output.target!r} is not there. Is a file system not mounted?")
    for folder in map(Path, marker.folders):
        strange = stranger(folder) if folder.is_dir() else None
        if strange is None and manifest is None and (folder / OLD).exists():
            strange = OLD
        if strange is not None:
            raise ConfigurationError(f"{strange!r} in {str(folder)!r} is not known to be Penstock's; take it away.")
    check_outputs(outputs, by)
