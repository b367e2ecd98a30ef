"""Keyed state and timers of an operator of Flink as keyed state of ours, subtask by subtask."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from penstock.common.typesystem.conversions import Convert, same
from penstock.errors import FlinkSavepointError, PenstockError, SavepointError
from penstock.flink.columns.column import NoColumn
from penstock.flink.columns.types import column_for
from penstock.flink.cursor import plain
from penstock.flink.entries.entry import Entry
from penstock.flink.entries.keyed import keyed_entries
from penstock.flink.entries.raw import KEYED, raw_keyed_entries
from penstock.flink.entries.readers import Unreadable, form_of
from penstock.flink.entries.refusals import title
from penstock.flink.entries.selection import Selection
from penstock.flink.handles import KeyGroupsHandle
from penstock.flink.headers import KeyedHeader
from penstock.flink.headers import StateInfo as FlinkState
from penstock.flink.metadata import OperatorState, Subtask
from penstock.flink.pyflink.states import PREFIX
from penstock.flink.savepoint import FlinkSavepoint, problem_of
from penstock.flink.snapshots import Serializer
from penstock.job.restore.from_flink.forms import Form, form_for, namespace_of
from penstock.job.restore.from_flink.losses import Loss, header_of
from penstock.runtime.chain.operator import StreamOperator
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.keys.keygroups import key_group_of_hash, subtask_of_key_group
from penstock.runtime.state.keyed import KeyedState

ALL = ""
"""In the place of a state's name: all keyed state of an operator."""

TIMERS = "timers"
_EVENT = "_timer_state/event_"
_PYTHON = "it is of a Python function of PyFlink: run the program as PyFlink's, --pyflink (penstock.pyflink: true)"
RAW = "it is raw, bytes that only the operator of Flink can read"


@dataclass
class KeyedPlan:
    """The keyed states of an operator that come over: their forms by name, and the keys."""

    key: Serializer | None = None
    key_hash: KeyHash = field(default_factory=KeyHash)
    key_of: Convert = same
    forms: dict[str, Form] = field(default_factory=dict[str, Form])
    timers: set[str] = field(default_factory=set[str])  # names of their queues
    regroups: bool = False  # whether keys go to other key groups, as hashes of a class of Java's own are not known
    lost: set[str] = field(default_factory=set[str])
    losses: list[Loss] = field(default_factory=list[Loss])
    read: Callable[[Subtask], Iterator[Entry]] | None = None  # reads a subtask's entries, if not as Java's

    def lose(self, operator: OperatorState, state: str, reason: str) -> None:
        """Note state that does not come over, once."""
        self.forms.pop(state, None)
        self.timers.discard(state)
        self.lost.add(state)
        if state == ALL:
            self.forms.clear()
            self.timers.clear()
        loss = Loss(title(operator), f"state {state!r}" if state else "", reason)
        if loss not in self.losses:
            self.losses.append(loss)


def keyed_plan(savepoint: FlinkSavepoint, operator: OperatorState, taker: StreamOperator | None) -> KeyedPlan:
    """Which keyed states of an operator come over, and how; ``taker`` takes them. Reads the headers of its files."""
    plan, known = KeyedPlan(), dict[str, FlinkState]()
    for subtask in operator.subtasks:
        for handle in subtask.managed_keyed:
            header = header_of(savepoint, operator, handle)
            if header is None and isinstance(handle, KeyGroupsHandle):
                continue  # without state
            if not isinstance(handle, KeyGroupsHandle) or not isinstance(header, KeyedHeader):
                plan.lose(operator, ALL, _why(savepoint, operator, subtask))
                continue
            if header.stopped:
                plan.lose(operator, ALL, problem_of(header).rstrip("."))
            if header.key_serializer is not None:
                _take_key(plan, operator, header.key_serializer)
            for state in header.states:
                if known.setdefault(state.name, state) != state:
                    plan.lose(operator, state.name, "it has other types in one file than in another")
    if ALL in plan.lost:
        return plan
    for state in known.values():
        if state.name not in plan.lost:
            _take_state(plan, operator, state, taker)
    return plan


def _why(savepoint: FlinkSavepoint, operator: OperatorState, subtask: Subtask) -> str:
    """Why a file of keyed state cannot be read."""
    why: list[FlinkSavepointError] = []
    for handle in subtask.managed_keyed:
        for _ in keyed_entries(savepoint, operator, subtask.index, handle, Selection((), why.append)):
            break
    return str(why[0]).rstrip(".") if why else "its file cannot be read"


def _take_key(plan: KeyedPlan, operator: OperatorState, key: Serializer) -> None:
    if plan.key is not None:
        if plan.key != key:
            plan.lose(operator, ALL, "its keys have other types in one file than in another")
        return
    plan.key = key
    try:
        form_of(key)
        column = column_for(key)
        plan.key_hash, plan.key_of = KeyHash(column.type), column.convert or same
    except (Unreadable, NoColumn) as reason:
        plan.lose(operator, ALL, f"its keys are written by {reason}")
    except PenstockError as reason:
        plan.lose(operator, ALL, f"its keys cannot be keys of ours: {str(reason).rstrip('.')}")


