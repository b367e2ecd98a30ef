"""A job of another process, as its job folder tells of it: versions as they come, rates between them.

What only the job's own process knows (which subtask is busy, what lies between two versions) is not there;
`penstock run --watch` shows it.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from penstock.analysis.model import OperatorModel, ProgramModel, VertexModel
from penstock.errors import JobFolderError
from penstock.job.folder.files import Files
from penstock.job.folder.manifest import StepManifest
from penstock.metrics.running import END_OF_TIME, NO_WATERMARK
from penstock.runtime.io.storage import real_place
from penstock.viewer.feed import Numbers, VertexNumbers

_SPAN_MS = 10_000
"""Rates are those of so much time."""


class Following:
    """Reads the newest version whenever it is asked, and keeps those of the last ten seconds.

    Args:
        job: the job folder, a path or URL.
        model: the plan that runs; None shows what the folder knows of operators, without their edges.
        now: milliseconds since 1970.

    Raises:
        JobFolderError: it is no job folder, or no step has been committed and there is no plan.
    """

    def __init__(self, job: str, model: ProgramModel | None, now: Callable[[], int] | None = None) -> None:
        self._files = Files(real_place(job))
        about = self._files.about()
        if about is None:
            raise JobFolderError(
                f"{job!r} is no job folder: it has no job.json. Give the folder that the job's setting "
                "penstock.job.folder names."
            )
        self._began = about.created
        self._now = now or (lambda: time.time_ns() // 1_000_000)
        self._recent: deque[StepManifest] = deque()
        self.model = model or _guessed(about.job, self._newest())

    def numbers(self) -> Numbers | None:
        """The job as of its newest version, as :func:`penstock.viewer.feed.numbers` tells it; None before the first.
        One look at the folder; O(operators times subtasks)."""
        newest = self._newest()
        if newest is None:
            return None
        oldest = self._recent[0]
        over = max(newest.time - oldest.time, 1)
        rates = {each: (_read(newest, each) - _read(oldest, each)) * 1000 / over for each in newest.counters}
        sent = {each: (_sent(newest, each) - _sent(oldest, each)) * 1000 / over for each in newest.counters}
        sources = [each for each in _heads(self.model) if each not in rates or not _read(newest, each)]
        vertices = [self._vertex(vertex, newest, rates, sent) for vertex in self.model.vertices]
        return {
            "job": newest.job,
            "status": "RUNNING" if self._files.owners.living() is not None else "NOT RUNNING",
            "seconds": (self._now() - self._began) / 1000,
            "version": newest.version,
            "in_rate": sum(sent.get(each, 0) for each in sources),
            "out_rate": sum(rates.get(each, 0) for each in _ends(self.model)),
            "records_behind": None,
            "step_ms": over / max(newest.version - oldest.version, 1) if newest is not oldest else 0,
            "bottleneck": None,
            "vertices": vertices,
        }

    def _vertex(
        self, vertex: VertexModel, newest: StepManifest, rates: dict[str, float], sent: dict[str, float]
    ) -> VertexNumbers:
        chain = [self.model.by_node[node] for node in vertex.operators]
        head, last = chain[0].operator_id, chain[-1].operator_id
        watermarks = [mark for each in chain for mark in _watermarks(newest, each.operator_id)]
        files = [file for each in chain for file in _state(newest, each.effective_id)]
        return {
            "id": vertex.id,
            "name": vertex.name,
            "in_rate": rates.get(head, 0) or sent.get(head, 0),
            "out_rate": sent.get(last, 0) or rates.get(last, 0),
            "busy": None,
            "lag_ms": self._now() - min(watermarks) if watermarks else None,
            "state_bytes": sum(file.bytes for file in files),
            "state_keys": 0,
            "tasks": {},
            "records_behind": None,
        }

    def _newest(self) -> StepManifest | None:
        """The newest version; it is read once. Those that are too old to count go, but for one."""
        version = self._files.highest()
        if version and (not self._recent or self._recent[-1].version != version):
            found = self._files.newest(unpickle=False)
            if found is not None:
                self._recent.append(found)
        while len(self._recent) > 2 and self._recent[-1].time - self._recent[1].time > _SPAN_MS:
            self._recent.popleft()
        return self._recent[-1] if self._recent else None


def _read(manifest: StepManifest, operator: str) -> int:
    return sum(each.get("records_in", 0) for each in manifest.counters.get(operator, ()))


def _sent(manifest: StepManifest, operator: str) -> int:
    return sum(each.get("records_out", 0) for each in manifest.counters.get(operator, ()))


def _watermarks(manifest: StepManifest, operator: str) -> Iterator[int]:
    for each in manifest.counters.get(operator, ()):
        mark = each.get("output_watermark", NO_WATERMARK)
        if mark not in (NO_WATERMARK, END_OF_TIME):
            yield mark


def _state(manifest: StepManifest, operator: str) -> Iterator[Any]:
    found = manifest.operators.get(operator)
    for chain in () if found is None else found.subtasks:
        yield from chain


def _heads(model: ProgramModel) -> Iterator[str]:
    read = {edge.target for edge in model.edges}
    return (each.operator_id for each in model.operators if each.node not in read)


def _ends(model: ProgramModel) -> Iterator[str]:
    goes_on = {edge.source for edge in model.edges}
    return (each.operator_id for each in model.operators if each.node not in goes_on)


def _guessed(job: str, manifest: StepManifest | None) -> ProgramModel:
    """What a version knows of operators: IDs, names where there is state or a source, no edges."""
    if manifest is None:
        raise JobFolderError(
            f"The job {job!r} has not committed a step, so its folder does not say what runs. Give the program's file "
            "too: penstock watch JOB FILE."
        )
    known = {**manifest.sources, **manifest.operators}
    ids = sorted({*manifest.counters, *known, *manifest.tasks})
    operators = tuple(_operator(at, each, known.get(each), manifest) for at, each in enumerate(ids))
    return ProgramModel(job, "1.11", operators, (), tuple(_alone(operators)), ())


def _operator(node: int, operator_id: str, known: Any, manifest: StepManifest) -> OperatorModel:
    uid = None if known is None else known.uid
    parallelism = len(manifest.counters.get(operator_id, ())) or manifest.parallelism
    groups = getattr(known, "max_parallelism", 0)
    return OperatorModel(
        node=node,
        name=getattr(known, "name", "") or f"operator {operator_id[:8]}",
        kind="source" if operator_id in manifest.sources else "operator",
        type="",
        uid=uid,
        user_hash=None,
        operator_id=operator_id,
        origin="uid" if uid else "position",
        pinned=None,
        parallelism=parallelism,
        max_parallelism=None,
        effective_max_parallelism=groups,
        vertex=node,
        chain_index=0,
        slot_sharing_group="",
        chaining="",
        keyed=False,
        stateful=operator_id in manifest.operators,
        states=None,
        site=None,
        description="",
        unknown="the plan of the job is not known; give the program's file too",
    )


def _alone(operators: Iterable[OperatorModel]) -> Iterator[VertexModel]:
    for at, each in enumerate(operators):
        groups = each.effective_max_parallelism
        yield VertexModel(at, each.operator_id, each.name, (each.node,), each.parallelism, groups, "")
