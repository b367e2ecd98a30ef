"""The facts of a savepoint as plain data, with the names of Flink's classes: the output of ``penstock savepoint
facts``.

1.11 and 2.3 know different facts of one file: ``name``, ``uid``, ``fully_finished`` and ``finished`` are 2.3's.
"""

from __future__ import annotations

import os
import re
from typing import Any

from penstock.errors import FlinkSavepointError, PenstockError
from penstock.flink.handles import (
    ChangelogHandle,
    ChangesHandle,
    IncrementalHandle,
    KeyedHandle,
    KeyGroupsHandle,
    OperatorHandle,
    StreamHandle,
)
from penstock.flink.headers import KeyedHeader, OperatorHeader, StateInfo
from penstock.flink.metadata import OperatorState, Subtask
from penstock.flink.places import NAME, Place, newest
from penstock.flink.savepoint import FlinkSavepoint, Problem, read_savepoint
from penstock.flink.snapshots import Serializer

RELEASES = {"1.11": "1.11.4", "2.3": "2.3.0"}
_KINDS = {"Savepoint": "savepoint", "Suspend Savepoint": "suspend", "Terminate Savepoint": "drain"}
_FIRST_NEW = 4
_CHECKPOINT = re.compile(r"chk-\d+")


def line(place: str, flink: str | None = None) -> dict[str, Any]:
    """The facts of a savepoint, or the error that Flink would give. Never raises for the contents of the file."""
    place = newest(place)
    try:
        savepoint = read_savepoint(place, flink or "2.3")
    except PenstockError as error:
        return {"name": os.path.basename(place.rstrip("/")), "flink": RELEASES.get(flink or ""), **failure(error)}
    by = flink or writer(savepoint)
    if by != savepoint.flink:
        try:
            savepoint = read_savepoint(place, by)
        except FlinkSavepointError:  # 2.3 wrote it in an old version, which only 2.3 reads
            by = savepoint.flink
    at, kind = savepoint.place, _kind(savepoint)
    root = _root(at)
    return {
        "name": os.path.basename(root),
        "flink": RELEASES[by],
        **({"kind": kind} if kind else {}),
        "path": at.folder,
        "metadata": at.metadata[len(root) + 1 :],
        "savepoint": facts(savepoint),
        "files": _files(at, root),
    }


def failure(error: PenstockError) -> dict[str, Any]:
    """An error as JSON."""
    if isinstance(error, FlinkSavepointError) and error.flink_class is not None:
        described = {"class": error.flink_class, "message": error.flink_message}
    else:
        described = {"class": type(error).__name__, "message": str(error)}
    return {"error": described, "wrapped_in": [], "explanation": str(error)}


def writer(savepoint: FlinkSavepoint) -> str:
    """Which Flink has written it, by what only 2.x writes: later versions, kinds of handles, operators without
    state."""
    metadata = savepoint.metadata
    if metadata.version >= _FIRST_NEW or metadata.later:
        return "2.3"
    for operator in metadata.operators:
        if operator.fully_finished or not operator.subtasks:
            return "2.3"
        for subtask in operator.subtasks:
            if subtask.finished:
                return "2.3"
            headers = (savepoint.header(managed) for managed in subtask.managed_operator)
            if any(isinstance(managed, OperatorHeader) and managed.version > 5 for managed in headers):
                return "2.3"
    return "1.11"


def _kind(savepoint: FlinkSavepoint) -> str | None:
    """As far as the file says it: from its fourth version on."""
    properties = savepoint.metadata.properties
    if properties is None:
        return None
    if not properties.savepoint:
        return "checkpoint"
    return "native" if properties.format == "NATIVE" else _KINDS.get(properties.type, "savepoint")


def _root(place: Place) -> str:
    """The folder that has all files: of a checkpoint that of its job, above its own."""
    return os.path.dirname(place.path) if _CHECKPOINT.fullmatch(os.path.basename(place.path)) else place.path


def _files(place: Place, root: str) -> dict[str, int]:
    """The files of a savepoint by path, with their sizes; not other checkpoints, nor the metadata in other versions.
    None if they cannot be listed."""
    try:
        entries = place.storage().list(root, deep=root != place.path)
    except (OSError, PenstockError):
        return {}
    own_path = place.path[len(root) + 1 :]
    files = ((entry.path[len(root) + 1 :], entry.size) for entry in entries if entry.size >= 0)
    return {path: size for path, size in files if _belongs(path, own_path, place.metadata[len(root) + 1 :])}


def _belongs(path: str, own_path: str, metadata: str) -> bool:
    folder, _, name = path.rpartition("/")
    if name.startswith(NAME):
        return path == metadata
    return folder == own_path or not _CHECKPOINT.fullmatch(folder.partition("/")[0])


def facts(savepoint: FlinkSavepoint, *, headers: bool = True) -> dict[str, Any]:
    """The facts of a savepoint, operator by operator, in the order of the file."""
    metadata, properties = savepoint.metadata, savepoint.metadata.properties
    about: dict[str, Any] = {"version": metadata.version, "checkpoint_id": metadata.checkpoint_id}
    if properties is not None:
        names = ("savepoint", "type", "unclaimed", "sharing")
        about["properties"] = {name: getattr(properties, name) for name in names}
    write = _Facts(savepoint, headers)
    return {
        **about,
        "master_states": [
            {"name": master_state.name, "version": master_state.version, "bytes": master_state.data.hex()}
            for master_state in metadata.master_states
        ],
        "operators": [write.operator(operator) for operator in metadata.operators],
        "total_state_size": metadata.total_state_size,
        "metadata_size": metadata.size,
    }


