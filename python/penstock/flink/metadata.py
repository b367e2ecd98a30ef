"""``_metadata``, versions 2 to 6: the description of a savepoint or checkpoint by Flink's coordinator.

It is read in Flink's own order, so that the first error is the one Flink reports; every refusal has Flink's class and
message beside the position in the file. Linear in the file.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from penstock.errors import FlinkSavepointError
from penstock.flink.cursor import ILLEGAL_ARGUMENT, ILLEGAL_STATE, IO, Cursor
from penstock.flink.handles import HandleReader, KeyedHandle, OperatorHandle, StreamHandle
from penstock.flink.java_stream import JavaStream, JavaValue

MAGIC = struct.pack(">I", 0x4960672D)
_MASTER_MAGIC = struct.pack(">I", 0xC96B1696)
KNOWN = {"1.11": (2, 3), "2.3": (2, 3, 4, 5, 6)}  # format versions that each Flink reads
_CHANNELS, _PROPERTIES, _NAMES, _TYPED_CHANNELS = 3, 4, 5, 6
_MERGED_INPUT, _MERGED_OUTPUT = 3, 4
_WRONG_MAGIC = (
    "Unexpected magic number. This can have multiple reasons: (1) You are trying to load a Flink 1.0 savepoint, which "
    "is not supported by this version of Flink. (2) The file you were pointing to is not a savepoint at all. (3) The "
    "savepoint file has been corrupted."
)
_PROPERTIES_CLASS = "org.apache.flink.runtime.checkpoint.CheckpointProperties"
_SAVEPOINT_CLASS = "org.apache.flink.runtime.checkpoint.SavepointType"
_CHECKPOINT_CLASS = "org.apache.flink.runtime.checkpoint.CheckpointType"
_UNREAD = "Couldn't deserialize checkpoint properties"
_OLD_STATE = "Legacy state (from Flink <= 1.1, created through the 'Checkpointed' interface) is no longer supported."


@dataclass(frozen=True)
class Properties:
    """The kind of a snapshot."""

    savepoint: bool
    type: str
    unclaimed: bool
    sharing: str
    format: str | None


@dataclass(frozen=True)
class MasterState:
    """The state of a hook of the coordinator."""

    name: str
    version: int  # of its serializer
    data: bytes


@dataclass(frozen=True)
class Subtask:
    """The state of a subtask of an operator: at most one handle of each kind."""

    index: int
    finished: bool = False  # then there is no state
    managed_operator: tuple[OperatorHandle, ...] = ()
    raw_operator: tuple[OperatorHandle, ...] = ()
    managed_keyed: tuple[KeyedHandle, ...] = ()
    raw_keyed: tuple[KeyedHandle, ...] = ()
    input_channels: tuple[StreamHandle, ...] = ()  # records in flight of unaligned checkpoints
    result_subpartitions: tuple[StreamHandle, ...] = ()

    @property
    def has_state(self) -> bool:
        """Whether there is any handle, even an empty one."""
        handles = (self.managed_operator, self.raw_operator, self.managed_keyed, self.raw_keyed)
        return any((*handles, self.input_channels, self.result_subpartitions))

    @property
    def size(self) -> int:
        """In bytes."""
        keyed = (*self.managed_keyed, *self.raw_keyed, *self.input_channels, *self.result_subpartitions)
        return sum(handle.size for handle in (*self.managed_operator, *self.raw_operator, *keyed))


@dataclass(frozen=True)
class OperatorState:
    """The state of an operator."""

    operator_id: str  # generated, 32 hex digits
    name: str | None  # None, as the uid, before version 5, or if not set
    uid: str | None
    parallelism: int
    max_parallelism: int
    coordinator: StreamHandle | None
    subtasks: tuple[Subtask, ...]  # in order of their indices
    fully_finished: bool

    @property
    def size(self) -> int:
        """In bytes."""
        coordinator = 0 if self.coordinator is None else self.coordinator.size
        return coordinator + sum(subtask.size for subtask in self.subtasks)

    @property
    def has_state(self) -> bool:
        """Whether there is anything to restore, of a subtask or of the coordinator."""
        return self.coordinator is not None or any(subtask.has_state for subtask in self.subtasks)


@dataclass(frozen=True)
class Metadata:
    """The content of ``_metadata``."""

    version: int  # of its format
    checkpoint_id: int
    properties: Properties | None  # None before version 4
    master_states: tuple[MasterState, ...]
    operators: tuple[OperatorState, ...]  # in the order of the file
    size: int  # of the file in bytes
    later: bool  # whether it has kinds of handles that 1.11 does not know

    @property
    def total_state_size(self) -> int:
        """The bytes of state of all operators."""
        return sum(operator.size for operator in self.operators)


def read_metadata(data: bytes, file: str = "_metadata", flink: str = "2.3") -> Metadata:
    """Read the bytes of ``_metadata``."""
    cursor = Cursor(data, file)
    if cursor.take(4, "the magic number") != MAGIC:
        cursor.at = 0
        cursor.fail("the magic number of savepoints is missing", IO, _WRONG_MAGIC)
    version = cursor.int("the version")
    if version == 1:
        message = "This savepoint / checkpoint version (Flink 1.1 / 1.2) is no longer supported."
        cursor.fail("the version is that of Flink 1.1", IO, message)
    if version not in KNOWN[flink]:
        known, later = " and ".join(map(str, KNOWN[flink])), [release for release in KNOWN if version in KNOWN[release]]
        advice = f"Restore it by Flink {later[0]} (--flink {later[0]})" if later else "It is damaged, or newer"
        raise FlinkSavepointError(
            f"{file} is of version {version} of the format, and Flink {flink} reads {known}. {advice}.",
            flink_class=ILLEGAL_ARGUMENT,
            flink_message=f"Unrecognized checkpoint version number: {version}",
            file=file,
            position=4,
        )
    return _Reader(cursor, version, flink).read()


def _read_properties(cursor: Cursor) -> Properties:
    value = JavaStream(cursor).value()
    if not isinstance(value, JavaValue) or value.java_class != _PROPERTIES_CLASS:
        cursor.fail(f"the object is a {_named(value)}, not a CheckpointProperties", IO, _UNREAD)
    kind = value.fields.get("checkpointType")
    if not isinstance(kind, JavaValue) or kind.java_class not in (_SAVEPOINT_CLASS, _CHECKPOINT_CLASS):
        cursor.fail(f"the kind of the checkpoint is a {_named(kind)}", IO, _UNREAD)
    name, savepoint = kind.fields.get("name"), kind.java_class == _SAVEPOINT_CLASS
    if not isinstance(name, str):
        cursor.fail("the kind of the checkpoint has no name", IO, _UNREAD)
    sharing = "NO_SHARING" if savepoint else _constant(kind, "sharingFilesStrategy")
    if sharing is None:
        cursor.fail("the files that the checkpoint shares are not recorded", IO, _UNREAD)
    unclaimed = value.fields.get("unclaimed") is True
    return Properties(savepoint, name, unclaimed, sharing, _constant(kind, "formatType"))


def _constant(value: JavaValue, name: str) -> str | None:
    field = value.fields.get(name)
    return field.constant if isinstance(field, JavaValue) else None


def _named(value: object) -> str:
    return value.java_class if isinstance(value, JavaValue) else type(value).__name__


class _Reader:
    def __init__(self, cursor: Cursor, version: int, flink: str) -> None:
        self._cursor = cursor
        self._version = version
        self._old = flink == "1.11"
        self._handles = HandleReader(cursor, flink)

    def read(self) -> Metadata:
        cursor = self._cursor
        checkpoint = cursor.long("the checkpoint id")
        if checkpoint < 0:
            cursor.fail(f"the checkpoint id is {checkpoint}", IO, f"invalid checkpoint ID: {checkpoint}")
        number = cursor.int("the number of master states")
        if number < 0:
            message = f"invalid number of master states: {number}"
            cursor.fail(f"the number of master states is {number}", IO, message)
        masters = tuple(self._master() for _ in range(number))
        number = cursor.int("the number of operators")
        if number < 0:
            cursor.fail(f"the number of operators is {number}", ILLEGAL_ARGUMENT, f"Illegal Capacity: {number}")
        operators = tuple(self._operator() for _ in range(number))
        properties = _read_properties(cursor) if self._version >= _PROPERTIES else None
        later = self._handles.later
        return Metadata(self._version, checkpoint, properties, masters, operators, len(cursor.data), later)

    def _master(self) -> MasterState:
        cursor = self._cursor
        if cursor.take(4, "the magic number of a master state") != _MASTER_MAGIC:
            cursor.at -= 4
            message = "incorrect magic number in master styte byte sequence"
            cursor.fail("the magic number of a master state is missing", IO, message)
        length = cursor.int("the size of a master state")
        if length <= 0:
            message = "found zero or negative length for master state bytes"
            cursor.fail(f"the size of a master state is {length}", IO, message)
        at = cursor.at
        inner = Cursor(cursor.take(length, "a master state"), cursor.file, at)
        version, name = inner.int("the version of a master state"), inner.utf("the name of a master state")
        data = inner.take(inner.count(f"the size of master state {name!r}"), f"master state {name!r}")
        return MasterState(name, version, data)

    def _operator(self) -> OperatorState:
        cursor, who = self._cursor, "an operator"
        name = uid = None
        if self._version >= _NAMES:
            name, uid = cursor.utf(f"the name of {who}") or None, cursor.utf(f"the uid of {who}") or None
        operator_id = cursor.take(16, "an operator ID").hex()
        who = f"operator {operator_id}" if name is None else f"operator {name!r}"
        parallelism, most = cursor.int(f"the parallelism of {who}"), cursor.int(f"the max parallelism of {who}")
        coordinator = None
        if self._old or self._version < _CHANNELS:  # 2.3 checks later
            self._check_parallelism(who, parallelism, most)
        if self._version < _CHANNELS:
            cursor.int(f"the length of the chain of {who}")
        else:
            coordinator = self._handles.stream(f"the coordinator's state of {who}")
            if coordinator is not None and coordinator.data is None:
                cursor.fail(f"the coordinator's state of {who} is a {coordinator.type}, not bytes", ILLEGAL_STATE)
        number = cursor.int(f"the number of subtasks of {who}")
        self._check_parallelism(who, parallelism, most)
        by_index: dict[int, Subtask] = {}
        for _ in range(number):
            subtask = self._subtask(who, parallelism)
            by_index[subtask.index] = subtask
        subtasks = tuple(by_index[index] for index in sorted(by_index))
        ended = number < 0 and not self._old
        return OperatorState(operator_id, name, uid, parallelism, most, coordinator, subtasks, ended)

    def _check_parallelism(self, who: str, parallelism: int, most: int) -> None:
        if parallelism > most:
            message = f"Parallelism {parallelism} is not smaller or equal to max parallelism {most}."
            self._cursor.fail(f"the parallelism of {who} is {parallelism}, above its {most}", ILLEGAL_ARGUMENT, message)

    def _subtask(self, who: str, parallelism: int) -> Subtask:
        cursor = self._cursor
        written = cursor.int(f"the index of a subtask of {who}")
        finished = written < 0 and not self._old
        index = -written - 1 if finished else written
        subtask = Subtask(index, True) if finished else self._state(index, f"subtask {index} of {who}")
        if not 0 <= index < parallelism:
            message = f"The given sub task index {index} exceeds the maximum number of sub tasks {parallelism}"
            cursor.fail(f"a subtask of {who} has the index {index}", "java.lang.IndexOutOfBoundsException", message)
        return subtask

    def _state(self, index: int, who: str) -> Subtask:
        cursor = self._cursor
        if self._version < _CHANNELS:
            cursor.long(f"a number of {who} without meaning")
            if cursor.int(f"the old state of {who}"):
                cursor.fail(f"{who} has state of Flink 1.1 or before", IO, _OLD_STATE)
        operator = [self._lists(f"the {kind} operator state of {who}") for kind in ("managed", "raw")]
        keyed = [self._handles.keyed(f"the {kind} keyed state of {who}") for kind in ("managed", "raw")]
        managed, raw = (() if handle is None else (handle,) for handle in keyed)
        channels: list[tuple[StreamHandle, ...]] = [(), ()]
        if self._version >= _CHANNELS:
            channels = [self._channels(who, "input", _MERGED_INPUT), self._channels(who, "output", _MERGED_OUTPUT)]
        return Subtask(index, False, operator[0], operator[1], managed, raw, channels[0], channels[1])

    def _lists(self, what: str) -> tuple[OperatorHandle, ...]:
        if not self._cursor.int(f"whether there is {what}"):
            return ()
        handle = self._handles.operator(what)
        return () if handle is None else (handle,)

    def _channels(self, who: str, side: str, merged: int) -> tuple[StreamHandle, ...]:
        number = self._cursor.int(f"the number of {side} channels of {who}")
        what, typed = f"{side} channel state of {who}", self._version >= _TYPED_CHANNELS
        return tuple(self._handles.channel(what, typed=typed, merged=merged) for _ in range(number))
