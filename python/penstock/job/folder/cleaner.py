"""The removal of what no checkpoint needs that is kept: manifests and state files.

**What is garbage.** Right behind a checkpoint, and behind a failure, there is no file that may still be committed:
whatever a task writes or has written for a step that is over or was given up, no manifest will name it. So a file that
a listing shows *before the next step*, and no kept checkpoint names, is garbage for good, even if a late task writes to
it once more. That holds for the owner of the folder only, as its successor has steps of its own: so after the listing,
and before anything is removed, the driver looks whether it is still the owner. A successor that comes later writes
files that were not in the listing, and resumes from what this driver keeps.

**Costs.** The files of a checkpoint that falls out are known, and are removed without a listing. What steps leave that
have failed is found by a listing, one in :data:`SWEEP` steps, and after each failure.
"""

from __future__ import annotations

import re
import warnings

from penstock.errors import JobFolderError
from penstock.job.folder.files import COMMITTED, MANIFEST, Files
from penstock.job.folder.writer import Writer
from penstock.storage.storage import join

SWEEP = 100
"""Clean-ups of which one lists the folder."""

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
        self._writer.settled()
        sweeps = self._calls % SWEEP == 0
        if sweeps:
            self._writer.free_pins()
        kept = self._kept()
        garbage = self._fallen_out(kept)
        if sweeps:
            owners = self._files.owners
            garbage += [*self._old_manifests(), *self._old_state(kept)]
            garbage += [*owners.outdated(self._writer.epoch, owners.names()), *self._unfinished()]
            self._writer.check()  # after the listing: see above
        self._calls += 1
        garbage = list(dict.fromkeys(garbage))
        for path in garbage:
            self._files.storage.delete([path])
        return len(garbage)

    def _kept(self) -> frozenset[str] | None:
        """The names of state files that are needed; None if that cannot be told."""
        for version in self._writer.counting:
            if version not in self._named:
                self._named[version] = self._names(version)
        names = [self._named[version] for version in self._writer.counting]
        return None if None in names else frozenset().union(*(each for each in names if each is not None))

    def _names(self, version: int) -> frozenset[str] | None:
        newest = self._writer.newest
        try:
            found = newest if newest is not None and newest.version == version else self._files.load(version)
        except FileNotFoundError:  # taken away by hand
            return frozenset()
        except JobFolderError as error:
            message = f"No state is removed, because it is unknown what checkpoint {version} needs. {error}"
            warnings.warn(message, stacklevel=2)
            return None
        return frozenset(found.files())

    def _fallen_out(self, kept: frozenset[str] | None) -> list[str]:
        """Manifests that do not count any more, then the files that only they have named."""
        counting = set(self._writer.counting)
        out = {version: self._named.pop(version) for version in set(self._named) - counting}
        manifests = [self._files.path(version) for version in sorted(out)]
        if kept is None:
            return manifests
        passed, self.passed = self.passed, set()
        names = passed.union(*(each for each in out.values() if each is not None)) - kept
        return manifests + [join(self._files.state, name) for name in sorted(names)]

    def _old_manifests(self) -> list[str]:
        """Of checkpoints that have fallen out, and of a driver that came too late."""
        counting, newest = set(self._writer.counting), self._writer.version
        found: list[str] = []
        for entry in self._files.storage.list(self._files.manifests):
            name = entry.path.rpartition("/")[2]
            match = MANIFEST.fullmatch(name)
            if _TEMPORARY.fullmatch(name) or (match and int(match[1]) < newest and int(match[1]) not in counting):
                found.append(entry.path)
        said = self._files.pins.there()
        return found + [path for path, _, version, _ in said if version < newest and version not in counting]

    def _old_state(self, kept: frozenset[str] | None) -> list[str]:
        if kept is None:
            return []
        paths = (entry.path for entry in self._files.storage.list(self._files.state))
        names = ((path, path.rpartition("/")[2]) for path in paths)
        return [path for path, name in names if name not in kept and _STATE.fullmatch(name)]

    def _unfinished(self) -> list[str]:
        """What is left of a driver that died while it wrote a file that a folder has once."""
        paths = (entry.path for entry in self._files.storage.list(self._files.place))
        names = ((path, path.rpartition("/")[2]) for path in paths)
        return [path for path, name in names if name.startswith(_MADE_ONCE) and _TEMPORARY.fullmatch(name)]
