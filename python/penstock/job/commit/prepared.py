"""What tasks have prepared is committed, on the driver, by the sinks of the user's own that prepared it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.errors import JobExecutionError, PenstockError
from penstock.runtime.buffers.codec import decode_value
from penstock.runtime.config.tasks import Committable
from penstock.runtime.io.stores import storage_of
from penstock.runtime.io.two_phase import TwoPhaseOutput


def commit_prepared(
    output: TwoPhaseOutput, name: str, prepared: Sequence[Committable], version: int, owner: str = ""
) -> None:
    """Have a sink commit what its subtasks have prepared for a version. It can be repeated; then the sink is asked
    again, unless what it prepared waited in files, which go when it has committed.

    Args:
        output: the sink.
        name: of its operator.
        prepared: in order of subtask.
        version: of the manifest that stands.
        owner: id of the job folder; empty if there is none.

    Raises:
        JobExecutionError: the user's ``commit`` failed, which is the cause.
        OSError: a file cannot be read.
    """
    files = [each.data.decode() for each in prepared if each.kept]
    storage = storage_of(files[0]) if files else None
    try:
        data = [storage.get(each.data.decode()) if storage and each.kept else each.data for each in prepared]
    except FileNotFoundError:  # they go after the commit, all of them
        data = []
    if data:
        output.sink.owner = owner
        _commit(output.sink, name, [decode_value(each) for each in data], version)
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
            f"{error}. The version counts: with a job folder, run the program again, and commit() is called again with "
            "the same; it has to go on where it was, and to refuse what it has done already."
        ) from error


def roll_back(output: TwoPhaseOutput, version: int, owner: str) -> None:
    """Tell a sink that what was prepared for later versions will not be committed.

    Args:
        output: the sink.
        version: the newest that counts.
        owner: id of the job folder.
    """
    output.sink.owner = owner
    recover = getattr(output.sink, "recover", None)
    if callable(recover):
        recover(version)
