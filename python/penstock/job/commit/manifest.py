"""Manifests: which attempts of which subtasks count, and which files they made. Writing one is the commit of a job.

A manifest is a JSON document, ``manifest-VERSION.json``, that appears whole or not at all, once per version. A bounded
job has a single step, from version 0, nothing, to version 1. Cost: linear in the subtasks and their operators.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from penstock.errors import ConfigurationError
from penstock.metrics.results import SubtaskMetrics
from penstock.runtime.config.tasks import TaskReport

FORMAT = 1
"""Of the JSON; a reader refuses others."""

_NAME = re.compile(r"manifest-(\d+)\.json")


@dataclass(frozen=True)
class Output:
    """What becomes visible by a rename.

    Attributes:
        pending: where it waits; when it is not there any more, it has been published.
        target: where it goes.
        overwrite: whether an earlier output may be replaced.
    """

    pending: str
    target: str
    overwrite: bool


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


def write_manifest(folder: Path, manifest: Manifest) -> bool:
    """Commit: write the manifest of a version, durably, unless there is one.

    Args:
        folder: of the manifests, on the file system that is to remember them.
        manifest: what to write.

    Returns:
        Whether this call wrote it; an earlier one of the same version stands.

    Raises:
        OSError: it could not be written.
    """
    path = folder / f"manifest-{manifest.version}.json"
    temporary = path.with_suffix(".json.tmp")
    with open(temporary, "w", encoding="ascii") as file:
        json.dump({"format": FORMAT, **asdict(manifest)}, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    try:
        return _name_once(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
        sync_folder(folder)


def _name_once(temporary: Path, path: Path) -> bool:
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    except OSError:  # no hard links here; the lock of the job makes sure that nobody else is between these two lines
        if path.exists():
            return False
        os.replace(temporary, path)
    return True


def newest_manifest(folder: Path) -> Manifest | None:
    """The manifest with the highest version, None where there is none.

    Raises:
        ConfigurationError: it cannot be read; another program, or a newer Penstock, has written it.
        OSError: the folder cannot be read.
    """
    versions = sorted(int(match[1]) for match in map(_NAME.fullmatch, os.listdir(folder)) if match)
    if not versions:
        return None
    path = folder / f"manifest-{versions[-1]}.json"
    try:
        return _manifest(json.loads(path.read_text(encoding="ascii")))
    except (ValueError, TypeError, KeyError) as error:
        raise ConfigurationError(
            f"The manifest {str(path)!r} cannot be read: {error!r}. It may be that of a newer Penstock, or damaged; "
            "use that version, or look into it and remove its folder by hand."
        ) from error


def _manifest(data: dict[str, Any]) -> Manifest:
    if data.pop("format") != FORMAT:
        raise ValueError("another format")
    outputs = tuple(Output(**each) for each in data.pop("outputs"))
    operators = tuple(OperatorCommit(**{**each, "files": tuple(each["files"])}) for each in data.pop("operators"))
    return Manifest(outputs=outputs, operators=operators, **data)


def sync_folder(folder: str | Path) -> None:
    """Make names in a folder durable, where the file system can."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError:  # some mounted file systems have no such call for folders
        pass
    finally:
        os.close(descriptor)
