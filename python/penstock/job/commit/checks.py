"""Checks before an output is written: each target is free, or may be replaced, or takes more files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from penstock.errors import ConfigurationError
from penstock.job.commit.folders import OLD
from penstock.job.folder.manifest import Output
from penstock.runtime.io.pending_paths import pending_of
from penstock.storage.storage import is_local
from penstock.storage.stores import Store


def check_target(place: str, *, overwrite: bool, adds: bool) -> None:
    """The target of a sink is free, or may be replaced, or (``adds``) is a folder that takes more files."""
    if is_local(place):
        _check_local(Path(place), overwrite, adds)
        return
    store = Store(place)
    is_file = store.size(place) is not None
    if adds:
        if is_file:
            raise _not_a_folder(place)
        return
    names = [entry.path.rpartition("/")[2] for entry in store.list(place) if entry.path != place]
    if (names or is_file) and not overwrite:
        raise exists_already(place)
    _check_numbered(place, (name for name in names if not name.isdigit()))


def _check_local(path: Path, overwrite: bool, adds: bool) -> None:
    if not path.exists():
        return
    if adds:
        check_folder(path)
        return
    if not (path.is_file() or path.is_dir()) or os.path.ismount(path):
        raise ConfigurationError(
            f"The output {str(path)!r} is neither a file nor a folder that can be replaced. Write to a file."
        )
    if not overwrite:
        raise exists_already(str(path))
    entries = path.iterdir() if path.is_dir() else ()
    _check_numbered(str(path), (p.name for p in entries if not (p.name.isdigit() and p.is_file())))


def _check_numbered(place: str, strange: Iterable[str]) -> None:
    name = min(strange, default=None)
    if name is not None:
        raise ConfigurationError(
            f"The output folder {place!r} contains {name!r}, which no text sink wrote, so it is not replaced. Choose "
            "another folder, or empty this one yourself."
        )


def check_folder(path: Path) -> None:
    """A local folder exists, or can be made."""
    if path.exists() and not path.is_dir():
        raise _not_a_folder(str(path))
    if path.exists() and not os.access(path, os.W_OK | os.X_OK):
        raise ConfigurationError(
            f"No files can be added to {str(path)!r}: it may not be written. Change its permissions, or write to "
            "another base path."
        )


def _not_a_folder(place: str) -> ConfigurationError:
    return ConfigurationError(f"{place!r} is not a folder, so files cannot be added. Write to another base path.")


def check_files(outputs: Iterable[Output]) -> None:
    """Every local file of a job that commits once can be published, as far as that is still to be done."""
    folders: set[Path] = set()
    for output in outputs:
        waiting = Path(output.pending)
        pending = pending_of(str(waiting.parent))
        if output.sent or pending is None or not is_local(output.target) or not waiting.exists():
            continue
        if pending.inside:
            base, above = Path(pending.target), Path(output.target).parents
            folders.update(folder for folder in above if folder == base or base in folder.parents)
        elif output.at is None:
            aside = any(waiting.parent.glob(f"{OLD}*"))  # what was there has gone; this has come since
            check_target(output.target, overwrite=output.overwrite and not aside, adds=False)
    for folder in sorted(folders):
        check_folder(folder)


def exists_already(place: str) -> ConfigurationError:
    """The error for an output that is not to be replaced."""
    return ConfigurationError(
        f"The output {place!r} exists already, and existing files are not overwritten. Remove it, write elsewhere, or "
        "pass the write mode OVERWRITE.",
        flink_class="java.io.IOException",
    )
