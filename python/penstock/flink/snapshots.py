"""Serializer snapshots in the headers of state files: the classes they name. No class is loaded.

The body of a snapshot has no length, so it must be understood to find what follows; reading stops at an unknown class
(:class:`UnknownSnapshot`). Known are snapshots without a body, those of POJOs, enums and Kryo, and composite ones,
which have marks: what a composite class writes itself stands between two marks.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from penstock.errors import FlinkSavepointError
from penstock.flink.cursor import IO, Cursor, plain

DEEPEST = 30
_COMPOSITE = struct.pack(">i", 911108)
_NESTED = struct.pack(">ii", 1333245, 1)
_MAP = 0x4F2C69A3D70
_BASE = "org.apache.flink.api.common.typeutils.base."
_JAVA = "org.apache.flink.api.java.typeutils.runtime."
_WITH_CLASS = {_JAVA + "TupleSerializerSnapshot", _BASE + "GenericArraySerializerSnapshot"}
_ENUM = _BASE + "EnumSerializer$EnumSerializerSnapshot"
_POJO = _JAVA + "PojoSerializerSnapshot"
_KRYO = _JAVA + "kryo.KryoSerializerSnapshot"


class UnknownSnapshot(FlinkSavepointError):
    """A snapshot with an unknown body, so that the data after it cannot be found."""


@dataclass(frozen=True)
class Serializer:
    """A serializer as named in a state file."""

    snapshot: str
    serializer: str
    nested: tuple[Serializer, ...] = ()
    named: str = ""

    @property
    def text(self) -> str:
        """For display: ``List<Integer>``, ``Tuple2<String, Long>``."""
        whole = self.named or self.serializer.removesuffix("$Serializer")
        name = whole.rpartition(".")[2].rpartition("$")[2]
        name = name.removesuffix("Serializer") or name
        return f"{name}<{', '.join(serializer.text for serializer in self.nested)}>" if self.nested else name


def stands_for(snapshot: str) -> str:
    """The serializer of a snapshot class: the class around it, or its name without ``Snapshot``."""
    around = snapshot.rpartition("$")[0]
    return around if around.endswith("Serializer") else snapshot.removesuffix("Snapshot")


def read_written(cursor: Cursor, what: str) -> Serializer:
    """Read a snapshot in a header, which begins with the version of its frame."""
    version = cursor.int(f"the version of {what}")
    if version != 2:
        cursor.fail(f"{what} is written in version {version}, and only 2 is known", IO)
    return read_snapshot(cursor, what)


def read_snapshot(cursor: Cursor, what: str, depth: int = 0) -> Serializer:
    """Read a snapshot: class, version, body."""
    if depth > DEEPEST:
        cursor.fail(f"serializers are nested more than {DEEPEST} deep", "java.lang.StackOverflowError")
    name = cursor.utf(f"the class of {what}")
    version = cursor.int(f"the version of {name}")
    if cursor.data.startswith(_COMPOSITE, cursor.at):
        return _composite(cursor, name, version, depth)
    if name == _ENUM:
        named = cursor.utf("the class of an enum")
        for _ in range(cursor.int(f"the number of constants of {named}")):
            cursor.utf(f"a constant of {named}")
        return Serializer(name, stands_for(name), named=named)
    if name in (_POJO, _KRYO):
        named = cursor.utf(f"the class of {name}")
        for part in ("first", "second", "third"):
            _skip_map(cursor, f"the {part} table of {name}")
        return Serializer(name, stands_for(name), named=named)
    # Flink's own snapshots that are nested in their serializer have no body, in their version
    if not (name.startswith("org.apache.flink.") and version == 3 and "$" in name and name.endswith("Snapshot")):
        raise _unknown(cursor, name, version)
    return Serializer(name, stands_for(name))


def _unknown(cursor: Cursor, name: str, version: int) -> UnknownSnapshot:
    return UnknownSnapshot(
        f"{plain(cursor.file)}: at byte {cursor.start + cursor.at:,} the body of a {plain(name)} (version {version}) "
        "follows, which is not a known class of Flink, so what comes after it cannot be read.",
        file=cursor.file,
        position=cursor.start + cursor.at,
    )


def _composite(cursor: Cursor, name: str, version: int, depth: int) -> Serializer:
    """Two marks with the class's own data between them, then the nested snapshots."""
    cursor.take(len(_COMPOSITE), "the first mark")
    cursor.int(f"the outer version of {name}")
    named = cursor.utf(f"the class of {name}") if name in _WITH_CLASS else ""
    end = cursor.data.find(_NESTED, cursor.at)
    if end < 0:
        raise _unknown(cursor, name, version)
    cursor.at = end + len(_NESTED)
    count = cursor.int(f"the number of serializers in {name}")
    nested = tuple(read_snapshot(cursor, f"a serializer in {name}", depth + 1) for _ in range(count))
    return Serializer(name, stands_for(name), nested, named)


def _skip_map(cursor: Cursor, what: str) -> None:
    """Skip a map whose values have lengths."""
    if cursor.long(f"the mark of {what}") != _MAP:
        cursor.fail(f"{what} lacks the mark of a table", IO)
    for _ in range(cursor.int(f"the size of {what}")):
        cursor.utf(f"a name in {what}")
        for part in ("key", "value"):
            if cursor.bool(f"whether there is a {part} in {what}"):
                cursor.take(cursor.count(f"the size of a {part} in {what}"), f"a {part} in {what}")
