"""The state of an operator of PyFlink's as its program has it: keys, values and timers in Python, one by one."""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Iterable, Iterator
from pickle import UnpicklingError
from typing import Any, NamedTuple

from penstock.common.functions.state_descriptor import StateDescriptor
from penstock.common.row import Row
from penstock.common.typeinfo import TypeInformation
from penstock.errors import FlinkSavepointError
from penstock.flink.cursor import plain
from penstock.flink.entries.entry import Entry
from penstock.flink.entries.refusals import title
from penstock.flink.entries.selection import Selection
from penstock.flink.entries.walk import entries_of
from penstock.flink.handles import MODES
from penstock.flink.metadata import OperatorState
from penstock.flink.pyflink.coders import Loads
from penstock.flink.pyflink.java_forms import from_java
from penstock.flink.pyflink.states import (
    MERGED_WINDOWS,
    PREFIX,
    PythonState,
    merged_windows,
    name_in_program,
    state_for,
)
from penstock.flink.savepoint import FlinkSavepoint

TIMERS = "_timer_state/"
_EVENT = "_timer_state/event_"
_DAMAGED = (AttributeError, IndexError, KeyError, TypeError, ValueError, OverflowError, UnpicklingError, struct.error)


class PythonEntry(NamedTuple):
    """An entry of a state of a Python function."""

    subtask: int  # that wrote it
    key_group: int | None  # None for broadcast state
    key: Any  # of the stream; of broadcast state the key in the map
    state: str  # its name in the program; of a timer ``event`` or ``processing``
    kind: str  # ``value``, ``list``, ``map``, ``reducing``, ``aggregating``, ``broadcast``, ``timers``
    namespace: Any  # the window; None without windows
    value: Any  # of an accumulator the accumulator; of a timer its time in milliseconds
    last_access: Any  # in milliseconds, of a list for each element, of a map by key; None without a time to live


def python_states(savepoint: FlinkSavepoint, operator: OperatorState) -> list[str]:
    """The names that an operator's states have in its program, sorted, without those of timers.

    ``reduce``, ``sum`` and the like have one for each task, which begins with ``_reduce_state``. Reads the beginnings
    of the operator's files.
    """
    names = savepoint.states(operator)
    return sorted(name.removeprefix(PREFIX) for name in names if not name.startswith(TIMERS))


def refuse_pickles(data: bytes) -> Any:
    """In place of a function that makes objects of pickles: a ValueError."""
    raise ValueError("it is pickled, and pickles are not read here: reading one can run any code")


def read_python_state(
    savepoint: FlinkSavepoint,
    operator: OperatorState,
    key_type: TypeInformation[Any] | None,
    descriptors: Iterable[StateDescriptor[Any]],
    *,
    loads: Loads = refuse_pickles,
    subtasks: Collection[int] | None = None,
) -> Iterator[PythonEntry]:
    """The entries of an operator with a Python function, of process and of thread mode, in the order of the files.

    Args:
        savepoint: from :func:`penstock.flink.read_savepoint`.
        operator: one of its operators, as from its ``by_id``.
        key_type: that of ``key_by``; None, as there, means pickled.
        descriptors: of the states that the program has. States of other names are passed over, but timers and the
            windows of sessions (``merging-window-set``) are always there. One named ``_reduce_state`` is of ``reduce``,
            ``sum`` and the like, whatever name PyFlink has given it. That of a map is also of broadcast state. What a
            window has gathered is in ``window-contents``.
        loads: makes an object of a pickle. Without it pickled keys and values are refused.
        subtasks: only what these subtasks have written.

    Raises:
        FlinkSavepointError: a file is damaged, or a value is not of its declared type, or is pickled and may not be.
        UnsupportedError: a type is not one of ``Types``.

    Cost: linear in the operator's files; as much memory as the largest entry takes.
    """
    states = _States(savepoint, operator, descriptors, loads)
    key_of = from_java(key_type, loads)
    selection = Selection(states.wanted, None)
    for entry in entries_of(savepoint, [operator], selection, subtasks):
        if entry.kind in _PLAIN_LISTS and entry.key_group is None:
            continue  # a list of an operator of Java's in the same chain
        try:
            yield states.read(entry, key_of)
        except _DAMAGED as error:
            raise FlinkSavepointError(
                f"State {plain(entry.state)!r} of {plain(title(operator))} has a key or value that cannot be read as "
                f"the types say: {plain(str(error))}. Give the types that the program had when it wrote the savepoint; "
                "for pickled values (no type, or Types.PICKLED_BYTE_ARRAY()) say that they may be unpickled, if you "
                "trust everyone who can write to this place."
            ) from error


_PLAIN_LISTS = frozenset(MODES.values()) - {MODES["BROADCAST"]}


class _States:
    """The states to read, by their names in the savepoint."""

    def __init__(
        self,
        savepoint: FlinkSavepoint,
        operator: OperatorState,
        descriptors: Iterable[StateDescriptor[Any]],
        loads: Loads,
    ) -> None:
        by_name = {descriptor.name: descriptor for descriptor in descriptors}
        self._known: dict[str, PythonState] = {}
        self.wanted: list[str] = []
        for name in savepoint.states(operator):
            process_mode, in_program = name.startswith(PREFIX), name_in_program(name)
            descriptor = by_name.get(in_program)
            if descriptor is not None:
                self._known[name] = state_for(descriptor, loads, process_mode=process_mode)
            elif in_program == MERGED_WINDOWS:
                self._known[name] = merged_windows(loads, process_mode=process_mode)
            elif not name.startswith(TIMERS):
                continue
            self.wanted.append(name)

    def read(self, entry: Entry, key_of: Callable[[Any], Any]) -> PythonEntry:
        """The entry in Python."""
        subtask, group = entry.subtask, entry.key_group
        if group is None:
            state = self._known[entry.state]
            values, times = state.decode({entry.key: entry.value})
            ((key, value),) = values.items()
            return PythonEntry(subtask, None, key, state.name, entry.kind, None, value, times)
        key = key_of(entry.key[0] if isinstance(entry.key, Row) else entry.key)
        if entry.kind == "timers":
            domain = "event" if entry.state.startswith(_EVENT) else "processing"
            return PythonEntry(subtask, group, key, domain, "timers", entry.namespace, entry.value, None)
        state = self._known[entry.state]
        value, times = state.decode(entry.value)
        return PythonEntry(subtask, group, key, state.name, state.kind, entry.namespace, value, times)
