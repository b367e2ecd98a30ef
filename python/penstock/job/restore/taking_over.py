"""A program fitted to the state that it restores, before it is deployed: a max parallelism that the program leaves open
becomes that of the state, and state that does not fit is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.job.folder.manifest import StepManifest
from penstock.job.restore import refusals
from penstock.job.restore.matches import match
from penstock.job.restore.sizes import Planned, Task, sizes_of
from penstock.runtime.chain.operator import StreamOperator

if TYPE_CHECKING:
    from penstock.plan import JobGraph, Pipeline


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
            isinstance(operator, StreamOperator) and any(operator.key_of_input(i) is not None for i in range(3)),
        )
        for vertex in job_graph.vertices
        for link in vertex.chain
        for operator in [pipeline.operators.get(link.node)]
    ]


def fit_to_state(pipeline: Pipeline, manifest: StepManifest, *, allow: bool = False) -> Pipeline:
    """The program that resumes from a manifest: itself, or with the max parallelism of the state where it sets none."""
    job_graph = pipeline.job_graph()
    vertices = {v.job_vertex: v for v in job_graph.execution_graph().vertices}
    tasks = {
        index: Task(job_graph.vertices[index].name, v.parallelism, v.max_parallelism, v.max_parallelism_configured)
        for index, v in vertices.items()
    }
    operators, manifest = planned(pipeline, job_graph), manifest.filled()
    matching = match(manifest, operators)
    groups = {state_id: state.max_parallelism for state_id, state in manifest.operators.items()}
    sizes = sizes_of(groups, matching, operators, tasks)
    for mismatch in sizes.mismatches:
        raise refusals.unfit(manifest, mismatch)
    if matching.left and not allow:
        raise refusals.unclaimed(manifest, matching.left)
    for misfit in sizes.misfits:
        raise refusals.unfit(manifest, misfit)
    if not sizes.wanted:
        return pipeline
    graph = pipeline.stream_graph  # nothing else of the plan depends on the max parallelism
    description = json.loads(graph.to_json())
    for node in description["nodes"]:
        node["max_parallelism"] = sizes.wanted.get(node["id"], node["max_parallelism"])
    return replace(pipeline, stream_graph=type(graph).from_json(json.dumps(description)))
