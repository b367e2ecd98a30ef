"""From a planned program to task descriptors: what :mod:`penstock.local` and :mod:`penstock.spark` run.

Each JobVertex gets a *level*, depth(source) = 0 and depth(v) = 1 + max(depth of its inputs), and its subtasks get slots
in the level. User code is pickled, once. Cost: O(V + E), no recursion.
"""

from __future__ import annotations

import secrets
import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.common.settings.settings import Settings
from penstock.compiler.operators import Compilation
from penstock.connectors.spark.frames import FrameSink, FrameSource
from penstock.errors import InvalidProgramError, UnsupportedError
from penstock.job.commit.leftovers import check_targets
from penstock.job.savepoint.format import StoredSavepoint
from penstock.job.shipped_files import ship
from penstock.job.vertices import BatchEdges, Vertices
from penstock.runtime.chain.operator import StreamOperator
from penstock.runtime.config.tasks import JobConfig, VertexConfig, in_slot
from penstock.runtime.io.sinks import PublishedSink
from penstock.runtime.io.sources import BatchSource
from penstock.runtime.io.splits import SplitSource
from penstock.runtime.operators.iteration import IterationHead, IterationTail
from penstock.runtime.operators.sink import StreamSink
from penstock.runtime.operators.source import StreamSource
from penstock.storage.storage import is_local, join
from penstock.storage.stores import configured

if TYPE_CHECKING:
    from penstock.plan import JobGraph, Pipeline

_ENDS: dict[str, StreamOperator] = {"StreamIterationHead": IterationHead(), "StreamIterationTail": IterationTail()}
"""The operators at the ends of a loop, by task class."""


@dataclass(frozen=True)
class Table:
    """A sink whose records are written as a DataFrame."""

    name: str  # of the operator
    sink: FrameSink  # as it travels
    write: Callable[[Any], object]  # takes the DataFrame and writes it, on the driver


@dataclass(frozen=True)
class End:
    """A sink of the program."""

    operator_id: str  # 32 hex digits
    name: str  # of the operator
    parallelism: int  # number of its subtasks
    sink: Any  # as it travels


@dataclass(frozen=True)
class Deployment:
    """A whole job, ready to run."""

    job: JobConfig  # what all tasks share
    vertices: tuple[VertexConfig, ...]  # by index in the JobGraph
    levels: tuple[tuple[VertexConfig, ...], ...]  # the vertices of each level, in order of their slots
    sinks: tuple[Any, ...]  # the program's, as they travel
    archive: Path | None = None  # with the files that the program ships, None if there are none
    frames: Mapping[int, Any] = field(default_factory=dict[int, Any])
    tables: tuple[Table, ...] = ()  # what is written as DataFrames, in order of their numbers
    locations: tuple[tuple[str, str], ...] = ()
    sources: Mapping[int, Any] = field(default_factory=dict[int, Any])
    steps: bool = False  # whether it runs in steps, and commits each; else it commits once, at its end
    keeps: bool = False  # whether it has a checkpoint directory, at least one that goes with the run
    ends: tuple[End, ...] = ()  # the program's sinks with what is known of their operators
    savepoint: StoredSavepoint | None = None  # the savepoint that it begins from, unless it has begun before
    planned: Callable[[], JobGraph] | None = field(default=None, compare=False)
    mark: str = field(default_factory=partial(secrets.token_hex, 16), compare=False, repr=False)

    def in_folder(self, folder_id: str, place: str) -> Deployment:
        """The same with a checkpoint directory, by which the pending files of its sinks are named."""
        return replace(self, job=replace(self.job, folder_id=folder_id, folder=place))

    @property
    def place(self) -> str | None:
        """Of its checkpoint directory, on the store of its savepoints, say; None for a temporary folder."""
        settings = self.job.settings
        savepoints = settings.savepoints
        if settings.checkpoint_directory or self.steps or savepoints is None or is_local(savepoints):
            return settings.checkpoint_directory
        return join(savepoints, f".running-{self.job.job_id}")

    @property
    def goes_round(self) -> bool:
        """Whether tasks may have to work several times before the job can commit."""
        if self.job.settings.batch:
            return False
        pushes = any(not isinstance(source, BatchSource) for source in self.sources.values())
        return pushes or any(vertex.inputs for vertex in self.levels[0])

    def slots(self, level: int) -> int:
        last = self.levels[level][-1]
        return last.offset + last.parallelism

    def slot(self, level: int, slot: int) -> tuple[VertexConfig, int]:
        """The vertex and subtask that run in a slot. O(vertices of the level)."""
        return in_slot(self.levels[level], slot)


