"""All entries of a savepoint, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from penstock.errors import ConfigurationError, FlinkSavepointError
from penstock.flink.cursor import plain
from penstock.flink.entries.entry import Entry
from penstock.flink.entries.keyed import keyed_entries
from penstock.flink.entries.operator_state import operator_entries
from penstock.flink.entries.raw import raw_keyed_entries, raw_operator_entries
from penstock.flink.entries.selection import Selection
from penstock.flink.metadata import OperatorState
from penstock.flink.savepoint import FlinkSavepoint


def read_entries(
    savepoint: FlinkSavepoint,
    *,
    operators: Collection[str] | None = None,
    states: Collection[str] | None = None,
    refused: Callable[[FlinkSavepointError], None] | None = None,
) -> Iterator[Entry]:
    """The entries of all states of a savepoint of Flink, in the order of its files.

    No object of Java or Python is unpickled, so a savepoint may come from a stranger.

    Args:
        savepoint: from :func:`penstock.flink.read_savepoint`.
        operators: only those with these IDs, uids or names.
        states: only those with these names.
        refused: called with each error about a state that cannot be read, and the others are read; without it the
            first such error is raised.

    Raises:
        ConfigurationError: at once: no operator or state has such a name.
        FlinkSavepointError: a file is damaged, or a state cannot be read.

    Cost: linear in the state files; as much memory as the largest entry takes, and some hundred kilobytes. A file is
    opened when its first entry is asked for.
    """
    chosen = list(savepoint.operators)
    if operators is not None:
        _see_there(savepoint, "operator", operators, {name for operator in chosen for name in _names(operator)})
        chosen = [operator for operator in chosen if not _names(operator).isdisjoint(operators)]
    if states is not None and all(map(savepoint.states_are_known, chosen)):
        _see_there(savepoint, "state", states, {name for operator in chosen for name in savepoint.states(operator)})
    return entries_of(savepoint, chosen, Selection(states, refused))


def _names(operator: OperatorState) -> set[str]:
    return {name for name in (operator.operator_id, operator.uid, operator.name) if name is not None}


def _see_there(savepoint: FlinkSavepoint, what: str, wanted: Collection[str], names: set[str]) -> None:
    for name in wanted:
        if name not in names:
            known = ", ".join(plain(repr(known)) for known in sorted(names)) or "none"
            raise ConfigurationError(
                f"{savepoint.place.folder} has no {what} {plain(repr(name))}. Its {what}s have the names {known}."
            )


def entries_of(
    savepoint: FlinkSavepoint,
    operators: Sequence[OperatorState],
    selection: Selection,
    subtasks: Collection[int] | None = None,
) -> Iterator[Entry]:
    """The entries of operators, as :func:`read_entries` gives them; with ``subtasks`` only what these have written."""
    for operator in operators:
        for subtask in operator.subtasks:
            if subtasks is not None and subtask.index not in subtasks:
                continue
            about = savepoint, operator, subtask.index
            for keyed in subtask.managed_keyed:
                yield from keyed_entries(*about, keyed, selection)
            for keyed in subtask.raw_keyed:
                yield from raw_keyed_entries(*about, keyed, selection)
            for handle in subtask.managed_operator:
                yield from operator_entries(*about, handle, selection)
            for handle in subtask.raw_operator:
                yield from raw_operator_entries(*about, handle, selection)
