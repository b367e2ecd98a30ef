"""Refusals of states that cannot be read, with what to do instead."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.errors import FlinkSavepointError
from penstock.flink.cursor import plain
from penstock.flink.headers import KeyedHeader, OperatorHeader
from penstock.flink.metadata import OperatorState

CANONICAL = "flink savepoint -type canonical JOB_ID FOLDER"
_FIX = {
    "IncrementalRemoteKeyedStateHandle": "is in files of RocksDB",
    "ChangelogStateBackendHandleImpl": "is a changelog",
    "InMemoryChangelogStateHandle": "is a changelog",
    "ChangelogStateHandleStreamImpl": "is a changelog",
}


def title(operator: OperatorState) -> str:
    """An operator for messages: its name and ID."""
    named = operator.name or operator.uid
    return f"operator {operator.operator_id}" if named is None else f"operator {named!r} ({operator.operator_id})"


def unreadable_state(operator: OperatorState, state: str, why: str, lost: Sequence[str] = ()) -> FlinkSavepointError:
    """The error of a state whose values only a class of Java can read."""
    behind = f" In this format nothing behind it can be found: {', '.join(map(plain, lost))}." if lost else ""
    return FlinkSavepointError(
        f"State {plain(state)!r} of {plain(title(operator))} cannot be read: its entries are written by {why}.{behind} "
        "Give the state a type of Flink's own (a POJO, a tuple, a row, Avro), or read the other states only."
    )


def unreadable_form(operator: OperatorState, handle: str) -> FlinkSavepointError:
    """The error of keyed state in the form of a state backend."""
    return FlinkSavepointError(
        f"The keyed state of {plain(title(operator))} {_FIX.get(handle, f'is a {handle}')}, which only Flink's own "
        f"backend can read. Let the job take a canonical savepoint, and read that: {CANONICAL} (Flink before 1.15: "
        "flink savepoint JOB_ID FOLDER)."
    )


def unknown_serializer(operator: OperatorState, header: KeyedHeader | OperatorHeader) -> FlinkSavepointError:
    """The error of a header that ends early, at a serializer of somebody else's."""
    states = header.states if isinstance(header, KeyedHeader) else (*header.operator_states, *header.broadcast_states)
    what = f"State {states[-1].name!r} and those behind it" if states else "Keyed state"
    return FlinkSavepointError(
        f"{plain(what)} of {plain(title(operator))} cannot be read, because of a serializer that is not Flink's: "
        f"{header.stopped} Give the state a type of Flink's own (a POJO, a tuple, a row, Avro)."
    )


def unreadable_file(operator: OperatorState, why: str) -> FlinkSavepointError:
    """The error of a state file that is missing, or whose header is not known."""
    return FlinkSavepointError(f"State of {plain(title(operator))} cannot be read: {plain(why)}")
