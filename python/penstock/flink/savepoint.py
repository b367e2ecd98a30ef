"""A savepoint of Flink as a whole: its metadata, where it lies, and the headers of its state files when asked for."""

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
from penstock.runtime.io.storage import is_local


@dataclass(frozen=True)
class Problem:
    """A state file whose header cannot be read.

    Attributes:
        said: why.
        missing: whether it is that the file is not there.
    """

    said: str
    missing: bool = False


@dataclass(frozen=True)
class FlinkSavepoint:
    """A savepoint or checkpoint of Flink.

    Attributes:
        place: where it lies.
        metadata: what ``_metadata`` says.
        flink: as which Flink it was read.
    """

    place: Place
    metadata: Metadata
    flink: str

    @property
    def operators(self) -> tuple[OperatorState, ...]:
        """What operators have left, in the order of the file."""
        return self.metadata.operators

    @cached_property
    def by_id(self) -> dict[str, OperatorState]:
        """The operators by ID; of several the last counts, as in Flink."""
        return {each.operator_id: each for each in self.operators}

    def header(self, handle: KeyedHandle | OperatorHandle) -> KeyedHeader | OperatorHeader | Problem | None:
        """The header of the state file of a handle of managed state. Reads the file's beginning.

        Args:
            handle: of this savepoint.

        Returns:
            The header; why there is none; or None where such state has none.
        """
        target = _described_in(handle)
        if target is None or not target.size:
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
        """The headers of an operator's managed state, by subtask.

        Args:
            operator: of this savepoint.
        """
        for subtask in operator.subtasks:
            for handle in (*subtask.managed_keyed, *subtask.managed_operator):
                found = self.header(handle)
                if found is not None:
                    yield found

    def states(self, operator: OperatorState) -> dict[str, StateInfo]:
        """The states of an operator, by name, as the headers of all its subtasks have them.

        Args:
            operator: of this savepoint.
        """
        found: dict[str, StateInfo] = {}
        for header in self.headers(operator):
            if isinstance(header, KeyedHeader):
                infos: tuple[StateInfo, ...] = header.states
            elif isinstance(header, OperatorHeader):
                infos = (*header.operator_states, *header.broadcast_states)
            else:
                infos = ()
            for info in infos:
                found.setdefault(info.name, info)
        return found

    def missing_files(self, operator: OperatorState) -> Iterator[str]:
        """Paths of files of an operator that should lie beside the metadata, and do not. Local savepoints only.

        Args:
            operator: of this savepoint.
        """
        if not is_local(self.place.metadata):
            return
        for subtask in operator.subtasks:
            for handle in files_of(subtask):
                if handle.file is not None:
                    path = os.path.join(self.place.path, handle.file)
                    if not os.path.exists(path):
                        yield path


def files_of(subtask: Subtask) -> Iterator[StreamHandle]:
    """The files and bytes that a subtask's handles lead to.

    Args:
        subtask: of a savepoint.
    """
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


def _described_in(handle: KeyedHandle | OperatorHandle) -> StreamHandle | None:
    """The file whose beginning says which states there are."""
    if isinstance(handle, (KeyGroupsHandle, OperatorHandle)):
        return handle.delegate
    return handle.meta if isinstance(handle, IncrementalHandle) else None


def read_savepoint(place: str, flink: str = "2.3") -> FlinkSavepoint:
    """Read a savepoint or checkpoint that Flink has written. Nothing in it is unpickled or run.

    Args:
        place: its folder, or the metadata file itself; a path or URL.
        flink: read as this Flink does: ``"1.11"`` refuses what 1.11 does, ``"2.3"`` reads both.

    Returns:
        What is in it; the headers of its state files are read when asked for.

    Raises:
        FlinkSavepointError: there is none, or it is damaged or of another version; with Flink's class and message.
        UnsupportedError, ConfigurationError: there is no way to such a place.

    Cost: linear in the metadata.
    """
    found = find(place)
    return FlinkSavepoint(found, read_metadata(found.read(), found.metadata, flink), flink)
