"""Regions, failover and partition release, one execution edge at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

Subtask = tuple[int, int]  # vertex, subtask
Partition = tuple[int, int, int]  # producer vertex, result, partition
Input = tuple[int, int]  # consumer vertex, input
Group = tuple[Input, tuple[Partition, ...]]
Region = frozenset[Subtask]


@dataclass
class Topology:
    """Subtasks in order of creation, and who reads what."""

    subtasks: list[Subtask]
    reads: dict[Subtask, dict[int, list[Partition]]]  # by input
    pipelined: dict[Input, bool]
    all_to_all: dict[Input, bool]
    co_located: list[list[int]] = field(default_factory=list)

    def readers(self, partition: Partition) -> list[Subtask]:
        """Subtasks that read a partition, by any input."""
        return [
            subtask
            for subtask in self.subtasks
            for partitions in self.reads[subtask].values()
            if partition in partitions
        ]

    def sources(self, subtask: Subtask, *, pipelined: bool) -> Iterator[Subtask]:
        """Subtasks that write what a subtask reads by pipelined, or by blocking, inputs."""
        for number, partitions in self.reads[subtask].items():
            if self.pipelined[subtask[0], number] == pipelined:
                for producer, _, partition in partitions:
                    yield producer, partition

    def groups(self, subtask: Subtask) -> Iterator[Group]:
        """The partition groups that a subtask reads by blocking inputs."""
        for number, partitions in self.reads[subtask].items():
            if not self.pipelined[subtask[0], number]:
                yield (subtask[0], number), tuple(partitions)


# --- regions -------------------------------------------------------------------------------------------------------


def regions(topology: Topology, flink: str) -> list[Region]:
    """The pipelined regions by their first subtask."""
    if flink == "1.11":
        result = _one_region(topology) if topology.co_located else _merge_pipelined(topology, topology.subtasks)
    else:
        result = [region for vertices in _logical_regions(topology) for region in _split(topology, vertices)]
        _check_co_location(topology, result)
    position = {subtask: at for at, subtask in enumerate(topology.subtasks)}
    return sorted(result, key=lambda region: min(position[subtask] for subtask in region))


def _one_region(topology: Topology) -> list[Region]:
    return [frozenset(topology.subtasks)]


def _merge_pipelined(topology: Topology, subtasks: Iterable[Subtask]) -> list[Region]:
    """PipelinedRegionComputeUtil: a subtask joins the regions of all that it reads pipelined."""
    region_of: dict[Subtask, set[Subtask]] = {}
    for subtask in subtasks:
        region_of[subtask] = {subtask}
        for producer in topology.sources(subtask, pipelined=True):
            _merge(region_of, subtask, producer)
    return list({id(region): frozenset(region) for region in region_of.values()}.values())


def _merge(region_of: dict[Subtask, set[Subtask]], one: Subtask, other: Subtask) -> None:
    if region_of[one] is not region_of[other]:
        merged = region_of[one] | region_of[other]
        for subtask in merged:
            region_of[subtask] = merged


def _logical_regions(topology: Topology) -> list[set[int]]:
    """Vertices that are connected by pipelined inputs."""
    groups_of: list[set[int]] = [{vertex} for vertex in dict.fromkeys(vertex for vertex, _ in topology.subtasks)]
    for subtask in topology.subtasks:
        for producer, _ in topology.sources(subtask, pipelined=True):
            ends = [region for region in groups_of if producer in region or subtask[0] in region]
            groups_of = [region for region in groups_of if region not in ends] + [set().union(*ends)]
    return groups_of


def _split(topology: Topology, vertices: set[int]) -> list[Region]:
    """DefaultExecutionTopology: one region if it has an all-to-all input inside, else by pointwise edges and cycles."""
    subtasks = [subtask for subtask in topology.subtasks if subtask[0] in vertices]
    for subtask in subtasks:
        for number, partitions in topology.reads[subtask].items():
            if topology.all_to_all[subtask[0], number] and partitions[0][0] in vertices:
                return [frozenset(subtasks)]
    return _merge_cycles(topology, _merge_pipelined(topology, subtasks))


def _merge_cycles(topology: Topology, all_regions: list[Region]) -> list[Region]:
    """Regions that reach each other over blocking edges become one."""
    of = {subtask: at for at, region in enumerate(all_regions) for subtask in region}
    following: list[set[int]] = [set() for _ in all_regions]
    for subtask in of:
        for producer in topology.sources(subtask, pipelined=False):
            if producer in of:
                following[of[producer]].add(of[subtask])
    reached = [_reach(following, at) for at in range(len(all_regions))]
    merged = {
        frozenset().union(*(all_regions[other] for other in reached[at] if at in reached[other]))
        for at in range(len(all_regions))
    }
    return list(merged)


def _reach(following: list[set[int]], start: int) -> set[int]:
    reached, rest = {start}, [start]
    while rest:
        new = following[rest.pop()] - reached
        reached |= new
        rest += new
    return reached


def _check_co_location(topology: Topology, all_regions: list[Region]) -> None:
    of = {subtask: at for at, region in enumerate(all_regions) for subtask in region}
    for group in topology.co_located:
        region_of: dict[int, int] = {}
        for vertex, subtask in of:
            if vertex in group and region_of.setdefault(subtask, of[vertex, subtask]) != of[vertex, subtask]:
                raise ValueError("co-located tasks must be in the same pipelined region")


# --- failover ------------------------------------------------------------------------------------------------------


def regions_to_restart(
    topology: Topology, all_regions: list[Region], failed: Subtask, lost: set[Partition]
) -> set[Region]:
    """RestartPipelinedRegionFailoverStrategy: a queue of regions, producers of what is lost, and all consumers."""
    of = {subtask: region for region in all_regions for subtask in region}
    visited, queue = {of[failed]}, deque([of[failed]])
    while queue:
        region = queue.popleft()
        involved = [
            of[partition[0], partition[2]]
            for subtask in region
            for partitions in topology.reads[subtask].values()
            for partition in partitions
            if partition in lost
        ]
        for subtask in topology.subtasks:
            for pipelined in (True, False):
                involved += [
                    of[subtask] for source in topology.sources(subtask, pipelined=pipelined) if source in region
                ]
        for other in involved:
            if other not in visited:
                visited.add(other)
                queue.append(other)
    return visited


# --- release -------------------------------------------------------------------------------------------------------


class PartitionRelease:
    """RegionPartitionReleaseStrategy and RegionPartitionGroupReleaseStrategy: who has not finished yet, by region."""

    def __init__(self, topology: Topology, all_regions: list[Region], flink: str) -> None:
        self._topology, self._flink = topology, flink
        self._region_of = {subtask: region for region in all_regions for subtask in region}
        self._unfinished = {region: set(region) for region in all_regions}

    def vertex_unfinished(self, subtask: Subtask) -> None:
        self._unfinished[self._region_of[subtask]].add(subtask)

    def vertex_finished(self, subtask: Subtask) -> list[tuple[Input, Partition, bool]]:
        """Per input and partition that may be released, whether no other input reads the partition any more."""
        region = self._region_of[subtask]
        self._unfinished[region].discard(subtask)
        if self._unfinished[region]:
            return []
        groups = {group for reader in region for group in self._topology.groups(reader)}
        return [
            (input_, partition, all(map(self._finished, self._topology.readers(partition))))
            for input_, partitions in groups
            for partition in partitions
            if self._may_release(region, (input_, partitions), partition)
        ]

    def _may_release(self, region: Region, group: Group, partition: Partition) -> bool:
        if self._flink == "1.11":
            inside = (partition[0], partition[2]) in region
            return not inside and all(map(self._finished, self._topology.readers(partition)))
        readers = [subtask for subtask in self._topology.subtasks if group in self._topology.groups(subtask)]
        return all(map(self._finished, readers))

    def _finished(self, subtask: Subtask) -> bool:
        return not self._unfinished[self._region_of[subtask]]


# --- scheduling ----------------------------------------------------------------------------------------------------


class RegionScheduling:
    """PipelinedRegionSchedulingStrategy: each region not yet scheduled is asked whether all its inputs are there."""

    def __init__(self, topology: Topology, all_regions: list[Region], flink: str) -> None:
        self._topology, self._regions, self._whole_results = topology, all_regions, flink == "1.11"
        self._finished: set[Subtask] = set()
        self._scheduled: set[Region] = set()

    def start(self) -> list[int]:
        return self._schedule(self._regions)

    def vertex_finished(self, subtask: Subtask) -> list[int]:
        """The regions that a finished subtask sets free."""
        self._finished.add(subtask)
        return self._schedule(self._regions)

    def restart(self, numbers: Iterable[int]) -> list[int]:
        """Regions run again; those of them that wait for nothing."""
        again = [self._regions[number] for number in numbers]
        self._scheduled.difference_update(again)
        self._finished.difference_update(subtask for region in again for subtask in region)
        return self._schedule(again)

    def _schedule(self, candidates: list[Region]) -> list[int]:
        ready = [region for region in candidates if region not in self._scheduled and self._is_ready(region)]
        self._scheduled.update(ready)
        return sorted({self._regions.index(region) for region in ready})

    def _is_ready(self, region: Region) -> bool:
        outside = {
            partition
            for subtask in region
            for _, partitions in self._topology.groups(subtask)
            for partition in partitions
            if (partition[0], partition[2]) not in region
        }
        if self._whole_results:
            writers = {vertex for vertex, _, _ in outside}
            return all(subtask in self._finished for subtask in self._topology.subtasks if subtask[0] in writers)
        return all((vertex, subtask) in self._finished for vertex, _, subtask in outside)
