"""Headers of state files: the states in a file, their kinds and serializers. No state is read, no class is loaded.

The header ends early, with the states read so far, at a serializer whose snapshot is not known
(:mod:`penstock.flink.snapshots`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.flink.cursor import IO, Cursor
from penstock.flink.snapshots import Serializer, UnknownSnapshot, read_written

KEYED_VERSION = 6
OPERATOR_VERSIONS = (5, 6)
_COMPRESSES = 6
KINDS = ("KEY_VALUE", "OPERATOR", "BROADCAST", "PRIORITY_QUEUE")


@dataclass(frozen=True)
class StateInfo:
    """The description of a state."""

    name: str
    type: str
    options: Mapping[str, str]
    serializers: Mapping[str, Serializer]

    @property
    def kind(self) -> str:
        """``value``, ``list``, ``map``, ``reducing``, ``aggregating``, ``timers``, or the type in lower case."""
        return "timers" if self.type == "PRIORITY_QUEUE" else self.options.get("KEYED_STATE_TYPE", self.type).lower()


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
    compressed: bool = False


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
    compressed = version >= _COMPRESSES and cursor.bool("whether operator state is compressed")
    lists, broadcasts = list[StateInfo](), list[StateInfo]()
    stopped = ""
    try:
        _read_states(cursor, "operator states", lists)
        _read_states(cursor, "broadcast states", broadcasts)
    except UnknownSnapshot as error:
        stopped = str(error)
    return OperatorHeader(version, tuple(lists), tuple(broadcasts), stopped, compressed)


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
