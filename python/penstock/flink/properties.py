"""The properties of a checkpoint, in ``_metadata`` from version 4 on: the kind of snapshot."""

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
    """The kind of a snapshot."""

    savepoint: bool
    type: str
    unclaimed: bool
    sharing: str
    format: str | None = None
    after: str | None = None


def read_properties(cursor: Cursor) -> Properties:
    """Read the properties."""
    value = JavaStream(cursor).value()
    if not isinstance(value, JavaValue) or value.java_class != _PROPERTIES:
        cursor.fail(f"the object is a {_named(value)}, not a CheckpointProperties", IO, _UNREAD)
    kind = value.fields.get("checkpointType")
    if not isinstance(kind, JavaValue) or kind.java_class not in (_SAVEPOINT, _CHECKPOINT):
        cursor.fail(f"the kind of the checkpoint is a {_named(kind)}", IO, _UNREAD)
    name, savepoint = kind.fields.get("name"), kind.java_class == _SAVEPOINT
    if not isinstance(name, str):
        cursor.fail("the kind of the checkpoint has no name", IO, _UNREAD)
    sharing = "NO_SHARING" if savepoint else _constant(kind, "sharingFilesStrategy")
    if sharing is None:
        cursor.fail("the files that the checkpoint shares are not recorded", IO, _UNREAD)
    return Properties(
        savepoint,
        name,
        value.fields.get("unclaimed") is True,
        sharing,
        _constant(kind, "formatType"),
        _constant(kind, "postCheckpointAction"),
    )


def _constant(value: JavaValue, name: str) -> str | None:
    field = value.fields.get(name)
    return field.constant if isinstance(field, JavaValue) else None


def _named(value: object) -> str:
    return value.java_class if isinstance(value, JavaValue) else type(value).__name__
