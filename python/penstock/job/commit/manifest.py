"""Manifests: which attempts of which subtasks count, and which files they made. Writing one is the commit of a job.

A manifest is a JSON document, ``manifest-VERSION.json``, that appears whole or not at all, once per version. A bounded
job has a single step, from version 0, nothing, to version 1. Cost: linear in the subtasks and their operators.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from penstock.errors import ConfigurationError
from penstock.metrics.results import SubtaskMetrics
from penstock.runtime.config.tasks import TaskReport
from penstock.runtime.io.storage import join
from penstock.runtime.io.stores import storage_of

FORMAT = 1
"""Of the JSON; a reader refuses others."""

_NAME = re.compile(r"manifest-(\d+)\.json")


@dataclass(frozen=True)
class Output:
    """What becomes visible once a manifest names it: by a rename, if nothing else is said.

    Attributes:
        pending: where it waits; when it is not there any more, it has been published.
        target: where it goes.
        overwrite: whether an earlier output may be replaced.
        sent: whether it gets no name: the sink of the folder it waits in sends what it holds.
        at: where in the target its bytes go, or how many bytes were sent before it. None: all of the target.
        size: how many bytes it holds, where ``at`` is said.
        committable: of a two-phase sink, whose operator ID is the target: what it has prepared, in base 64, or where
            that is.
    """

    pending: str
    target: str
    overwrite: bool
    sent: bool = False
    at: int | None = None
    size: int | None = None
    committable: str | None = None


@dataclass(frozen=True)
class OperatorCommit:
    """What one operator of one subtask has done, in the attempt that counts.

    Attributes:
        operator_id: 32 hex digits.
        name: of the operator.
        parallelism: number of subtasks.
        subtask: index from 0.
        files: final paths of the files of a sink.
        counters: numbers by name.
    """

    operator_id: str
    name: str
    parallelism: int
    subtask: int
    files: tuple[str, ...]
    counters: dict[str, int]


@dataclass(frozen=True)
class Manifest:
    """The commit of a job.

    Attributes:
        job: its name.
        job_id: the id of the run.
        version: of the state after this commit; 1 for a bounded job.
        outputs: what is to be published.
        operators: one entry per subtask and operator.
    """

    job: str
    job_id: str
    version: int
    outputs: tuple[Output, ...]
    operators: tuple[OperatorCommit, ...]


def commits(reports: Iterable[TaskReport]) -> tuple[OperatorCommit, ...]:
    """The entries of a manifest from the reports of the subtasks, in their order."""
    return tuple(_commit(report, counters) for report in reports for counters in report.counters)


def _commit(report: TaskReport, counters: SubtaskMetrics) -> OperatorCommit:
    return OperatorCommit(
        counters.operator_id,
        counters.name,
        report.parallelism,
        report.subtask,
        tuple(file.final for file in report.files if file.operator_id == counters.operator_id),
        {name: value for name, value in vars(counters).items() if isinstance(value, int)},
    )


def write_manifest(folder: str, manifest: Manifest) -> bool:
    """Commit: write the manifest of a version, durably, unless there is one.

    Args:
        folder: of the manifests, on the storage that is to remember them.
        manifest: what to write.

    Returns:
        Whether this call wrote it; an earlier one of the same version stands.

    Raises:
        OSError: it could not be written.
    """
    text = json.dumps({"format": FORMAT, **asdict(manifest)}, indent=1)
    return storage_of(folder).create(join(folder, f"manifest-{manifest.version}.json"), text.encode("ascii"))


def newest_manifest(folder: str) -> Manifest | None:
    """The manifest with the highest version, None where there is none.

    Raises:
        ConfigurationError: it cannot be read; another program, or a newer Penstock, has written it.
        OSError: the folder cannot be read.
    """
    storage = storage_of(folder)
    names = (entry.path.rpartition("/")[2] for entry in storage.list(folder))
    versions = sorted(int(match[1]) for match in map(_NAME.fullmatch, names) if match)
    if not versions:
        return None
    path = join(folder, f"manifest-{versions[-1]}.json")
    try:
        return _manifest(json.loads(storage.get(path)))
    except (ValueError, TypeError, KeyError) as error:
        raise ConfigurationError(
            f"The manifest {path!r} cannot be read: {error!r}. It may be that of a newer Penstock, or damaged; "
            "use that version, or look into it and remove its folder by hand."
        ) from error


def _manifest(data: dict[str, Any]) -> Manifest:
    if data.pop("format") != FORMAT:
        raise ValueError("another format")
    outputs = tuple(Output(**each) for each in data.pop("outputs"))
    operators = tuple(OperatorCommit(**{**each, "files": tuple(each["files"])}) for each in data.pop("operators"))
    return Manifest(outputs=outputs, operators=operators, **data)
