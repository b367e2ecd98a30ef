"""State of a savepoint of Flink that does not come over into a job of ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.errors import SavepointError
from penstock.flink.cursor import plain
from penstock.flink.entries.refusals import unreadable_file
from penstock.flink.handles import KeyedHandle, OperatorHandle
from penstock.flink.headers import KeyedHeader, OperatorHeader
from penstock.flink.metadata import OperatorState
from penstock.flink.savepoint import FlinkSavepoint, Problem

_ALLOW = "execution.savepoint.ignore-unclaimed-state to true (--allow-non-restored-state, -n)"


@dataclass(frozen=True)
class Loss:
    """State that does not come over."""

    operator: str  # for people: its name and ID
    state: str  # its name, or what it is; "" for all of the operator
    reason: str  # a clause, without its period

    @property
    def text(self) -> str:
        """One line about it."""
        what = "all its state" if not self.state else self.state
        return plain(f"{self.operator}: {what}: {self.reason}")


def header_of(
    savepoint: FlinkSavepoint, operator: OperatorState, handle: KeyedHandle | OperatorHandle
) -> KeyedHeader | OperatorHeader | Problem | None:
    """The header of a state file. FlinkSavepointError: the file is missing, which is not a loss that may be allowed."""
    header = savepoint.header(handle)
    if isinstance(header, Problem) and header.missing:
        raise unreadable_file(operator, f"{header.text}. Bring it back, from where the savepoint was taken.")
    return header


def refuse(place: str, losses: Sequence[Loss]) -> SavepointError:
    """The error of a savepoint that would lose state."""
    lines = "\n".join(f"  {loss.text}" for loss in losses)
    return SavepointError(
        f"Not all state in the savepoint of Flink at {place!r} comes over into the program:\n{lines}\nNothing was "
        f"started. Change what is named; or, to begin without it, set {_ALLOW}."
    )
