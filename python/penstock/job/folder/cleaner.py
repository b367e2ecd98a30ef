"""The removal of manifests and state files that no kept checkpoint needs.

**What is garbage.** Right behind a checkpoint, and behind a failure, no file may still be committed. So a file that a
listing shows *before the next step*, and no kept checkpoint names, is garbage for good, even if a late task writes to
it once more. That holds for the owner of the folder only: so after the listing, and before anything is removed, the
driver looks whether it is still the owner. A successor that comes later writes files that were not in the listing, and
resumes from what this driver keeps.

**Costs.** The files of a checkpoint that falls out are removed without a listing. What failed steps leave is found by a
listing, one in :data:`SWEEP` steps, and after each failure."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator

from penstock.errors import CheckpointDirectoryError
from penstock.job.folder.files import COMMITTED, MANIFEST, Files
from penstock.job.folder.writer import Writer
from penstock.storage.storage import join

SWEEP = 100  # clean-ups of which one lists the folder

_TEMPORARY = re.compile(r".+\.[0-9a-f]{32}\.tmp")
_MADE_ONCE = ("job.json.", f"{COMMITTED}.")
_STATE = re.compile(r"(ended-[0-9a-f]{32}|[0-9a-f]{32}-[-.\w]+)(\.[0-9a-f]{32}\.tmp)?")
"""Names of state files; nothing else is removed there."""


class Cleaner:
    """Removes what no kept checkpoint names. ``passed``: state files of steps between two checkpoints."""

    def __init__(self, files: Files, writer: Writer) -> None:
        self._files, self._writer = files, writer
        self._named: dict[int, frozenset[str] | None] = {}
        self._calls = 0
        self.passed: set[str] = set()

    def failed(self) -> None:
        self._calls = 0

    def clean(self) -> int:
        """Remove unneeded files, right behind a checkpoint or a failure. Returns how many. It can be repeated."""
        garbage = self._garbage()
        for path in garbage:
            self._files.storage.delete([path])
        return len(garbage)

    def _garbage(self) -> list[str]:
        self._writer.settled()
        sweeps = self._calls % SWEEP == 0
        if sweeps:
            self._writer.free_pins()
        kept = self._kept()
        garbage = self._fallen_out(kept)
        if sweeps:
            garbage += self._swept(kept)
            self._writer.check()  # after the listing: see above
        self._calls += 1
        return list(dict.fromkeys(garbage))

    def _kept(self) -> frozenset[str] | None:
        """The names of state files that are needed; None if that cannot be told."""
        for version in self._writer.counting:
            if version not in self._named:
                self._named[version] = self._names(version)
        names = [self._named[version] for version in self._writer.counting]
        return None if None in names else frozenset().union(*(known for known in names if known is not None))

    def _names(self, version: int) -> frozenset[str] | None:
        newest = self._writer.newest
        try:
            manifest = newest if newest is not None and newest.version == version else self._files.load(version)
        except FileNotFoundError:  # taken away by hand
            return frozenset()
        except CheckpointDirectoryError as error:
            message = f"No state is removed, because it is unknown what checkpoint {version} needs. {error}"
            warnings.warn(message, stacklevel=2)
            return None
        return frozenset(manifest.files())

    def _fallen_out(self, kept: frozenset[str] | None) -> list[str]:
        """Manifests that do not count any more, then the files that only they have named."""
        counting = set(self._writer.counting)
        out = {version: self._named.pop(version) for version in set(self._named) - counting}
        manifests = [self._files.path(version) for version in sorted(out)]
        if kept is None:
            return manifests
        passed, self.passed = self.passed, set()
        names = passed.union(*(known for known in out.values() if known is not None)) - kept
        return manifests + [join(self._files.state, name) for name in sorted(names)]

    def _swept(self, kept: frozenset[str] | None) -> Iterator[str]:
        """The listed files of checkpoints that have fallen out, and of steps and drivers that failed or came late."""
        files, counting, newest = self._files, set(self._writer.counting), self._writer.version
        for path, name in self._listed(files.manifests):
            match = MANIFEST.fullmatch(name)
            if _TEMPORARY.fullmatch(name) or (match and int(match[1]) < newest and int(match[1]) not in counting):
                yield path
        pins = files.pins.entries()
        yield from (path for path, _, version, _ in pins if version < newest and version not in counting)
        if kept is not None:
            yield from (path for path, name in self._listed(files.state) if name not in kept and _STATE.fullmatch(name))
        yield from files.owners.outdated(self._writer.epoch, files.owners.names())
        for path, name in self._listed(files.place):
            if name.startswith(_MADE_ONCE) and _TEMPORARY.fullmatch(name):
                yield path

    def _listed(self, folder: str) -> Iterator[tuple[str, str]]:
        for entry in self._files.storage.list(folder):
            yield entry.path, entry.path.rpartition("/")[2]
