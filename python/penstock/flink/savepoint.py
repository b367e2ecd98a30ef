"""A Flink savepoint: its metadata, its place, and the headers of its state files on request."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from penstock.errors import FlinkSavepointError
from penstock.flink.cursor import Cursor, plain
from penstock.flink.handles import (
    ChangelogHandle,
    IncrementalHandle,
    KeyedHandle,
    KeyGroupsHandle,
    OperatorHandle,
    StreamHandle,
)
from penstock.flink.headers import KeyedHeader, OperatorHeader, StateInfo, read_keyed_header, read_operator_header
from penstock.flink.metadata import Metadata, OperatorState, Subtask, read_metadata
from penstock.flink.places import Place, find
from penstock.storage.storage import is_local

_WITH_HEADER = (KeyGroupsHandle, IncrementalHandle, OperatorHandle)


@dataclass(frozen=True)
class Problem:
    """The reason why the header of a state file cannot be read."""

    text: str
    missing: bool = False


@dataclass(frozen=True)
class FlinkSavepoint:
    """A savepoint or checkpoint of Flink."""

    place: Place
    metadata: Metadata
    flink: str  # the version by whose rules it was read

    @property
    def operators(self) -> tuple[OperatorState, ...]:
        """The states of operators, in the order of the file."""
        return self.metadata.operators

    @cached_property
    def by_id(self) -> dict[str, OperatorState]:
        """The operators by ID; the last of duplicates counts, as in Flink."""
        return {operator.operator_id: operator for operator in self.operators}

    def header(self, handle: KeyedHandle | OperatorHandle) -> KeyedHeader | OperatorHeader | Problem | None:
        """The header of the state file of a handle of managed state: it, the reason why it cannot be read, or None if
        such state has none. Reads the file's beginning."""
        if isinstance(handle, (KeyGroupsHandle, OperatorHandle)):
            target = handle.delegate
        elif isinstance(handle, IncrementalHandle):
            target = handle.meta
        else:
            return None
        if not target.size:
            return None
        data = self.place.first_bytes(target)
        if data is None:
            return Problem(f"state file {plain(target.file or target.path or '')} is not there", True)
        cursor = Cursor(data, target.file or target.path or f"state {target.name}")
        try:
            return read_operator_header(cursor) if isinstance(handle, OperatorHandle) else read_keyed_header(cursor)
        except FlinkSavepointError as error:
            return Problem(str(error))

    def headers(self, operator: OperatorState) -> Iterator[KeyedHeader | OperatorHeader | Problem]:
        """The headers of an operator's managed state, by subtask."""
        for subtask in operator.subtasks:
            for handle in (*subtask.managed_keyed, *subtask.managed_operator):
                header = self.header(handle)
                if header is not None:
                    yield header

    def states(self, operator: OperatorState) -> dict[str, StateInfo]:
        """The states of an operator by name, from the headers of all its subtasks."""
        states: dict[str, StateInfo] = {}
        for header in self.headers(operator):
            if not isinstance(header, Problem):
                infos = header.states if isinstance(header, KeyedHeader) else header.operator_states
                more = () if isinstance(header, KeyedHeader) else header.broadcast_states
                for info in (*infos, *more):
                    states.setdefault(info.name, info)
        return states

    def states_are_known(self, operator: OperatorState) -> bool:
        """Whether :meth:`states` has all states of an operator: none is raw, in a changelog, or in a header that could
        not be read to its end."""
        for subtask in operator.subtasks:
            handles = (*subtask.managed_keyed, *subtask.managed_operator)
            headers = map(self.header, handles)
            if subtask.raw_keyed or subtask.raw_operator or not all(isinstance(it, _WITH_HEADER) for it in handles):
                return False
            if any(header is not None and problem_of(header) for header in headers):
                return False
        return True

    def missing_files(self, operator: OperatorState) -> Iterator[str]:
        """Paths of an operator's files that should be beside the metadata and are missing. Local savepoints only."""
        if not is_local(self.place.metadata):
            return
        for subtask in operator.subtasks:
            for handle in files_of(subtask):
                if handle.file is not None:
                    path = os.path.join(self.place.path, handle.file)
                    if not os.path.exists(path):
                        yield path


def problem_of(header: KeyedHeader | OperatorHeader | Problem) -> str:
    """The reason why a header could not be read, or not to its end; "" if it could."""
    return header.text if isinstance(header, Problem) else header.stopped


def files_of(subtask: Subtask) -> Iterator[StreamHandle]:
    """The files and bytes behind a subtask's handles."""
    for operator in (*subtask.managed_operator, *subtask.raw_operator):
        yield operator.delegate
    waiting: list[KeyedHandle] = [*subtask.managed_keyed, *subtask.raw_keyed]
    while waiting:
        handle = waiting.pop()
        if isinstance(handle, KeyGroupsHandle):
            yield handle.delegate
        elif isinstance(handle, IncrementalHandle):
            yield from (handle.meta, *handle.shared.values(), *handle.private.values())
        elif isinstance(handle, ChangelogHandle):
            waiting += [*handle.materialized, *handle.changes]
    yield from (*subtask.input_channels, *subtask.result_subpartitions)


def read_savepoint(place: str, flink: str = "2.3") -> FlinkSavepoint:
    """Read a savepoint or checkpoint that Flink wrote. Nothing in it is unpickled or run.

    Args:
        place: its folder, or the metadata file itself; a path or URL.
        flink: read it as this Flink does: ``"1.11"`` refuses what 1.11 refuses, ``"2.3"`` reads both.

    Returns:
        Its content; headers of state files are read on request.

    Raises:
        FlinkSavepointError: there is none, or it is damaged or of another version; with Flink's class and message.
        UnsupportedError, ConfigurationError: the place cannot be accessed.

    Cost: linear in the metadata.
    """
    target = find(place)
    return FlinkSavepoint(target, read_metadata(target.read(), target.metadata, flink), flink)
