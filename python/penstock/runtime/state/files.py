"""State files: how the state of an operator's subtask becomes bytes, and is found again.

A preamble, a header in JSON that can be read without unpickling anything, and sections. ``docs/state-files.md``
describes every byte. The preamble has a checksum of itself and the header, the header one of every section and the
length of the file: so a file is what was written, or :class:`~penstock.errors.StateError` says what is wrong.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from typing import IO, Any

from penstock.errors import StateError
from penstock.runtime.state.classes import ClassForm
from penstock.runtime.state.sections import Section, StateInfo, TimersInfo

MAGIC = b"PENSTATE"
FORMAT = 1
"""Version of the format that is written; every version up to it is read."""

_PREAMBLE = struct.Struct(">8sHHI16s")
_DIGEST_BYTES = 16
_CHECKED = _PREAMBLE.size - _DIGEST_BYTES
SNAPSHOT, LOG = "snapshot", "log"


@dataclass(frozen=True)
class AboutOperator:
    """Whose state is in a file.

    Attributes:
        operator_id: 32 hex digits.
        name: as the user sees it.
        uid: given by the user, or None.
        subtask: index from 0.
        parallelism: number of subtasks.
        max_parallelism: number of key groups.
    """

    operator_id: str
    name: str
    uid: str | None
    subtask: int
    parallelism: int
    max_parallelism: int

    @property
    def groups(self) -> range:
        """The key groups of the subtask."""
        first = -(-self.subtask * self.max_parallelism // self.parallelism)
        return range(first, -(-(self.subtask + 1) * self.max_parallelism // self.parallelism))

    def __str__(self) -> str:
        uid = "no uid" if self.uid is None else f"uid {self.uid!r}"
        groups = f"key groups {self.groups[0]} to {self.groups[-1]}" if self.groups else "no key groups"
        return f"operator {self.name!r} (OperatorID {self.operator_id}, {uid}), subtask {self.subtask}, {groups}"


@dataclass(frozen=True)
class Part:
    """Where a section is.

    Attributes:
        first, last: of its key groups; -1 for operator state.
        offset: from the end of the header.
        bytes: its length.
        crc32: of its bytes.
    """

    first: int
    last: int
    offset: int
    bytes: int
    crc32: int


@dataclass(frozen=True)
class Header:
    """What a file says of itself.

    Attributes:
        kind: ``snapshot`` or ``log``.
        about: whose state.
        version: of the job's state, which this file is a part of.
        follows: name of the file before it in the chain; None for a snapshot.
        key, states, timers: of keyed state, as of :class:`~penstock.runtime.state.sections.Content`.
        entries: how many values, removals, timers and moves of timers there are.
        sections: of keyed state, in the order of key groups.
        operator_state: where that is; None if there is none.
        broadcast: what is known of broadcast states.
        classes: what the classes of the objects in it were (:mod:`~penstock.runtime.state.classes`), by name.
        offset: of the first section, from the beginning of the file.
        checksum: of preamble and header.
    """

    kind: str
    about: AboutOperator
    version: int
    follows: str | None
    key: tuple[str, str] | None
    states: tuple[StateInfo, ...]
    timers: tuple[TimersInfo, ...]
    entries: int
    sections: tuple[Part, ...]
    operator_state: Part | None
    broadcast: tuple[StateInfo, ...] = ()
    classes: Mapping[str, ClassForm] = field(default_factory=dict[str, ClassForm])
    offset: int = 0
    checksum: str = ""

    @property
    def bytes(self) -> int:
        """Length of the file."""
        parts = (*self.sections, *(() if self.operator_state is None else (self.operator_state,)))
        return self.offset + sum(part.bytes for part in parts)


def packed(header: Header, sections: Sequence[Section], operator_state: bytes | None) -> tuple[bytes, str]:
    """A file's bytes, and its checksum.

    Args:
        header: of it, but for where its sections are.
        sections: of keyed state.
        operator_state: the bytes of operator state, or None.
    """
    parts, offset = [], 0
    whole = [*sections, *(() if operator_state is None else (Section(-1, -1, operator_state),))]
    for first, last, data in whole:
        parts.append([first, last, offset, len(data), zlib.crc32(data)])
        offset += len(data)
    described = {
        "kind": header.kind,
        "operator": asdict(header.about),
        "key_groups": [header.about.groups.start, header.about.groups.stop - 1],
        "version": header.version,
        "follows": header.follows,
        "key": header.key,
        "states": [each._asdict() for each in header.states],
        "timers": [each._asdict() for each in header.timers],
        "broadcast": [each._asdict() for each in header.broadcast],
        "classes": dict(header.classes),
        "entries": header.entries,
        "sections": parts[: len(sections)],
        "operator_state": parts[-1] if operator_state is not None else None,
        "bytes": offset,
    }
    text = json.dumps(described, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    digest = _digest(_PREAMBLE.pack(MAGIC, FORMAT, 0, len(text), b"")[:_CHECKED], text)
    preamble = _PREAMBLE.pack(MAGIC, FORMAT, 0, len(text), digest)
    return b"".join([preamble, text, *(each.data for each in whole)]), digest.hex()


def _digest(preamble: bytes, text: bytes) -> bytes:
    return blake2b(preamble + text, digest_size=_DIGEST_BYTES).digest()


class StateReader:
    """Reads a state file.

    Args:
        path: of the file, for messages.
        file: open at its beginning.
        size: how long it should be.
        about: who wants to read it, for messages.

    Raises:
        StateError: it is no state file, damaged, or too new.
    """

    def __init__(self, path: str, file: IO[bytes], size: int, about: AboutOperator) -> None:
        self._path, self._file, self._size, self._about = path, file, size, about
        self.header: Header = self._header()

    def _header(self) -> Header:
        preamble = self._file.read(_PREAMBLE.size)
        if preamble[: len(MAGIC)] != MAGIC[: len(preamble)] or not preamble:
            raise self.error("is no state file")
        if len(preamble) < _PREAMBLE.size:
            raise self.error(f"is cut off after {len(preamble)} bytes")
        _, version, _, length, digest = _PREAMBLE.unpack(preamble)
        if version > FORMAT:
            raise self.error(
                f"has version {version} of the format, and this Penstock reads up to {FORMAT}",
                "Run the job with the Penstock that wrote it, or a later one; if that does not say so, it is damaged.",
            )
        text = self._file.read(min(length, self._size))
        if _digest(preamble[:_CHECKED], text) != digest:
            raise self.error("is damaged in its header, or cut off")
        header = _header_of(json.loads(text.decode("utf-8", "surrogatepass")), _PREAMBLE.size + length, digest.hex())
        if header.bytes != self._size:
            raise self.error(f"should have {self._size} bytes and says that it has {header.bytes}")
        return header

    def sections(self, groups: range) -> Iterator[Section]:
        """The sections that have some of these key groups.

        Raises:
            StateError: one is damaged or missing.
        """
        for part in self.header.sections:
            if part.first < groups.stop and part.last >= groups.start:
                yield Section(part.first, part.last, self._read(part, f"key groups {part.first} to {part.last}"))

    def operator_state(self) -> bytes | None:
        """The bytes of operator state; None if there is none.

        Raises:
            StateError: they are damaged or missing.
        """
        part = self.header.operator_state
        return None if part is None else self._read(part, "operator state")

    def _read(self, part: Part, what: str) -> bytes:
        self._file.seek(self.header.offset + part.offset)
        data = self._file.read(part.bytes)
        if len(data) < part.bytes:
            raise self.error(f"is cut off in its section of {what}")
        if zlib.crc32(data) != part.crc32:
            raise self.error(f"is damaged in its section of {what}")
        return data

    def error(self, problem: str, advice: str = "") -> StateError:
        """What to raise for the file."""
        return state_error(self._path, self._about, problem, advice)


def state_error(path: str, about: AboutOperator, problem: str, advice: str = "") -> StateError:
    """The error for a state file.

    Args:
        path: of the file.
        about: who wants to read it.
        problem: what follows the file's name in the sentence.
        advice: what can be done; "" for what always can.
    """
    advice = advice or (
        "Put the file back from a copy if there is one; otherwise start from an older savepoint, or begin anew with "
        "another job folder (penstock.job.folder)."
    )
    return StateError(f"The state file {path!r} of {about} {problem}. {advice}")


def _header_of(given: dict[str, Any], offset: int, checksum: str) -> Header:
    operator_state = given["operator_state"]
    return Header(
        kind=given["kind"],
        about=AboutOperator(**given["operator"]),
        version=given["version"],
        follows=given["follows"],
        key=None if given["key"] is None else tuple(given["key"]),
        states=_infos(given["states"]),
        timers=tuple(TimersInfo(each["whole"], each["count"]) for each in given["timers"]),
        entries=given["entries"],
        sections=tuple(Part(*each) for each in given["sections"]),
        operator_state=None if operator_state is None else Part(*operator_state),
        broadcast=_infos(given.get("broadcast", ())),
        classes=given.get("classes", {}),
        offset=offset,
        checksum=checksum,
    )


def _infos(given: Sequence[dict[str, Any]]) -> tuple[StateInfo, ...]:
    return tuple(
        StateInfo(each["name"], each["kind"], tuple(each["serializers"]), tuple(each["types"]), each.get("version", 0))
        for each in given
    )
