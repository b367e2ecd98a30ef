"""Positions of a source of Flink for a source of ours, which knows its counterpart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from penstock.flink.entries.operator_state import operator_entries
from penstock.flink.entries.selection import Selection
from penstock.flink.metadata import OperatorState
from penstock.flink.savepoint import FlinkSavepoint
from penstock.runtime.io.splits import SplitSource

POSITIONS = ("SourceReaderState", "topic-partition-offset-states")
"""Flink's names of the lists of splits: of every source of its present kind, and of the older one of Kafka."""


def positions_for(savepoint: FlinkSavepoint, operator: OperatorState, taker: Any) -> Mapping[str, list[Any]] | None:
    """The positions of a source's splits as a manifest has them, with the subtasks that read them.

    Args:
        savepoint: the savepoint.
        operator: of the savepoint, the source.
        taker: the operator of the program.

    Returns:
        None if the source of the program does not know the positions of its counterpart, or the operator is not a
        source.

    Raises ValueError: the splits are those of another source.
    """
    function = getattr(taker, "function", None)
    if not isinstance(function, SplitSource):
        return None
    result: dict[str, list[Any]] = {}
    for subtask, name, elements in _lists(savepoint, operator):
        positions = function.source.positions_of_flink(name, elements)
        if positions is None:
            return None
        result |= {split: [subtask, position] for split, position in positions.items()}
    return result


def has_positions(operator: OperatorState) -> bool:
    """Whether an operator is a source of Flink's that has splits, or a coordinator that deals them out."""
    handles = [handle for subtask in operator.subtasks for handle in subtask.managed_operator]
    places = [handle.states[name] for handle in handles for name in POSITIONS if name in handle.states]
    return any(place.offsets for place in places) or (operator.coordinator is not None and bool(places))


def _lists(savepoint: FlinkSavepoint, operator: OperatorState) -> Iterator[tuple[int, str, list[Any]]]:
    for subtask in operator.subtasks:
        for handle in subtask.managed_operator:
            for name in POSITIONS:
                if name in handle.states:
                    about = savepoint, operator, subtask.index, handle
                    yield (
                        subtask.index,
                        name,
                        [entry.value for entry in operator_entries(*about, Selection({name}, None))],
                    )