class _Facts:
    def __init__(self, savepoint: FlinkSavepoint, headers: bool) -> None:
        self._savepoint = savepoint
        self._headers = headers
        self._new = savepoint.flink != "1.11"

    def operator(self, operator: OperatorState) -> dict[str, Any]:
        named = {"name": operator.name, "uid": operator.uid, "fully_finished": operator.fully_finished}
        coordinator = None
        if operator.coordinator is not None:
            coordinator = stream(operator.coordinator)
        return {
            "operator_id": operator.operator_id,
            **(named if self._new else {}),
            "parallelism": operator.parallelism,
            "max_parallelism": operator.max_parallelism,
            "state_size": operator.size,
            "coordinator_state": coordinator,
            "collected": len(operator.subtasks),
            "subtasks": [self.subtask(subtask) for subtask in operator.subtasks],
        }

    def subtask(self, subtask: Subtask) -> dict[str, Any]:
        return {
            "subtask": subtask.index,
            "has_state": subtask.has_state,
            "state_size": subtask.size,
            **({"finished": subtask.finished} if self._new else {}),
            "managed_operator": [self._with_header(handle) for handle in subtask.managed_operator],
            "raw_operator": [_operator_handle(handle) for handle in subtask.raw_operator],
            "managed_keyed": [self._with_header(handle) for handle in subtask.managed_keyed],
            "raw_keyed": [keyed(handle) for handle in subtask.raw_keyed],
            "input_channels": len(subtask.input_channels),
            "result_subpartitions": len(subtask.result_subpartitions),
        }

    def _with_header(self, handle: KeyedHandle | OperatorHandle) -> dict[str, Any]:
        written = _operator_handle(handle) if isinstance(handle, OperatorHandle) else keyed(handle)
        content = self._savepoint.header(handle) if self._headers else None
        if isinstance(content, Problem):
            written["header_error"] = content.said
        elif content is not None:
            written["header"] = header(content)
        return written


def stream(handle: StreamHandle) -> dict[str, Any]:
    """A handle of bytes, a file or a piece of one."""
    places = ("name", "file", "path", "start", "scope")
    present = {name: getattr(handle, name) for name in places if getattr(handle, name) is not None}
    return {"type": handle.type, "size": handle.size, **present}


def _operator_handle(handle: OperatorHandle) -> dict[str, Any]:
    states = {name: {"mode": it.mode, "offsets": list(it.offsets)} for name, it in handle.states.items()}
    return {"type": handle.type, "size": handle.size, "states": states, "delegate": stream(handle.delegate)}


def keyed(handle: KeyedHandle) -> dict[str, Any]:
    """A handle of keyed state, without a header."""
    about: dict[str, Any] = {"type": handle.type, "size": handle.size, "key_groups": list(handle.key_groups)}
    if isinstance(handle, KeyGroupsHandle):
        return {**about, "offsets": list(handle.offsets), "delegate": stream(handle.delegate)}
    if isinstance(handle, ChangesHandle):
        return about
    if isinstance(handle, ChangelogHandle):
        parts = {"materialized": list(map(keyed, handle.materialized)), "changes": list(map(keyed, handle.changes))}
        ids = {"checkpoint_id": handle.checkpoint_id, "materialization_id": handle.materialization_id}
        return {**about, **ids, **parts}
    return {**about, **_incremental(handle)}


def _incremental(handle: IncrementalHandle) -> dict[str, Any]:
    return {
        "backend_id": handle.backend_id,
        "checkpoint_id": handle.checkpoint_id,
        "meta": stream(handle.meta),
        "shared": {name: stream(file) for name, file in handle.shared.items()},
        "private": {name: stream(file) for name, file in handle.private.items()},
    }


def header(source: KeyedHeader | OperatorHeader) -> dict[str, Any]:
    """A header as far as it could be read; ``stopped`` is the reason if that is not all of it."""
    stopped = {"stopped": source.stopped} if source.stopped else {}
    if isinstance(source, OperatorHeader):
        return {
            "version": source.version,
            "operator_states": list(map(_state, source.operator_states)),
            "broadcast_states": list(map(_state, source.broadcast_states)),
            **stopped,
        }
    key = None if source.key_serializer is None else _serializer(source.key_serializer)
    return {
        "version": source.version,
        "length": source.length,
        "compression": source.compression,
        "key_serializer": key,
        "states": list(map(_state, source.states)),
        **stopped,
    }


def _state(info: StateInfo) -> dict[str, Any]:
    serializers = {role: _serializer(serializer) for role, serializer in info.serializers.items()}
    return {"name": info.name, "type": info.type, "options": dict(info.options), "serializers": serializers}


def _serializer(serializer: Serializer) -> dict[str, str]:
    return {"snapshot": serializer.snapshot, "serializer": serializer.serializer}
