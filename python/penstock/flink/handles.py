"""State handles: where the bytes of a piece of state are, as ``_metadata`` says it.

``type`` is the simple name of Flink's class. ``size`` is what Flink's ``getStateSize`` gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class StreamHandle:
    """Bytes, or a file, or a piece of one.

    Attributes:
        type: Flink's class.
        size: in bytes.
        data: the bytes, if they lie in the metadata.
        name: the label of such bytes; it need not exist as a file.
        file: a path relative to the folder of the metadata.
        path: an absolute one.
        start: of a piece, in its file.
        scope: of such a piece: ``EXCLUSIVE`` or ``SHARED``.
    """

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
    """Where the elements of an operator state are.

    Attributes:
        mode: ``SPLIT_DISTRIBUTE``, ``UNION`` or ``BROADCAST``.
        offsets: of its elements, from the start of the file.
    """

    mode: str
    offsets: tuple[int, ...]


@dataclass(frozen=True)
class OperatorHandle:
    """Operator state of a subtask: lists, union lists, broadcast.

    Attributes:
        type: Flink's class.
        states: by name, in the order of the file.
        delegate: where the bytes are.
    """

    type: str
    states: Mapping[str, StatePlaces]
    delegate: StreamHandle

    @property
    def size(self) -> int:
        """In bytes."""
        return self.delegate.size


@dataclass(frozen=True)
class KeyGroupsHandle:
    """Keyed state of a subtask in one file.

    Attributes:
        type: Flink's class.
        key_groups: the first and the last.
        offsets: one for each key group.
        delegate: where the bytes are.
    """

    type: str
    key_groups: tuple[int, int]
    offsets: tuple[int, ...]
    delegate: StreamHandle

    @property
    def size(self) -> int:
        """In bytes."""
        return self.delegate.size


@dataclass(frozen=True)
class IncrementalHandle:
    """Keyed state as files of RocksDB.

    Attributes:
        type: Flink's class.
        key_groups: the first and the last.
        backend_id: of the state backend that wrote it.
        checkpoint_id: with which.
        meta: where the names and types of the states are.
        shared, private: its files, by name.
    """

    type: str
    key_groups: tuple[int, int]
    backend_id: str
    checkpoint_id: int
    meta: StreamHandle
    shared: Mapping[str, StreamHandle]
    private: Mapping[str, StreamHandle]

    @property
    def size(self) -> int:
        """In bytes, of all its files."""
        return self.meta.size + sum(file.size for part in (self.shared, self.private) for file in part.values())


@dataclass(frozen=True)
class ChangesHandle:
    """Changes of keyed state since the last materialization, in memory or in files.

    Attributes:
        type: Flink's class.
        key_groups: the first and the last.
        size: in bytes.
    """

    type: str
    key_groups: tuple[int, int]
    size: int


@dataclass(frozen=True)
class ChangelogHandle:
    """Keyed state as what was materialized last, and the changes since.

    Attributes:
        type: Flink's class.
        key_groups: the first and the last.
        checkpoint_id: with which it was written.
        materialization_id: of the last one.
        materialized, changes: its parts.
    """

    type: str
    key_groups: tuple[int, int]
    checkpoint_id: int
    materialization_id: int
    materialized: tuple[KeyedHandle, ...]
    changes: tuple[KeyedHandle, ...]

    @property
    def size(self) -> int:
        """In bytes, of all its parts."""
        return sum(part.size for part in (*self.materialized, *self.changes))


KeyedHandle = KeyGroupsHandle | IncrementalHandle | ChangelogHandle | ChangesHandle
