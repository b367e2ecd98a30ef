"""What lies where in a job folder, for who only reads it.

::

    FOLDER/job.json                     format, id, name of the job that made it
    FOLDER/manifests/manifest-17.json   what step 17 has left
    FOLDER/state/...                    files that manifests name
    FOLDER/pins/pin-12-3                version 12 is kept, as the driver with epoch 3 said; see the module pins
    FOLDER/lease/...                    whose the folder is
"""

from __future__ import annotations

import json
import re
import time
import uuid
from dataclasses import dataclass
from typing import Any

from penstock.errors import JobFolderError
from penstock.job.folder.manifest import StepManifest, decoded
from penstock.job.folder.owners import Owners
from penstock.job.folder.pins import Pins
from penstock.runtime.io.storage import Storage, join
from penstock.runtime.io.stores import storage_of

FORMAT = 1
"""Of the folder; a newer one is refused."""

MANIFEST = re.compile(r"manifest-(\d+)\.json")
_TRIES = 20


@dataclass(frozen=True)
class About:
    """What ``job.json`` says.

    Attributes:
        id: 32 hex digits, those of the folder: pending folders of all runs can be named by it.
        job: name of the job that made the folder.
        created: wall time in milliseconds since 1970.
    """

    id: str
    job: str
    created: int


class Files:
    """The files of a job folder, read by anybody.

    Args:
        place: the job folder, as :func:`~penstock.runtime.io.storage.real_place` has it.
        storage: what it is on; the one of its path.

    Attributes:
        place: as all of Penstock writes it.
        storage: what it is on.
        state: the folder with state files.
        manifests: the folder with manifests.
        pins: which versions are kept.
    """

    def __init__(self, place: str, storage: Storage | None = None) -> None:
        self.place = place
        self.storage = storage_of(self.place) if storage is None else storage
        self.state, self.manifests = join(self.place, "state"), join(self.place, "manifests")
        self.pins = Pins(self.storage, join(self.place, "pins"))
        self.owners = Owners(self.storage, self.place)

    def path(self, version: int) -> str:
        """Where the manifest of a version is."""
        return join(self.manifests, f"manifest-{version}.json")

    def highest(self) -> int:
        """The newest version; 0 if there is none. One listing."""
        return max(self.there(), default=0)

    def there(self) -> list[int]:
        """The versions of all manifests that are there, also of those that do not count."""
        names = (entry.path.rpartition("/")[2] for entry in self.storage.list(self.manifests))
        return [int(match[1]) for match in map(MANIFEST.fullmatch, names) if match]

    def load(self, version: int, *, unpickle: bool = True) -> StepManifest:
        """The manifest of a version.

        Args:
            version: which.
            unpickle: whether positions of the program's own classes are made.

        Raises:
            FileNotFoundError: it is not there.
            JobFolderError: it is damaged, or of a newer Penstock.
        """
        path = self.path(version)
        return decoded(self.storage.get(path), version, path, unpickle=unpickle)

    def newest(self, *, unpickle: bool = True) -> StepManifest | None:
        """The newest manifest, None if there is none.

        Args:
            unpickle: as for :meth:`load`.

        Raises:
            JobFolderError: it is damaged, or of a newer Penstock. The one before is not taken instead: what sinks have
                published since would be published twice.
            OSError: the folder cannot be read.
        """
        for _ in range(_TRIES):
            version = self.highest()
            if version == 0:
                return None
            try:
                return self.load(version, unpickle=unpickle)
            except FileNotFoundError:  # a newer one has come meanwhile, and this one has gone
                continue
        raise JobFolderError(f"The manifests in {self.manifests!r} change faster than they can be read; try again.")

    def about(self) -> About | None:
        """What ``job.json`` says, None if it is not there.

        Raises:
            JobFolderError: it is no job's, or that of a newer Penstock.
        """
        path = join(self.place, "job.json")
        try:
            data: dict[str, Any] = json.loads(self.storage.get(path))
            found = data.pop("format")
            if found == FORMAT:
                return About(**data)
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, KeyError) as error:
            raise JobFolderError(
                f"{path!r} is not what a job writes: {error!r}. Bring it back from a copy, or give the job another "
                "folder by penstock.job.folder."
            ) from error
        raise JobFolderError(
            f"The job folder {self.place!r} has format {found}, and this Penstock knows {FORMAT}. Run the job with the "
            "version that made it, or give it another folder by penstock.job.folder."
        )

    def make(self, job: str) -> About:
        """What ``job.json`` says; it is written if it is not there."""
        about = self.about()
        if about is None:
            made = {"id": uuid.uuid4().hex, "job": job, "created": _now()}
            self.storage.create(join(self.place, "job.json"), json.dumps({"format": FORMAT, **made}).encode())
            about = self.about()
        if about is None:
            raise JobFolderError(f"{self.place!r} forgets what is written to it: is it removed by somebody else?")
        return about


def _now() -> int:
    return time.time_ns() // 1_000_000
