"""Requests of another process to the driver of a checkpoint directory: for a savepoint, or to stop.

In the folder ``lease``, ``ask-EPOCH-ID.json`` is for the driver with an epoch, ``answer-EPOCH-ID.json`` its answer.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field

from penstock.job.folder.owners import Owners
from penstock.storage.storage import Storage, is_local, join

KINDS = ("savepoint", "stop", "drain")
_ASK = re.compile(r"ask-(\d+)-([0-9a-f]{32})\.json")


@dataclass(frozen=True)
class Request:
    """What is asked."""

    kind: str  # ``savepoint``, ``stop`` or ``drain``
    folder: str | None = None  # in which the savepoint is to lie, absolute; None for where the job's savepoints go
    version: int | None = None  # which should be taken; None for the newest
    taken: bool = True  # whether a savepoint should be taken; if not, the job only ends
    reference: bool | None = None  # whether it refers to the job's state; None: as the job's settings say
    id: str = field(default_factory=lambda: uuid.uuid4().hex)  # 32 hex digits


@dataclass(frozen=True)
class Answer:
    """The answer to a request."""

    place: str = ""  # of the savepoint; "" if none was to be taken
    error: str | None = None  # why there is none; None if there is


class Requests:
    """The requests to the driver with an epoch."""

    def __init__(self, storage: Storage, owners: Owners, epoch: int) -> None:
        self._storage, self._owners, self._epoch = storage, owners, epoch
        self._seen: set[str] = set()
        self.seconds = 1.0 if is_local(owners.folder) else 5.0

    def _path(self, what: str, request_id: str) -> str:
        return join(self._owners.folder, f"{what}-{self._epoch}-{request_id}.json")

    def new(self) -> Iterator[Request]:
        """Those that have come since the last call. One listing."""
        matches = filter(None, map(_ASK.fullmatch, self._owners.names()))
        ids = {match[2] for match in matches if int(match[1]) == self._epoch}
        self._seen &= ids
        for request_id in sorted(ids - self._seen):
            self._seen.add(request_id)
            try:
                request = _parsed(self._storage.get(self._path("ask", request_id)), request_id)
            except FileNotFoundError:  # withdrawn
                continue
            except (ValueError, TypeError, KeyError, RecursionError) as error:
                self.answer(request_id, Answer(error=f"The request cannot be read: {error!r}."))
                continue
            yield request

    def answer(self, request_id: str, answer: Answer) -> None:
        self._storage.create(self._path("answer", request_id), json.dumps(asdict(answer)).encode("ascii"))

    def ask(self, request: Request) -> None:
        values = asdict(request)
        if request.reference is None:
            del values["reference"]  # which older drivers do not know
        self._storage.create(self._path("ask", request.id), json.dumps(values).encode("ascii"))

    def answered(self, request: Request) -> Answer | None:
        try:
            return Answer(**json.loads(self._storage.get(self._path("answer", request.id))))
        except (FileNotFoundError, ValueError):
            return None

    def withdraw(self, request: Request) -> None:
        self._storage.delete([self._path("ask", request.id), self._path("answer", request.id)])


def _parsed(text: bytes, request_id: str) -> Request:
    request = Request(**{**json.loads(text), "id": request_id})
    kinds = (type(request.folder) in (str, type(None)), type(request.version) in (int, type(None)))
    flags = type(request.taken) is bool and type(request.reference) in (bool, type(None))
    if request.kind not in KINDS or not flags or not all(kinds):
        raise ValueError(str(request))
    return request
