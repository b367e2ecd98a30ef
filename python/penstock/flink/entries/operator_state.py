"""The entries of operator state: elements of lists, and keys of broadcast states with their values.

The metadata says where each element begins. Source of the semantics: Flink's ``OperatorStateRestoreOperation``,
``PartitionableListState`` and ``HeapBroadcastState``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import IO, Any

from penstock.flink.cursor import plain
from penstock.flink.entries.entry import Entry
from penstock.flink.entries.pieces import Piece, part
from penstock.flink.entries.readers import Unreadable, form_of
from penstock.flink.entries.refusals import title, unknown_serializer, unreadable_file, unreadable_state
from penstock.flink.entries.scalars import Reader
from penstock.flink.entries.selection import Selection
from penstock.flink.entries.state_files import opened
from penstock.flink.entries.states import VALUE_SERIALIZER, serializer_of
from penstock.flink.handles import MODES, OperatorHandle
from penstock.flink.headers import OperatorHeader, StateInfo
from penstock.flink.metadata import OperatorState
from penstock.flink.savepoint import FlinkSavepoint

_INT = struct.Struct(">i").unpack_from


def operator_entries(
    savepoint: FlinkSavepoint, operator: OperatorState, subtask: int, handle: OperatorHandle, selection: Selection
) -> Iterator[Entry]:
    """The entries of operator state of a subtask. Of broadcast state, every subtask has all.

    Raises:
        FlinkSavepointError: it is damaged; what cannot be read is given to ``selection.refuse``.

    Cost: linear; as much memory as the longest element takes, and a few hundred kilobytes.
    """
    with opened(savepoint, operator, handle, OperatorHeader, selection) as state_file:
        if state_file is None:
            return
        header, file = state_file
        infos = {info.name: info for info in (*header.operator_states, *header.broadcast_states)}
        if header.stopped:
            selection.refuse(unknown_serializer(operator, header))
            infos.popitem()  # that of the unknown serializer
        lists = _Lists(operator, subtask, handle, header, file)
        for name in filter(selection.has, handle.states):
            if name not in infos:
                if not header.stopped:
                    selection.refuse(unreadable_file(operator, f"its state {name!r} is not described in its file."))
                continue
            try:
                entries = lists.entries(infos[name])
            except Unreadable as error:
                selection.refuse(unreadable_state(operator, name, str(error)))
                continue
            yield from entries


class _Lists:
    def __init__(
        self, operator: OperatorState, subtask: int, handle: OperatorHandle, header: OperatorHeader, file: IO[bytes]
    ) -> None:
        self._operator, self._subtask, self._handle, self._header = operator, subtask, handle, header
        self._file = file

    def entries(self, info: StateInfo) -> Iterator[Entry]:
        """The entries of a state; Unreadable at once if it cannot be read."""
        read_value = form_of(serializer_of(info, VALUE_SERIALIZER)).read
        if info.type == "BROADCAST":
            return self._broadcast(info, form_of(serializer_of(info, "KEY_SERIALIZER")).read, read_value)
        return self._list(info, read_value)

    def _list(self, info: StateInfo, read_value: Reader) -> Iterator[Entry]:
        places = self._handle.states[info.name]
        about, kind = self._operator.operator_id, MODES[places.mode]
        piece: Piece | None = None
        before = -1
        for offset in places.offsets:
            # packed elements follow each other; of others, too, unless the metadata says otherwise
            if piece is None or (offset <= before if self._header.compressed else offset != piece.position):
                piece = self._piece(info.name, offset)
            before = offset
            value = _read(piece, read_value)
            yield Entry(about, info.name, kind, self._subtask, None, None, None, value)

    def _broadcast(self, info: StateInfo, read_key: Reader, read_value: Reader) -> Iterator[Entry]:
        def read_both(data: bytes, at: int) -> tuple[tuple[Any, Any], int]:
            key, at = read_key(data, at)
            value, at = read_value(data, at)
            return (key, value), at

        about = self._operator.operator_id
        for offset in self._handle.states[info.name].offsets[:1]:
            piece = self._piece(info.name, offset)
            piece.need(4)
            (count,) = _INT(piece.data, piece.at)
            piece.at += 4
            for _ in range(count):
                key, value = _read(piece, read_both)
                yield Entry(about, info.name, MODES[info.type], self._subtask, None, key, None, value)

    def _piece(self, name: str, offset: int) -> Piece:
        delegate = self._handle.delegate
        start, file = delegate.start or 0, delegate.file or delegate.path or f"state {delegate.name}"
        what = f"State {plain(name)!r} of {plain(title(self._operator))}"
        read = part(self._file, start + offset, start + delegate.size)
        return Piece(read, file, offset, what, packed=self._header.compressed)


def _read(piece: Piece, read_value: Reader) -> Any:
    while True:
        data, at = piece.data, piece.at
        try:
            value, piece.at = read_value(data, at)
            return value
        except (IndexError, struct.error):
            if not piece.grow(at):
                piece.fail(0, "an element goes beyond the end of the file")
        except (ValueError, RecursionError) as error:
            piece.fail(at, str(error))
