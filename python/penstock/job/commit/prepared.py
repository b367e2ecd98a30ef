"""Two-phase sinks of the user's own commit, on the driver, what their subtasks have prepared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.connectors.two_phase import TwoPhaseOutput
from penstock.errors import JobExecutionError, PenstockError
from penstock.runtime.buffers.codec import decode_value
from penstock.runtime.config.tasks import Committable
from penstock.storage.stores import storage_of


def commit_prepared(
    output: TwoPhaseOutput, name: str, prepared: Sequence[Committable], version: int, owner: str = ""
) -> None:
    """Have a sink commit what its subtasks, in order, have prepared for a version whose manifest stands. It can be
    repeated; then the sink is asked again, unless what it prepared waited in files, which go when it has committed. The
    owner is the id of the checkpoint directory, empty if there is none.

    Raises:
        JobExecutionError: the user's ``commit`` failed, which is the cause.
        OSError: a file cannot be read.
    """
    files = [part.data.decode() for part in prepared if part.kept]
    storage = storage_of(files[0]) if files else None
    try:
        data = [storage.get(part.data.decode()) if storage and part.kept else part.data for part in prepared]
    except FileNotFoundError:  # they go after the commit, all of them
        data = []
    if data:
        output.sink.owner = owner
        _commit(output.sink, name, list(map(decode_value, data)), version)
    if storage is not None:
        storage.delete(files)


def _commit(sink: Any, name: str, committables: list[Any], version: int) -> None:
    try:
        sink.commit(committables, version)
    except PenstockError:
        raise
    except Exception as error:
        raise JobExecutionError(
            f"The sink {name!r} ({type(sink).__name__}) could not commit version {version}: {type(error).__name__}: "
            f"{error}. The version counts: with a checkpoint directory, run the program again, and commit() is called "
            "again with the same; it has to go on where it was, and to refuse what it has done already."
        ) from error


def roll_back(output: TwoPhaseOutput, version: int, owner: str) -> None:
    """Tell a sink that what was prepared for versions after the newest, which is this one, will not be committed."""
    output.sink.owner = owner
    recover = getattr(output.sink, "recover", None)
    if callable(recover):
        recover(version)