def _take_state(plan: KeyedPlan, operator: OperatorState, state: FlinkState, taker: StreamOperator | None) -> None:
    if state.name.startswith(PREFIX):
        plan.lose(operator, state.name, _PYTHON)
        return
    if state.kind == TIMERS:
        plan.timers.add(state.name)
        return
    try:
        plan.forms[state.name] = form_for(state, taker)
    except Unreadable as reason:
        plan.lose(operator, state.name, f"its values are written by {reason}, which only Java can read")
    except NoColumn as reason:
        plan.lose(operator, state.name, str(reason))


@dataclass
class Counts:
    """How many values and timers have come over, by state."""

    by_state: dict[str, int] = field(default_factory=dict[str, int])

    def add(self, state: str) -> None:
        """Count one."""
        self.by_state[state] = self.by_state.get(state, 0) + 1


def keyed_states(
    savepoint: FlinkSavepoint, operator: OperatorState, plan: KeyedPlan, counts: Counts, *, allow: bool
) -> Iterator[KeyedState]:
    """The keyed state of each subtask, in order.

    Args:
        savepoint: the savepoint.
        operator: of the savepoint.
        plan: of the operator. A state with a value that ours do not have is lost there, and keys whose hash is another
            one here are noted there: then what was given is incomplete, and the call is to be repeated.
        counts: counts what has come over.
        allow: whether state may be lost.

    Raises SavepointError: a file is damaged, or a value that must not be lost does not come over. Cost: linear; the
    state of one subtask is in memory, or that of all where keys go to other key groups.
    """
    parts: dict[int, KeyedState] = {}
    by_index = {subtask.index: subtask for subtask in operator.subtasks}
    if plan.regroups:
        parts = {index: _empty(operator, plan) for index in range(operator.parallelism)}
        for subtask in operator.subtasks:
            _fill(parts, savepoint, operator, subtask, plan, counts, allow)
    for index in range(operator.parallelism):
        keyed = parts.pop(index, None) or _empty(operator, plan)
        if not plan.regroups and index in by_index:
            _fill({index: keyed}, savepoint, operator, by_index[index], plan, counts, allow)
        keyed.resume(None, None)
        yield keyed


def _empty(operator: OperatorState, plan: KeyedPlan) -> KeyedState:
    keyed = KeyedState(plan.key_hash, operator.max_parallelism)
    keyed.keep_keys(True)
    keyed.infos.update((form.info.name, form.info) for form in plan.forms.values())
    return keyed


def _fill(
    parts: dict[int, KeyedState],
    savepoint: FlinkSavepoint,
    operator: OperatorState,
    subtask: Subtask,
    plan: KeyedPlan,
    counts: Counts,
    allow: bool,
) -> None:
    """Put the entries of a subtask's files into the states of the subtasks that own their keys."""
    sizes, hash_of, regroups = (operator.max_parallelism, operator.parallelism), plan.key_hash.hash, plan.regroups
    for entry in _entries(savepoint, operator, subtask, plan):
        if ALL in plan.lost or entry.state in plan.lost:
            continue
        try:
            if entry.kind == KEYED:
                raise NoColumn(RAW)
            key = plan.key_of(entry.key)
            group = key_group_of_hash(hash_of(key), sizes[0])
            keyed = parts.get(subtask_of_key_group(group, *sizes))
            if keyed is None or not (regroups or group == entry.key_group):
                plan.regroups = True
                return
            _put(keyed, key, plan, entry)
        except (NoColumn, AttributeError, IndexError, TypeError, ValueError, OverflowError, struct.error) as reason:
            if not allow:
                raise SavepointError(
                    f"{plain(title(operator))} has a value in its state {plain(entry.state)!r} that does not come "
                    f"over: {reason}. To begin without this state, set execution.savepoint.ignore-unclaimed-state to "
                    "true (--allow-non-restored-state)."
                ) from reason
            plan.lose(operator, entry.state, f"it has a value that ours do not have: {reason}")
            continue
        counts.add(entry.state)


def _entries(savepoint: FlinkSavepoint, operator: OperatorState, subtask: Subtask, plan: KeyedPlan) -> Iterator[Entry]:
    """The entries of a subtask that come over, and those of raw state, where timers of RocksDB may be."""
    if plan.read is not None:
        yield from plan.read(subtask)
        return

    def refused(error: FlinkSavepointError) -> None:
        if not plan.losses:
            raise error
        plan.lose(operator, ALL, str(error).rstrip("."))  # on the heap, what is behind a state that was lost

    wanted = Selection([*plan.forms, *plan.timers], refused)
    for handle in subtask.managed_keyed:
        yield from keyed_entries(savepoint, operator, subtask.index, handle, wanted)
    for handle in subtask.raw_keyed:
        yield from raw_keyed_entries(savepoint, operator, subtask.index, handle, Selection(None, refused))


def _put(keyed: KeyedState, key: Any, plan: KeyedPlan, entry: Entry) -> None:
    slot, namespace = keyed.enter(key), namespace_of(entry.namespace)
    if entry.kind == TIMERS:
        queue = keyed.event_timers if entry.state.startswith(_EVENT) else keyed.processing_timers
        queue.add(entry.value, slot, key, namespace)
        return
    form = plan.forms[entry.state]
    keyed.table(form.info.name, namespace)[slot] = form.stored(entry.value)
