"""The file ``savepoint.json``: what a savepoint says of itself, in a text that people can read.

::

    SAVEPOINT/savepoint.json     two parts: a line with the format and a checksum, then an indented JSON document
    SAVEPOINT/state/...          the files that it names, as they were in the checkpoint directory

Nothing in it has a path, so a savepoint can be copied or moved as a folder. Written last and created once: a folder
without the file is no savepoint, and can be removed.

One by reference has no state files, and says by which way those of the checkpoint directory are found: that is
    format 2, so that
no older Penstock takes it for a damaged one. All others are of format 1.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from penstock.errors import SavepointError
from penstock.job.folder.manifest import StepManifest, manifest_of, plain_manifest
from penstock.job.savepoint.checks import check_about, check_manifest
from penstock.job.savepoint.reference import Reference, state_of
from penstock.storage.storage import join

NAME = "savepoint.json"
FORMAT, WHOLE = 2, 1
"""Of the text; a reader takes this one and those before. What has its files with it is of the second one."""
SAVEPOINT, STOP, DRAIN, VERSION = "savepoint", "stop", "drain", "version"
"""Kinds: of a job that ran on; of one that was stopped for it, without or with the end of time; and a checkpoint of a
checkpoint directory, which can be read as one."""

_KIND = "penstock savepoint"


@dataclass(frozen=True)
class AboutSavepoint:
    """What a savepoint says of itself."""

    id: str  # its own, in all places to which it is copied
    job: str  # name of the job
    job_id: str  # of the run
    created: int  # wall time in milliseconds since 1970
    version: int  # of the job's state
    kind: str  # ``savepoint``, ``stop`` or ``drain``; ``version`` for one of a checkpoint directory
    parallelism: int  # of the plan


@dataclass(frozen=True)
class Savepoint:
    """A savepoint, as far as it can be read without unpickling anything."""

    place: str  # its folder, a path or URL; of a checkpoint, the checkpoint directory
    about: AboutSavepoint  # what it says of itself
    manifest: StepManifest  # the state, without outputs; positions of own classes are Pickled
    reference: Reference | None = None  # where its state files are, if it has none of its own

    @property
    def state(self) -> str:
        return state_of(self.place, self.reference)

    @property
    def home(self) -> str | None:
        """The checkpoint directory that has its state files; None if it has its own."""
        return None if self.reference is None else self.reference.place(self.place)


def bare(manifest: StepManifest) -> StepManifest:
    """The state of a manifest, without what belongs to its checkpoint directory: outputs, other checkpoints."""
    return replace(manifest, outputs=(), retained=(), epoch=0, sealed=False, step=0)


def written(savepoint: Savepoint) -> bytes:
    """The text of a savepoint. Linear in it."""
    document: dict[str, Any] = {"about": asdict(savepoint.about), "state": plain_manifest(savepoint.manifest)}
    if savepoint.reference is not None:
        document["reference"] = asdict(savepoint.reference)
    body = json.dumps(document, indent=1).encode("ascii") + b"\n"
    return _head(body, WHOLE if savepoint.reference is None else FORMAT) + body


def _head(body: bytes, version: int) -> bytes:
    head = {"kind": _KIND, "format": version, "sha256": hashlib.sha256(body).hexdigest()}
    return json.dumps(head).encode("ascii") + b"\n"


def parsed(text: bytes, place: str) -> Savepoint:
    """The savepoint of a text. Nothing is unpickled."""
    path = join(place, NAME)
    head, _, body = text.partition(b"\n")
    try:
        said = json.loads(head)
        if type(said) is not dict or said.get("kind") != _KIND:
            raise SavepointError(
                f"{path!r} is not a Penstock savepoint: its first line is not that of one. Give the folder that was "
                "printed when it was taken."
            )
        if type(said.get("format")) is int and said["format"] > FORMAT:
            raise _newer(path, said["format"])
        _check_head(said, head, body)
        document = json.loads(body, parse_constant=_no_constant)
        check_about(document["about"])
        about = AboutSavepoint(**document["about"])
        manifest = manifest_of(_mapping(document["state"]), unpickle=False)
        check_manifest(manifest)
        reference = Reference.read(document["reference"]) if said["format"] == FORMAT else None
        state_of(place, reference)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise damaged(path, _reason(error)) from error
    return Savepoint(place, about, manifest, reference)


def _check_head(said: Mapping[str, Any], head: bytes, body: bytes) -> None:
    if said.get("sha256") != hashlib.sha256(body).hexdigest():
        cut = "" if body.endswith(b"}\n") else ", and its end is missing: it may have been cut off"
        raise ValueError(f"its checksum does not match its content{cut}")
    if type(said["format"]) is not int or head + b"\n" != _head(body, said["format"]):
        raise ValueError("its first line is not as it was written")


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _mapping(value: Any) -> dict[str, Any]:
    if type(value) is not dict:
        raise TypeError("its state is not a JSON object")
    return value


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"{error} is missing"
    return str(error) or type(error).__name__


def _newer(path: str, found: int) -> SavepointError:
    return SavepointError(
        f"{path!r} has format {found}: a newer Penstock has written it, and this one knows formats up to {FORMAT}. "
        "Read it with that version or a later one."
    )


def damaged(path: str, reason: str) -> SavepointError:
    """The error for a savepoint that is not what was written."""
    return SavepointError(
        f"The savepoint {path!r} is damaged: {reason}. Copy it anew from where it was taken, or use an older one; "
        "nothing has been changed by this attempt."
    )
