"""The one driver that writes to a checkpoint directory, as far as safety goes: manifests in the order of their
versions.

**Why a driver that was replaced cannot commit.** A manifest is created once. A driver that takes a folder over first
takes an epoch, then *seals* it: it writes the newest state once more, as the next version. Its predecessor has that
checkpoint to commit next, and finds it taken. It may be so late that the cleaner has removed the seal; so after each
commit a driver looks whether its epoch is still the highest. What such a late one has created is older than the newest
checkpoint, and in no manifest's list of those that are retained: it goes with the next clean-up.

**If it is not known whether a manifest was written** (a store did not answer), the checkpoint is settled before
anything else happens: it is sealed, or found to be there."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from penstock.errors import CheckpointDirectoryError, FencedError
from penstock.job.folder.files import Files
from penstock.job.folder.manifest import StepManifest, decoded, encoded
from penstock.job.folder.owners import Owner
from penstock.storage.storage import join


class Writer:
    """Writes manifests, without clocks, locks and threads. After a FencedError every call raises it again."""

    def __init__(self, files: Files, owner: Owner, retained: int) -> None:
        self._files, self._owner, self._retained = files, owner, retained
        self.epoch = 0
        self.newest: StepManifest | None = None
        self.pins: set[int] = set()
        self._held: Counter[int] = Counter()
        self._doubtful: StepManifest | None = None
        self._unchecked = False
        self._fenced: FencedError | None = None

    @property
    def version(self) -> int:
        return 0 if self.newest is None else self.newest.version

    @property
    def counting(self) -> tuple[int, ...]:
        return () if self.newest is None else (*self.newest.retained, self.newest.version)

    def take(self, after: int) -> None:
        """Become the owner: take the epoch after one, and seal what is there. Six requests."""
        self._files.owners.claim(self._owner, after + 1)
        self.epoch = after + 1
        self.check()
        self.pins = {version for version, _ in self._files.pins.pinned()}
        while True:
            self.newest = self._files.newest()
            if self.newest is not None and self.newest.epoch > self.epoch:
                raise self._fence(self.newest.epoch)
            if after == 0 and self.newest is None:  # nobody is there who could commit
                return
            if self._create(self._seal(self.newest)):
                break
        self.check()

    def _seal(self, newest: StepManifest | None) -> StepManifest:
        """The state that was found, as a checkpoint of its own. What it published is still to be published, perhaps."""
        if newest is None:
            newest = StepManifest(0, self._owner.job, "", self._owner.since)
        return self._stamped(replace(newest, version=newest.version + 1, sealed=True, step=newest.last_step))

    def _stamped(self, manifest: StepManifest) -> StepManifest:
        counting = self.counting
        newest = counting[-(self._retained - 1) :] if self._retained > 1 else ()
        kept = (self.pins | self._held.keys()) & set(counting)
        return replace(manifest, epoch=self.epoch, retained=tuple(sorted({*newest, *kept})))

    def _create(self, manifest: StepManifest) -> bool:
        self._doubtful, self._unchecked = manifest, True
        created = self._files.storage.create(self._files.path(manifest.version), encoded(manifest))
        if created:
            self.newest, self._doubtful = manifest, None
        return created

    def commit(self, manifest: StepManifest) -> StepManifest:
        """Commit a step. Returns the manifest as written; after an error :meth:`settled` says what holds."""
        self.settled()
        if manifest.version != self.version + 1:
            raise CheckpointDirectoryError(
                f"Checkpoint {manifest.version} cannot be committed: checkpoint {self.version} is the newest. Run the "
                "step again from that one."
            )
        known = set() if self.newest is None else {file.name for file in self.newest.state_files()}
        names = (file.name for file in manifest.state_files() if file.name not in known)
        self._files.storage.settle([join(self._files.state, name) for name in names])  # it outlives the manifest
        manifest = self._stamped(manifest)
        if not self._create(manifest) and self._resolve(manifest) != encoded(manifest):
            self.check()
            raise CheckpointDirectoryError(
                f"{self._files.path(manifest.version)!r} already exists, written by this run. Do two threads commit?"
            )
        self.check()
        return manifest

    def settled(self) -> StepManifest | None:
        """The manifest that the next step resumes from. If a write was left in doubt, it is settled first."""
        if self._fenced is not None:
            raise self._fenced
        doubtful = self._doubtful
        if doubtful is not None and not self._create(self._seal(self.newest)):
            self._resolve(doubtful)
        if self._unchecked:
            self.check()
        return self.newest

    def _resolve(self, wanted: StepManifest) -> bytes:
        """What is in the checkpoint that was to be written, by this driver, if an answer was lost, or another."""
        path = self._files.path(wanted.version)
        try:
            data = self._files.storage.get(path)
        except FileNotFoundError:  # so much older than what there is that it was removed
            self.check()
            raise CheckpointDirectoryError(f"{path!r} has disappeared: another process removes files there.") from None
        existing = decoded(data, wanted.version, path)
        if existing.epoch != self.epoch:
            raise self._fence(existing.epoch)
        self.newest, self._doubtful = existing, None
        return data

    def check(self) -> None:
        try:
            self._files.owners.check(self.epoch)
        except FencedError as error:
            self._fenced = error
            raise
        self._unchecked = False

    def _fence(self, by: int) -> FencedError:
        self._fenced = self._files.owners.fenced(max(by, self._files.owners.highest()))
        return self._fenced

    def pin(self, version: int, savepoint: str = "") -> None:
        """Keep a checkpoint until it is unpinned, or no savepoint needs it any more."""
        self.settled()
        if version not in self.counting:
            raise self._not_there(version, "pinned")
        if savepoint:  # first: a pin without it would stay for ever
            self._files.storage.create(self._files.pins.need(version, savepoint), b"")
        self._files.storage.create(self._files.pins.pin(version, self.epoch), b"")
        self.check()
        self.pins.add(version)

    def _not_there(self, version: int, what: str) -> CheckpointDirectoryError:
        return CheckpointDirectoryError(
            f"Checkpoint {version} cannot be {what}: it does not exist. These do: "
            f"{', '.join(map(str, self.counting)) or 'none'}."
        )

    def hold(self, version: int) -> None:
        """Keep a checkpoint, with all its files, until it is released as often. A successor knows nothing of it."""
        if version not in self.counting:
            raise self._not_there(version, "read")
        self._held[version] += 1

    def release(self, version: int) -> None:
        self._held[version] -= 1
        self._held += Counter[int]()  # without zeros

    def unpin(self, version: int) -> None:
        """Keep a checkpoint no longer than others. One that is not pinned is fine. What a successor pins stays."""
        self.settled()
        pins = self._files.pins
        paths = [pins.pin(*pinned) for pinned in pins.pinned() if pinned[0] == version and pinned[1] <= self.epoch]
        self._files.storage.delete(paths)
        self.pins.discard(version)

    def free_pins(self) -> None:
        """Unpin checkpoints that were pinned for savepoints that were all removed."""
        over = list(self._files.pins.over())
        if over:
            self.check()
        for version, files in over:
            self._files.storage.delete(files)
            self.pins.discard(version)
