"""The file ``savepoint.json``: what a savepoint says of itself, as a line with a checksum, and indented JSON.

``SAVEPOINT/state/`` has the files that it names. Nothing in it has a path, so a savepoint can be copied or moved as a
folder. Written last and created once: a folder without the file is not a savepoint, and can be removed. One by
reference has no state files, and says by which way those of the checkpoint directory are found: in format 2, so that no
older Penstock takes it for a damaged one. All others are of format 1.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from penstock.errors import SavepointError
from penstock.job.folder.manifest import StepManifest, manifest_of, plain_manifest
from penstock.job.savepoint.checks import check_fields, check_manifest
from penstock.storage.storage import is_local, join

NAME = "savepoint.json"
FORMAT, WHOLE = 2, 1
"""Of the text; a reader takes this one and those before. What has its files with it is of the second one."""
SAVEPOINT, STOP, DRAIN, VERSION = "savepoint", "stop", "drain", "version"
"""Kinds: of a job that ran on; of one that was stopped for it, without or with the end of time; and a checkpoint of a
checkpoint directory, which can be read as one."""

_KIND = "penstock savepoint"
_JOB = re.compile(r"[0-9a-f]{32}", re.ASCII)
_MOST = 4096


@dataclass(frozen=True)
class AboutSavepoint:
    """The description of a savepoint in its file."""

    id: str  # its own, in all places to which it is copied
    job: str  # name of the job
    job_id: str  # of the run
    created: int  # wall time in milliseconds since 1970
    version: int  # of the job's state
    kind: str  # ``savepoint``, ``stop`` or ``drain``; ``version`` for one of a checkpoint directory
    parallelism: int  # of the plan


@dataclass(frozen=True)
class Reference:
    """Where the state files are of a savepoint without its own: a checkpoint directory, by the way that leads there."""

    job: str  # the id in ``job.json`` of the checkpoint directory
    way: str  # from the savepoint's folder to it, as ``../../jobs/counts``

    def place(self, savepoint: str) -> str:
        root, parts = _parts(savepoint)
        for step in self.way.split("/"):
            if step == "..":
                if not parts:
                    raise ValueError(f"the path {self.way!r} to its state leaves its storage")
                parts.pop()
            else:
                parts.append(step)
        return root + "/".join(parts)

    @classmethod
    def between(cls, savepoint: str, folder: str, job: str) -> Reference | None:
        """The one that leads from a savepoint to a checkpoint directory; None if they are not on the same storage."""
        (root, here), (other, target) = _parts(savepoint), _parts(folder)
        if root != other:
            return None
        same = 0
        while same < min(len(here), len(target)) and here[same] == target[same]:
            same += 1
        return cls(job, "/".join([".."] * (len(here) - same) + target[same:]))

    @classmethod
    def read(cls, values: Any) -> Reference:
        """The one that a savepoint says."""
        reference = cls(**values) if isinstance(values, Mapping) else None
        if reference is None or type(reference.job) is not str or type(reference.way) is not str:
            raise ValueError("the place of its state is not a text")
        steps = reference.way.split("/")
        ups = next((index for index, step in enumerate(steps) if step != ".."), len(steps))
        names = steps[ups:]
        odd = any(not name or name in (".", "..") or "\0" in name or "\\" in name for name in names)
        if not names or odd or len(reference.way) > _MOST or _JOB.fullmatch(reference.job) is None:
            raise ValueError(f"the path to its state is {reference.way[:80]!r}, of the job {reference.job[:40]!r}")
        return reference


def _parts(place: str) -> tuple[str, list[str]]:
    """The root of a path, with the bucket of a store, and the names after it."""
    if is_local(place):
        return "/", [name for name in place.split("/") if name]
    scheme, _, rest = place.partition("://")
    bucket, _, path = rest.partition("/")
    if scheme == "memory":
        return "memory://", [name for name in rest.split("/") if name]
    return f"{scheme}://{bucket}/", [name for name in path.split("/") if name]


@dataclass(frozen=True)
class StoredSavepoint:
    """A savepoint, as far as it can be read without unpickling anything."""

    place: str  # its folder, a path or URL; of a checkpoint, the checkpoint directory
    about: AboutSavepoint  # what it says of itself
    manifest: StepManifest  # the state, without outputs; positions of own classes are Pickled
    reference: Reference | None = None  # where its state files are, if it has none of its own

    @property
    def state(self) -> str:
        return join(self.home or self.place, "state")

    @property
    def home(self) -> str | None:
        """The checkpoint directory that has its state files; None if it has its own."""
        return None if self.reference is None else self.reference.place(self.place)


def bare(manifest: StepManifest) -> StepManifest:
    """The state of a manifest, without what belongs to its checkpoint directory: outputs, other checkpoints."""
    return replace(manifest, outputs=(), retained=(), epoch=0, sealed=False, step=0)


def written(savepoint: StoredSavepoint) -> bytes:
    """The text of a savepoint. Linear in it."""
    document: dict[str, Any] = {"about": asdict(savepoint.about), "state": plain_manifest(savepoint.manifest)}
    if savepoint.reference is not None:
        document["reference"] = asdict(savepoint.reference)
    body = json.dumps(document, indent=1).encode("ascii") + b"\n"
    return _head(body, WHOLE if savepoint.reference is None else FORMAT) + body


def _head(body: bytes, version: int) -> bytes:
    head = {"kind": _KIND, "format": version, "sha256": hashlib.sha256(body).hexdigest()}
    return json.dumps(head).encode("ascii") + b"\n"


def parsed(text: bytes, place: str) -> StoredSavepoint:
    """The savepoint of a text. Nothing is unpickled."""
    path = join(place, NAME)
    head, _, body = text.partition(b"\n")
    try:
        header = json.loads(head)
        if type(header) is not dict or header.get("kind") != _KIND:
            raise SavepointError(
                f"{path!r} is not a Penstock savepoint: its first line is not that of one. Give the folder that was "
                "printed when it was taken."
            )
        if type(header.get("format")) is int and header["format"] > FORMAT:
            raise SavepointError(
                f"{path!r} has format {header['format']}: a newer Penstock has written it, and this one knows formats "
                f"up to {FORMAT}. Read it with that version or a later one."
            )
        if header.get("sha256") != hashlib.sha256(body).hexdigest():
            cut = "" if body.endswith(b"}\n") else ", and its end is missing: it may have been cut off"
            raise ValueError(f"its checksum does not match its content{cut}")
        if type(header["format"]) is not int or head + b"\n" != _head(body, header["format"]):
            raise ValueError("its first line is not as it was written")
        document = json.loads(body, parse_constant=_no_constant)
        about = AboutSavepoint(**document["about"])
        check_fields(about, "about")
        if about.kind not in (SAVEPOINT, STOP, DRAIN) or not 0 < len(about.id) <= 100:
            raise ValueError(f"it has the kind {about.kind!r} and the id {about.id[:100]!r}")
        manifest = manifest_of(document["state"], unpickle=False)
        check_manifest(manifest)
        reference = Reference.read(document["reference"]) if header["format"] == FORMAT else None
        savepoint = StoredSavepoint(place, about, manifest, reference)
        savepoint.home  # noqa: B018 - a ValueError if it cannot be there
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error) or type(error).__name__
        raise damaged(path, reason) from error
    return savepoint


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def damaged(path: str, reason: str) -> SavepointError:
    """The error for a savepoint that is not what was written."""
    return SavepointError(
        f"The savepoint {path!r} is damaged: {reason}. Copy it again from where it was taken, or use an older one; "
        "nothing has been changed by this attempt."
    )
