"""Serializer snapshots in the headers of state files: which classes they name. No class is loaded.

The bodies of snapshots have no length, so to find what follows one, it must be understood; at a class that is not known
reading stops (:class:`UnknownSnapshot`). Known are those without a body, those of POJOs, enums and Kryo, and all that
are made of others, which have marks: what such a class writes for itself stands between two of them.
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
_SIMPLE_VERSION = 3
_FLINK = "org.apache.flink."
_BASE = "org.apache.flink.api.common.typeutils.base."
_JAVA = "org.apache.flink.api.java.typeutils.runtime."
_WITH_CLASS = {_JAVA + "TupleSerializerSnapshot", _BASE + "GenericArraySerializerSnapshot"}
_ENUM = _BASE + "EnumSerializer$EnumSerializerSnapshot"
_POJO = _JAVA + "PojoSerializerSnapshot"
_KRYO = _JAVA + "kryo.KryoSerializerSnapshot"


class UnknownSnapshot(FlinkSavepointError):
    """A snapshot whose body nobody here can read; what follows it stays unknown.

    Attributes:
        snapshot: its class.
    """

    snapshot: str = ""


@dataclass(frozen=True)
class Serializer:
    """A serializer as a state file names it.

    Attributes:
        snapshot: the class in the file.
        serializer: the class it stands for.
        nested: those inside, such as that of a list's elements.
        named: the class of a tuple, enum or POJO; "" of others.
    """

    snapshot: str
    serializer: str
    nested: tuple[Serializer, ...] = ()
    named: str = ""

    @property
    def text(self) -> str:
        """For people: ``List<Integer>``, ``Tuple2<String, Long>``."""
        whole = self.named or self.serializer.removesuffix("$Serializer")
        own = whole.rpartition(".")[2].rpartition("$")[2]
        own = own.removesuffix("Serializer") or own
        return f"{own}<{', '.join(each.text for each in self.nested)}>" if self.nested else own


def stands_for(snapshot: str) -> str:
    """The serializer of a snapshot class: the class around it, or its name without ``Snapshot``.

    Args:
        snapshot: its full name.
    """
    around = snapshot.rpartition("$")[0]
    return around if around.endswith("Serializer") else snapshot.removesuffix("Snapshot")


def read_written(cursor: Cursor, what: str) -> Serializer:
    """A snapshot as headers have it, with the version of its frame before it.

    Args:
        cursor: where it begins.
        what: it is, for errors.

    Raises:
        UnknownSnapshot: it, or one inside, is of a class that is not known.
        FlinkSavepointError: it is damaged.
    """
    version = cursor.int(f"the version of {what}")
    if version != 2:
        cursor.fail(f"{what} is written in version {version}, and only 2 is known", IO)
    return read_snapshot(cursor, what)


def read_snapshot(cursor: Cursor, what: str, depth: int = 0) -> Serializer:
    """A snapshot: class, version, body.

    Args:
        cursor: where it begins.
        what: it is, for errors.
        depth: how many snapshots it lies in.
    """
    if depth > DEEPEST:
        cursor.fail(f"serializers are nested more than {DEEPEST} deep", "java.lang.StackOverflowError")
    name = cursor.utf(f"the class of {what}")
    version = cursor.int(f"the version of {name}")
    if cursor.data.startswith(_COMPOSITE, cursor.at):
        return _composite(cursor, name, version, depth)
    if name == _ENUM:
        return _enum(cursor, name)
    if name in (_POJO, _KRYO):
        named = cursor.utf(f"the class of {name}")
        for part in ("first", "second", "third"):
            _skip_map(cursor, f"the {part} table of {name}")
        return Serializer(name, stands_for(name), named=named)
    if not _is_simple(name, version):
        raise _unknown(cursor, name, version)
    return Serializer(name, stands_for(name))


def _is_simple(name: str, version: int) -> bool:
    """Whether a snapshot has no body: Flink's own, a member of its serializer, at the version of those."""
    return name.startswith(_FLINK) and version == _SIMPLE_VERSION and "$" in name and name.endswith("Snapshot")


def _unknown(cursor: Cursor, name: str, version: int) -> UnknownSnapshot:
    found = UnknownSnapshot(
        f"{plain(cursor.file)}: at byte {cursor.start + cursor.at:,} the body of a {plain(name)} (version {version}) "
        "follows, which is none of Flink's own that are known here, so that what comes after it cannot be read.",
        file=cursor.file,
        position=cursor.start + cursor.at,
    )
    found.snapshot = name
    return found


def _composite(cursor: Cursor, name: str, version: int, depth: int) -> Serializer:
    """Two marks with what the class writes for itself between them, then the snapshots inside."""
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


def _enum(cursor: Cursor, name: str) -> Serializer:
    named = cursor.utf("the class of an enum")
    for _ in range(cursor.int(f"the number of constants of {named}")):
        cursor.utf(f"a constant of {named}")
    return Serializer(name, stands_for(name), named=named)


def _skip_map(cursor: Cursor, what: str) -> None:
    """A table whose values have lengths."""
    if cursor.long(f"the mark of {what}") != _MAP:
        cursor.fail(f"{what} has not the mark of a table", IO)
    for _ in range(cursor.int(f"the size of {what}")):
        cursor.utf(f"a name in {what}")
        for part in ("key", "value"):
            if cursor.bool(f"whether there is a {part} in {what}"):
                cursor.take(cursor.count(f"the size of a {part} in {what}"), f"a {part} in {what}")
