"""The entries of a file of keyed state: key group by key group, in the format that it is found in."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import IO

from penstock.flink.entries.canonical import canonical_entries
from penstock.flink.entries.entry import Entry
from penstock.flink.entries.heap import heap_entries
from penstock.flink.entries.pieces import Piece, Read, part
from penstock.flink.entries.refusals import (
    title,
    unknown_serializer,
    unreadable_form,
    unreadable_state,
)
from penstock.flink.entries.selection import Selection
from penstock.flink.entries.state_files import opened
from penstock.flink.entries.states import KeyedState, keyed_states
from penstock.flink.handles import KeyedHandle, KeyGroupsHandle
from penstock.flink.headers import KeyedHeader
from penstock.flink.metadata import OperatorState
from penstock.flink.savepoint import FlinkSavepoint

_CANONICAL = "KeyGroupsSavepointStateHandle"
_MOST_STATES = 1 << 15


def keyed_entries(
    savepoint: FlinkSavepoint, operator: OperatorState, subtask: int, handle: KeyedHandle, selection: Selection
) -> Iterator[Entry]:
    """The entries of keyed state of a subtask.

    Raises:
        FlinkSavepointError: it is damaged; what cannot be read is given to ``selection.refuse``.

    Cost: linear; as much memory as the longest entry takes, and a few hundred kilobytes.
    """
    if not isinstance(handle, KeyGroupsHandle):
        selection.refuse(unreadable_form(operator, handle.type))
        return
    with opened(savepoint, operator, handle, KeyedHeader, selection) as state_file:
        if state_file is not None:
            yield from _Groups(operator, subtask, handle, *state_file, selection).entries()


class _Groups:
    """The key groups of a file."""

    def __init__(
        self,
        operator: OperatorState,
        subtask: int,
        handle: KeyGroupsHandle,
        header: KeyedHeader,
        file: IO[bytes],
        selection: Selection,
    ) -> None:
        delegate = handle.delegate
        self._operator, self._subtask, self._handle, self._header = operator, subtask, handle, header
        self._file, self._selection = file, selection
        self._name = delegate.file or delegate.path or f"state {delegate.name}"
        self._start, self._size = delegate.start or 0, delegate.size
        self._ends = sorted({offset for offset in handle.offsets if offset > 0})
        self._states = keyed_states(header)

    def entries(self) -> Iterator[Entry]:
        about, subtask = self._operator.operator_id, self._subtask
        heap = self._is_heap()
        if self._header.length is None:
            self._selection.refuse(unknown_serializer(self._operator, self._header))
            if heap:  # nothing is found behind an unknown state
                return
        wanted = [state if self._selection.has(state.name) else None for state in self._states]
        if not any(wanted):
            return
        if self._header.length is None:  # the last one is not known to its end, and more may follow
            wanted = wanted[:-1] + [None] * _MOST_STATES
        for group, offset in enumerate(self._handle.offsets, self._handle.key_groups[0]):
            if offset <= 0:  # nothing in it
                continue
            if heap:
                read = heap_entries(self._heap_piece(group, offset), self._states, self._selection.states, self._refuse)
            else:
                groups = self._operator.max_parallelism
                piece = self._piece(group, offset, packed=self._header.compression)
                read = canonical_entries(piece, group, groups, wanted, self._refuse)
            for state, key, namespace, value in read:
                yield Entry(about, state.name, state.kind, subtask, group, key, namespace, value)

    def _refuse(self, state: KeyedState, lost: Sequence[str]) -> None:
        why = state.refusal or "an unknown serializer"
        self._selection.refuse(unreadable_state(self._operator, state.name, why, lost))

    def _is_heap(self) -> bool:
        """Whether key groups begin with their numbers, as on the heap: a canonical one begins with the number of a
        state and the length of a key, which only the first group could have in common with its number."""
        offsets = self._handle.offsets
        if self._handle.type == _CANONICAL or any(offset <= 0 for offset in offsets):
            return False
        for group, offset in enumerate(offsets[:2], self._handle.key_groups[0]):
            head = self._part(offset)(6)
            if int.from_bytes(head[:4], "big") != group:
                return False
            if group == 0 and not self._header.compression and int.from_bytes(head[4:], "big") >= len(self._states):
                return False
        return True

    def _heap_piece(self, group: int, offset: int) -> Piece:
        piece = self._piece(group, offset, packed=False)
        piece.need(4)
        number = int.from_bytes(piece.data[:4], "big")
        if number != group:
            piece.fail(0, f"key group {number} is found")
        if self._header.compression:  # of what follows
            return self._piece(group, offset + 4, packed=True)
        piece.at = 4
        return piece

    def _piece(self, group: int, offset: int, *, packed: bool) -> Piece:
        what = f"Key group {group} of {title(self._operator)}"
        return Piece(self._part(offset), self._name, offset, what, packed=packed)

    def _part(self, offset: int) -> Read:
        """The bytes up to the next key group."""
        following = bisect_right(self._ends, offset)
        end = self._ends[following] if following < len(self._ends) else self._size
        return part(self._file, self._start + offset, self._start + end)
