"""The format of state files: a preamble, a JSON header that is read without unpickling, and sections, all with
checksums. No file is changed later; the header names the file it follows, back to a snapshot."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from itertools import chain
from typing import IO, Any

from penstock.errors import StateError
from penstock.runtime.state.classes import ClassForm
from penstock.runtime.state.keyed import StateInfo
from penstock.runtime.state.sections import Section, TimersInfo

MAGIC = b"PENSTATE"
FORMAT = 1  # version of the format that is written; every version up to it is read
_PREAMBLE = struct.Struct(">8sHHI16s")
_DIGEST_BYTES = 16
_CHECKED = _PREAMBLE.size - _DIGEST_BYTES
SNAPSHOT, LOG = "snapshot", "log"


@dataclass(frozen=True)
class AboutOperator:
    """The operator and subtask that a state file belongs to."""

    operator_id: str
    name: str
    uid: str | None
    subtask: int
    parallelism: int
    max_parallelism: int

    @property
    def groups(self) -> range:
        first = -(-self.subtask * self.max_parallelism // self.parallelism)
        return range(first, -(-(self.subtask + 1) * self.max_parallelism // self.parallelism))

    def __str__(self) -> str:
        uid = "no uid" if self.uid is None else f"uid {self.uid!r}"
        groups = f"key groups {self.groups[0]} to {self.groups[-1]}" if self.groups else "no key groups"
        return f"operator {self.name!r} (OperatorID {self.operator_id}, {uid}), subtask {self.subtask}, {groups}"


@dataclass(frozen=True)
class Part:
    """The position, length and checksum of a section; operator state has the key groups -1 to -1."""

    first: int
    last: int
    offset: int
    bytes: int
    crc32: int


@dataclass(frozen=True)
class Header:
    """The header of a state file; ``follows`` names the previous file of the series, ``offset`` the first section."""

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
        parts = (*self.sections, *(() if self.operator_state is None else (self.operator_state,)))
        return self.offset + sum(part.bytes for part in parts)


def pack(header: Header, sections: Sequence[Section], operator_state: bytes | None) -> tuple[Iterator[bytes], int, str]:
    """The bytes of a file, part by part, their number, and the file's checksum. Sections are asked for twice, one at a
    time, as the file begins with the places of all of them."""

    def whole() -> Iterator[Section]:
        yield from sections
        if operator_state is not None:
            yield Section(-1, -1, operator_state)

    parts, offset = [], 0
    for first, last, data in whole():
        parts.append([first, last, offset, len(data), zlib.crc32(data)])
        offset += len(data)
    described = {
        "kind": header.kind,
        "operator": asdict(header.about),
        "key_groups": [header.about.groups.start, header.about.groups.stop - 1],
        "version": header.version,
        "follows": header.follows,
        "key": header.key,
        "states": [state._asdict() for state in header.states],
        "timers": [timer._asdict() for timer in header.timers],
        "broadcast": [part._asdict() for part in header.broadcast],
        "classes": dict(header.classes),
        "entries": header.entries,
        "sections": parts[: len(sections)],
        "operator_state": parts[-1] if operator_state is not None else None,
        "bytes": offset,
    }
    text = json.dumps(described, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    digest = _digest(_PREAMBLE.pack(MAGIC, FORMAT, 0, len(text), b"")[:_CHECKED], text)
    preamble = _PREAMBLE.pack(MAGIC, FORMAT, 0, len(text), digest)
    return chain((preamble, text), (data for _, _, data in whole())), len(preamble) + len(text) + offset, digest.hex()


def _digest(preamble: bytes, text: bytes) -> bytes:
    return blake2b(preamble + text, digest_size=_DIGEST_BYTES).digest()


class StateReader:
    """Reads a state file, and raises StateError if it is damaged, too new, or not a state file."""

    def __init__(self, path: str, file: IO[bytes], size: int, about: AboutOperator) -> None:
        self._path, self._file, self._size, self._about = path, file, size, about
        self.header: Header = self._header()

    def _header(self) -> Header:
        preamble = self._file.read(_PREAMBLE.size)
        if preamble[: len(MAGIC)] != MAGIC[: len(preamble)] or not preamble:
            raise self.error("is not a state file")
        if len(preamble) < _PREAMBLE.size:
            raise self.error(f"is cut off after {len(preamble)} bytes")
        _, version, _, length, digest = _PREAMBLE.unpack(preamble)
        if version > FORMAT:
            raise self.error(
                f"has version {version} of the format, and this Penstock reads up to {FORMAT}",
                "Run the job with the Penstock that wrote it, or a later one; if that fails too, the file is damaged.",
            )
        text = self._file.read(min(length, self._size))
        if _digest(preamble[:_CHECKED], text) != digest:
            raise self.error("is damaged in its header, or cut off")
        header = _header_of(json.loads(text.decode("utf-8", "surrogatepass")), _PREAMBLE.size + length, digest.hex())
        if header.bytes != self._size:
            raise self.error(f"should have {self._size} bytes, and its header says {header.bytes}")
        return header

    def sections(self, groups: range) -> Iterator[Section]:
        for part in self.header.sections:
            if part.first < groups.stop and part.last >= groups.start:
                yield Section(part.first, part.last, self._read(part, f"key groups {part.first} to {part.last}"))

    def operator_state(self) -> bytes | None:
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
        return state_error(self._path, self._about, problem, advice)


def state_error(path: str, about: AboutOperator, problem: str, advice: str = "") -> StateError:
    """The error for a state file; ``problem`` completes the sentence, ``advice`` replaces the usual advice."""
    advice = advice or (
        "Restore the file from a copy if you have one; otherwise start from an older savepoint, or start again with "
        "another checkpoint directory (execution.checkpointing.dir)."
    )
    return StateError(f"The state file {path!r} of {about} {problem}. {advice}")


def _header_of(fields: dict[str, Any], offset: int, checksum: str) -> Header:
    operator_state = fields["operator_state"]
    return Header(
        kind=fields["kind"],
        about=AboutOperator(**fields["operator"]),
        version=fields["version"],
        follows=fields["follows"],
        key=None if fields["key"] is None else tuple(fields["key"]),
        states=tuple(map(_info, fields["states"])),
        timers=tuple(TimersInfo(item["whole"], item["count"]) for item in fields["timers"]),
        entries=fields["entries"],
        sections=tuple(Part(*item) for item in fields["sections"]),
        operator_state=None if operator_state is None else Part(*operator_state),
        broadcast=tuple(map(_info, fields.get("broadcast", ()))),
        classes=fields.get("classes", {}),
        offset=offset,
        checksum=checksum,
    )


def _info(fields: dict[str, Any]) -> StateInfo:
    lists = tuple(fields["serializers"]), tuple(fields["types"])
    return StateInfo(fields["name"], fields["kind"], *lists, fields.get("version", 0), fields.get("windows", ""))
