"""Pending folders: where the output of a running job waits, hidden, on the file system of its target.

Beside a target ``/data/out`` lies ``/data/.out.pending-JOB``, or inside it ``/data/out/.pending-JOB`` if it is a folder
to which files are added, with

- ``job.json``, the *marker*: the job, and all its pending folders. In the first of them, the job's *home*, the driver
  holds a lock on it for as long as it lives; there the manifest appears too;
- one file per attempt of a subtask of the sink;
- ``new``, the output put together, for which a rename is enough to be published (files that are added get their names
  one by one);
- ``old``, what it replaces, from the moment of publishing on.

The home is made first and removed last, and its marker is the last file of it to go, so whatever a crash leaves leads
to the home. Nothing but these names is ever removed.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from penstock.errors import ConfigurationError
from penstock.runtime.io.pending import ATTEMPT

MARKER = "job.json"
NEW, OLD = "new", "old"

_REMAINS = re.compile(rf"job\.json\.tmp|{ATTEMPT}")
_OWN = re.compile(rf"job\.json|manifest-\d+\.json(\.([0-9a-f]{{32}}\.)?tmp)?|{NEW}|{OLD}|{_REMAINS.pattern}")

_TRIES = 10


@dataclass(frozen=True)
class Marker:
    """Whose a pending folder is.

    Attributes:
        job: name of the job.
        job_id: id of the run.
        folders: all pending folders of the run; the first is its home.
    """

    job: str
    job_id: str
    folders: tuple[str, ...]

    @property
    def home_place(self) -> str:
        """The folder with the lock, or the lease, and the manifest."""
        return self.folders[0]

    @property
    def home(self) -> Path:
        """The same as a local path."""
        return Path(self.folders[0])


def read_marker(folder: Path) -> Marker | None:
    """The marker of a pending folder, None where there is none.

    Raises:
        ConfigurationError: no Penstock, or a newer one, has written it.
        OSError: it cannot be read.
    """
    with contextlib.suppress(FileNotFoundError):
        return marker_of((folder / MARKER).read_bytes(), str(folder))
    return None


def marker_of(data: bytes, folder: str) -> Marker:
    """What a marker says.

    Args:
        data: what is in it.
        folder: where it was found.

    Raises:
        ConfigurationError: no Penstock, or a newer one, has written it, or for another folder.
    """
    try:
        said: dict[str, Any] = json.loads(data)
        marker = Marker(str(said["job"]), str(said["job_id"]), tuple(map(str, said["folders"])))
    except (ValueError, TypeError, KeyError) as error:
        raise ConfigurationError(f"{folder + '/' + MARKER!r} is not what a job writes: {error!r}.") from error
    expected = all(each.endswith(f".pending-{marker.job_id}") for each in marker.folders)
    if not expected or folder not in marker.folders:
        raise ConfigurationError(f"{folder + '/' + MARKER!r} does not speak of the folder it is in; was it moved?")
    return marker


def claim(folder: Path, marker: Marker) -> IO[bytes]:
    """Make a pending folder with its marker. Only the driver does, so a late task of a dead job brings none back.

    Returns:
        The marker, open and locked, where the file system has locks; the lock ends with the process at the latest.

    Raises:
        OSError: it cannot be made.
    """
    for _ in range(_TRIES):
        with contextlib.suppress(FileNotFoundError):  # a clean-up has found the folder between two of these lines
            os.makedirs(folder, exist_ok=True)
            return _write_marker(folder, marker)
    raise FileNotFoundError(f"{str(folder)!r} disappears as soon as it is made")


def _write_marker(folder: Path, marker: Marker) -> IO[bytes]:
    """Locked before it has its name, so nobody sees a marker of a living job without its lock."""
    temporary = folder / f"{MARKER}.tmp"
    with contextlib.ExitStack() as closing:
        file = closing.enter_context(open(temporary, "w+b"))
        try_lock(file)
        file.write(json.dumps(asdict(marker)).encode("ascii"))
        file.flush()
        os.fsync(file.fileno())
        os.rename(temporary, folder / MARKER)
        closing.pop_all()  # from here on the caller closes it
        return file


def hold(home: Path) -> IO[bytes] | None:
    """The marker of a home, open and locked; None when a living driver, or another clean-up, holds it, or the file
    system has no locks.

    Raises:
        OSError: it cannot be opened; FileNotFoundError: it is gone, also if just now.
    """
    path = home / MARKER
    with contextlib.ExitStack() as closing:
        file = closing.enter_context(open(path, "r+b"))
        if not try_lock(file):
            return None
        if not os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
            raise FileNotFoundError(f"{str(path)!r} was replaced")
        closing.pop_all()  # from here on the caller closes it
        return file


def try_lock(file: IO[bytes]) -> bool:
    """Lock a file, for as long as it is open; False if another one has, or the file system has no locks.

    Args:
        file: open for writing.
    """
    import fcntl  # POSIX only

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # held by another, or no locks here
        return False
    return True


def stranger(folder: Path, *, remains: bool = False) -> str | None:
    """The first name in a pending folder that no job of Penstock makes, None if there is none.

    Args:
        folder: the pending folder.
        remains: allow only what can be there before or after the marker.
    """
    own = _REMAINS if remains else _OWN
    return min((name for name in os.listdir(folder) if not own.fullmatch(name)), default=None)


def remove(folders: Iterable[str]) -> None:
    """Remove the pending folders of a job, the home last; none of them if one has a :func:`stranger` in it.

    Raises:
        OSError: something cannot be removed.
    """
    paths = [path for path in map(Path, folders) if path.is_dir()]
    if all(stranger(path) is None for path in paths):
        for path in reversed(paths):
            _remove(path)


def _remove(folder: Path) -> None:
    for name in sorted(os.listdir(folder), key=_removal_order):
        path = folder / name
        if path.is_dir():
            remove_output(path)
        else:
            path.unlink(missing_ok=True)
    folder.rmdir()


def _removal_order(name: str) -> tuple[bool, bool]:
    """Files, then manifests, then the marker: a manifest outlives what has been replaced, and the marker all else."""
    return name.startswith(MARKER), name.startswith("manifest-")


def remove_output(folder: Path) -> None:
    """A folder of numbered files; anything else in it keeps it."""
    for file in folder.iterdir():
        if file.name.isdigit():
            file.unlink()
    folder.rmdir()
