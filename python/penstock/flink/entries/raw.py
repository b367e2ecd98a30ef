"""Raw state: the bytes that an operator wrote itself, for a partition of operator state or a key group.

Timers that RocksDB kept on the heap are in raw keyed state, in a form of Flink's, and are read as the timers that they
are. Source of the semantics: Flink's ``InternalTimerServiceSerializationProxy``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any

from penstock.flink.cursor import IO, Cursor
from penstock.flink.entries.entry import Entry
from penstock.flink.entries.readers import Unreadable, form_of
from penstock.flink.entries.refusals import title, unreadable_file, unreadable_form, unreadable_state
from penstock.flink.entries.selection import Selection
from penstock.flink.handles import KeyedHandle, KeyGroupsHandle, OperatorHandle, StreamHandle
from penstock.flink.metadata import OperatorState
from penstock.flink.savepoint import FlinkSavepoint
from penstock.flink.snapshots import read_snapshot

KEYED, OPERATOR = "raw keyed", "raw operator"
_DEFAULT = "_default_"
_TIMERS = bytes.fromhex("f1cd859f")
_VERSION = 2


def raw_operator_entries(
    savepoint: FlinkSavepoint, operator: OperatorState, subtask: int, handle: OperatorHandle, selection: Selection
) -> Iterator[Entry]:
    """The partitions of raw operator state of a subtask. Linear; as much memory as the longest takes."""
    named = [(name, offset) for name, places in handle.states.items() for offset in places.offsets]
    offsets = [offset for _, offset in named]
    for index, data in _parts(savepoint, operator, handle.delegate, offsets, selection):
        if selection.has(named[index][0]):
            yield Entry(operator.operator_id, named[index][0], OPERATOR, subtask, None, None, None, data)


def raw_keyed_entries(
    savepoint: FlinkSavepoint, operator: OperatorState, subtask: int, handle: KeyedHandle, selection: Selection
) -> Iterator[Entry]:
    """The key groups of raw keyed state of a subtask, or the timers in them. Linear; as much memory as the longest
    takes."""
    if not isinstance(handle, KeyGroupsHandle):
        selection.refuse(unreadable_form(operator, handle.type))
        return
    for index, data in _parts(savepoint, operator, handle.delegate, handle.offsets, selection):
        group = handle.key_groups[0] + index
        if data.startswith(_TIMERS):
            cursor = Cursor(data, f"raw keyed state of {title(operator)}, key group {group}")
            yield from _timers(cursor, operator, subtask, group, selection)
        elif selection.has(_DEFAULT):
            yield Entry(operator.operator_id, _DEFAULT, KEYED, subtask, group, None, None, data)


def _parts(
    savepoint: FlinkSavepoint,
    operator: OperatorState,
    delegate: StreamHandle,
    offsets: Sequence[int],
    selection: Selection,
) -> Iterator[tuple[int, bytes]]:
    """The parts of a file that begin at these offsets, with their index; each ends where the next one starts, and at
    -1 nothing was written."""
    parts = sorted((offset, index) for index, offset in enumerate(offsets) if offset >= 0)
    ends = [*(offset for offset, _ in parts[1:]), delegate.size]
    # any file of the machine could pass for raw state, which has no header
    with savepoint.place.opened(delegate, inside=True) as file:
        if file is None:
            where = f"{delegate.path or delegate.file} is not in the folder of the savepoint. Copy it there."
            selection.refuse(unreadable_file(operator, where))
            return
        for (offset, index), end in zip(parts, ends, strict=False):  # of no parts there is an end
            file.seek((delegate.start or 0) + offset)
            data = file.read(max(0, end - offset))
            if len(data) < end - offset:
                selection.refuse(unreadable_file(operator, f"{delegate.path or delegate.file} is cut off"))
                return
            yield index, data


def _timers(cursor: Cursor, operator: OperatorState, subtask: int, group: int, selection: Selection) -> Iterator[Entry]:
    """Timers by service, those of event time first: each a key, a namespace and a time."""
    cursor.take(len(_TIMERS), "the mark of timers")
    version = cursor.int("the version of timers")
    if version != _VERSION:
        cursor.fail(f"timers are in version {version}, and only {_VERSION} is known", IO)
    for _ in range(cursor.int("the number of timer services")):
        service = cursor.utf("the name of a timer service")
        key, namespace = (read_snapshot(cursor, f"the {part} of timers") for part in ("key", "namespace"))
        try:
            read_key, read_namespace = form_of(key).read, form_of(namespace).read
        except Unreadable as error:
            selection.refuse(unreadable_state(operator, service, str(error)))
            return
        for domain in ("event", "processing"):
            name = f"_timer_state/{domain}_{service}"  # as where they are managed state
            for _ in range(cursor.count(f"the number of timers of {service}")):
                try:
                    owner, at = read_key(cursor.data, cursor.at)
                    window, cursor.at = read_namespace(cursor.data, at)
                except (IndexError, struct.error, ValueError, RecursionError) as error:
                    cursor.fail(f"a timer of {service} is damaged: {error}", IO)
                time: Any = cursor.long("the time of a timer")
                if selection.has(name):
                    yield Entry(operator.operator_id, name, "timers", subtask, group, owner, window, time)
