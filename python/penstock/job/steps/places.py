"""Where the outputs of steps wait, hidden beside or in their targets; what earlier runs with the same job folder have
left there.

Each run has folders of its own, so a driver that was thought dead and wakes up can only spoil what nobody uses. Who has
the job folder removes those of earlier runs, after it has published what the newest manifest says. Nothing but names
that a job makes is ever removed.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import uuid
from collections.abc import Collection, Iterator
from pathlib import Path

from penstock.errors import ConfigurationError
from penstock.job.commit.pending import MARKER, remove_output
from penstock.runtime.config.tasks import JobConfig
from penstock.runtime.io.pending import ATTEMPT, run_of
from penstock.runtime.io.storage import is_local, join, parents
from penstock.runtime.io.stores import Store, storage_of

NEW, OLD = "new-", "old-"
"""How names begin of an output that is put together, and of what it replaces."""

_OWN = re.compile(rf"job\.json|(?:{NEW}|{OLD})[0-9a-f]{{32}}|{ATTEMPT}")


def fresh(prefix: str) -> str:
    """A name that nobody has used.

    Args:
        prefix: :data:`NEW` or :data:`OLD`.
    """
    return f"{prefix}{uuid.uuid4().hex}"


def make(folder: str, job: JobConfig) -> list[Path]:
    """Make a pending folder, with a file that tells people whose it is.

    Args:
        folder: path or URL.
        job: whose.

    Returns:
        The local folders above it that were made, from below.

    Raises:
        ConfigurationError: it cannot be made.
    """
    made = [Path(each) for each in parents(folder) if is_local(folder) and not os.path.exists(each)]
    text = json.dumps({"job": job.name, "job_folder": job.folder, "job_id": job.job_id})
    try:
        storage_of(folder).put(join(folder, MARKER), text.encode("ascii"))
    except OSError as error:
        raise ConfigurationError(
            f"The output that shall wait in {folder!r} cannot be written: {error}. Choose a place you may write to."
        ) from error
    return made


def earlier(folder: str) -> Iterator[str]:
    """The folders of other runs with the same job folder, for the same target. A listing of the folder it is in.

    Args:
        folder: of this run.
    """
    above = folder.rpartition("/")[0]
    if is_local(folder):
        with contextlib.suppress(FileNotFoundError), os.scandir(above or "/") as entries:
            names = sorted(entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
            yield from (path for path in names if path != folder and run_of(path, folder) is not None)
        return
    for entry in Store(above).list(above):
        if entry.size < 0 and entry.path != folder and run_of(entry.path, folder) is not None:
            yield entry.path


def empty(folder: str, keep: Collection[str] = ()) -> bool:
    """Remove what jobs have put into a pending folder.

    Args:
        folder: path or URL.
        keep: paths that stay.

    Returns:
        Whether nothing is left but the file that says whose it is.
    """
    return _empty_local(folder, keep) if is_local(folder) else _empty_store(folder, keep)


def _empty_local(folder: str, keep: Collection[str]) -> bool:
    left = False
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        path = join(folder, name)
        if name == MARKER:
            continue
        if path in keep or not _OWN.fullmatch(name):
            left = True
        elif os.path.isdir(path):
            remove_output(Path(path))
        else:
            Path(path).unlink(missing_ok=True)
    return not left


def _empty_store(folder: str, keep: Collection[str]) -> bool:
    store = Store(folder)
    found = [entry.path for entry in store.list(folder) if not entry.path.endswith(f"/{MARKER}")]
    due = [path for path in found if path not in keep and _OWN.fullmatch(path.rpartition("/")[2])]
    store.delete(due)
    return len(due) == len(found)


def remove(folder: str, keep: Collection[str] = ()) -> None:
    """Remove a pending folder; see :func:`empty`. If something stays, so does it."""
    if not empty(folder, keep):
        return
    storage_of(folder).delete([join(folder, MARKER)])
    if is_local(folder):
        with contextlib.suppress(OSError):  # somebody else has, or has come meanwhile
            os.rmdir(folder)
    else:
        Store(folder).remove_folder(folder)
