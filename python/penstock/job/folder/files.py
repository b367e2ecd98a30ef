"""The layout of a checkpoint directory, for readers.

::

    FOLDER/job.json                     format, id, name of the job that made it
    FOLDER/committed                    a manifest has been written; stays when all manifests are removed by hand
    FOLDER/manifests/manifest-17.json   what step 17 has left
    FOLDER/state/...                    files that manifests name
    FOLDER/pins/pin-12-3                version 12 is kept, as the driver with epoch 3 said; see Pins
    FOLDER/lease/...                    whose the folder is
    FOLDER/queries/...                  of streaming queries over Spark Connect, as long as they run
"""

from __future__ import annotations

import json
import re
import time
import uuid
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from penstock.errors import CheckpointDirectoryError
from penstock.job.folder.manifest import StepManifest, decoded
from penstock.job.folder.owners import Owners
from penstock.storage.storage import Storage, join
from penstock.storage.stores import storage_of

FORMAT = 1  # of the folder; a newer one is refused

COMMITTED = "committed"  # name of the file that says that a manifest has been written
MANIFEST = re.compile(r"manifest-(\d+)\.json")
_PIN = re.compile(r"(pin|for|free)-(\d+)-(\d+|[0-9a-f]{32})")
_TRIES = 20


@dataclass(frozen=True)
class About:
    """The content of ``job.json``."""

    id: str  # 32 hex digits, those of the folder: pending folders of all runs can be named by it
    job: str  # name of the job that made the folder
    created: int  # wall time in milliseconds since 1970


class Pins:
    """Checkpoints that are kept beyond their time, and the savepoints that need them, in the folder ``pins``.

    ``pin-V-EPOCH``: version V is kept, as the driver with an epoch said; this alone keeps it. ``for-V-SAVEPOINT``,
    written before: for a savepoint without files of its own. ``free-V-SAVEPOINT``, by anybody: that one was removed.
    Only the owner removes any of them: a pin goes when all its savepoints are free, so no other one loses its state.
    """

    def __init__(self, storage: Storage, folder: str) -> None:
        self._storage, self._folder = storage, folder

    def pin(self, version: int, epoch: int) -> str:
        """Where the driver with an epoch says that a checkpoint is kept."""
        return join(self._folder, f"pin-{version}-{epoch}")

    def need(self, version: int, savepoint: str) -> str:
        """Where it says that a savepoint needs a checkpoint."""
        return join(self._folder, f"for-{version}-{savepoint}")

    def free(self, version: int, savepoint: str) -> None:
        """Say that a savepoint does not need a checkpoint any more. It can be repeated."""
        self._storage.create(join(self._folder, f"free-{version}-{savepoint}"), b"")

    def entries(self) -> list[tuple[str, str, int, str]]:
        """All that is there: path, kind, version, and epoch or savepoint. One listing."""
        paths = [entry.path for entry in self._storage.list(self._folder)]
        matches = [(path, _PIN.fullmatch(path.rpartition("/")[2])) for path in paths]
        return [(path, match[1], int(match[2]), match[3]) for path, match in matches if match]

    def pinned(self) -> list[tuple[int, int]]:
        return [(version, int(by)) for _, kind, version, by in self.entries() if kind == "pin"]

    def over(self) -> Iterator[tuple[int, list[str]]]:
        """The checkpoints pinned for savepoints that were all removed, with the files to remove, pins first."""
        pins: dict[int, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
        for path, kind, version, by in self.entries():
            pins[version][kind][by] = path
        for version, kinds in pins.items():
            if kinds["pin"] and kinds["for"] and kinds["for"].keys() <= kinds["free"].keys():
                yield version, [path for kind in ("pin", "for", "free") for path in kinds[kind].values()]


class Files:
    """The files of a checkpoint directory, read by anybody."""

    def __init__(self, place: str, storage: Storage | None = None) -> None:
        self.place = place
        if storage is not None:
            self.storage = storage

    @cached_property
    def storage(self) -> Storage:
        return storage_of(self.place)

    @cached_property
    def state(self) -> str:
        return join(self.place, "state")

    @cached_property
    def manifests(self) -> str:
        return join(self.place, "manifests")

    @cached_property
    def pins(self) -> Pins:
        return Pins(self.storage, join(self.place, "pins"))

    @cached_property
    def owners(self) -> Owners:
        return Owners(self.storage, self.place)

    def path(self, version: int) -> str:
        return join(self.manifests, f"manifest-{version}.json")

    def highest(self) -> int:
        return max(self.versions(), default=0)

    def versions(self) -> list[int]:
        """The checkpoints of all manifests that are there, also of those that do not count."""
        names = (entry.path.rpartition("/")[2] for entry in self.storage.list(self.manifests))
        return [int(match[1]) for match in map(MANIFEST.fullmatch, names) if match]

    def load(self, version: int, *, unpickle: bool = True) -> StepManifest:
        path = self.path(version)
        return decoded(self.storage.get(path), version, path, unpickle=unpickle)

    def newest(self, *, unpickle: bool = True) -> StepManifest | None:
        for _ in range(_TRIES):
            version = self.highest()
            if version == 0:
                return None
            try:
                return self.load(version, unpickle=unpickle)
            except FileNotFoundError:  # a newer one has come meanwhile, and this one has gone
                continue
        raise CheckpointDirectoryError(f"The manifests in {self.manifests!r} change while they are read; try again.")

    def mark(self) -> None:
        """Note that a manifest has been written. It can be repeated. One request."""
        self.storage.create(join(self.place, COMMITTED), b"A manifest has been written.\n")

    def marked(self) -> bool:
        """Whether :meth:`mark` was called in this folder at any time. One request."""
        try:
            self.storage.get(join(self.place, COMMITTED))
        except FileNotFoundError:
            return False
        return True

    def about(self) -> About | None:
        """The content of ``job.json``, None if it is not there."""
        path = join(self.place, "job.json")
        try:
            data: dict[str, Any] = json.loads(self.storage.get(path))
            version = data.pop("format")
            if version == FORMAT:
                return About(**data)
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, KeyError) as error:
            raise CheckpointDirectoryError(
                f"{path!r} is not what a job writes: {error!r}. Bring it back from a copy, or give the job another "
                "folder by execution.checkpointing.dir."
            ) from error
        raise CheckpointDirectoryError(
            f"The checkpoint directory {self.place!r} has format {version}, and this Penstock knows {FORMAT}. Run the "
            "job with the version that made it, or give it another directory by execution.checkpointing.dir."
        )

    def make(self, job: str) -> About:
        about = self.about()
        if about is None and (self.versions() or self.marked()):
            raise CheckpointDirectoryError(
                f"The checkpoint directory {self.place!r} has lost its job.json, by which sinks know the job. Bring "
                "it back from a copy; or start from a savepoint (--from-savepoint) with another directory."
            )
        if about is None:
            facts = {"id": uuid.uuid4().hex, "job": job, "created": time.time_ns() // 1_000_000}
            self.storage.create(join(self.place, "job.json"), json.dumps({"format": FORMAT, **facts}).encode())
            about = self.about()
        if about is None:
            raise CheckpointDirectoryError(
                f"{self.place!r} loses the files that are written to it. Does another process remove them?"
            )
        return about
