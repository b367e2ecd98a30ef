"""Snapshots of serializers: what a state file records of how its keys, namespaces and values are written.

A snapshot has no length, so it must be understood to find what follows; an unknown class ends the reading. Known are
snapshots without a body, those that name a class, those of POJOs, enums, Avro and Kryo, and composite ones, which have
marks: what a composite class writes itself is between two marks. No class is loaded. Source of the semantics: Flink's
``TypeSerializerSnapshot`` and its subclasses, 1.11 to 2.3.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from penstock.errors import FlinkSavepointError
from penstock.flink.cursor import IO, Cursor, plain

DEEPEST = 30
BASE = "org.apache.flink.api.common.typeutils.base."
JAVA = "org.apache.flink.api.java.typeutils.runtime."
_COMPOSITE = struct.pack(">i", 911108)
_NESTED = struct.pack(">ii", 1333245, 1)
_MAP = 0x4F2C69A3D70
_TUPLE = JAVA + "TupleSerializerSnapshot"
_ROW = JAVA + "RowSerializer$RowSerializerSnapshot"
_NULLABLE = JAVA + "NullableSerializer$NullableSerializerSnapshot"
_ARRAY = BASE + "GenericArraySerializerSnapshot"
_ENUM = BASE + "EnumSerializer$EnumSerializerSnapshot"
_POJO = JAVA + "PojoSerializerSnapshot"
_KRYO = JAVA + "kryo.KryoSerializerSnapshot"
_AVRO = "org.apache.flink.formats.avro.typeutils.AvroSerializerSnapshot"
_TTL_AWARE = "org.apache.flink.runtime.state.ttl.TtlAwareSerializerSnapshot"
_EMPTY_TUPLE = JAVA + "Tuple0SerializerSnapshot"
_OF_A_CLASS = {
    JAVA + "ValueSerializer$ValueSerializerSnapshot",
    JAVA + "CopyableValueSerializer$CopyableValueSerializerSnapshot",
}
_ROW_KINDS, _WRITES_ROW_KINDS = 3, 4  # the first versions of a row's snapshot whose rows have kinds, and that say so


class UnknownSnapshot(FlinkSavepointError):
    """A snapshot with an unknown body, so that the data after it cannot be found."""


@dataclass(frozen=True)
class Serializer:
    """A serializer as named in a state file."""

    snapshot: str
    serializer: str
    nested: tuple[Serializer, ...] = ()  # of parts; of a POJO its fields
    named: str = ""  # the class of values
    names: tuple[str, ...] = ()  # the constants of an enum, the fields of a POJO
    detail: str | int | None = None  # a schema of Avro, whether rows have kinds, the padding of null
    subclasses: tuple[tuple[str, bool, Serializer], ...] = ()  # of a POJO: class, whether registered, serializer

    @property
    def text(self) -> str:
        """For display: ``List<Integer>``, ``Tuple2<String, Long>``."""
        whole = self.named or self.serializer.removesuffix("$Serializer")
        name = whole.rpartition(".")[2].rpartition("$")[2]
        name = name.removesuffix("Serializer") or name
        if self.names or not self.nested:
            return name
        return f"{name}<{', '.join(serializer.text for serializer in self.nested)}>"


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
    """Read a snapshot: class, version, body.

    Args:
        cursor: at its first byte; afterwards behind its last.
        what: the thing that the serializer is of, for messages.
        depth: how many snapshots it is nested in.

    Raises:
        UnknownSnapshot: its class, or that of a nested one, is not known.
        FlinkSavepointError: it is damaged, or nested too deep.
    """
    if depth > DEEPEST:
        cursor.fail(f"serializers are nested more than {DEEPEST} deep", "java.lang.StackOverflowError")
    name = cursor.utf(f"the class of {what}")
    version = cursor.int(f"the version of {name}")
    if cursor.data.startswith(_COMPOSITE, cursor.at):
        return _composite(cursor, name, version, depth)
    if name == _POJO:
        return _pojo(cursor, depth)
    if name == _AVRO:
        return _avro(cursor, version)
    if name == _ENUM:
        named = cursor.utf("the class of an enum")
        count = cursor.int(f"the number of constants of {named}")
        constants = tuple(cursor.utf(f"a constant of {named}") for _ in range(count))
        return Serializer(name, stands_for(name), named=named, names=constants)
    if name == _KRYO:
        named = cursor.utf(f"the class of {name}")
        for part in ("first", "second", "third"):
            _framed(cursor, f"the {part} table of {name}")
        return Serializer(name, stands_for(name), named=named)
    if name == _TTL_AWARE:
        cursor.bool(f"whether {name} has a time to live")
        return read_snapshot(cursor, f"a serializer in {name}", depth + 1)
    if name in _OF_A_CLASS:
        return Serializer(name, stands_for(name), named=cursor.utf(f"the class of {name}"))
    # Flink's own snapshots that are nested in their serializer have no body, in their version
    simple = name.startswith("org.apache.flink.") and "$" in name and name.endswith("Snapshot")
    if version != 3 or not (simple or name == _EMPTY_TUPLE):
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
    outer = cursor.int(f"the outer version of {name}")
    named, detail = "", None
    if name in (_TUPLE, _ARRAY):
        named = cursor.utf(f"the class of {name}")
    elif name == _ROW:
        written = outer >= _WRITES_ROW_KINDS
        detail = int(cursor.bool("whether rows have kinds") if written else outer >= _ROW_KINDS)
    elif name == _NULLABLE:
        detail = cursor.int("the padding of null")
    end = cursor.data.find(_NESTED, cursor.at)
    if end < 0:
        raise _unknown(cursor, name, version)
    cursor.at = end + len(_NESTED)
    count = cursor.int(f"the number of serializers in {name}")
    nested = tuple(read_snapshot(cursor, f"a serializer in {name}", depth + 1) for _ in range(count))
    return Serializer(name, stands_for(name), nested, named, detail=detail)


def _pojo(cursor: Cursor, depth: int) -> Serializer:
    """Its class, then three tables: fields in the order in which they are written, and subclasses, registered and not.
    The snapshots in a table have lengths, so one that is not known costs no other."""
    named = cursor.utf("the class of a POJO")
    tables = [
        [(name, _held(frame, name, named, cursor, depth)) for name, frame in _framed(cursor, f"the {part} of {named}")]
        for part in ("fields", "registered subclasses", "other subclasses")
    ]
    names, nested = tuple(name for name, _ in tables[0]), tuple(serializer for _, serializer in tables[0])
    subclasses = tuple((name, table is tables[1], serializer) for table in tables[1:] for name, serializer in table)
    return Serializer(_POJO, stands_for(_POJO), nested, named, names, subclasses=subclasses)


def _held(frame: tuple[int, bytes] | None, name: str, owner: str, cursor: Cursor, depth: int) -> Serializer:
    """The serializer in a table of a POJO, or one that says why it cannot be read."""
    if frame is None:
        return Serializer("", "", named=f"{owner}.{name}")
    at, data = frame
    try:
        return read_snapshot(Cursor(data, cursor.file, cursor.start + at), f"{name} of {owner}", depth + 1)
    except UnknownSnapshot:
        unknown = Cursor(data, cursor.file).utf("the class of a serializer")
        return Serializer(unknown, stands_for(unknown), named=f"{owner}.{name}")


def _avro(cursor: Cursor, version: int) -> Serializer:
    """The class of values and their schema. Version 1 has the schema only, 3 writes texts as state has them."""
    if not 1 <= version <= 3:
        raise _unknown(cursor, _AVRO, version)
    read = cursor.utf if version < 3 else cursor.text
    named = read("the class of an Avro serializer") if version > 1 else ""
    return Serializer(_AVRO, stands_for(_AVRO), named=named, detail=read("the schema of an Avro serializer"))


def _framed(cursor: Cursor, what: str) -> list[tuple[str, tuple[int, bytes] | None]]:
    """A table: names, each with the position and bytes of its value, or None. The keys are not needed."""
    if cursor.long(f"the mark of {what}") != _MAP:
        cursor.fail(f"{what} lacks the mark of a table", IO)
    entries: list[tuple[str, tuple[int, bytes] | None]] = []
    for _ in range(cursor.int(f"the size of {what}")):
        name, value = cursor.utf(f"a name in {what}"), None
        for part in ("key", "value"):
            value = None
            if cursor.bool(f"whether there is a {part} in {what}"):
                count = cursor.count(f"the size of a {part} in {what}")
                value = cursor.at, cursor.take(count, f"a {part} in {what}")
        entries.append((name, value))
    return entries
