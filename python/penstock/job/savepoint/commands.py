"""Savepoints of jobs of other processes, and their end: the driver is asked by a file in the checkpoint directory.
Where there is none, a savepoint is taken without it, as nobody removes anything then."""

from __future__ import annotations

import time
from pathlib import Path

from penstock.errors import CheckpointDirectoryError, ConfigurationError, SavepointError
from penstock.job.folder.files import Files
from penstock.job.folder.lease import JobFolder
from penstock.job.folder.owners import Owner
from penstock.job.folder.requests import Answer, Request, Requests
from penstock.job.savepoint.store import AT, check_published, new_place, write_savepoint
from penstock.storage.storage import is_local, real_place

_LOOK = 2.0  # seconds between two looks whether the driver lives


def create(job: str, folder: str | Path | None, *, seconds: float, reference: bool | None = None) -> str:
    """Take a savepoint of a job (checkpoint directory, or ``JOB@VERSION``) that runs elsewhere, or not at all.

    ``reference``: it refers to the state there, without a copy; None, as the job's settings say. Returns its folder."""
    files, version = _job(job)
    place = None if folder is None else real_place(str(folder))
    driver = files.owners.living()
    if driver is not None:
        answer = _asked(files, driver, Request("savepoint", place, version, reference=reference), seconds)
        if answer is not None:
            return _place(answer)
    return _taken(files, version, place, "savepoint", refers=bool(reference))


def stop(
    job: str, folder: str | Path | None, *, taken: bool, drain: bool, seconds: float, reference: bool | None = None
) -> str | None:
    """Have a job that runs elsewhere end after its step, and wait for that. Returns the savepoint's folder, if any."""
    files, _ = _job(job)
    place, driver = None if folder is None else real_place(str(folder)), files.owners.living()
    if driver is None:
        raise CheckpointDirectoryError(
            f"No job is running with the checkpoint directory {files.place!r}, so there is nothing to stop. `penstock "
            "savepoint create` takes a savepoint of a job that does not run."
        )
    until = time.monotonic() + seconds
    kind = "drain" if drain else "stop"
    answer = _asked(files, driver, Request(kind, place, taken=taken, reference=reference), seconds)
    saved = _place(answer) if answer is not None else None
    while _alive(files, driver):
        if time.monotonic() > until:
            raise CheckpointDirectoryError(
                f"The job was asked to stop, and runs after {seconds:.0f} seconds: {driver[1]}."
            )
        time.sleep(0.1 if is_local(files.place) else 1.0)
    if taken and answer is None:  # it has ended by itself meanwhile
        return _taken(files, None, place, "stop", refers=bool(reference))
    return saved or None


def _job(job: str) -> tuple[Files, int | None]:
    files, version = Files(real_place(job)), None
    about = files.about()
    if about is None and (match := AT.fullmatch(job)) is not None:
        files, version = Files(real_place(match[1])), int(match[2])
        about = files.about()
    if about is None:
        raise CheckpointDirectoryError(
            f"{job!r} is not a checkpoint directory: it has no job.json. Give the directory in the job's setting "
            "execution.checkpointing.dir; without that setting, only the program itself can ask for a savepoint."
        )
    return files, version


def _asked(files: Files, driver: tuple[int, Owner], request: Request, seconds: float) -> Answer | None:
    requests = Requests(files.storage, files.owners, driver[0])
    requests.ask(request)
    now = time.monotonic()
    until, look = now + seconds, now + _LOOK
    try:
        while now < until:
            answer = requests.answered(request)
            if answer is not None:
                return answer
            if now > look:
                if not _alive(files, driver):
                    return requests.answered(request)
                look = now + _LOOK
            time.sleep(0.1 if is_local(files.place) else 1.0)
            now = time.monotonic()
    finally:
        requests.withdraw(request)
    raise SavepointError(
        f"No answer came within {seconds:.0f} seconds from {driver[1]}. It answers between two steps: if its steps are "
        "long, or much has to be copied, wait longer with --timeout. If it is dead, its lease ends after a minute."
    )


def _alive(files: Files, driver: tuple[int, Owner]) -> bool:
    living = files.owners.living()
    return living is not None and living[0] == driver[0]


def _place(answer: Answer) -> str:
    if answer.error is not None:
        raise SavepointError(answer.error)
    return answer.place


def _taken(files: Files, version: int | None, folder: str | None, kind: str, *, refers: bool = False) -> str:
    if folder is None:
        raise ConfigurationError("No running job knows where its savepoints go. Give a folder for the savepoint.")
    job = JobFolder(files.place)
    newest = job.newest(unpickle=False)
    manifest = newest if version is None else job.read(version, unpickle=False)
    if newest is None or manifest is None or manifest.is_nothing:
        raise SavepointError(f"The checkpoint directory {files.place!r} has no checkpoint yet. Run the job first.")
    check_published(files, manifest)
    place = new_place(folder, manifest.job_id)
    if not refers:
        return write_savepoint(files, manifest, place, kind).place
    published = not newest.outputs or files.owners.left_published(newest.epoch)
    with job.open(manifest.job, retained=len(newest.retained) + 2) as lease:  # all checkpoints stay
        lease.published = published
        return write_savepoint(files, manifest, place, kind, pin=lease.pin).place
