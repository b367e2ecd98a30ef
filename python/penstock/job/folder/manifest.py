"""The result of a step: all by which the next step, or another driver, continues.

A manifest is two lines: a format number, the version and the SHA-256 of the second, which is a JSON document. Nothing
in it is pickled but positions, and what tasks hand to themselves. Written from the same values it is the same text.
"""

from __future__ import annotations

import base64
import hashlib
import json
import pickle
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from penstock.errors import CheckpointDirectoryError
from penstock.job.folder.read_splits import EndedFile, EndedSplits
from penstock.runtime.config.tasks import StateFile
from penstock.runtime.operators.source_reader import OWN

FORMAT = 1  # of the JSON; a reader takes this one and those before

_KIND = "penstock step"


@dataclass(frozen=True)
class Output:
    """Something that becomes visible once a manifest names it: a file to rename, unless a field says otherwise."""

    pending: str  # where it waits; if nothing is there any more, it has been published
    target: str  # where it goes; of a two-phase sink, its operator ID
    overwrite: bool  # whether an earlier output may be replaced
    sent: bool = False  # whether the sink sends what the file holds, and the file gets no name
    at: int | None = None  # position in the target, or how many bytes were sent before; None: it is all of the target
    size: int | None = None  # bytes that it holds, if ``at`` is set
    committable: str | None = None  # what a two-phase sink has prepared, in base 64, or where that is


@dataclass(frozen=True)
class OperatorState:
    """The state of one operator."""

    name: str  # of the operator
    uid: str | None  # given by the user, or None
    parallelism: int  # number of subtasks that wrote it
    max_parallelism: int  # number of key groups
    subtasks: tuple[tuple[StateFile, ...], ...]  # for each subtask the files to read, in order: a snapshot, then logs
    empty: bool = False  # whether it is known that there is nothing in them any more
    keyed: bool = False  # whether it is known that all in them is of keys: a subtask needs those of its own keys


@dataclass(frozen=True)
class Pickled:
    """A position of a program's own class that was left as it was read, since unpickling runs code."""

    data: str  # the pickle, in base 64


@dataclass(frozen=True)
class SourceState:
    """How far a source has been read."""

    positions: Mapping[str, Any] = field(default_factory=dict)  # where reading continues, by id of the splits in work
    ended: EndedSplits = field(default_factory=EndedSplits)  # the splits that have been
    name: str = ""  # of its operator; "" if unknown
    uid: str | None = None
    asked: int = 0  # the parallelism with which it was first asked for its splits; 0: that of its task


@dataclass(frozen=True)
class TaskState:
    """The data that a subtask keeps for its next step."""

    volatile: bytes = b""  # the task's own bytes
    finished: bool = False  # whether it has nothing more to do


@dataclass(frozen=True)
class StepManifest:
    """The commit of one step."""

    version: int  # of the state after the step; the first step makes version 1
    job: str  # name of the job
    job_id: str  # of the run
    time: int  # wall time of the commit, in milliseconds since 1970
    epoch: int = 0  # number of the driver that wrote it, set by the commit; each one has a higher one
    sealed: bool = False  # whether a driver wrote it, with the state it found, to shut out the one before
    step: int = 0  # the checkpoint of the newest step in it, if that is another one: in a seal, an earlier one; 0 else
    retained: tuple[int, ...] = ()  # versions before it that are still there, set by the commit
    parallelism: int = 1  # of the plan
    plan: str = ""  # a digest of the plan
    operators: Mapping[str, OperatorState] = field(default_factory=dict)  # those with state, by OperatorID
    sources: Mapping[str, SourceState] = field(default_factory=dict)
    tasks: Mapping[str, tuple[TaskState, ...]] = field(default_factory=dict)  # per subtask, by key of the vertex
    outputs: tuple[Output, ...] = ()  # files to be published, now that it is there
    counters: Mapping[str, tuple[Mapping[str, Any], ...]] = field(default_factory=dict)  # totals, by OperatorID
    origin: str = ""  # the id of the savepoint that the checkpoint directory was begun from; empty if it was not

    @property
    def last_step(self) -> int:
        """The checkpoint of the newest step in it, to which its outputs belong, also after a seal."""
        return self.step or self.version

    @property
    def is_nothing(self) -> bool:
        """Whether no step has been committed: a job that resumes from it begins."""
        return not (self.operators or self.sources or self.tasks)

    def filled(self) -> StepManifest:
        """The same without operators whose state has nothing in it: a changed program has nothing to lose there."""
        return replace(self, operators={key: state for key, state in self.operators.items() if not state.empty})

    def state_files(self) -> Iterator[StateFile]:
        for operator in self.operators.values():
            for series in operator.subtasks:
                yield from series

    def files(self) -> Iterator[str]:
        """The names of all files in the folder ``state`` that it needs."""
        yield from (file.name for file in self.state_files())
        for source in self.sources.values():
            yield from (file.name for file in source.ended.files)


