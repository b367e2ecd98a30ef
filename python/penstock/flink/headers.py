"""Headers of state files: the states in a file, their kinds and serializers. No state is read, no class is loaded.

The snapshot of a serializer has no length, so it must be understood to find what follows; reading stops at an unknown
class. Known are snapshots without a body, those of POJOs, enums and Kryo, and composite ones, which have marks: what a
composite class writes itself stands between two marks.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass

from penstock.errors import FlinkSavepointError
from penstock.flink.cursor import IO, Cursor, plain

KEYED_VERSION = 6
OPERATOR_VERSIONS = (5, 6)
_COMPRESSES = 6
KINDS = ("KEY_VALUE", "OPERATOR", "BROADCAST", "PRIORITY_QUEUE")
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


@dataclass(frozen=True)
class StateInfo:
    """The description of a state."""

    name: str
    type: str
    options: Mapping[str, str]
    serializers: Mapping[str, Serializer]


@dataclass(frozen=True)
class KeyedHeader:
    """The header of a file of keyed state; ``stopped`` is the reason if it could not be read to its end."""

    version: int
    length: int | None
    compression: bool
    key_serializer: Serializer | None
    states: tuple[StateInfo, ...]
    stopped: str = ""


@dataclass(frozen=True)
class OperatorHeader:
    """The header of a file of operator state."""

    version: int
    operator_states: tuple[StateInfo, ...]
    broadcast_states: tuple[StateInfo, ...]
    stopped: str = ""


def read_keyed_header(cursor: Cursor) -> KeyedHeader:
    """Read the header of keyed state. An unknown serializer ends it early, with the states read so far."""
    version = cursor.int("the version of the keyed state")
    if version != KEYED_VERSION:
        cursor.fail(f"the keyed state is in version {version}, and only {KEYED_VERSION} is known", IO)
    compression = cursor.bool("whether key groups are compressed")
    key, states = None, list[StateInfo]()
    try:
        key = read_written(cursor, "the key serializer")
        _read_states(cursor, "states", states)
    except UnknownSnapshot as error:
        return KeyedHeader(version, None, compression, key, tuple(states), str(error))
    return KeyedHeader(version, cursor.at, compression, key, tuple(states))


def read_operator_header(cursor: Cursor) -> OperatorHeader:
    """Read the header of operator state, in the same way."""
    version = cursor.int("the version of the operator state")
    if version not in OPERATOR_VERSIONS:
        known = " and ".join(map(str, OPERATOR_VERSIONS))
        cursor.fail(f"the operator state is in version {version}, and only {known} are known", IO)
    if version >= _COMPRESSES:
        cursor.bool("whether operator state is compressed")
    lists, broadcasts = list[StateInfo](), list[StateInfo]()
    stopped = ""
    try:
        _read_states(cursor, "operator states", lists)
        _read_states(cursor, "broadcast states", broadcasts)
    except UnknownSnapshot as error:
        stopped = str(error)
    return OperatorHeader(version, tuple(lists), tuple(broadcasts), stopped)


def _read_states(cursor: Cursor, what: str, states: list[StateInfo]) -> None:
    for _ in range(cursor.short(f"the number of {what}")):
        name = cursor.utf("the name of a state")
        kind = cursor.int(f"the kind of state {name!r}")
        if not 0 <= kind < len(KINDS):
            cursor.fail(f"the kind of state {name!r} is {kind}", IO)
        options, serializers = dict[str, str](), dict[str, Serializer]()
        for _ in range(cursor.int(f"the number of options of state {name!r}")):
            option = cursor.utf(f"an option of state {name!r}")
            options[option] = cursor.utf(f"option {option} of state {name!r}")
        states.append(StateInfo(name, KINDS[kind], options, serializers))
        for _ in range(cursor.int(f"the number of serializers of state {name!r}")):
            role = cursor.utf(f"the role of a serializer of state {name!r}")
            serializers[role] = read_written(cursor, f"the {role} of state {name!r}")


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
    if cursor.long(f"the mark of {what}") != _MAP:
        cursor.fail(f"{what} lacks the mark of a table", IO)
    for _ in range(cursor.int(f"the size of {what}")):
        cursor.utf(f"a name in {what}")
        for part in ("key", "value"):
            if cursor.bool(f"whether there is a {part} in {what}"):
                cursor.take(cursor.count(f"the size of a {part} in {what}"), f"a {part} in {what}")
