"""From a planned program to task descriptors: what :mod:`penstock.local` and :mod:`penstock.spark` run.

The plan has decided everything; here each JobVertex gets a *level*, depth(source) = 0 and depth(v) = 1 + max(depth of
its inputs), and its subtasks get slots in the level. User code is pickled, once. Cost: O(V + E), no recursion.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.errors import InvalidProgramError, UnsupportedError
from penstock.job.batch_edges import BatchEdges
from penstock.job.outputs import Outputs
from penstock.job.restore.carried import carried
from penstock.job.restore.taking_over import taken_over
from penstock.job.shipping import ship
from penstock.job.vertices import Vertices
from penstock.runtime.chain.operator import StreamOperator
from penstock.runtime.config.tasks import JobConfig, VertexConfig, in_slot
from penstock.runtime.io.frames import FrameSink, FrameSource
from penstock.runtime.io.sinks import PublishedSink
from penstock.runtime.io.sources import BatchSource
from penstock.runtime.io.spark_types import nullable, schema_of
from penstock.runtime.io.splits import SplitSource
from penstock.runtime.io.stores import configured
from penstock.runtime.operators.iteration import IterationHead, IterationTail
from penstock.runtime.operators.sink import StreamSink
from penstock.runtime.operators.source import StreamSource

if TYPE_CHECKING:
    from penstock.plan import JobGraph, Pipeline

_ENDS: dict[str, StreamOperator] = {"StreamIterationHead": IterationHead(), "StreamIterationTail": IterationTail()}
"""What runs at the ends of a loop, by task class."""


@dataclass(frozen=True)
class Table:
    """A sink whose records are written as a DataFrame.

    Attributes:
        name: of the operator.
        sink: as it travels.
        write: takes the DataFrame and writes it, on the driver.
    """

    name: str
    sink: FrameSink
    write: Callable[[Any], object]


@dataclass(frozen=True)
class StepsFolder:
    """The job folder of a job that runs in steps.

    Attributes:
        id: its own, 32 hex digits, the same for all runs with it.
        place: where it is: a path, or the URL of a store.
        resumed: whether an earlier run with it has committed a step; then its outputs may be there.
    """

    id: str
    place: str
    resumed: bool = False


@dataclass(frozen=True)
class End:
    """A sink of the program.

    Attributes:
        operator_id: 32 hex digits.
        name: of the operator.
        parallelism: number of its subtasks.
        sink: as it travels.
    """

    operator_id: str
    name: str
    parallelism: int
    sink: Any


@dataclass(frozen=True)
class Deployment:
    """A whole job, ready to run.

    Attributes:
        job: what all tasks share.
        vertices: by index in the JobGraph.
        levels: the vertices of each level, in order of their slots.
        sinks: the program's, as they travel.
        archive: with the files that the program ships, None if there are none.
        frames: the DataFrames that sources read, by index of their vertex.
        tables: what is written as DataFrames, in order of their numbers.
        locations: where operators read or write files: name of the operator, path or URL.
        sources: what runs at the head of each source, by index of its vertex.
        steps: whether it runs in steps.
        ends: the program's sinks with what is known of their operators.
        planned: makes the plan that it is, with what is taken over from state.
    """

    job: JobConfig
    vertices: tuple[VertexConfig, ...]
    levels: tuple[tuple[VertexConfig, ...], ...]
    sinks: tuple[Any, ...]
    archive: Path | None = None
    frames: Mapping[int, Any] = field(default_factory=dict[int, Any])
    tables: tuple[Table, ...] = ()
    locations: tuple[tuple[str, str], ...] = ()
    sources: Mapping[int, Any] = field(default_factory=dict[int, Any])
    steps: bool = False
    ends: tuple[End, ...] = ()
    planned: Callable[[], JobGraph] | None = field(default=None, compare=False)

    def in_folder(self, folder_id: str, place: str) -> Deployment:
        """The same with a job folder, by which the pending files of its sinks are named.

        Args:
            folder_id: 32 hex digits.
            place: path or URL.
        """
        return replace(self, job=replace(self.job, folder_id=folder_id, folder=place))

    def slots(self, level: int) -> int:
        """Number of tasks of a level."""
        last = self.levels[level][-1]
        return last.offset + last.parallelism

    def slot(self, level: int, slot: int) -> tuple[VertexConfig, int]:
        """The vertex and subtask that run in a slot. O(vertices of the level)."""
        return in_slot(self.levels[level], slot)


def deploy(
    pipeline: Pipeline,
    job_id: str | None = None,
    *,
    loops: bool = False,
    folder: StepsFolder | None = None,
    times: int = 0,
    begins: bool = False,
) -> Deployment:
    """The task descriptors of a program.

    Args:
        pipeline: the program.
        job_id: of this run, 32 hex digits; None for one by chance.
        loops: whether the executor can lead records back.
        folder: of a job that runs in steps, if it has been opened.
        times: how often the run has been planned before.
        begins: whether the program is only looked at, as one that begins; what there is of it is left alone.

    Raises:
        UnsupportedError: the program has an iteration, and the executor or the mode cannot; or something else that
            BATCH mode cannot.
        InvalidProgramError: an operator is missing, or its code cannot be pickled.
        ConfigurationError: a file that the program ships is not there.
        PenstockError: what an operator's own check refuses, such as a missing input file.
        PlanError: what the planner refuses.
    """
    steps = folder is not None or runs_in_steps(pipeline)
    resumed = begins if folder is None else folder.resumed
    if folder is None and not begins:
        pipeline, resumed = _going_on(pipeline, steps)
    job_id = job_id or uuid.uuid4().hex
    deployment = _deployed(pipeline, job_id, loops=loops, steps=steps, resumed=resumed, times=times)
    return deployment if folder is None else deployment.in_folder(folder.id, folder.place)


def _deployed(pipeline: Pipeline, job_id: str, *, loops: bool, steps: bool, resumed: bool, times: int) -> Deployment:
    """The task descriptors of a program with all that it takes over."""
    job_graph = pipeline.job_graph()
    batch = pipeline.settings.batch
    if batch or not (loops or steps):
        _refuse_iterations(job_graph, batch)
    places = _places(job_graph)
    tables: list[Table] = []
    with configured(pipeline.settings.storage_options):
        outputs = Outputs(steps=steps, resumed=resumed)
        operators = _prepared(pipeline, job_graph, places, outputs, tables)
    edges = BatchEdges(operators, batch=batch, combine=pipeline.settings.combine)
    vertices = tuple(map(Vertices(pipeline, operators, job_graph, places, edges).config, job_graph.vertices))
    sinks = (op.function for op in map(operators.get, pipeline.operators) if isinstance(op, StreamSink))
    archive = ship(pipeline.settings)
    shipped = archive.name if archive else None
    job = JobConfig(pipeline.name, job_id, pipeline.settings, shipped, times=times)
    read, ends = _sources(job_graph, operators), tuple(_ends(vertices, operators))
    locations = tuple(_locations(job_graph, operators))
    own = tuple(sinks), archive, _frames(pipeline, job_graph), tuple(tables), locations
    more: dict[str, Any] = {"sources": read, "steps": steps, "ends": ends, "planned": pipeline.job_graph}
    return Deployment(job, vertices, _levels(vertices), *own, **more)


def _going_on(pipeline: Pipeline, steps: bool) -> tuple[Pipeline, bool]:
    """The program with what it takes over from the state that it goes on with, and whether there is any."""
    settings = pipeline.settings
    with configured(settings.storage_options):
        found = carried(settings) if steps or settings.savepoint else None
    return (pipeline, False) if found is None else (taken_over(pipeline, found, allow=settings.ignore_unclaimed), True)


def _levels(vertices: Iterable[VertexConfig]) -> tuple[tuple[VertexConfig, ...], ...]:
    level = attrgetter("level")
    return tuple(tuple(each) for _, each in groupby(sorted(vertices, key=level), level))


def runs_in_steps(pipeline: Pipeline) -> bool:
    """Whether a program runs in steps: a source of it never ends, or it has a job folder or begins from a savepoint; or
    checkpoints are enabled and a function pushes records, of which nobody knows whether it ends."""
    settings = pipeline.settings
    if pipeline.unbounded or ((settings.job_folder is not None or settings.savepoint) and not settings.batch):
        return True
    if settings.checkpoint_interval is None or settings.batch:
        return False
    sources = (op.function for op in pipeline.operators.values() if isinstance(op, StreamSource))
    return any(not isinstance(function, BatchSource) for function in sources)


def _ends(vertices: Iterable[VertexConfig], operators: Mapping[int, StreamOperator]) -> Iterator[End]:
    """The sinks, by vertex."""
    for vertex in vertices:
        for config in vertex.operators:
            operator = operators[config.node]
            if isinstance(operator, StreamSink):
                yield End(config.operator_id, config.name, vertex.parallelism, operator.function)


def _sources(job_graph: JobGraph, operators: Mapping[int, StreamOperator]) -> dict[int, Any]:
    heads = ((v.index, operators[v.chain[0].node]) for v in job_graph.vertices)
    return {index: operator.function for index, operator in heads if isinstance(operator, StreamSource)}


def _locations(job_graph: JobGraph, operators: dict[int, StreamOperator]) -> Iterator[tuple[str, str]]:
    """Where operators read or write files, sources first as they come first in programs."""
    names = {link.node: link.name for vertex in job_graph.vertices for link in vertex.chain}
    for node, name in sorted(names.items()):
        function = getattr(operators[node], "function", None)
        if isinstance(function, BatchSource | PublishedSink):
            yield from ((name, location) for location in function.locations())


def _refuse_iterations(job_graph: JobGraph, batch: bool) -> None:
    loops = [v.name for v in job_graph.vertices if v.invokable in _ENDS]
    if loops and batch:
        raise UnsupportedError(
            f"The program has an iteration ({loops[0]!r}), iterate(), and BATCH mode reads all input of an operator "
            "before it emits: nothing could go round. Run it in STREAMING mode, or unroll the loop."
        )
    if loops:
        raise UnsupportedError(
            f"The program has an iteration ({loops[0]!r}), iterate(), and a Spark job has no way back. Run it with the "
            "local executor, unroll the loop, or run the steps as several programs."
        )


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


def _frames(pipeline: Pipeline, job_graph: JobGraph) -> dict[int, Any]:
    """The DataFrames that sources read, by index of the vertex."""
    heads = ((v.index, pipeline.operators.get(v.chain[0].node)) for v in job_graph.vertices)
    sources = ((index, op.function) for index, op in heads if isinstance(op, StreamSource))
    return {index: source.frame for index, source in sources if isinstance(source, FrameSource)}


def _prepared(
    pipeline: Pipeline, job_graph: JobGraph, places: list[VertexConfig], outputs: Outputs, tables: list[Table]
) -> dict[int, StreamOperator]:
    """The operators as they travel, by node: each is there and accepts to run like this, and no two sinks write to one
    place."""
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
            stepped = outputs.steps and isinstance(getattr(operator, "function", None), SplitSource)
            operator = operator if stepped else operator.prepare(place.parallelism)
            if isinstance(operator, StreamSink) and isinstance(operator.function, FrameSink):
                operator = _table(operator, link.name, pipeline.types.get(link.node), tables)
            result[link.node] = operator
            if isinstance(operator, StreamSink) and isinstance(operator.function, PublishedSink):
                published.append((operator.function, link.name))
    outputs.add_all(published)
    return result


def _table(operator: StreamSink, name: str, record_type: Any, tables: list[Table]) -> StreamSink:
    """A sink of records as a DataFrame, as it travels: with its number and its schema, without what writes."""
    sink: FrameSink = operator.function
    assert sink.write is not None
    schema = sink.schema or schema_of(record_type)
    assert schema is not None, "the API has looked"
    travelling = replace(sink, write=None, schema=nullable(schema), number=len(tables))
    tables.append(Table(name, travelling, sink.write))
    return replace(operator, function=travelling)
