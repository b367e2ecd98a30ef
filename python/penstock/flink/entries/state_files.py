"""Opening a file of state with its header, or refusing it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import IO, TypeVar

from penstock.flink.entries.refusals import unreadable_file
from penstock.flink.entries.selection import Selection
from penstock.flink.handles import KeyGroupsHandle, OperatorHandle
from penstock.flink.headers import KeyedHeader, OperatorHeader
from penstock.flink.metadata import OperatorState
from penstock.flink.savepoint import FlinkSavepoint, problem_of

H = TypeVar("H", KeyedHeader, OperatorHeader)


@contextmanager
def opened(
    savepoint: FlinkSavepoint,
    operator: OperatorState,
    handle: KeyGroupsHandle | OperatorHandle,
    kind: type[H],
    selection: Selection,
) -> Generator[tuple[H, IO[bytes]] | None, None, None]:
    """Within the block a file of state is open: its header, which should be of a kind, and the file. None without
    state, or if the file cannot be read, which is given to ``selection.refuse``."""
    header = savepoint.header(handle)
    if header is None:
        yield None
        return
    if not isinstance(header, kind):
        selection.refuse(unreadable_file(operator, problem_of(header)))
        yield None
        return
    with savepoint.place.opened(handle.delegate) as file:
        if file is None:
            selection.refuse(unreadable_file(operator, f"{handle.delegate.path or handle.delegate.file} is not there"))
        yield None if file is None else (header, file)
