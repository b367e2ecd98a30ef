"""The contents of a Flink savepoint for display, and what differs between two."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields

from penstock.common.findings import Difference
from penstock.flink.facts import writer
from penstock.flink.handles import MODES, KeyGroupsHandle
from penstock.flink.headers import KeyedHeader
from penstock.flink.metadata import OperatorState
from penstock.flink.savepoint import FlinkSavepoint, Problem, files_of, problem_of
from penstock.storage.storage import is_local

_RAW = "raw"


@dataclass(frozen=True)
class StateContent:
    """A state of an operator."""

    name: str
    kind: str
    types: str
    elements: int | None = None


@dataclass(frozen=True)
class OperatorContent:
    """The state of an operator; ``unread`` is the reason why a header could not be read."""

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

    @property
    def title(self) -> str:
        """Its name, or its ID."""
        return self.name or self.operator_id


@dataclass(frozen=True)
class Content:
    """The contents of a savepoint."""

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
    """The contents of a savepoint. Reads the headers of its state files."""
    metadata, properties = savepoint.metadata, savepoint.metadata.properties
    return Content(
        savepoint.place.folder,
        metadata.version,
        writer(savepoint),
        None if properties is None else properties.type,
        None if properties is None else properties.format,
        metadata.checkpoint_id,
        tuple(_operator(savepoint, operator) for operator in metadata.operators),
        tuple(master_state.name for master_state in metadata.master_states),
        metadata.total_state_size,
        metadata.size,
        tuple(path for operator in metadata.operators for path in savepoint.missing_files(operator)),
    )


def _operator(savepoint: FlinkSavepoint, state: OperatorState) -> OperatorContent:
    headers = list(savepoint.headers(state))
    keys = [header.key_serializer for header in headers if isinstance(header, KeyedHeader)]
    problems = list(map(problem_of, headers))
    return OperatorContent(
        state.operator_id,
        state.name,
        state.uid,
        state.parallelism,
        state.max_parallelism,
        len(state.subtasks),
        state.parallelism if state.fully_finished else sum(subtask.finished for subtask in state.subtasks),
        state.size,
        0 if state.coordinator is None else state.coordinator.size,
        next((key.text for key in keys if key), None),
        _key_groups(state),
        tuple(_states(savepoint, state)),
        next(filter(None, problems), ""),
    )


def _key_groups(state: OperatorState) -> int | None:
    """The number of key groups with entries. Only canonical savepoints of 2.x record it."""
    keyed = [handle for subtask in state.subtasks for handle in subtask.managed_keyed]
    handles = [handle for handle in keyed if isinstance(handle, KeyGroupsHandle)]
    if len(handles) < len(keyed) or {handle.type for handle in handles} != {"KeyGroupsSavepointStateHandle"}:
        return None
    return sum(offset != 0 for handle in handles for offset in handle.offsets)


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
        info, kind, types = infos.get(name), MODES.get(modes.get(name, ""), ""), ""
        if info is not None:
            kind = kind or info.kind
            # not of namespaces, which are internal to Flink
            serializers = map(info.serializers.get, ("KEY_SERIALIZER", "VALUE_SERIALIZER"))
            types = " -> ".join(serializer.text for serializer in serializers if serializer is not None)
        yield StateContent(name, kind, types, None if kind == "broadcast" else elements.get(name))
    raw = [len(places.offsets) for part in state.subtasks for it in part.raw_operator for places in it.states.values()]
    if raw:
        yield StateContent("(operator)", _RAW, "", sum(raw))
    if any(part.raw_keyed for part in state.subtasks):
        yield StateContent("(keyed)", _RAW, "")


def verify(savepoint: FlinkSavepoint) -> tuple[list[str], int]:
    """The problems of a savepoint's files, by size and header, as Flink keeps no checksums; and the number of files."""
    problems: list[str] = []
    looked = 0
    for operator in savepoint.operators:
        for subtask in operator.subtasks:
            for handle in files_of(subtask):
                if handle.file is not None and is_local(savepoint.place.metadata):
                    looked += 1
                    path = os.path.join(savepoint.place.path, handle.file)
                    actual = os.path.getsize(path) if os.path.isfile(path) else -1
                    if actual != handle.size:
                        has = "is not there" if actual < 0 else f"has {actual:,} bytes"
                        problems.append(f"{path} {has}; {handle.size:,} were written")
        for header in savepoint.headers(operator):
            if isinstance(header, Problem) and not header.missing:
                problems.append(header.text)
    return problems, looked


_SKIPPED = ("operator_id", "states", "unread")


def differences(before: Content, after: Content) -> list[Difference]:
    """The differences between two savepoints, by OperatorID and state. Linear in both."""
    whole = ("version", "flink", "kind", "form", "hooks")
    changes = list(_changes(before, after, whole, "savepoint", "", after.place))
    old = {operator.operator_id: operator for operator in before.operators}
    new = {operator.operator_id: operator for operator in after.operators}
    for operator_id, operator in old.items():
        if operator_id not in new:
            size = f"{operator.bytes:,} bytes"
            changes.append(Difference("operator", operator_id, _named(operator), "removed", before=size))
    for operator_id, operator in new.items():
        if operator_id not in old:
            size = f"{operator.bytes:,} bytes"
            changes.append(Difference("operator", operator_id, _named(operator), "added", after=size))
        else:
            changes += _operator_changes(old[operator_id], operator)
    return changes


def _operator_changes(old: OperatorContent, new: OperatorContent) -> Iterator[Difference]:
    names = [field.name for field in fields(OperatorContent) if field.name not in _SKIPPED]
    yield from _changes(old, new, names, "operator", new.operator_id, _named(new))
    before, after = ({state.name: state for state in operator.states} for operator in (old, new))
    for name in sorted(before.keys() | after.keys()):
        where, both = ("state", new.operator_id, _named(new)), (before.get(name), after.get(name))
        if None not in both:
            yield from _changes(*both, ("kind", "types", "elements"), *where, f"{name}: ")
        else:
            shown = (None if state is None else f"{state.kind} {state.types}".strip() for state in both)
            yield Difference(*where, f"{name}: {'removed' if both[1] is None else 'added'}", *shown)


def _changes(
    old: object, new: object, names: Iterable[str], what: str, where: str, named: str, prefix: str = ""
) -> Iterator[Difference]:
    for name in names:
        before, after = getattr(old, name), getattr(new, name)
        if before != after:
            yield Difference(what, where, named, f"{prefix}{name}", before, after)


def _named(operator: OperatorContent) -> str:
    """An operator for display: its name with its uid, or its ID."""
    return operator.title if operator.uid is None else f"{operator.title} (uid {operator.uid})"
