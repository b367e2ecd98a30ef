"""State handles: the places of pieces of state, as recorded in ``_metadata``, and their reader.

``type`` is the simple name of Flink's class, ``size`` the result of Flink's ``getStateSize`` in bytes. A handle is a
byte for the kind, then its fields. 1.11 knows the tags 0 to 6, 2.3 all of them. A file that nests handles too deep is
refused, where Java would run out of stack.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from penstock.flink.cursor import (
    ILLEGAL_ARGUMENT,
    ILLEGAL_STATE,
    IO,
    NEGATIVE_SIZE,
    NULL_POINTER,
    OUT_OF_BOUNDS,
    Cursor,
)

MODES = {"SPLIT_DISTRIBUTE": "list", "UNION": "union list", "BROADCAST": "broadcast"}
"""The modes of operator state, in the order of their numbers, and what such state is for people."""
SCOPES = ("EXCLUSIVE", "SHARED")
DEEPEST = 20
_LAST_OLD_TAG = 6
_NULL, _BYTES, _FILE, _KEY_GROUPS, _OPERATOR, _INCREMENTAL, _RELATIVE, _SAVEPOINT_KEY_GROUPS = range(8)
_CHANGELOG, _CHANGES, _CHANGES_IN_FILES, _INCREMENTAL_2, _KEY_GROUPS_2, _CHANGES_IN_FILES_2, _CHANGELOG_2 = range(8, 15)
_SEGMENT, _EMPTY_SEGMENT, _MERGED_OPERATOR = range(15, 18)


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


class HandleReader:
    """Reads handles as one version of Flink does."""

    def __init__(self, cursor: Cursor, flink: str) -> None:
        self._cursor = cursor
        self._old = flink == "1.11"
        self.later = False

    def _tag(self, what: str) -> int:
        """A kind, or -1 if this version does not know it."""
        tag = self._cursor.byte(f"the kind of {what}")
        self.later = self.later or tag > _LAST_OLD_TAG
        return -1 if self._old and tag > _LAST_OLD_TAG else tag

    def _unknown(self, what: str, message: str, flink_class: str) -> NoReturn:
        cursor = self._cursor
        cursor.at -= 1
        code = int.from_bytes(cursor.data[cursor.at : cursor.at + 1], signed=True, byteorder="big")
        cursor.fail(f"the kind of {what} is {code}, which this Flink does not know", flink_class, f"{message}{code}")

    def stream(self, what: str, depth: int = 0) -> StreamHandle | None:
        cursor, tag = self._cursor, self._tag(what)
        if tag == _NULL:
            return None
        if tag in (_KEY_GROUPS, _KEY_GROUPS_2):
            keyed = self._key_groups(tag, what, self._deeper(depth))
            return StreamHandle(keyed.type, keyed.size, keyed.delegate.data, keyed.delegate.name)
        if tag == _EMPTY_SEGMENT:
            return StreamHandle("EmptySegmentFileStateHandle", 0, path="empty", start=0, scope=SCOPES[0])
        if tag == _BYTES:
            name = cursor.utf(f"the name of {what}")
            data = cursor.take(cursor.count(f"the size of {what}"), f"the bytes of {what}")
            return StreamHandle("ByteStreamStateHandle", len(data), data, name)
        if tag == _FILE:
            size = cursor.long(f"the size of {what}")
            return StreamHandle("FileStateHandle", size, path=cursor.utf(f"the path of {what}"))
        if tag == _RELATIVE:
            file = cursor.utf(f"the file of {what}")
            return StreamHandle("RelativeFileStateHandle", cursor.long(f"the size of {what}"), file=file)
        if tag != _SEGMENT:
            self._unknown(what, "Unknown implementation of StreamStateHandle, code: ", IO)
        start, size = cursor.long(f"the start of {what}"), cursor.long(f"the size of {what}")
        scope = self._choice(SCOPES, cursor.int(f"the scope of {what}"), f"the scope of {what}")
        path = cursor.utf(f"the path of {what}")
        cursor.utf(f"the id of {what}")
        return StreamHandle("SegmentFileStateHandle", size, path=path, start=start, scope=scope)

    def _choice(self, choices: Collection[str], index: int, what: str) -> str:
        if not 0 <= index < len(choices):
            message = f"Index {index} out of bounds for length {len(choices)}"
            self._cursor.fail(f"{what} is {index}", OUT_OF_BOUNDS, message)
        return tuple(choices)[index]

    def _deeper(self, depth: int) -> int:
        if depth >= DEEPEST:
            self._cursor.fail(f"handles are nested more than {DEEPEST} deep", "java.lang.StackOverflowError")
        return depth + 1

    def _required(self, what: str, depth: int) -> StreamHandle:
        """A stream handle that Flink requires."""
        handle = self.stream(what, depth)
        if handle is None:
            self._cursor.fail(f"{what} is missing where there must be one", NULL_POINTER)
        return handle

    def operator(self, what: str) -> OperatorHandle | None:
        cursor, tag = self._cursor, self._tag(what)
        if tag == _NULL:
            return None
        if tag not in (_OPERATOR, _MERGED_OPERATOR):
            self._unknown(what, "Reading invalid OperatorStateHandle, type: ", ILLEGAL_STATE)
        number = cursor.int(f"the number of states of {what}")
        if number < 0:
            message = f"Illegal initial capacity: {number}"
            cursor.fail(f"the number of states of {what} is {number}", ILLEGAL_ARGUMENT, message)
        states: dict[str, StatePlaces] = {}
        for _ in range(number):
            name = cursor.utf("the name of an operator state")
            mode = self._choice(MODES, cursor.byte(f"the mode of state {name!r}"), f"the mode of state {name!r}")
            count = cursor.count(f"the number of elements of state {name!r}")
            states[name] = StatePlaces(mode, cursor.longs(count, f"the offsets of state {name!r}"))
        kind = "OperatorStreamStateHandle"
        if tag == _MERGED_OPERATOR:
            cursor.utf("the folder of the task")
            cursor.utf("the folder of the shared state")
            kind = f"{'Empty' if cursor.bool('whether there is state') else ''}FileMerging{kind}"
        return OperatorHandle(kind, states, self._required(f"the file of {what}", 0))

    def keyed(self, what: str, depth: int = 0) -> KeyedHandle | None:
        tag = self._tag(what)
        if tag == _NULL:
            return None
        deeper = self._deeper(depth)
        if tag in (_KEY_GROUPS, _SAVEPOINT_KEY_GROUPS, _KEY_GROUPS_2):
            return self._key_groups(tag, what, deeper)
        if tag in (_INCREMENTAL, _INCREMENTAL_2):
            return self._incremental(tag, what, deeper)
        if tag in (_CHANGELOG, _CHANGELOG_2):
            return self._changelog(tag, what, deeper)
        if tag == _CHANGES:
            return self._changes(what)
        if tag not in (_CHANGES_IN_FILES, _CHANGES_IN_FILES_2):
            self._unknown(what, "Reading invalid KeyedStateHandle, type: ", ILLEGAL_STATE)
        return self._changes_in_files(tag, what, deeper)

    def _range(self, what: str) -> tuple[tuple[int, int], int]:
        """A range of key groups, and its length."""
        cursor = self._cursor
        first = cursor.int(f"the first key group of {what}")
        count = cursor.int(f"the number of key groups of {what}")
        if count <= 0:
            return (0, -1), count
        if first < 0:
            cursor.fail(f"the first key group of {what} is {first}", ILLEGAL_ARGUMENT)
        return (first, first + count - 1), count

    def _key_groups(self, tag: int, what: str, depth: int) -> KeyGroupsHandle:
        cursor = self._cursor
        key_groups, count = self._range(what)
        if count < 0:
            cursor.fail(f"the number of key groups of {what} is {count}", NEGATIVE_SIZE, str(count))
        offsets = cursor.longs(count, f"the offsets of the key groups of {what}")
        delegate = self._required(f"the file of {what}", depth)
        if tag == _KEY_GROUPS_2:
            cursor.utf(f"the id of {what}")
        kind = "KeyGroupsSavepointStateHandle" if tag == _SAVEPOINT_KEY_GROUPS else "KeyGroupsStateHandle"
        return KeyGroupsHandle(kind, key_groups, offsets, delegate)

    def _incremental(self, tag: int, what: str, depth: int) -> IncrementalHandle:
        cursor = self._cursor
        checkpoint = cursor.long(f"the checkpoint of {what}")
        backend = cursor.utf(f"the backend of {what}")
        key_groups, _ = self._range(what)
        if tag == _INCREMENTAL_2:
            cursor.long(f"the checkpointed size of {what}")
        meta = self._required(f"the description of {what}", depth)
        shared, private = self._files(what, depth), self._files(what, depth)
        if tag == _INCREMENTAL_2:
            cursor.utf(f"the id of {what}")
        kind = "IncrementalRemoteKeyedStateHandle"
        return IncrementalHandle(kind, key_groups, backend, checkpoint, meta, shared, private)

    def _files(self, what: str, depth: int) -> dict[str, StreamHandle]:
        cursor = self._cursor
        count = cursor.int(f"the number of files of {what}")
        files: dict[str, StreamHandle] = {}
        for _ in range(count):
            name = cursor.utf(f"the name of a file of {what}")
            files[name] = self._required(f"file {name!r} of {what}", depth)
        return files

    def _changelog(self, tag: int, what: str, depth: int) -> ChangelogHandle:
        cursor = self._cursor
        key_groups, _ = self._range(what)
        cursor.long(f"the checkpointed size of {what}")
        materialized, changes = self._parts(what, depth), self._parts(what, depth)
        materialization = cursor.long(f"the materialization of {what}")
        checkpoint = cursor.long(f"the checkpoint of {what}") if tag == _CHANGELOG_2 else materialization
        cursor.utf(f"the id of {what}")
        kind = "ChangelogStateBackendHandleImpl"
        return ChangelogHandle(kind, key_groups, checkpoint, materialization, materialized, changes)

    def _parts(self, what: str, depth: int) -> tuple[KeyedHandle, ...]:
        count = self._cursor.int(f"the number of parts of {what}")
        parts = (self.keyed(f"a part of {what}", depth) for _ in range(count))
        return tuple(part for part in parts if part is not None)

    def _changes(self, what: str) -> ChangesHandle:
        cursor = self._cursor
        key_groups, _ = self._range(what)
        cursor.long(f"the first change of {what}")
        cursor.long(f"the last change of {what}")
        size = 0
        for _ in range(cursor.int(f"the number of changes of {what}")):
            cursor.int(f"the key group of a change of {what}")
            size += len(cursor.take(cursor.count(f"the size of a change of {what}"), f"a change of {what}"))
        cursor.utf(f"the id of {what}")
        return ChangesHandle("InMemoryChangelogStateHandle", key_groups, size)

    def _changes_in_files(self, tag: int, what: str, depth: int) -> ChangesHandle:
        cursor = self._cursor
        key_groups, _ = self._range(what)
        for _ in range(cursor.int(f"the number of files of {what}")):
            cursor.long(f"where the changes of {what} begin")
            self.stream(f"a file of {what}", depth)
        size = cursor.long(f"the size of {what}")
        cursor.long(f"the checkpointed size of {what}")
        cursor.utf(f"the id of {what}")
        if tag == _CHANGES_IN_FILES_2:
            cursor.utf(f"the storage of {what}")
        return ChangesHandle("ChangelogStateHandleStreamImpl", key_groups, size)

    def channel(self, what: str, *, typed: bool, merged: int) -> StreamHandle:
        """State of a channel: the records in flight of an unaligned checkpoint. Not compared with files of Flink."""
        cursor = self._cursor
        tag = cursor.byte(f"the kind of {what}") if typed else merged - 2
        if tag not in (merged, merged - 2):
            cursor.fail(f"the kind of {what} is {tag}", ILLEGAL_STATE, f"Unknown {what.split()[0]} state handle type.")
        cursor.int(f"the subtask of {what}")
        if tag != merged:
            cursor.take(8, f"the channel of {what}")
            cursor.longs(cursor.count(f"the number of offsets of {what}"), f"the offsets of {what}")
        size = cursor.long(f"the size of {what}")
        delegate = self._required(f"the file of {what}", 0)
        if tag == merged:
            cursor.take(cursor.count(f"the size of the offsets of {what}"), f"the offsets of {what}")
        return StreamHandle(delegate.type, size, delegate.data, delegate.name, delegate.file, delegate.path)