def encoded(manifest: StepManifest) -> bytes:
    """The text of a manifest. Linear in it."""
    body = json.dumps(plain_manifest(manifest), separators=(",", ":")).encode("ascii")
    return _head(manifest.version, body) + body + b"\n"


def _head(version: int, body: bytes) -> bytes:
    digest = hashlib.sha256(body).hexdigest()
    return json.dumps({"kind": _KIND, "format": FORMAT, "version": version, "sha256": digest}).encode("ascii") + b"\n"


def plain_manifest(manifest: StepManifest) -> dict[str, Any]:
    """A manifest as values of JSON; :func:`manifest_of` has it back. Linear in it."""
    plain = {name: getattr(manifest, name) for name in _AS_THEY_ARE}
    plain |= {name: getattr(manifest, name) for name in _SELDOM if getattr(manifest, name)}
    operators = {key: _plain_operator(key, operator) for key, operator in manifest.operators.items()}
    sources = {key: _plain_source(source) for key, source in manifest.sources.items()}
    tasks = {
        key: [[base64.b64encode(task.volatile).decode("ascii"), task.finished] for task in subtasks]
        for key, subtasks in manifest.tasks.items()
    }
    outputs = [asdict(output) for output in manifest.outputs]
    return {**plain, "operators": operators, "sources": sources, "tasks": tasks, "outputs": outputs}


_AS_THEY_ARE = (
    "version", "job", "job_id", "time", "epoch", "sealed", "retained", "parallelism", "plan", "counters"
)  # fmt: skip
_SELDOM = ("step", "origin")


def _plain_operator(operator_id: str, operator: OperatorState) -> dict[str, Any]:
    """Of the same file, nothing is said twice: there can be many."""
    all_series = [[[f.name, f.kind, f.bytes, f.checksum, f.keys] for f in series] for series in operator.subtasks]
    plain = {**{name: getattr(operator, name) for name in _OF_OPERATORS}, "subtasks": all_series}
    plain |= {name: True for name in _SELDOM_OF_OPERATORS if getattr(operator, name)}
    writer = next((file.operator_id for series in operator.subtasks for file in series), operator_id)
    return plain if writer == operator_id else {**plain, "writer": writer}


_OF_OPERATORS = ("name", "uid", "parallelism", "max_parallelism")
_SELDOM_OF_OPERATORS = ("empty", "keyed")


def _plain_source(source: SourceState) -> dict[str, Any]:
    files = [[file.name, file.count, file.checksum] for file in source.ended.files]
    positions = {split: encoded_position(position) for split, position in source.positions.items()}
    named = {"name": source.name, "uid": source.uid} if source.name else {}
    asked = {"asked": source.asked} if source.asked else {}
    return {"positions": positions, "ended": {"files": files, "last": source.ended.last}, **named, **asked}


def encoded_position(position: Any) -> Any:
    """A position as JSON: what it is, if it comes back from JSON as the same; else pickled, in a dictionary."""
    if type(position) is Pickled:
        return {"pickle": position.data}
    return position if _is_plain(position) else {"pickle": base64.b64encode(pickle.dumps(position)).decode("ascii")}


def _is_plain(value: Any) -> bool:
    """Whether a value is one of JSON's. Without recursion: a user's position may be deep."""
    if type(value) is dict and "pickle" in value:
        return False
    waiting = [value]
    for _ in range(_MOST):
        if not waiting:
            return True
        one = waiting.pop()
        if type(one) is dict:
            if any(type(key) is not str for key in one):
                return False
            waiting += one.values()
        elif type(one) is list:
            waiting += one
        elif type(one) is float:
            if one != one or one in (float("inf"), -float("inf")):
                return False
        elif not (one is None or type(one) in (bool, int, str)):
            return False
    return False


_MOST = 1000  # values in a position that is kept as JSON; larger ones, deeper ones among them, are pickled


def decoded_position(value: Any, *, unpickle: bool = True) -> Any:
    """The position of :func:`encoded_position`; without ``unpickle``, objects of the program stay :class:`Pickled`."""
    if type(value) is not dict or "pickle" not in value:
        return value
    return pickle.loads(base64.b64decode(value["pickle"])) if unpickle else Pickled(value["pickle"])


def unpickled(manifest: StepManifest) -> StepManifest:
    """A manifest with the positions that were left :class:`Pickled`. Unpickling can run code."""
    sources = dict(manifest.sources)
    for operator_id, source in sources.items():
        old = source.positions.items()
        new = {split: decoded_position(encoded_position(at)) if type(at) is Pickled else at for split, at in old}
        sources[operator_id] = replace(source, positions=new)
    return replace(manifest, sources=sources)


