"""What a crash leaves of a job, and what becomes of it: finished if the job was committed, removed if not.

A run does this for its own targets before it starts, ``penstock clean`` for any. A job whose driver lives holds a lock,
and is left alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from penstock.errors import ConfigurationError
from penstock.job.commit.manifest import Manifest, newest_manifest
from penstock.job.commit.pending import NEW, OLD, Marker, hold, read_marker, remove, stranger
from penstock.job.commit.publish import check_outputs, publish
from penstock.runtime.io.pending import pending_folder, target_of


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

    folder: Path
    job: str | None
    targets: tuple[Path, ...]
    verdict: Verdict
    reason: str = ""


def pending_at(path: Path) -> Iterator[Path]:
    """Pending folders of an output, and those inside it if it is a folder (not of folders inside that). O(entries of
    the folder it is in, and its own).

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


def _beside(target: Path) -> list[Path]:
    return [found for found in _pending_in(target.parent) if target_of(found) == target]


def _pending_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if target_of(path) is not None and path.is_dir())


def settle(target: Path) -> None:
    """Before a job writes to a target: finish or remove what an earlier one has left of it, with all its outputs.

    Raises:
        ConfigurationError: a job that runs writes there too, or the earlier one's output cannot be published.
    """
    for folder in _beside(target) if os.access(target.parent, os.R_OK) else ():
        found = recover(folder)
        if found is not None and found.verdict is Verdict.RUNNING:
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


def recover(folder: Path, *, dry_run: bool = False) -> Leftover | None:
    """Finish or remove the job of a pending folder, with all its pending folders. It can be repeated, also after it was
    itself interrupted.

    Args:
        folder: one of the job's pending folders.
        dry_run: only say what would be done.

    Returns:
        What was done; None if the folder is gone, as when another process does the same.
    """
    marker: Marker | None = None
    try:
        marker = read_marker(folder)
        return _remains(folder, dry_run) if marker is None else _job(folder, marker, dry_run)
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


def _job(folder: Path, marker: Marker, dry_run: bool) -> Leftover:
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
        manifest = newest_manifest(marker.home)
        _check(marker, manifest)
        if not dry_run:
            if manifest is not None:
                publish(manifest.outputs)
            remove(marker.folders)
    return replace(leftover, verdict=Verdict.REMOVE if manifest is None else Verdict.PUBLISH)


def _check(marker: Marker, manifest: Manifest | None) -> None:
    """Everything is as a job leaves it.

    Raises:
        ConfigurationError: it is not, or an output cannot be published.
    """
    outputs = manifest.outputs if manifest else ()
    for output in outputs:
        if str(pending_folder(Path(output.target), marker.job_id) / NEW) != output.pending:
            raise ConfigurationError(f"Its manifest publishes {output.target!r} from elsewhere, as no job does.")
        if not Path(output.target).parent.is_dir():
            raise ConfigurationError(f"The folder of {output.target!r} is not there. Is a file system not mounted?")
    for folder in map(Path, marker.folders):
        strange = stranger(folder) if folder.is_dir() else None
        if strange is None and manifest is None and (folder / OLD).exists():
            strange = OLD
        if strange is not None:
            raise ConfigurationError(f"{strange!r} in {str(folder)!r} is not known to be Penstock's; take it away.")
    check_outputs(outputs)
