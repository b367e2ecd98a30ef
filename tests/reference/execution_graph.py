"""JobGraph -> ExecutionGraph: every subtask edge, one by one."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.reference import errors
from tests.reference.errors import FlinkError
from tests.reference.job_graph import topological_order
from tests.reference.job_types import JobGraph, JobVertex
from tests.reference.profile import Profile
from tests.reference.regions import Topology, regions

UPPER_BOUND = 32768
AUTO_MAX = 2**31 - 1
UNSET = -1


@dataclass(eq=False)
class ExecutionVertex:
    index: int
    job_vertex: JobVertex
    parallelism: int
    max_parallelism: int
    inputs: list[list[list[int]]] = field(default_factory=list)
    results: list[list[list[tuple[int, int, int]]]] = field(default_factory=list)


def build(job: JobGraph, profile: Profile) -> list[ExecutionVertex]:
    if profile.looks_ahead:
        for job_vertex in job.vertices.values():
            max_parallelism(job_vertex.max_parallelism, max(job_vertex.parallelism, 1))
    by_vertex: dict[JobVertex, ExecutionVertex] = {}
    for job_vertex in topological_order(job):
        vertex = _vertex(len(by_vertex), job_vertex)
        by_vertex[job_vertex] = vertex
        for number, edge in enumerate(job_vertex.inputs):
            producer = by_vertex[edge.data_set.producer]
            data_set = edge.data_set.producer.results.index(edge.data_set)
            partitions = _partitions(edge.distribution, producer.parallelism, vertex.parallelism, profile)
            vertex.inputs.append(partitions)
            for subtask, sources in enumerate(partitions):
                for partition in sources:
                    producer.results[data_set][partition].append((vertex.index, number, subtask))
    if profile.looks_ahead and job.co_location_groups:
        _check_regions(job, by_vertex)
    return list(by_vertex.values())


def _check_regions(job: JobGraph, by_vertex: dict[JobVertex, ExecutionVertex]) -> None:
    topology = Topology(
        subtasks=[(vertex.index, subtask) for vertex in by_vertex.values() for subtask in range(vertex.parallelism)],
        reads={
            (vertex.index, subtask): {
                number: [
                    (
                        by_vertex[edge.data_set.producer].index,
                        edge.data_set.producer.results.index(edge.data_set),
                        partition,
                    )
                    for partition in vertex.inputs[number][subtask]
                ]
                for number, edge in enumerate(vertex.job_vertex.inputs)
            }
            for vertex in by_vertex.values()
            for subtask in range(vertex.parallelism)
        },
        pipelined={
            (vertex.index, number): edge.data_set.pipelined
            for vertex in by_vertex.values()
            for number, edge in enumerate(vertex.job_vertex.inputs)
        },
        all_to_all={
            (vertex.index, number): edge.distribution == "ALL_TO_ALL"
            for vertex in by_vertex.values()
            for number, edge in enumerate(vertex.job_vertex.inputs)
        },
        co_located=[[by_vertex[member].index for member in group] for group in job.co_location_groups],
    )
    try:
        regions(topology, "2.3")
    except ValueError as error:
        raise FlinkError(errors.ILLEGAL_STATE, str(error)) from error


def _vertex(index: int, job_vertex: JobVertex) -> ExecutionVertex:
    parallelism = max(job_vertex.parallelism, 1)
    limit = max_parallelism(job_vertex.max_parallelism, parallelism)
    if parallelism > limit:
        raise FlinkError(errors.JOB, f"{job_vertex.name}: parallelism {parallelism} is higher than {limit}")
    results = [[[] for _ in range(parallelism)] for _ in job_vertex.results]
    return ExecutionVertex(index, job_vertex, parallelism, limit, results=results)


def max_parallelism(configured: int, parallelism: int) -> int:
    if configured == UNSET:
        if parallelism > UPPER_BOUND:
            raise FlinkError(errors.ILLEGAL_ARGUMENT, f"parallelism {parallelism} is out of bounds")
        power = 1
        while power < parallelism + parallelism // 2:
            power *= 2
        return min(max(power, 128), UPPER_BOUND)
    if configured == AUTO_MAX:
        return UPPER_BOUND
    if not 0 < configured <= UPPER_BOUND:
        raise FlinkError(errors.ILLEGAL_ARGUMENT, f"max parallelism {configured} is out of bounds")
    return configured


def _partitions(distribution: str, producers: int, consumers: int, profile: Profile) -> list[list[int]]:
    """Per consumer subtask the partitions it reads, in order."""
    if distribution == "ALL_TO_ALL":
        return [list(range(producers))] * consumers
    share = pointwise if profile.counts_in_floats else exact_pointwise
    return [share(producers, consumers, subtask) for subtask in range(consumers)]


def pointwise(producers: int, consumers: int, subtask: int) -> list[int]:
    """The partitions that one consumer subtask reads; uneven numbers are divided in 32-bit floats."""
    if producers == consumers:
        return [subtask]
    if producers < consumers:
        if consumers % producers == 0:
            return [subtask // (consumers // producers)]
        return [int(float32(subtask / float32(consumers / producers)))]
    if producers % consumers == 0:
        block = producers // consumers
        return list(range(subtask * block, (subtask + 1) * block))
    factor = float32(producers / consumers)
    first = int(float32(subtask * factor))
    last = producers if subtask == consumers - 1 else int(float32((subtask + 1) * factor))
    return list(range(first, last))


def exact_pointwise(producers: int, consumers: int, subtask: int) -> list[int]:
    if producers < consumers:
        first = [-(-partition * consumers // producers) for partition in range(producers + 1)]
        return [partition for partition in range(producers) if first[partition] <= subtask < first[partition + 1]]
    return list(range(subtask * producers // consumers, (subtask + 1) * producers // consumers))


def float32(value: float) -> float:
    """The nearest 32-bit float. One operation in doubles, rounded once more, is the 32-bit operation."""
    return struct.unpack("<f", struct.pack("<f", value))[0]


def groups(partitions: list[list[int]]) -> list[tuple[list[int], list[int]]]:
    """Of one input: partitions that are read together, with the subtasks that read them, by first subtask."""
    result: list[tuple[list[int], list[int]]] = []
    for subtask, sources in enumerate(partitions):
        if result and result[-1][0] == sources:
            result[-1][1].append(subtask)
        else:
            result.append((sources, [subtask]))
    return result


def edges_by_input(graph: list[ExecutionVertex]) -> Iterator[tuple[int, int, int, int, int, int]]:
    """(consumer, subtask, input, producer, result, partition), by consumer, subtask, input."""
    index_of = {vertex.job_vertex: vertex.index for vertex in graph}
    for vertex in graph:
        sources = [
            (index_of[edge.data_set.producer], edge.data_set.producer.results.index(edge.data_set))
            for edge in vertex.job_vertex.inputs
        ]
        for subtask in range(vertex.parallelism):
            for number, partitions in enumerate(vertex.inputs):
                for partition in partitions[subtask]:
                    yield (vertex.index, subtask, number, *sources[number], partition)


def edges_by_result(graph: list[ExecutionVertex]) -> Iterator[tuple[int, int, int, int, int, int]]:
    """(producer, result, partition, consumer, input, subtask), by producer, result, partition."""
    for vertex in graph:
        for number, partitions in enumerate(vertex.results):
            for partition, consumers in enumerate(partitions):
                for consumer in consumers:
                    yield (vertex.index, number, partition, *consumer)


def checksum(edges: Iterator[tuple[int, int, int, int, int, int]]) -> str:
    """SHA-256 over six little-endian 32-bit ints per edge."""
    digest = hashlib.sha256()
    for edge in edges:
        digest.update(struct.pack("<6i", *edge))
    return digest.hexdigest()
