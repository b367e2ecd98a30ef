"""Operator state, which belongs to a subtask and not to a key: lists that are split among new subtasks, union lists
that each gets whole, broadcast maps that each gets a copy of. Source: ``DefaultOperatorStateBackend`` (Flink 1.11)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from penstock.runtime.buffers.codec import decode_value, dumps
from penstock.runtime.state.classes import Noted
from penstock.runtime.state.redistribution import BROADCAST, SPLIT, UNION, shares


class OperatorState:
    """All operator state of an operator's subtask."""

    def __init__(self) -> None:
        self.noted: Noted = Noted()
        self.rewrite: bool = False
        self.notes: Counter[str] = Counter()
        self.infos: dict[str, Any] = {}
        self.forms: dict[str, Any] = {}
        self.lost: dict[str, str] = {}
        self._states: dict[tuple[str, str], Any] = {}
        self._known: dict[tuple[str, str], bytes] = {}  # checksums of what is in files

    @property
    def is_there(self) -> bool:
        return bool(self._states)

    @property
    def has_elements(self) -> bool:
        return any(self._states.values())

    def list(self, name: str, *, union: bool = False) -> list[Any]:
        return self._states.setdefault((UNION if union else SPLIT, name), [])

    def broadcast(self, name: str) -> dict[Any, Any]:
        return self._states.setdefault((BROADCAST, name), {})

    def places(self, name: str) -> Collection[Any]:
        return self._states.get((BROADCAST, name), ())

    def rename(self, old: str, new: str) -> None:
        self.broadcast(new).update(self._states.pop((BROADCAST, old)))

    def snapshot(self) -> dict[tuple[str, str], bytes]:
        """All states as bytes, by (kind, name)."""
        return {place: self.noted.dumps(value) for place, value in self._states.items()}

    def changed(self) -> dict[tuple[str, str], bytes]:
        """The states that differ from the last file; without lists that are empty and never were written."""
        nothing = dumps([])
        return {
            place: data
            for place, data in self.snapshot().items()
            if _checksum(data) != self._known.get(place) and (place in self._known or data != nothing)
        }

    def written(self, places: Mapping[tuple[str, str], bytes]) -> None:
        self._known.update((place, _checksum(data)) for place, data in places.items())

    def forget_written(self) -> None:
        self._known.clear()

    def replace(self, snapshot: Mapping[tuple[str, str], bytes]) -> None:
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
        values = [{place: decode_value(data) for place, data in snapshot.items()} for snapshot in snapshots]
        counts = [{at: 1 if at[0] == BROADCAST else len(value) for at, value in states.items()} for states in values]
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
