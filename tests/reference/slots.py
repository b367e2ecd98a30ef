"""Slot sharing groups, co-location groups, and each operator's share of managed memory."""

from __future__ import annotations

from tests.reference import errors
from tests.reference.errors import FlinkError
from tests.reference.java import hash_order, id_order, to_int32
from tests.reference.job_types import Config, JobGraph, JobVertex, Resources, SlotSharingGroup, merge_resources
from tests.reference.profile import Profile
from tests.reference.stream_graph import DEFAULT_SLOT_SHARING_GROUP, StreamGraph

NO_RESOURCES: Resources = {"cpu": 0.0, "heap_mb": 0, "off_heap_mb": 0, "managed_mb": 0}


def assign_slot_sharing(graph: StreamGraph, job: JobGraph) -> None:
    """One group per name; "default" is one group for all, or one per pipelined region; a null name stays without."""
    regions = _regions(job, all_in_one=graph.settings["all_vertices_in_same_slot_sharing_group"])
    named: dict[str, SlotSharingGroup] = {}
    for vertex in job.vertices.values():
        name = vertex.head.node.slot_sharing_group
        if name == DEFAULT_SLOT_SHARING_GROUP:
            vertex.slot_sharing_group = regions[vertex]
        elif name is not None:
            vertex.slot_sharing_group = named.setdefault(name, SlotSharingGroup(name))
    for vertex in job.vertices.values():
        group = vertex.slot_sharing_group
        if group is not None:
            group.members.append(vertex)
            if group not in job.slot_sharing_groups:
                job.slot_sharing_groups.append(group)
    for group in job.slot_sharing_groups:
        group.members.sort(key=lambda vertex: id_order(vertex.id))
        group.resources = NO_RESOURCES
        for vertex in group.members:
            group.resources = merge_resources(group.resources, vertex.min_resources)


def _regions(job: JobGraph, *, all_in_one: bool) -> dict[JobVertex, SlotSharingGroup]:
    """A group per set of vertices that pipelined edges hold together, whatever their direction."""
    vertices = list(job.vertices.values())
    if all_in_one:
        everybody = SlotSharingGroup()
        return dict.fromkeys(vertices, everybody)
    group_of: dict[JobVertex, SlotSharingGroup] = {}
    for start in vertices:
        if start not in group_of:
            group, stack = SlotSharingGroup(), [start]
            while stack:
                vertex = stack.pop()
                if vertex not in group_of:
                    group_of[vertex] = group
                    stack += _pipelined_neighbours(vertex)
    return group_of


def _pipelined_neighbours(vertex: JobVertex) -> list[JobVertex]:
    producers = [edge.data_set.producer for edge in vertex.inputs if edge.data_set.pipelined]
    consumers = [edge.target for data_set in vertex.results if data_set.pipelined for edge in data_set.consumers]
    return producers + consumers


def assign_co_location(job: JobGraph, profile: Profile) -> None:
    """Vertices with one co-location name, in the order of a HashMap of their heads."""
    if profile.checks_groups_first:
        _require_groups(job, profile)
    groups: dict[str, list[JobVertex]] = {}
    for head in hash_order(job.vertices) if profile.hash_ordered else job.vertices:
        vertex = job.vertices[head]
        name = vertex.head.node.co_location_group
        if name is None:
            continue
        if vertex.slot_sharing_group is None:
            raise FlinkError(errors.ILLEGAL_STATE, "a co-location constraint needs a slot sharing group")
        members = groups.setdefault(name, [])
        if members and members[0].slot_sharing_group is not vertex.slot_sharing_group:
            raise FlinkError(errors.ILLEGAL_STATE, "co-located operators are in different slot sharing groups")
        members.append(vertex)
        vertex.co_location_group = members
    for vertex in job.vertices.values():
        group = vertex.co_location_group
        if group is not None and not any(group is known for known in job.co_location_groups):
            job.co_location_groups.append(group)


def _require_groups(job: JobGraph, profile: Profile) -> None:
    if any(vertex.slot_sharing_group is None for vertex in job.vertices.values()):
        raise FlinkError(profile.groupless, "a vertex has no slot sharing group")


def assign_memory_fractions(job: JobGraph, latest: dict[int, Config], profile: Profile) -> None:
    """Each operator's part of its slot sharing group's managed memory."""
    _require_groups(job, profile)
    for group in job.slot_sharing_groups:
        nodes = [latest[node].node for vertex in group.members for node in vertex.node_ids()]
        weight = to_int32(sum(node.managed_memory_weight for node in nodes))
        for vertex in group.members:
            for node_id in vertex.node_ids():
                latest[node_id].managed_memory_fraction = _fraction(latest[node_id], group.resources, weight, profile)
            if latest[vertex.head.node.id] is vertex.head:
                vertex.fractions = {node: config.managed_memory_fraction for node, config in vertex.chained.items()}


def _fraction(config: Config, group: Resources, group_weight: int, profile: Profile) -> float | None:
    if not profile.memory_by_resources and group_weight == 0:
        return None
    if not profile.memory_by_resources:
        weight = config.node.managed_memory_weight
        return _rounded_down(weight, group_weight) if weight > 0 else 0.0
    if group is None:
        return _part(config.node.managed_memory_weight, group_weight)
    assert config.node.min_resources is not None  # a group with resources has none without
    return _part(config.node.min_resources["managed_mb"], group["managed_mb"])


def _part(share: int, total: int) -> float:
    return _rounded_down(share, total) if total > 0 else 0.0


def _rounded_down(dividend: int, divisor: int) -> float:
    """The quotient with 16 decimals, the rest cut off; what wrapped around is no fraction."""
    quotient = abs(dividend) * 10**16 // abs(divisor) / 10**16
    if (quotient and (dividend < 0) != (divisor < 0)) or quotient > 1:
        raise FlinkError(errors.ILLEGAL_ARGUMENT, f"{dividend} of {divisor} is no fraction")
    return quotient
