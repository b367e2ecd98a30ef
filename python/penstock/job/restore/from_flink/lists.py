"""Operator state of an operator of Flink: broadcast states come over, positions of sources do
(:mod:`.kafka_positions`), other lists have no operator of ours that takes them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from penstock.errors import FlinkSavepointError
from penstock.flink.columns.column import NoColumn
from penstock.flink.entries.operator_state import operator_entries
from penstock.flink.entries.readers import Unreadable
from penstock.flink.entries.refusals import title
from penstock.flink.entries.selection import Selection
from penstock.flink.entries.states import VALUE_SERIALIZER, serializer_of
from penstock.flink.headers import OperatorHeader
from penstock.flink.headers import StateInfo as FlinkState
from penstock.flink.metadata import OperatorState
from penstock.flink.savepoint import FlinkSavepoint, Problem, problem_of
from penstock.job.restore.from_flink.forms import map_form
from penstock.job.restore.from_flink.losses import Loss, header_of
from penstock.runtime.buffers.codec import dumps
from penstock.runtime.operators.broadcast import BroadcastProcess
from penstock.runtime.state.keyed import StateInfo
from penstock.runtime.state.redistribution import BROADCAST
from penstock.runtime.state.serializers import serializer_class

_NO_LISTS = "no operator of ours takes lists that belong to no key"
_NOT_THERE = "the operator of the program has no broadcast state"


@dataclass
class OperatorStates:
    """The operator state that comes over: by subtask the broadcast states, and their descriptions."""

    places: dict[int, dict[tuple[str, str], bytes]] = field(default_factory=dict[int, dict[tuple[str, str], bytes]])
    infos: dict[str, StateInfo] = field(default_factory=dict[str, StateInfo])
    counts: dict[str, int] = field(default_factory=dict[str, int])
    losses: list[Loss] = field(default_factory=list[Loss])


def operator_states(
    savepoint: FlinkSavepoint, operator: OperatorState, taker: Any, taken: Collection[str] = ()
) -> OperatorStates:
    """The operator state of an operator.

    Args:
        savepoint: the savepoint.
        operator: of the savepoint.
        taker: the operator of the program that takes it.
        taken: the names of lists that have come over elsewhere.

    Cost: linear in its broadcast states; each subtask has all of them.
    """
    result = OperatorStates()

    def lose(state: str, reason: str) -> None:
        loss = Loss(title(operator), f"state {state!r}" if state else "", reason)
        if loss not in result.losses:
            result.losses.append(loss)

    for subtask in operator.subtasks:
        if any(places.offsets for handle in subtask.raw_operator for places in handle.states.values()):
            lose("", "it is raw, bytes that only the operator of Flink can read")
        for handle in subtask.managed_operator:
            header = header_of(savepoint, operator, handle)
            if not isinstance(header, OperatorHeader):
                if header is not None:
                    lose("", problem_of(header).rstrip(".") if isinstance(header, Problem) else "its file is another")
                continue
            if header.stopped:
                lose("", header.stopped.rstrip("."))
            states = {state.name: state for state in (*header.operator_states, *header.broadcast_states)}
            for name, places in handle.states.items():
                if name in taken or not places.offsets:
                    continue
                if name not in states:
                    if not header.stopped:
                        lose(name, "it is not described in its file")
                    continue
                if states[name].type != "BROADCAST":
                    lose(name, _NO_LISTS)
                    continue
                try:
                    entries, info = _broadcast(savepoint, operator, subtask.index, handle, states[name])
                except (Unreadable, NoColumn, ValueError, FlinkSavepointError) as reason:
                    lose(name, f"it cannot be read: {reason}")
                    continue
                if not entries:
                    continue
                if not isinstance(taker, BroadcastProcess):
                    lose(name, _NOT_THERE)
                    continue
                result.infos[name], result.counts[name] = info, len(entries)
                result.places.setdefault(subtask.index, {})[BROADCAST, name] = dumps(entries)
    return result


def _broadcast(
    savepoint: FlinkSavepoint, operator: OperatorState, subtask: int, handle: Any, state: FlinkState
) -> tuple[dict[Any, Any], StateInfo]:
    types, stored = map_form(serializer_of(state, "KEY_SERIALIZER"), serializer_of(state, VALUE_SERIALIZER))
    info = StateInfo(state.name, "MapState", tuple(map(serializer_class, types)), tuple(map(repr, types)))
    selection = Selection({state.name}, None)
    entries = operator_entries(savepoint, operator, subtask, handle, selection)
    return stored({entry.key: entry.value for entry in entries}), info
