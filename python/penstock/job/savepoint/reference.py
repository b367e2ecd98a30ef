"""Where the state files are of a savepoint that has none of its own: in the checkpoint directory that it was taken of,
named by the way that leads there, so that both can be moved together."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from penstock.storage.storage import is_local, join

_JOB = re.compile(r"[0-9a-f]{32}", re.ASCII)
_MOST = 4096


@dataclass(frozen=True)
class Reference:
    """Where state files are."""

    job: str  # the id in ``job.json`` of the checkpoint directory
    way: str  # from the savepoint's folder to it, as ``../../jobs/counts``

    def place(self, savepoint: str) -> str:
        """The checkpoint directory."""
        root, parts = _parts(savepoint)
        for step in self.way.split("/"):
            if step == "..":
                if not parts:
                    raise ValueError(f"the path {self.way!r} to its state leaves its storage")
                parts.pop()
            else:
                parts.append(step)
        return root + "/".join(parts)

    @classmethod
    def between(cls, savepoint: str, folder: str, job: str) -> Reference | None:
        """The one that leads from a savepoint to a checkpoint directory; None if they are not on the same storage."""
        (root, here), (other, there) = _parts(savepoint), _parts(folder)
        if root != other:
            return None
        same = 0
        while same < min(len(here), len(there)) and here[same] == there[same]:
            same += 1
        return cls(job, "/".join([".."] * (len(here) - same) + there[same:]))

    @classmethod
    def read(cls, said: Any) -> Reference:
        """The one that a savepoint says."""
        found = cls(**said) if isinstance(said, Mapping) else None
        if found is None or type(found.job) is not str or type(found.way) is not str:
            raise ValueError("the place of its state is not a text")
        steps = found.way.split("/")
        ups = next((index for index, step in enumerate(steps) if step != ".."), len(steps))
        names = steps[ups:]
        odd = any(not name or name in (".", "..") or "\0" in name or "\\" in name for name in names)
        if not names or odd or len(found.way) > _MOST or _JOB.fullmatch(found.job) is None:
            raise ValueError(
                f"the path to its state is {found.way[:80]!r}, of the checkpoint directory {found.job[:40]!r}"
            )
        return found


def _parts(place: str) -> tuple[str, list[str]]:
    """What comes before all names, with the bucket of a store; and the names."""
    if is_local(place):
        return "/", [name for name in place.split("/") if name]
    scheme, _, rest = place.partition("://")
    bucket, _, path = rest.partition("/")
    if scheme == "memory":
        return "memory://", [name for name in rest.split("/") if name]
    return f"{scheme}://{bucket}/", [name for name in path.split("/") if name]


def state_of(place: str, reference: Reference | None) -> str:
    """The folder with the state files of a savepoint."""
    return join(place if reference is None else reference.place(place), "state")
