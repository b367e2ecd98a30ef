"""A small loop of steps around the sinks of a program, whose records come from a list per version."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from penstock.job.deployment import Deployment, deploy
from penstock.job.folder.manifest import Output
from penstock.job.steps.outputs import Outputs
from penstock.plan import Pipeline
from penstock.runtime.buffers.codec import decode_value
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.config.tasks import Committable, OperatorConfig, PendingFile, TaskReport, VertexConfig
from penstock.runtime.io.sinks import BuiltinSink, SinkWriter
from penstock.storage.storage import join
from penstock.storage.stores import storage_of

FOLDER_ID = "f" * 32


def in_steps(
    pipeline: Pipeline, place: object, folder_id: str = FOLDER_ID, resumed: bool = False, job_id: str | None = None
) -> Deployment:
    """A program that commits in steps, with a checkpoint directory that nobody has opened."""
    settings = replace(pipeline.settings, checkpoint_directory=str(place))
    return deploy(replace(pipeline, settings=settings), job_id, resumed=resumed).in_folder(folder_id, str(place))


@dataclass
class Sinks:
    """The sinks of a program in all their subtasks, which live on from step to step."""

    deployment: Deployment
    volatile: Mapping[str, Any]
    files: list[PendingFile] = field(default_factory=list)
    committables: list[Committable] = field(default_factory=list)
    rows: list[tuple[int, bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.writers: dict[str, list[tuple[SinkWriter, OperatorContext]]] = {}
        ends = {end.operator_id for end in self.deployment.ends if isinstance(end.sink, BuiltinSink)}
        for vertex in self.deployment.vertices:
            for config in vertex.operators:
                if config.operator_id in ends:
                    writers = [self._writer(vertex, config, subtask) for subtask in range(vertex.parallelism)]
                    self.writers[config.operator_id] = writers

    def _writer(self, vertex: VertexConfig, config: OperatorConfig, subtask: int) -> tuple[SinkWriter, OperatorContext]:
        def send(kind: int, data: bytes) -> None:
            self.rows.append((kind, data))

        context = OperatorContext(self.deployment.job, vertex, config, subtask, 0, send, self.files, self.committables)
        writer = decode_value(config.operator).function.writer(context)
        volatile = self.volatile.get(f"{config.operator_id}-{subtask}")
        if volatile is not None:
            writer.resume(volatile)
        writer.open()
        return writer, context

    def step(self, version: int, values: Sequence[Any], *, last: bool = False) -> list[TaskReport]:
        """Write the values, each subtask its share of them; the reports."""
        reports = []
        for writers in self.writers.values():
            for subtask, (writer, context) in enumerate(writers):
                context.version = version
                for value in values[subtask :: len(writers)]:
                    writer.write(value)
                writer.end_step()
                if last:
                    writer.finish()
                reports.append(
                    TaskReport(
                        context.vertex.index,
                        "",
                        subtask,
                        len(writers),
                        0,
                        (),
                        tuple(self.files),
                        tuple(self.committables),
                    )
                )
                self.files.clear()
                self.committables.clear()
        return reports

    def handed_over(self) -> dict[str, Any]:
        """What the next run is to be given."""
        volatile = {
            f"{key}-{i}": w.volatile() for key, of_sink in self.writers.items() for i, (w, _) in enumerate(of_sink)
        }
        return {key: value for key, value in volatile.items() if value is not None}


def newest(job_folder: str) -> dict[str, Any] | None:
    storage = storage_of(job_folder)
    names = [entry.path for entry in storage.list(job_folder) if entry.path.endswith(".json")]
    return json.loads(storage.get(max(names, key=lambda name: int(name[:-5].rpartition("-")[2])))) if names else None


def _write(job_folder: str, version: int, outputs: Sequence[Output], volatile: dict[str, Any]) -> None:
    Path(job_folder).mkdir(parents=True, exist_ok=True) if "://" not in job_folder else None
    manifest = {"version": version, "outputs": [asdict(output) for output in outputs], "volatile": volatile}
    assert storage_of(job_folder).create(join(job_folder, f"manifest-{version}.json"), json.dumps(manifest).encode())


def go(
    pipeline: Callable[[], Pipeline],
    job_folder: str,
    steps: Sequence[Sequence[Any]],
    *,
    rebuilt: bool = False,
    after: Callable[[int, list[TaskReport], Sinks], None] | None = None,
) -> None:
    """Run a job from its newest manifest on, to its end."""
    manifest = newest(job_folder)
    deployment = in_steps(pipeline(), job_folder, resumed=manifest is not None)
    with Outputs(deployment, resumed=manifest is not None) as outputs:
        start = manifest["version"] if manifest else 0
        outputs.recover([Output(**output) for output in manifest["outputs"]] if manifest else [], start)
        sinks = Sinks(deployment, manifest["volatile"] if manifest else {})
        for version in range(start + 1, len(steps) + 1):
            if rebuilt and version > start + 1:
                sinks = Sinks(deployment, sinks.handed_over())
            reports = sinks.step(version, steps[version - 1], last=version == len(steps))
            committed = outputs.put_together(reports)
            _write(job_folder, version, committed, sinks.handed_over())
            outputs.publish(committed, version)
            if after is not None:
                after(version, reports, sinks)