def deploy(
    pipeline: Pipeline, job_id: str | None = None, *, loops: bool = False, times: int = 0, resumed: bool = False
) -> Deployment:
    """The task descriptors of a program. ``loops``: the executor's tasks live on from step to step."""
    steps = runs_in_steps(pipeline, loops=loops)
    settings, job_graph = pipeline.settings, pipeline.job_graph()
    if settings.batch:
        for vertex in job_graph.vertices:
            if vertex.invokable in _ENDS:
                raise UnsupportedError(
                    f"The program has an iteration ({vertex.name!r}), iterate(), and BATCH mode reads all input of an "
                    "operator before it emits. Run it in STREAMING mode, or unroll the loop."
                )
    places = _places(job_graph)
    tables: list[Table] = []
    with configured(settings.storage_options):
        operators = _prepared(pipeline, job_graph, places, tables, steps=steps, resumed=resumed)
    compilation = Compilation() if settings.native_plane else None
    if compilation is not None:
        operators = {node: compilation.operator(operator) for node, operator in operators.items()}
    edges = BatchEdges(operators, batch=settings.batch, combine=settings.combine)
    vertices = Vertices(pipeline, operators, job_graph, places, edges, compilation)
    configs = tuple(map(vertices.config, job_graph.vertices))
    heads = {vertex.index: vertex.chain[0].node for vertex in job_graph.vertices}
    sources = {index: op.function for index, node in heads.items() if isinstance(op := operators[node], StreamSource)}
    read = {index: getattr(pipeline.operators.get(node), "function", None) for index, node in heads.items()}
    frames = {index: source.frame for index, source in read.items() if isinstance(source, FrameSource)}
    ends = (
        End(config.operator_id, config.name, vertex.parallelism, op.function)
        for vertex in configs
        for config in vertex.operators
        if isinstance(op := operators[config.node], StreamSink)
    )
    names = {link.node: link.name for vertex in job_graph.vertices for link in vertex.chain}
    users = ((name, getattr(operators[node], "function", None)) for node, name in sorted(names.items()))
    using = ((name, user) for name, user in users if isinstance(user, BatchSource | PublishedSink))
    locations = ((name, location) for name, user in using for location in user.locations())
    sinks = (op.function for op in map(operators.get, pipeline.operators) if isinstance(op, StreamSink))
    archive, level = ship(settings), attrgetter("level")
    shipped = archive.name if archive else None
    return Deployment(
        JobConfig(pipeline.name, job_id or uuid.uuid4().hex, settings, shipped, times=times),
        configs,
        tuple(tuple(at_level) for _, at_level in groupby(sorted(configs, key=level), level)),
        tuple(sinks),
        archive,
        frames=frames,
        tables=tuple(tables),
        locations=tuple(locations),
        sources=sources,
        steps=steps,
        keeps=steps or keeps(settings),
        ends=tuple(ends),
        planned=pipeline.job_graph,
    )


def runs_in_steps(pipeline: Pipeline, *, loops: bool = False) -> bool:
    """Whether a program commits each step: its end is unknown, or it has a checkpoint directory or savepoint."""
    settings = pipeline.settings
    if pipeline.unbounded or ((settings.checkpoint_directory is not None or settings.savepoint) and not settings.batch):
        return True
    if pipeline.iterates and not loops:
        return not settings.batch
    if settings.checkpoint_interval is None or settings.batch:
        return False
    sources = (op.function for op in pipeline.operators.values() if isinstance(op, StreamSource))
    return any(not isinstance(function, BatchSource) for function in sources)


def keeps(settings: Settings) -> bool:
    """Whether a job of one step has a checkpoint directory: it is set, or savepoints are to be taken of its state."""
    return settings.checkpoint_directory is not None or (settings.savepoints is not None and not settings.batch)


def _places(job_graph: JobGraph) -> list[VertexConfig]:
    """Where the vertices run, by index: their descriptors, still without operators and inputs."""
    vertices = job_graph.vertices
    level = [0] * len(vertices)
    for index in job_graph.topological_order:
        level[index] = 1 + max((level[edge.source] for edge in vertices[index].inputs), default=-1)
    sizes = {v.job_vertex: (v.parallelism, v.max_parallelism) for v in job_graph.execution_graph().vertices}
    places: list[VertexConfig] = []
    slots: Counter[int] = Counter()  # taken so far, by level
    for index, depth in enumerate(level):
        places.append(VertexConfig(index, vertices[index].name, *sizes[index], depth, slots[depth]))
        slots[depth] += places[index].parallelism
    return places


def _prepared(
    pipeline: Pipeline,
    job_graph: JobGraph,
    places: list[VertexConfig],
    tables: list[Table],
    *,
    steps: bool,
    resumed: bool,
) -> dict[int, StreamOperator]:
    """The operators as they travel, by node. Each has accepted its parallelism, and no two sinks write to one place."""
    result: dict[int, StreamOperator] = {}
    published: list[tuple[PublishedSink, str]] = []
    for vertex, place in zip(job_graph.vertices, places, strict=True):
        for link in vertex.chain:
            operator = _ENDS.get(vertex.invokable) or pipeline.operators.get(link.node)
            if not isinstance(operator, StreamOperator):
                raise InvalidProgramError(
                    f"Operator {link.name!r} (node {link.node}) has nothing to run: its entry in the pipeline is "
                    f"{operator!r}. Build the program with penstock.datastream, or give every node an operator of "
                    "penstock.runtime.operators."
                )
            stepped = steps and isinstance(getattr(operator, "function", None), SplitSource)
            write: Any = getattr(getattr(operator, "function", None), "write", None)  # stays on the driver
            operator = operator if stepped else operator.prepare(place.parallelism)
            if isinstance(operator, StreamSink) and isinstance(operator.function, FrameSink):
                operator = replace(operator, function=replace(operator.function, number=len(tables)))
                tables.append(Table(link.name, operator.function, write))
            result[link.node] = operator
            if isinstance(operator, StreamSink) and isinstance(operator.function, PublishedSink):
                published.append((operator.function, link.name))
    check_targets(published, resumed=resumed)
    return result
