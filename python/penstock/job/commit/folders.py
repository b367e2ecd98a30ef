"""Pending folders on the driver's side: they are made, found and removed.

Each run has folders of its own, so a driver that was thought dead and wakes up can only spoil what nobody uses. Nothing
but names that a job makes is ever removed. The marker of a folder goes last, since it leads to the checkpoint directory
that says what counts.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.errors import ConfigurationError
from penstock.runtime.config.tasks import JobConfig
from penstock.runtime.io.pending_paths import ATTEMPT, pending_of
from penstock.storage.storage import is_local, join, naming, parents
from penstock.storage.stores import Store, storage_of

MARKER = "job.json"
COMMIT = "commit"
"""The checkpoint directory of a job that commits once, in the first of its pending folders, its *home*."""
NEW, OLD = "new-", "old-"  # how the name begins of an output that is put together, and of what it replaces

_TRIES = 10
_OURS = re.compile(rf"{MARKER}(?:\.tmp)?|{COMMIT}|(?:{NEW}|{OLD})[0-9a-f]{{32}}|{ATTEMPT}")


@dataclass(frozen=True)
class Marker:
    """Says whose a pending folder is."""

    job: str
    job_id: str  # of the run
    job_folder: str  # its checkpoint directory
    folders: tuple[str, ...] = ()  # all pending folders of a job that commits once, its home first; else none

    @classmethod
    def of(cls, job: JobConfig, folders: Sequence[str]) -> Marker:
        """That of a run with these pending folders."""
        if job.folder is not None:
            return cls(job.name, job.job_id, job.folder)
        return cls(job.name, job.job_id, join(folders[0], COMMIT), tuple(folders))


def read_marker(folder: str) -> Marker | None:
    """The marker of a pending folder, None where there is none."""
    path = join(folder, MARKER)
    try:
        data: dict[str, Any] = json.loads(storage_of(folder).get(path))
        if "job_folder" not in data and "folders" in data:
            raise ConfigurationError(
                f"{path!r} was written by an earlier version of Penstock. Run `penstock clean` of that version, which "
                "finishes or removes what its job has left."
            )
        folders = tuple(map(str, data.get("folders", ())))
        marker = Marker(str(data["job"]), str(data["job_id"]), str(data["job_folder"]), folders)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ConfigurationError(f"{path!r} is not what a job writes: {error!r}.") from error
    if (pending := pending_of(folder)) is not None and pending.folder_id is None:
        others = map(pending_of, folders)
        same = all(other is not None and other[2:] == (None, marker.job_id) for other in others)
        if not same or folder not in folders or marker.job_folder != join(folders[0], COMMIT):
            raise ConfigurationError(f"{path!r} names a different folder. Was the folder moved?")
    return marker


def missing_above(folders: Sequence[str]) -> list[str]:
    """The local folders above pending ones that are not there, from below."""
    missing = {
        above for folder in folders if is_local(folder) for above in parents(folder) if not os.path.exists(above)
    }
    return sorted(missing, key=lambda path: -path.count("/"))


def make(folder: str, marker: Marker) -> None:
    """Make a pending folder with its marker."""
    data: dict[str, Any] = {"job": marker.job, "job_folder": marker.job_folder, "job_id": marker.job_id}
    if marker.folders:
        data["folders"] = marker.folders
    with writable(folder):
        if not is_local(folder):
            Store(folder).put(join(folder, MARKER), json.dumps(data).encode("ascii"))
            return
        temporary = join(folder, f"{MARKER}.tmp")
        for _ in range(_TRIES):  # a clean-up may find the folder before its marker, and remove it
            with contextlib.suppress(FileNotFoundError):
                os.makedirs(folder, exist_ok=True)
                with naming(temporary), open(temporary, "wb") as file:
                    file.write(json.dumps(data).encode("ascii"))
                os.rename(temporary, join(folder, MARKER))
                return
        raise FileNotFoundError(f"{folder!r} is removed as soon as it is created")


@contextlib.contextmanager
def writable(folder: str) -> Iterator[None]:
    """Within the block, an error of the storage says that the output cannot be written whose files wait in a folder."""
    try:
        yield
    except (OSError, ConfigurationError) as error:
        pending = pending_of(folder)
        raise ConfigurationError(
            f"The output {pending.target if pending else folder!r} cannot be written: {error} Choose a folder, or a "
            "bucket, that is there, and where you may write."
        ) from error


def pending_in(place: str) -> list[str]:
    """The pending folders directly in a folder, in order. One listing."""
    if not is_local(place):
        return [e.path for e in Store(place).list(place) if e.size < 0 and pending_of(e.path) is not None]
    with (
        contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError),
        os.scandir(place or "/") as entries,
    ):
        paths = (entry.path for entry in entries if entry.name.startswith(".") and entry.is_dir(follow_symlinks=False))
        return sorted(path for path in paths if pending_of(path) is not None)
    return []


def earlier(folder: str) -> list[str]:
    """The pending folders of other runs with the same checkpoint directory, for the same target. One listing."""
    pending = pending_of(folder)
    assert pending is not None
    paths = (path for path in pending_in(folder.rpartition("/")[0]) if path != folder)
    return [path for path in paths if (other := pending_of(path)) is not None and other[:3] == pending[:3]]


def stranger(folder: str) -> str | None:
    """The first name in a pending folder that no job makes, None if there is none."""
    names = (entry.path.rpartition("/")[2] for entry in storage_of(folder).list(folder))
    return min((name for name in names if not _OURS.fullmatch(name)), default=None)


def empty(folder: str) -> bool:
    """Remove what tasks and the driver have put into a pending folder. Returns whether nothing else is in it."""
    storage, files, left = storage_of(folder), [], False
    for path, size in storage.list(folder):
        name = path.rpartition("/")[2]
        if name in (MARKER, COMMIT):
            continue
        if not _OURS.fullmatch(name):
            left = True
        elif size < 0:
            remove_output(Path(path))
        else:
            files.append(path)
    storage.delete(files)
    return not left


def remove(folder: str) -> bool:
    """Remove a pending folder, if nothing stays in it. A checkpoint directory in it stays, for the time being."""
    if not empty(folder):
        return False
    storage_of(folder).delete([join(folder, MARKER)])
    storage_of(folder).remove_folder(folder)
    return True


def remove_output(folder: Path) -> None:
    """Remove a folder of numbered files; anything else in it keeps it."""
    for file in folder.iterdir():
        if file.name.isdigit():
            file.unlink()
    folder.rmdir()
