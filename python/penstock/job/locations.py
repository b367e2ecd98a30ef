"""Files on a machine of their own, where a job runs on several machines."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable

from penstock.errors import UnsupportedError
from penstock.runtime.io.storage import is_local, local_path


def refuse_local(locations: Iterable[tuple[str, str]], hosts: Collection[str], shared: Collection[str]) -> None:
    """Refuse paths that each host may have another file at.

    Args:
        locations: where operators read or write: name of the operator, path or URL.
        hosts: that run tasks, and that of the driver.
        shared: folders that are the same on all of them.

    Raises:
        UnsupportedError: a path is of the local file system, in none of these folders, and there are several hosts.
    """
    if len(hosts) < 2:
        return
    for operator, location in locations:
        if is_local(location) and not _within(location, shared):
            raise UnsupportedError(
                f"Operator {operator!r} reads or writes {location!r}, a path of each machine's own, and the job runs "
                f"on several: {', '.join(sorted(hosts))}. If all of them see the same there, by a mount, say, "
                "name the folder in the setting penstock.files.shared-folders; else use storage that all reach."
            )


def _within(location: str, folders: Iterable[str]) -> bool:
    """Whether a path lies in one of some folders, links followed on this machine or not."""
    path = local_path(location).absolute()
    return any(
        os.path.commonpath([folder, each]) == folder
        for folder in (os.path.normpath(local_path(folder).absolute()) for folder in folders)
        for each in (os.path.normpath(path), os.path.realpath(path))
    )
