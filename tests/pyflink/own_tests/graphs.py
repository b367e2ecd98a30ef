"""Edges, chains and resources of Flink's StreamGraph by Java's methods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from penstock.common.java.java_objects import JavaObject
from penstock.datastream.slot_sharing_group import MemorySize, SlotSharingGroup
from penstock.pyflink.java import environment
from penstock.pyflink.java.collections import JavaList
from tests.pyflink.own_tests.classes import JavaOptional

if TYPE_CHECKING:
    from penstock.plan import StreamEdge, StreamGraph, StreamNode


class JavaStreamEdge(JavaObject):
    java_class = "org.apache.flink.streaming.api.graph.StreamEdge"

    def __init__(self, graph: JavaStreamGraph, edge: StreamEdge) -> None:
        self.graph, self.edge = graph, edge

    def getSourceId(self) -> int:
        return self.edge.source

    def getTargetId(self) -> int:
        return self.edge.target

    def getPartitioner(self) -> str:
        return str(self.edge.partitioner)


class JavaStreamNode(environment.JavaStreamNode):
    def __init__(self, graph: JavaStreamGraph, node: StreamNode) -> None:
        super().__init__(node)
        self.graph = graph

    def getInEdges(self) -> JavaList[JavaStreamEdge]:
        return self.graph.edges(self.node.in_edges)

    def getOutEdges(self) -> JavaList[JavaStreamEdge]:
        return self.graph.edges(self.node.out_edges)


class JavaNumber(JavaObject):
    def __init__(self, value: float) -> None:
        self._value = value

    def getValue(self) -> float:
        return self._value


class JavaResourceProfile(JavaObject):
    java_class = "org.apache.flink.runtime.clusterframework.types.ResourceProfile"

    def __init__(self, group: SlotSharingGroup) -> None:
        self._group = group

    def getCpuCores(self) -> JavaNumber:
        return JavaNumber(self._group.cpu_cores or 0.0)

    def getTaskHeapMemory(self) -> MemorySize:
        return self._group.task_heap_memory or MemorySize(0)

    def getTaskOffHeapMemory(self) -> MemorySize:
        """How much memory outside of the heap."""
        return self._group.task_off_heap_memory or MemorySize(0)

    def getManagedMemory(self) -> MemorySize:
        """How much memory for state and sorting."""
        return self._group.managed_memory or MemorySize(0)


class JavaStreamGraph(environment.JavaStreamGraph):
    def __init__(self, graph: StreamGraph, groups: Mapping[str, SlotSharingGroup]) -> None:
        super().__init__(graph)
        self._groups = groups
        self._edges = graph.edges
        self._chained: list[bool] | None = None

    def edges(self, indices: list[int]) -> JavaList[JavaStreamEdge]:
        return JavaList(JavaStreamEdge(self, self._edges[index]) for index in indices)

    def chained(self, edge: JavaStreamEdge) -> bool:
        """Whether the ends of an edge share a task."""
        if self._chained is None:
            self._chained = [verdict.chained for verdict in self.graph.verdicts()]
        return self._chained[edge.edge.index]

    def getStreamNodes(self) -> JavaList[JavaStreamNode]:
        return JavaList(JavaStreamNode(self, node) for node in self.graph.nodes)

    def getSlotSharingGroupResource(self, name: str) -> JavaOptional[JavaResourceProfile]:
        """What the slots of a group need, if anything is said of it."""
        group = self._groups.get(name)
        return JavaOptional(JavaResourceProfile(group) if group is not None and group.needs else None)


class StreamingJobGraphGenerator:
    """Flink's class of this name, as far as it answers questions."""

    @staticmethod
    def isChainable(edge: JavaStreamEdge, graph: JavaStreamGraph) -> bool:
        """Whether the ends of an edge share a task."""
        return graph.chained(edge)
