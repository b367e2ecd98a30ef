"""The models that ``diff``, ``lock`` and ``check`` compare: a program, a plan, a lock file, a savepoint.

A program is run up to its ``execute``, here or in a process of its own: of two programs with helper modules of one
name, and of one that has been edited since, this process would have the wrong ones.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.analysis.model import ProgramModel
from penstock.cli.program import Planning
from penstock.cli.report import guard
from penstock.errors import FileFormatError
from penstock.plan import PROFILES

if TYPE_CHECKING:
    from penstock.plan import Pipeline

UNREADABLE = 2  # exit status where what was given could not be read or planned


@contextmanager
def reading(program: str | None = None) -> Iterator[None]:
    """Explain failures within the block, as :func:`guard` does, and end with status 2: nothing was compared."""
    try:
        with guard(program):
            yield
    except SystemExit as end:
        sys.exit(UNREADABLE if end.code == 1 else end.code)


def planned_apart(file: str, planning: Planning) -> ProgramModel:
    """The model of a program, run in a process of its own, which reports failures; then this one ends too."""
    code = f"from {__name__} import tell_model; tell_model()"
    command = [sys.executable, "-c", code, json.dumps([file, *astuple(planning)])]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(1)
    return ProgramModel.from_dict(json.loads(done.stdout))


def model_with_classes(pipeline: Pipeline) -> ProgramModel:
    """The model of a program that state is to be compared with, with the classes of its own."""
    from penstock.analysis.builder import model_of
    from penstock.job.pickled_code import classes_in

    classes = {name: cls for operator in pipeline.operators.values() for name, cls in classes_in(operator).items()}
    return replace(model_of(pipeline), classes=classes)


def opened(place: str, planning: Planning, *, apart: bool = False) -> ProgramModel:
    """The model of a program's file (``.py``), which runs in a process of its own if ``apart``; of a plan, a
    description of a graph or a lock file (JSON), a savepoint, a checkpoint directory, JOB@VERSION, or a savepoint of
    Flink; a FileFormatError for anything else."""
    path = Path(place)
    if path.suffix == ".py":
        return planned_apart(place, planning) if apart else model_with_classes(planning.plan(place))
    if path.name == "_metadata" or (path / "_metadata").is_file():
        from penstock.compare.savepoints import model_of_flink_savepoint

        return model_of_flink_savepoint(place)
    if path.is_file() and path.name != "savepoint.json":
        return _of_text(path, planning.flink)
    from penstock.compare.savepoints import model_of_savepoint

    return model_of_savepoint(place)


def _of_text(path: Path, flink: str | None) -> ProgramModel:
    from penstock.analysis.builder import model_of_record
    from penstock.lock.format import is_lock, model_of_lock

    try:
        text = path.read_text(encoding="utf-8")
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _unknown(path, f"it is not JSON ({error})") from error
    if is_lock(document):
        return model_of_lock(text, str(path))
    if isinstance(document, dict):
        if "operators" in document and "edges" in document:
            return ProgramModel.from_dict(document)
        spec: Any = document.get("spec", document)
        if isinstance(spec, dict) and "nodes" in spec:
            if "jid" in spec or '"pact"' in text:
                raise _unknown(path, "it is a plan in Flink's own format, which lacks what operator IDs are made of")
            return model_of_record(spec, flink or _planned_as(document, path))
    raise _unknown(path, "it is neither a plan, nor the description of a graph, nor a lock file")


def _planned_as(document: dict[str, Any], path: Path) -> str:
    """The Flink that a plan was made as. A plan names the release, such as 1.11.4, and a profile is a line of them."""
    result = document.get("result")
    release = result.get("flink") if isinstance(result, dict) else None
    if release is None:
        return PROFILES[0]
    for profile in PROFILES:
        if str(release) == profile or str(release).startswith(f"{profile}."):
            return profile
    raise _unknown(path, f"it was planned as Flink {release}, and known are {' and '.join(PROFILES)}")


def _unknown(path: Path, why: str) -> FileFormatError:
    return FileFormatError(
        f"{str(path)!r} cannot be compared: {why}. Give a program (.py), a plan (penstock explain --format json), a "
        "lock file (penstock lock), a savepoint's folder, a checkpoint directory or JOB@VERSION."
    )


def tell_model() -> None:
    """Print the model of a program, in a process of its own."""
    file, *planning = json.loads(sys.argv[1])
    with guard(file):
        model = model_with_classes(Planning(*planning).plan(file))
    sys.stdout.write(json.dumps(model.to_dict()))
