"""Which versions of a job folder are kept beyond their time, and for which savepoints.

In the folder ``pins``:

- ``pin-V-EPOCH``: version V is kept, as the driver with an epoch said. This alone is what keeps it.
- ``for-V-SAVEPOINT``: for a savepoint that has no files of its own. Written before the pin.
- ``free-V-SAVEPOINT``: that savepoint was removed. Anybody may write it.

Only the owner of the folder removes any of them, and a pin that was set for savepoints goes when all of these are free.
So nobody who removes a savepoint can take a version away from another one that is being taken.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from penstock.runtime.io.storage import Storage, join

_NAME = re.compile(r"(pin|for|free)-(\d+)-(\d+|[0-9a-f]{32})")


class Pins:
    """The pins of a job folder.

    Args:
        storage: of it.
        folder: the one of its pins.
    """

    def __init__(self, storage: Storage, folder: str) -> None:
        self._storage, self._folder = storage, folder

    def pin(self, version: int, epoch: int) -> str:
        """Where the driver with an epoch says that a version is kept."""
        return join(self._folder, f"pin-{version}-{epoch}")

    def need(self, version: int, savepoint: str) -> str:
        """Where it says that a savepoint needs a version."""
        return join(self._folder, f"for-{version}-{savepoint}")

    def free(self, version: int, savepoint: str) -> None:
        """Say that a savepoint does not need a version any more. It can be repeated."""
        self._storage.create(join(self._folder, f"free-{version}-{savepoint}"), b"")

    def there(self) -> list[tuple[str, str, int, str]]:
        """All that is there: path, kind, version, and epoch or savepoint. One listing."""
        paths = [entry.path for entry in self._storage.list(self._folder)]
        found = [(path, _NAME.fullmatch(path.rpartition("/")[2])) for path in paths]
        return [(path, match[1], int(match[2]), match[3]) for path, match in found if match]

    def pinned(self) -> list[tuple[int, int]]:
        """The versions that are pinned, each with the epoch of who said so. One listing."""
        return [(version, int(by)) for _, kind, version, by in self.there() if kind == "pin"]

    def over(self) -> Iterator[tuple[int, list[str]]]:
        """The versions that were pinned for savepoints all of which were removed, and the files to remove, the pins
        first. One listing."""
        found: dict[int, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
        for path, kind, version, by in self.there():
            found[version][kind][by] = path
        for version, kinds in found.items():
            if kinds["pin"] and kinds["for"] and kinds["for"].keys() <= kinds["free"].keys():
                yield version, [path for kind in ("pin", "for", "free") for path in kinds[kind].values()]
