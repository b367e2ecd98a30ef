"""A job of another process, seen through its checkpoint directory: checkpoints as they appear, rates between them.

Numbers that only the job's own process has (busy subtasks, progress between two checkpoints) are missing;
`penstock run --watch` shows them.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from penstock.analysis.model import OperatorModel, ProgramModel, VertexModel
from penstock.compare.savepoints import operator_with_state
from penstock.errors import CheckpointDirectoryError
from penstock.job.folder.files import Files
from penstock.job.folder.manifest import StepManifest
from penstock.metrics.running_job import END_OF_TIME, NO_WATERMARK, lag
from penstock.storage.storage import real_place
from penstock.viewer.feed import Numbers, VertexNumbers

_SPAN_MS = 10_000  # the time over which rates are measured


class JobFollower:
    """Reads the newest checkpoint at each call, and keeps those of the last ten seconds. Without a ``model`` it shows
    the operators of the checkpoint, without their edges; a CheckpointDirectoryError if there is neither."""

    def __init__(self, job: str, model: ProgramModel | None, now: Callable[[], int] | None = None) -> None:
        self._files = Files(real_place(job))
        about = self._files.about()
        if about is None:
            raise CheckpointDirectoryError(
                f"{job!r} is not a checkpoint directory: it has no job.json. Give the folder that the job's setting "
                "execution.checkpointing.dir names."
            )
        self._began = about.created
        self._now = now or (lambda: time.time_ns() // 1_000_000)
        self._recent: deque[StepManifest] = deque()
        self.model = model or _guessed(about.job, self._newest())

    def numbers(self) -> Numbers | None:
        """The job at its newest checkpoint, as :func:`penstock.viewer.feed.numbers` shows it; None before the first.
        One look at the folder; O(operators times subtasks)."""
        newest = self._newest()
        if newest is None:
            return None
        oldest = self._recent[0]
        over, living = max(newest.time - oldest.time, 1), self._files.owners.living() is not None
        # a dead job reads nothing, nor does one without a commit for so long
        per_second = 1000 / over if living and self._now() - newest.time <= _SPAN_MS + over else 0.0
        rates, sent = (
            {
                counter: (_sum(newest, counter, name) - _sum(oldest, counter, name)) * per_second
                for counter in newest.counters
            }
            for name in ("records_in", "records_out")
        )
        read = {edge.target for edge in self.model.edges}
        goes_on = {edge.source for edge in self.model.edges}
        heads = [operator.operator_id for operator in self.model.operators if operator.node not in read]
        ends = [operator.operator_id for operator in self.model.operators if operator.node not in goes_on]
        sources = [head for head in heads if head not in rates or not _sum(newest, head, "records_in")]
        vertices = [self._vertex(vertex, newest, rates, sent) for vertex in self.model.vertices]
        return {
            "job": newest.job,
            "status": "RUNNING" if living else "NOT RUNNING",
            "seconds": (self._now() - self._began) / 1000,
            "version": newest.version,
            "in_rate": sum(sent.get(source, 0) for source in sources),
            "out_rate": sum(rates.get(end, 0) for end in ends),
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
        counters = [task for operator in chain for task in newest.counters.get(operator.operator_id, ())]
        watermarks = {task.get("output_watermark", NO_WATERMARK) for task in counters} - {NO_WATERMARK, END_OF_TIME}
        ids = (operator.effective_id for operator in chain)
        known = [newest.operators[operator_id] for operator_id in ids if operator_id in newest.operators]
        state_bytes = sum(file.bytes for operator in known for files in operator.subtasks for file in files)
        return {
            "id": vertex.id,
            "name": vertex.name,
            "in_rate": rates.get(head, 0) or sent.get(head, 0),
            "out_rate": sent.get(last, 0) or rates.get(last, 0),
            "busy": None,
            "lag_ms": lag(self._now(), min(watermarks)) if watermarks else None,
            "state_bytes": state_bytes,
            "state_keys": 0,
            "tasks": {},
            "records_behind": None,
        }

    def _newest(self) -> StepManifest | None:
        """The newest checkpoint, which is read once. Those that are too old are dropped, except for one."""
        version = self._files.highest()
        if version and (not self._recent or self._recent[-1].version != version):
            manifest = self._files.newest(unpickle=False)
            if manifest is not None:
                self._recent.append(manifest)
        while len(self._recent) > 2 and self._recent[-1].time - self._recent[1].time > _SPAN_MS:
            self._recent.popleft()
        return self._recent[-1] if self._recent else None


def _sum(manifest: StepManifest, operator: str, counter: str) -> int:
    return sum(task.get(counter, 0) for task in manifest.counters.get(operator, ()))


def _guessed(job: str, manifest: StepManifest | None) -> ProgramModel:
    """The operators of a checkpoint: IDs, names if there is state or a source, no edges."""
    if manifest is None:
        raise CheckpointDirectoryError(
            f"The job {job!r} has not committed a step, so its folder does not say what runs. Give the program's file "
            "too: penstock watch JOB FILE."
        )
    known = {**manifest.sources, **manifest.operators}
    ids = sorted({*manifest.counters, *known, *manifest.tasks})
    operators = tuple(_operator(at, an_id, known.get(an_id), manifest) for at, an_id in enumerate(ids))
    vertices = (
        VertexModel(at, op.operator_id, op.name, (at,), op.parallelism, op.effective_max_parallelism, "")
        for at, op in enumerate(operators)
    )
    return ProgramModel(job, "1.11", operators, (), tuple(vertices), ())


def _operator(node: int, operator_id: str, known: Any, manifest: StepManifest) -> OperatorModel:
    kind = "source" if operator_id in manifest.sources else "operator"
    name = getattr(known, "name", "") or f"operator {operator_id[:8]}"
    parallelism = len(manifest.counters.get(operator_id, ())) or manifest.parallelism
    sizes = parallelism, getattr(known, "max_parallelism", 0)
    return replace(
        operator_with_state(node, kind, name, getattr(known, "uid", None) or None, operator_id, sizes),
        vertex=node,
        chain_index=0,
        stateful=operator_id in manifest.operators,
        unknown="the plan of the job is not known; give the program's file too",
    )
