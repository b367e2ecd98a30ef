"""Whether what a version of a job has made is visible: a savepoint does not have what waits, so nobody would publish it
who begins with one."""

from __future__ import annotations

import os

from penstock.errors import SavepointError
from penstock.job.commit.manifest import Output
from penstock.job.folder.files import Files
from penstock.job.folder.manifest import StepManifest
from penstock.runtime.io.storage import is_local
from penstock.runtime.io.stores import storage_of


def check_published(files: Files, manifest: StepManifest) -> None:
    """No output of a version waits to be published. No request if it has none; else some, and one for each.

    Args:
        files: of the job folder.
        manifest: of the version.

    Raises:
        SavepointError: one waits, or nobody knows.
    """
    if not manifest.outputs:
        return
    newest = files.newest(unpickle=False)
    if newest is None or newest.made > manifest.made:  # a step follows when the one before has published
        return
    if files.owners.left_published(newest.epoch) or not any(map(_waits, manifest.outputs)):
        return
    older = [str(version) for version in newest.retained]
    raise SavepointError(
        f"Version {manifest.version} of {files.place!r} has outputs that wait to be published, as its job has died, or "
        "is about to publish them; what begins with this version would not have them. Start the job once more with its "
        "folder, which publishes them" + (f", or use {files.place}@{older[-1]}, whose outputs are." if older else ".")
    )


def _waits(output: Output) -> bool:
    """Whether an output waits; one that is sent or committed by a sink may have been."""
    if output.sent or output.committable is not None:
        return True
    if is_local(output.pending):
        return os.path.exists(output.pending)
    return storage_of(output.pending).size(output.pending) is not None