def decoded(text: bytes, version: int, path: str, *, unpickle: bool = True) -> StepManifest:
    """The manifest of a text; without ``unpickle``, positions of a program's own classes stay :class:`Pickled`."""
    head, _, body = text.partition(b"\n")
    body = body.removesuffix(b"\n")
    try:
        header = json.loads(head)
        if header["kind"] == _KIND and type(header["format"]) is int and header["format"] > FORMAT:
            raise CheckpointDirectoryError(
                f"{path!r} has format {header['format']}: a newer Penstock has written it, and this one knows formats "
                f"up to {FORMAT}. Run the job with that version, or give it a checkpoint directory of its own."
            )
        if text != _head(version, body) + body + b"\n":
            raise ValueError(_difference(header, version, body))
        return manifest_of(json.loads(body), unpickle=unpickle)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise CheckpointDirectoryError(
            f"The manifest {path!r} is damaged: {_cut_short(text) or str(error) or type(error).__name__}. Bring it "
            "back from a copy. Or move it away: the job resumes from the checkpoint before, and repeats the rest."
        ) from error


def _difference(header: Mapping[str, Any], version: int, body: bytes) -> str:
    if header["version"] != version:
        return f"it is that of checkpoint {header['version']}"
    if header["sha256"] != hashlib.sha256(body).hexdigest():
        return "its checksum does not match its content"
    return "its first line is not as it was written"


def _cut_short(text: bytes) -> str:
    if not text:
        return "it is empty"
    return "" if text.endswith(b"}\n") and text.count(b"\n") > 1 else "it ends in the middle"


def manifest_of(data: dict[str, Any], *, unpickle: bool) -> StepManifest:
    """The manifest of what :func:`plain_manifest` has given."""
    operators = {key: _operator(key, operator) for key, operator in data.pop("operators").items()}
    sources = {key: _source(source, unpickle) for key, source in data.pop("sources").items()}
    tasks = {
        key: tuple(TaskState(base64.b64decode(volatile, validate=True), finished) for volatile, finished in subtasks)
        for key, subtasks in data.pop("tasks").items()
    }
    outputs = tuple(Output(**output) for output in data.pop("outputs"))
    plain = {name: data[name] for name in _AS_THEY_ARE} | {name: data[name] for name in _SELDOM if name in data}
    plain["counters"] = {operator_id: tuple(subtasks) for operator_id, subtasks in data["counters"].items()}
    plain["retained"] = tuple(data["retained"])
    return StepManifest(**plain, operators=operators, sources=sources, tasks=tasks, outputs=outputs)


def _operator(operator_id: str, data: dict[str, Any]) -> OperatorState:
    writer = data.get("writer", operator_id)
    all_series = tuple(tuple(StateFile(writer, *file) for file in series) for series in data["subtasks"])
    return OperatorState(
        **{name: data[name] for name in _OF_OPERATORS},
        **{name: data.get(name, False) for name in _SELDOM_OF_OPERATORS},
        subtasks=all_series,
    )


def _source(data: dict[str, Any], unpickle: bool) -> SourceState:
    ended, by_split = data["ended"], data["positions"].items()
    positions = {split: decoded_position(at, unpickle=unpickle) for split, at in by_split}
    splits = EndedSplits(tuple(EndedFile(*file) for file in ended["files"]), tuple(ended["last"]))
    return SourceState(positions, splits, data.get("name", ""), data.get("uid"), data.get("asked", 0))


PUSHED, COUNTED, SPLIT = "pushed", "counted", "split"
"""By a function that pushes, whose calls are counted; by its records, which are counted; by splits."""


def pushed(name: str, position: Any) -> bool:
    """Whether a position is that of a function (calls, and rounds); those of splits have other names."""
    return name.startswith(f"{OWN}-") and isinstance(position, list | tuple) and isinstance(position[1], list)


def all_pushed(positions: Mapping[str, Any]) -> bool:
    """Whether positions are those of a function; there are some."""
    return bool(positions) and all(pushed(name, at) for name, at in positions.items())


def read_as(source: SourceState) -> str:
    """How a source is read: ``pushed``, ``counted`` or ``split``; "" if it has not been read."""
    positions = source.positions
    if not (positions or source.ended.count):
        return ""
    if all_pushed(positions):
        return PUSHED
    counts = positions and not source.ended.count and all(name.startswith(f"{OWN}-") for name in positions)
    return COUNTED if counts else SPLIT


def goes_on(read: str, kind: str | None) -> bool:
    """Whether a source of a class (``kind``; "": a function that pushes) can continue where another was."""
    if not read or kind is None:
        return True
    if read == PUSHED:
        return not kind
    return kind == "FrameSource" or (kind not in ("", "SplitSource") if read == COUNTED else kind == "SplitSource")
