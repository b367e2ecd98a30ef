"""The properties of a checkpoint, which ``_metadata`` has from its fourth version on: what kind of snapshot it is."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.flink.cursor import IO, Cursor
from penstock.flink.java_stream import JavaStream, JavaValue

_PROPERTIES = "org.apache.flink.runtime.checkpoint.CheckpointProperties"
_SAVEPOINT = "org.apache.flink.runtime.checkpoint.SavepointType"
_CHECKPOINT = "org.apache.flink.runtime.checkpoint.CheckpointType"
_UNREAD = "Couldn't deserialize checkpoint properties"


@dataclass(frozen=True)
class Properties:
    """What kind of snapshot it is.

    Attributes:
        savepoint: whether it is a savepoint, and no checkpoint.
        type: its name, such as ``Savepoint``, ``Suspend Savepoint``, ``Checkpoint``.
        unclaimed: whether it belongs to nobody.
        sharing: whether it shares files: ``NO_SHARING``, ``FORWARD`` or ``FORWARD_BACKWARD``.
        format: of a savepoint: ``CANONICAL`` or ``NATIVE``.
        after: what a savepoint has the job do: ``NONE``, ``SUSPEND`` or ``TERMINATE``.
    """

    savepoint: bool
    type: str
    unclaimed: bool
    sharing: str
    format: str | None = None
    after: str | None = None


def read_properties(cursor: Cursor) -> Properties:
    """Read them.

    Args:
        cursor: where they begin.

    Raises:
        FlinkSavepointError: they are damaged, or not those of a checkpoint.
    """
    found = JavaStream(cursor).value()
    if not isinstance(found, JavaValue) or found.java_class != _PROPERTIES:
        cursor.fail(f"the object is a {_named(found)}, not a CheckpointProperties", IO, _UNREAD)
    kind = found.fields.get("checkpointType")
    if not isinstance(kind, JavaValue) or kind.java_class not in (_SAVEPOINT, _CHECKPOINT):
        cursor.fail(f"the kind of the checkpoint is a {_named(kind)}", IO, _UNREAD)
    name, savepoint = kind.fields.get("name"), kind.java_class == _SAVEPOINT
    if not isinstance(name, str):
        cursor.fail("the kind of the checkpoint has no name", IO, _UNREAD)
    sharing = "NO_SHARING" if savepoint else _constant(kind, "sharingFilesStrategy")
    if sharing is None:
        cursor.fail("it is not said which files the checkpoint shares", IO, _UNREAD)
    return Properties(
        savepoint,
        name,
        found.fields.get("unclaimed") is True,
        sharing,
        _constant(kind, "formatType"),
        _constant(kind, "postCheckpointAction"),
    )


def _constant(value: JavaValue, name: str) -> str | None:
    found = value.fields.get(name)
    return found.constant if isinstance(found, JavaValue) else None


def _named(value: object) -> str:
    return value.java_class if isinstance(value, JavaValue) else type(value).__name__
