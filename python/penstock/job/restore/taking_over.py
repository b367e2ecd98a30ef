"""A max parallelism that the program leaves open is that of the state it goes on with: found here, with what is
refused, before the program is deployed.

As in Flink it is a matter of each vertex. Where Flink lets a chain that joins states of different max parallelism fail
in its tasks, it is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.job.folder.manifest import StepManifest
from penstock.job.restore import refusals
from penstock.job.restore.matching import Matching, match

if TYPE_CHECKING:
    from penstock.plan import JobGraph, Pipeline


@dataclass(frozen=True)
class Planned:
    """An operator of a plan, a :class:`~penstock.job.restore.matching.Taker`.

    Attributes:
        operator_id, name, uid, pinned: as there.
        node: of the stream graph.
        vertex: index of its vertex.
        max_parallelism: set for the operator itself; -1: it was not.
    """

    operator_id: str
    name: str
    uid: str | None
    pinned: str | None
    node: int
    vertex: int
    max_parallelism: int


@dataclass(frozen=True)
class Task:
    """A vertex of a plan.

    Attributes:
        name: of the chain.
        parallelism: number of subtasks.
        max_parallelism: number of key groups.
        configured: whether the program says so.
    """

    name: str
    parallelism: int
    max_parallelism: int
    configured: bool


def planned(pipeline: Pipeline, job_graph: JobGraph) -> list[Planned]:
    """The operators of a program. O(operators)."""
    nodes = {node.id: node for node in pipeline.stream_graph.nodes}
    return [
        Planned(
            link.operator_id,
            link.name,
            nodes[link.node].uid,
            link.user_defined_id,
            link.node,
            vertex.index,
            nodes[link.node].max_parallelism,
        )
        for vertex in job_graph.vertices
        for link in vertex.chain
    ]


def taken_over(pipeline: Pipeline, manifest: StepManifest, *, allow: bool = False) -> Pipeline:
    """The program that goes on from a manifest: itself, or with the max parallelism of the state where it has none.

    Args:
        pipeline: the program.
        manifest: of the version to go on from.
        allow: whether state that no operator takes may be left behind.

    Raises:
        InvalidProgramError: it cannot; see :mod:`penstock.job.restore.refusals`.
    """
    job_graph = pipeline.job_graph()
    sizes = {v.job_vertex: v for v in job_graph.execution_graph().vertices}
    tasks = {
        index: Task(job_graph.vertices[index].name, v.parallelism, v.max_parallelism, v.max_parallelism_configured)
        for index, v in sizes.items()
    }
    operators, manifest = planned(pipeline, job_graph), manifest.filled()
    matching = match(manifest, operators)
    check_sizes(manifest, matching, operators, tasks)
    if matching.left and not allow:
        raise refusals.unclaimed(manifest, matching.left)
    wanted = dict(_wanted(manifest, matching, operators, tasks))
    return _with(pipeline, wanted) if wanted else pipeline


def check_sizes(
    manifest: StepManifest, matching: Matching, operators: list[Planned], tasks: Mapping[int, Task]
) -> None:
    """See that no state has another number of key groups than the program says, in the order of the manifest.

    Raises:
        InvalidProgramError: one has.
    """
    by_state = {found.state_id: each for each in operators if (found := matching.taken.get(each.operator_id))}
    for state_id, state in manifest.operators.items():
        operator = by_state.get(state_id)
        if operator is None:
            continue
        task = tasks[operator.vertex]
        said = operator.max_parallelism if operator.max_parallelism > 0 else task.max_parallelism
        if (operator.max_parallelism > 0 or task.configured) and said != state.max_parallelism:
            raise refusals.mismatch(refusals.name_of(manifest, state_id), state.max_parallelism, said)


def _wanted(
    manifest: StepManifest, matching: Matching, operators: list[Planned], tasks: Mapping[int, Task]
) -> Iterator[tuple[int, int]]:
    """The max parallelism of nodes that have none, where it is not what they would get."""
    chains: dict[int, list[Planned]] = {}
    for each in operators:
        chains.setdefault(each.vertex, []).append(each)
    for index, chain in chains.items():
        task = tasks[index]
        taken = [matching.taken[each.operator_id].state_id for each in chain if each.operator_id in matching.taken]
        states = [manifest.operators[state_id] for state_id in taken if state_id in manifest.operators]
        found = [(repr(state.name), state.max_parallelism) for state in states]
        for who, there in found:
            if there < task.parallelism:
                raise refusals.too_few(task.name, who, there, task.parallelism)
        if task.configured or not found:
            continue
        different = {there: who for who, there in reversed(found)}
        if len(different) > 1:
            raise refusals.mixed(task.name, [(who, there) for there, who in different.items()])
        ((_, there), *_) = found
        if there != task.max_parallelism:
            yield from ((each.node, there) for each in chain if each.max_parallelism <= 0)


def _with(pipeline: Pipeline, wanted: Mapping[int, int]) -> Pipeline:
    """The program with another max parallelism of some nodes; nothing else of its plan hangs on it."""
    graph = pipeline.stream_graph
    description = json.loads(graph.to_json())
    for node in description["nodes"]:
        if node["id"] in wanted:
            node["max_parallelism"] = wanted[node["id"]]
    return replace(pipeline, stream_graph=type(graph).from_json(json.dumps(description)))
