"""Savepoints of a job that runs: taken between two steps of checkpoints that stand, and copied beside the next ones.

The version is held meanwhile. Who stops the job with a savepoint waits for it; the job continues if it cannot be taken.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from penstock.common.jobs.job_control import JobControl, SavepointWish
from penstock.errors import ConfigurationError, JobCancelledError, PenstockError, SavepointError
from penstock.job.deployment import Deployment
from penstock.job.folder.lease import Lease
from penstock.job.folder.manifest import StepManifest, TaskState
from penstock.job.folder.requests import Answer, Request, Requests
from penstock.job.savepoint.store import new_place, write_savepoint
from penstock.job.steps.versions import Place, Version, key_of
from penstock.runtime.config.steps import Reading
from penstock.storage.stores import configure

LOG = logging.getLogger("penstock")


class Savepoints:
    """What is asked of a job that runs in steps: by the program through ``control``, by others through files."""

    def __init__(self, control: JobControl, lease: Lease, deployment: Deployment) -> None:
        self._control, self._lease, self._deployment = control, lease, deployment
        self._files, settings = lease.files, deployment.job.settings
        self._requests = Requests(self._files.storage, self._files.owners, lease.epoch)
        self._looked = 0.0
        self._thread = ThreadPoolExecutor(1, "penstock-savepoint", configure, (settings.storage_options,))
        self._waiting: list[SavepointWish] = []
        self._drained: list[SavepointWish] = []
        self._finished: frozenset[Place] = frozenset()  # before the job was drained
        self._given_up = False
        self.draining = False

    def __enter__(self) -> Savepoints:
        return self

    def __exit__(self, error: Any, *_: object) -> None:
        self._given_up = error is not None
        self._thread.shutdown()  # a savepoint that is being taken is, unless the job has failed
        for wish in (*self._waiting, *self._drained):
            if not wish.place.done():
                wish.place.set_exception(SavepointError("The job ended before the savepoint could be taken."))

    @property
    def hurries(self) -> bool:
        """Whether a checkpoint is wanted now: no checkpoint has all that was read so far, or the sources are to end."""
        return self.draining or bool(self._waiting)

    def look(self, version: Version, *, stands: bool = True) -> bool:
        """Between two steps, do what is asked for, if the last one ``stands``. Returns whether the job ends now."""
        self._poll()
        self._waiting += self._control.asked()
        for wish in self._waiting:
            if wish.kind == "drain":
                if not self.draining:
                    self.draining, self._finished = True, frozenset(version.finished)
                self._drained.append(wish)
            elif not wish.taken:
                self._control.stop()
                self._control.taken(wish, "")
        self._waiting = [wish for wish in self._waiting if wish.kind != "drain" and wish.taken]
        if version.manifest.is_nothing or not stands:
            return False
        due, self._waiting = self._waiting, []
        for wish in due:
            if wish.kind == "savepoint":
                self._begin(wish)
        stopped = [self._take(wish, version.manifest) for wish in due if wish.kind == "stop"]
        return any(stopped)

    def wanted(self) -> bool:
        """Whether somebody waits: who has asked this driver is not answered by one that comes after it."""
        self._poll(at_once=True)
        self._waiting += self._control.asked()
        return self.hurries

    def _poll(self, *, at_once: bool = False) -> None:
        now = time.monotonic()
        if now < self._looked + self._requests.seconds and not at_once:
            return
        self._looked = now
        try:
            for request in self._requests.new():
                self._control.ask(self._wish(request))
        except (OSError, PenstockError) as error:
            LOG.warning("Requests to the job cannot be read: %s", error)

    def _wish(self, request: Request) -> SavepointWish:
        kind: Any = request.kind
        asked = kind, request.folder, request.version, request.taken
        wish = SavepointWish(*asked, early=True, reference=request.reference)

        def answer(_: object) -> None:
            error = wish.place.exception()
            text = None if error is None else str(error)
            self._requests.answer(request.id, Answer("" if text else wish.place.result(), text))

        wish.place.add_done_callback(answer)
        return wish

    def drained(self, readings: Mapping[Place, Reading]) -> Mapping[Place, Reading]:
        if not self.draining:
            return readings
        return {place: replace(reading, drain=True) for place, reading in readings.items()}

    def _begin(self, wish: SavepointWish) -> None:
        lease = self._lease
        try:
            newest = lease.newest()
            assert newest is not None
            manifest, held = newest, wish.version or newest.version
            lease.hold(held)
        except (OSError, PenstockError) as error:
            wish.place.set_exception(error)
            return

        def take() -> None:
            try:
                loaded = manifest if held == manifest.version else self._files.load(held, unpickle=False)
            except (OSError, PenstockError) as error:
                wish.place.set_exception(error)
            else:
                self._take(wish, loaded)
            finally:
                lease.release(held)

        self._thread.submit(take)

    def _take(self, wish: SavepointWish, manifest: StepManifest) -> bool:
        """Take a savepoint now; whether that could be done. If not, the caller learns why."""
        try:
            settings = self._deployment.job.settings
            folder = wish.folder or settings.savepoints
            if folder is None:
                raise ConfigurationError(
                    "No folder is set for the savepoint. Give one, or set state.savepoints.dir.",
                    flink_class="java.lang.IllegalStateException",
                )
            place = new_place(folder, manifest.job_id)
            refers = settings.savepoint_reference if wish.reference is None else wish.reference
            refers = refers and settings.checkpoint_directory is not None  # a temporary one goes with the job
            pin = self._lease.pin if refers else None
            write_savepoint(self._files, manifest, place, wish.kind, self._go_on, pin)
        except Exception as error:
            wish.place.set_exception(error)
            LOG.warning("No savepoint was taken: %s", error)
            return False
        self._control.taken(wish, place)
        LOG.info("The savepoint %s was taken of checkpoint %d.", place, manifest.version)
        return True

    def _go_on(self) -> None:
        self._control.check()
        if self._given_up:
            raise JobCancelledError("The job failed before the savepoint was taken.")

    def ended(self, version: Version) -> None:
        """The job has come to its end, and is at a checkpoint: take what was asked for and had to wait for that."""
        self._waiting += self._control.asked()
        for wish in (*self._waiting, *self._drained):
            if not wish.taken:
                self._control.taken(wish, "")
            elif wish.kind == "drain" and not version.over:
                wish.place.set_exception(SavepointError("The job was stopped before it was drained; no savepoint."))
            elif version.manifest.is_nothing:
                wish.place.set_exception(SavepointError("The job ended without a step; there is no state to save."))
            else:
                manifest = version.manifest
                drained = wish.kind == "drain"
                self._take(wish, resumable(manifest, self._deployment, self._finished) if drained else manifest)
        self._waiting, self._drained = [], []


class NoSavepoints:
    """For a job that commits once, which has no checkpoints to save: whoever waits hears so at its end."""

    draining = hurries = False

    def look(self, version: Version, *, stands: bool = True) -> bool:
        return False

    def wanted(self) -> bool:
        return False

    def drained(self, readings: Mapping[Place, Reading]) -> Mapping[Place, Reading]:
        return readings

    def ended(self, version: Version) -> None: ...


def resumable(manifest: StepManifest, deployment: Deployment, finished: frozenset[Place]) -> StepManifest:
    """A checkpoint of a drained job from which it can resume: only tasks that had ended before have ended in it."""
    tasks = dict(manifest.tasks)
    for vertex in deployment.vertices:
        states = tasks.get(key_of(vertex), ())
        tasks[key_of(vertex)] = tuple(
            state if (vertex.index, subtask) in finished else TaskState() for subtask, state in enumerate(states)
        )
    return replace(manifest, tasks=tasks)
