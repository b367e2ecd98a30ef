"""What is in a savepoint of Flink, operator by operator, for people: names, states with types, key groups, sizes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from penstock.flink.facts import writer
from penstock.flink.handles import KeyGroupsHandle
from penstock.flink.headers import KeyedHeader, StateInfo
from penstock.flink.metadata import OperatorState
from penstock.flink.savepoint import FlinkSavepoint, Problem, files_of
from penstock.runtime.io.storage import is_local

_RAW = "raw"


@dataclass(frozen=True)
class StateContent:
    """A state of an operator.

    Attributes:
        name: of the state.
        kind: such as ``value``, ``map``, ``timers``, ``list``, ``union list``, ``broadcast``, ``raw``.
        types: of its values, as the state files name the serializers.
        elements: of a list, in all subtasks; None where that is not written down.
    """

    name: str
    kind: str
    types: str
    elements: int | None = None


@dataclass(frozen=True)
class OperatorContent:
    """An operator.

    Attributes:
        operator_id: 32 hex digits; the generated one.
        name, uid: as the program had them; None where the savepoint does not say.
        parallelism, max_parallelism: when it was taken.
        subtasks: how many are in the file.
        ended: how many of these had ended; all, if the operator had.
        bytes: of its state.
        coordinator_bytes: of these its coordinator's.
        key: the type of its keys; None without keyed state, or where it is not known.
        key_groups: how many of its key groups have entries; None where that is not written down.
        states: by name.
        unread: why not all states are known; "" if they are.
    """

    operator_id: str
    name: str | None
    uid: str | None
    parallelism: int
    max_parallelism: int
    subtasks: int
    ended: int
    bytes: int
    coordinator_bytes: int
    key: str | None
    key_groups: int | None
    states: tuple[StateContent, ...]
    unread: str


@dataclass(frozen=True)
class Content:
    """A savepoint.

    Attributes:
        place: of its folder.
        version: of the format.
        flink: which Flink has written it, as far as can be told.
        kind: ``Savepoint``, ``Suspend Savepoint``, ``Checkpoint``, …; None before version 4.
        form: ``CANONICAL`` or ``NATIVE``, of savepoints; else None.
        checkpoint_id: a number that grows with each.
        operators: in the order of the file.
        hooks: names of master states.
        bytes: of all state.
        metadata_bytes: of the metadata file, and all that lies in it.
        missing: state files that are not there.
    """

    place: str
    version: int
    flink: str
    kind: str | None
    form: str | None
    checkpoint_id: int
    operators: tuple[OperatorContent, ...]
    hooks: tuple[str, ...]
    bytes: int
    metadata_bytes: int
    missing: tuple[str, ...]


def content_of(savepoint: FlinkSavepoint) -> Content:
    """What is in a savepoint. Reads the headers of its state files.

    Args:
        savepoint: of :func:`~penstock.flink.savepoint.read_savepoint`.
    """
    metadata, properties = savepoint.metadata, savepoint.metadata.properties
    return Content(
        savepoint.place.folder,
        metadata.version,
        writer(savepoint),
        None if properties is None else properties.type,
        None if properties is None else properties.format,
        metadata.checkpoint_id,
        tuple(_operator(savepoint, each) for each in metadata.operators),
        tuple(each.name for each in metadata.master_states),
        metadata.total_state_size,
        metadata.size,
        tuple(path for each in metadata.operators for path in savepoint.missing_files(each)),
    )


def _operator(savepoint: FlinkSavepoint, state: OperatorState) -> OperatorContent:
    headers = list(savepoint.headers(state))
    keys = [each.key_serializer.text for each in headers if isinstance(each, KeyedHeader) and each.key_serializer]
    problems = [each.said if isinstance(each, Problem) else each.stopped for each in headers]
    return OperatorContent(
        state.operator_id,
        state.name,
        state.uid,
        state.parallelism,
        state.max_parallelism,
        len(state.subtasks),
        state.parallelism if state.fully_finished else sum(each.finished for each in state.subtasks),
        state.size,
        0 if state.coordinator is None else state.coordinator.size,
        keys[0] if keys else None,
        _key_groups(state),
        tuple(_states(savepoint, state)),
        next((said for said in problems if said), ""),
    )


def _key_groups(state: OperatorState) -> int | None:
    """Only canonical savepoints of 2.x write down which key groups have entries."""
    found = [each for subtask in state.subtasks for each in subtask.managed_keyed]
    if not found or not all(isinstance(each, KeyGroupsHandle) for each in found):
        return None
    handles = [each for each in found if isinstance(each, KeyGroupsHandle)]
    if any(each.type != "KeyGroupsSavepointStateHandle" for each in handles):
        return None
    return sum(offset != 0 for each in handles for offset in each.offsets)


def _states(savepoint: FlinkSavepoint, state: OperatorState) -> Iterator[StateContent]:
    elements: dict[str, int] = {}
    modes: dict[str, str] = {}
    for subtask in state.subtasks:
        for handle in subtask.managed_operator:
            for name, places in handle.states.items():
                elements[name] = elements.get(name, 0) + len(places.offsets)
                modes[name] = places.mode
    infos = savepoint.states(state)
    for name in sorted(infos.keys() | modes.keys()):
        info = infos.get(name)
        kind = _KINDS.get(modes.get(name, ""), "") or (_kind(info) if info else "")
        count = None if kind == "broadcast" else elements.get(name)
        yield StateContent(name, kind, _types(info) if info else "", count)
    raw = [len(places.offsets) for each in state.subtasks for it in each.raw_operator for places in it.states.values()]
    if raw:
        yield StateContent("(operator)", _RAW, "", sum(raw))
    if any(each.raw_keyed for each in state.subtasks):
        yield StateContent("(keyed)", _RAW, "")


_KINDS = {"SPLIT_DISTRIBUTE": "list", "UNION": "union list", "BROADCAST": "broadcast"}


def _kind(info: StateInfo) -> str:
    if info.type == "PRIORITY_QUEUE":
        return "timers"
    return info.options.get("KEYED_STATE_TYPE", info.type).lower()


def _types(info: StateInfo) -> str:
    """The types of keys and values; namespaces are Flink's own business."""
    roles = ("KEY_SERIALIZER", "VALUE_SERIALIZER")
    return " -> ".join(info.serializers[role].text for role in roles if role in info.serializers)


def verify(savepoint: FlinkSavepoint) -> tuple[list[str], int]:
    """See whether all files that a savepoint names are there, as long as it says, and have readable headers. Flink's
    savepoints have no checksums: what is damaged inside a state stays unseen.

    Args:
        savepoint: a local one, or one on a store, of which only the headers are looked at.

    Returns:
        A sentence for each problem, and how many files were looked at.
    """
    problems: list[str] = []
    looked = 0
    for operator in savepoint.operators:
        for subtask in operator.subtasks:
            for handle in files_of(subtask):
                if handle.file is not None and is_local(savepoint.place.metadata):
                    looked += 1
                    path = os.path.join(savepoint.place.path, handle.file)
                    there = os.path.getsize(path) if os.path.isfile(path) else -1
                    if there != handle.size:
                        has = "is not there" if there < 0 else f"has {there:,} bytes"
                        problems.append(f"{path} {has}; {handle.size:,} were written")
        for header in savepoint.headers(operator):
            if isinstance(header, Problem) and not header.missing:
                problems.append(header.said)
    return problems, looked
