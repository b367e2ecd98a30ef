"""Operator state: what belongs to a subtask and not to a key.

A *list* is dealt out to the subtasks when their number changes, a *union* list goes to each of them whole, of a
*broadcast* map each gets one copy. A snapshot is bytes per state name.

Source of the semantics: ``DefaultOperatorStateBackend`` (Flink 1.11); who gets what: :mod:`.redistribution`. Cost:
O(elements).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

from penstock.runtime.buffers.codec import decode_value, dumps
from penstock.runtime.state.classes import Noted
from penstock.runtime.state.redistribution import BROADCAST, SPLIT, UNION, shares


class OperatorState:
    """All operator state of an operator's subtask.

    Attributes:
        noted: the classes of what was written.
        rewrite: whether all of it is to be written next time, as something is not what it was in files.
        infos: what the broadcast states are, by name.
        notes: what has become of entries that were not what is asked for, and of how many.
        forms: what files say of those that nobody has asked for yet.
    """

    def __init__(self) -> None:
        self.noted: Noted = Noted()
        self.rewrite: bool = False
        self.notes: Counter[str] = Counter()
        self.infos: dict[str, Any] = {}
        self.forms: dict[str, Any] = {}
        self._states: dict[tuple[str, str], Any] = {}
        self._known: dict[tuple[str, str], bytes] = {}  # checksums of what has been written down

    @property
    def is_there(self) -> bool:
        """Whether there is any, be it empty."""
        return bool(self._states)

    @property
    def has_elements(self) -> bool:
        """Whether a list or a map of it has any."""
        return any(self._states.values())

    def list(self, name: str, *, union: bool = False) -> list[Any]:
        """The elements of a list state; the same object each time.

        Args:
            name: unique per operator and kind.
            union: each subtask restores the elements of all.
        """
        return self._states.setdefault((UNION if union else SPLIT, name), [])

    def broadcast(self, name: str) -> dict[Any, Any]:
        """The map of a broadcast state; the same object each time."""
        return self._states.setdefault((BROADCAST, name), {})

    def remove(self, kind: str, name: str) -> None:
        """Forget a state."""
        self._states.pop((kind, name), None)

    def snapshot(self) -> dict[tuple[str, str], bytes]:
        """Everything as bytes, by (kind, name)."""
        return {place: self.noted.dumps(value) for place, value in self._states.items()}

    def changed(self) -> dict[tuple[str, str], bytes]:
        """What is not as it was last written down (:meth:`written`), as of :meth:`snapshot`; empty lists that never
        were are not there. An empty map is: who has one does not take another's copy. O(elements)."""
        nothing = dumps([])
        return {
            place: data
            for place, data in self.snapshot().items()
            if _checksum(data) != self._known.get(place) and (place in self._known or data != nothing)
        }

    def written(self, places: Mapping[tuple[str, str], bytes]) -> None:
        """These have been written down.

        Args:
            places: what :meth:`snapshot` or :meth:`changed` has given, or what it was restored from.
        """
        self._known.update((place, _checksum(data)) for place, data in places.items())

    def forget_written(self) -> None:
        """Nothing of it counts as written down."""
        self._known.clear()

    def replace(self, snapshot: Mapping[tuple[str, str], bytes]) -> None:
        """These states are now what they were in a snapshot; the objects that hold them stay.

        Args:
            snapshot: bytes by (kind, name).
        """
        for (kind, name), data in snapshot.items():
            if kind == BROADCAST:
                entries = self.broadcast(name)
                entries.clear()
                entries.update(decode_value(data))
            else:
                self.list(name, union=kind == UNION)[:] = decode_value(data)

    def restore(
        self,
        snapshots: Sequence[Mapping[tuple[str, str], bytes]],
        parallelism: int,
        subtask: int,
        *,
        flink: str = "1.11",
    ) -> None:
        """Take over this subtask's part of what the subtasks of a snapshot had. Where there are as many as then, it is
        what this one had, which counts as written, and the union lists of all.

        Args:
            snapshots: of all subtasks then, in order; nothing for those that had nothing.
            parallelism: number of subtasks now.
            subtask: this one.
            flink: whose rules hold, as for :func:`~.redistribution.shares`.
        """
        values = [{place: decode_value(data) for place, data in each.items()} for each in snapshots]
        counts = [
            {place: 1 if place[0] == BROADCAST else len(value) for place, value in each.items()} for each in values
        ]
        for old, (kind, name), elements in shares(counts, parallelism, subtask, flink=flink):
            value = values[old][kind, name]
            if kind == BROADCAST:
                self.broadcast(name).update(value)
            else:
                self.list(name, union=kind == UNION).extend(value[elements.start : elements.stop])
        if len(snapshots) == parallelism:
            self.written(snapshots[subtask])


def _checksum(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()
