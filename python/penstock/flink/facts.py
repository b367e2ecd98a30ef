"""The facts of a savepoint as plain data, with the names of Flink's classes: ``penstock savepoint facts``. Only 2.3
knows ``name``, ``uid``, ``fully_finished`` and ``finished``."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, cast

from penstock.errors import FlinkSavepointError, PenstockError
from penstock.flink.handles import KeyedHandle, OperatorHandle, StreamHandle
from penstock.flink.headers import OperatorHeader
from penstock.flink.metadata import OperatorState, Subtask
from penstock.flink.places import NAME, Place, newest
from penstock.flink.savepoint import FlinkSavepoint, Problem, read_savepoint
from penstock.storage.stores import storage_of

RELEASES = {"1.11": "1.11.4", "2.3": "2.3.0"}
_KINDS = {"Savepoint": "savepoint", "Suspend Savepoint": "suspend", "Terminate Savepoint": "drain"}
_FIRST_NEW = 4
_CHECKPOINT = re.compile(r"chk-\d+")
_LEFT_OUT = ("data", "nested", "named", "names", "detail", "subclasses", "compressed")


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
    # a checkpoint shares files with others of its job, in the folder above its own
    root = os.path.dirname(at.path) if _CHECKPOINT.fullmatch(os.path.basename(at.path)) else at.path
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
    """The Flink that wrote it, by what only 2.x writes: later versions, kinds of handles, operators without state."""
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
    properties = savepoint.metadata.properties
    if properties is None:
        return None
    if not properties.savepoint:
        return "checkpoint"
    return "native" if properties.format == "NATIVE" else _KINDS.get(properties.type, "savepoint")


def _files(place: Place, root: str) -> dict[str, int]:
    """The sizes of a savepoint's files by path, without other checkpoints and metadata in other versions."""
    try:
        entries = storage_of(place.metadata).list(root, deep=root != place.path)
    except (OSError, PenstockError):
        return {}
    folder_here, metadata = place.path[len(root) + 1 :], place.metadata[len(root) + 1 :]
    sizes: dict[str, int] = {}
    for path, size in ((entry.path[len(root) + 1 :], entry.size) for entry in entries if entry.size >= 0):
        folder, _, name = path.rpartition("/")
        belongs = folder == folder_here or not _CHECKPOINT.fullmatch(folder.partition("/")[0])
        if path == metadata if name.startswith(NAME) else belongs:
            sizes[path] = size
    return sizes


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
        return {
            "operator_id": operator.operator_id,
            **(named if self._new else {}),
            "parallelism": operator.parallelism,
            "max_parallelism": operator.max_parallelism,
            "state_size": operator.size,
            "coordinator_state": _plain(operator.coordinator),
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
            "raw_operator": _plain(subtask.raw_operator),
            "managed_keyed": [self._with_header(handle) for handle in subtask.managed_keyed],
            "raw_keyed": _plain(subtask.raw_keyed),
            "input_channels": len(subtask.input_channels),
            "result_subpartitions": len(subtask.result_subpartitions),
        }

    def _with_header(self, handle: KeyedHandle | OperatorHandle) -> dict[str, Any]:
        data = _plain(handle)
        header = self._savepoint.header(handle) if self._headers else None
        if isinstance(header, Problem):
            data["header_error"] = header.text
        elif header is not None:
            data["header"] = _plain(header)
        return data


def _plain(value: Any) -> Any:
    """Handles and headers for JSON: their fields and size, without contents, and without what a handle lacks."""
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in cast(Mapping[str, Any], value).items()}
    if isinstance(value, tuple):
        return list(map(_plain, cast(tuple[Any, ...], value)))
    if not is_dataclass(value):
        return value
    data = {name: _plain(getattr(value, name)) for name in ("type", "size") if hasattr(value, name)}
    for field in fields(value):
        item = getattr(value, field.name)
        absent = (item is None and isinstance(value, StreamHandle)) or (field.name == "stopped" and not item)
        if field.name not in _LEFT_OUT and not absent:
            data.setdefault(field.name, _plain(item))
    return data
