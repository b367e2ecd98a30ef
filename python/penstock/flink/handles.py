"""State handles: the places of pieces of state, as recorded in ``_metadata``.

``type`` is the simple name of Flink's class, ``size`` the result of Flink's ``getStateSize`` in bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class StreamHandle:
    """Bytes, a file, or a part of a file."""

    type: str
    size: int
    data: bytes | None = field(default=None, repr=False)
    name: str | None = None
    file: str | None = None
    path: str | None = None
    start: int | None = None
    scope: str | None = None


@dataclass(frozen=True)
class StatePlaces:
    """The offsets of the elements of an operator state."""

    mode: str
    offsets: tuple[int, ...]


@dataclass(frozen=True)
class OperatorHandle:
    """Operator state of a subtask: lists, union lists, broadcast."""

    type: str
    states: Mapping[str, StatePlaces]
    delegate: StreamHandle

    @property
    def size(self) -> int:
        return self.delegate.size


@dataclass(frozen=True)
class KeyGroupsHandle:
    """Keyed state of a subtask in one file."""

    type: str
    key_groups: tuple[int, int]
    offsets: tuple[int, ...]
    delegate: StreamHandle

    @property
    def size(self) -> int:
        return self.delegate.size


@dataclass(frozen=True)
class IncrementalHandle:
    """Keyed state as RocksDB's files."""

    type: str
    key_groups: tuple[int, int]
    backend_id: str
    checkpoint_id: int
    meta: StreamHandle
    shared: Mapping[str, StreamHandle]
    private: Mapping[str, StreamHandle]

    @property
    def size(self) -> int:
        return self.meta.size + sum(file.size for part in (self.shared, self.private) for file in part.values())


@dataclass(frozen=True)
class ChangesHandle:
    """Changes of keyed state since the last materialization, in memory or in files."""

    type: str
    key_groups: tuple[int, int]
    size: int


@dataclass(frozen=True)
class ChangelogHandle:
    """Keyed state as the last materialization and the changes since."""

    type: str
    key_groups: tuple[int, int]
    checkpoint_id: int
    materialization_id: int
    materialized: tuple[KeyedHandle, ...]
    changes: tuple[KeyedHandle, ...]

    @property
    def size(self) -> int:
        return sum(part.size for part in (*self.materialized, *self.changes))


KeyedHandle = KeyGroupsHandle | IncrementalHandle | ChangelogHandle | ChangesHandle
