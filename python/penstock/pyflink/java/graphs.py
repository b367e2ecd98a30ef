"""Flink's StreamGraph by Java's methods: a view of :class:`penstock.plan.StreamGraph`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from penstock.datastream.slot_sharing_group import MemorySize, SlotSharingGroup
from penstock.pyflink.java.objects import JavaList, JavaObject, JavaOptional

if TYPE_CHECKING:
    from penstock.plan import StreamEdge, StreamGraph, StreamNode


class JavaStreamEdge(JavaObject):
    """An edge.

    Args:
        graph: it belongs to.
        edge: the edge.
    """

    java_class = "org.apache.flink.streaming.api.graph.StreamEdge"

    def __init__(self, graph: JavaStreamGraph, edge: StreamEdge) -> None:
        self.graph, self.edge = graph, edge

    def getSourceId(self) -> int:
        """The node that it leaves."""
        return self.edge.source

    def getTargetId(self) -> int:
        """The node that it enters."""
        return self.edge.target

    def getPartitioner(self) -> str:
        """How records are dealt out."""
        return str(self.edge.partitioner)


class JavaStreamNode(JavaObject):
    """A node.

    Args:
        graph: it belongs to.
        node: the node.
    """

    java_class = "org.apache.flink.streaming.api.graph.StreamNode"

    def __init__(self, graph: JavaStreamGraph, node: StreamNode) -> None:
        self.graph, self.node = graph, node

    def getId(self) -> int:
        """Its number in the program."""
        return self.node.id

    def getOperatorName(self) -> str:
        """Its name as the program gave it: without ``Source: `` and ``Sink: ``."""
        name = self.node.name
        prefix = {"source": "Source: ", "sink": "Sink: "}.get(str(self.node.kind), "")
        return name.removeprefix(prefix)

    def getOperatorDescription(self) -> str:
        """Its name in plans."""
        return self.node.name

    def getSlotSharingGroup(self) -> str | None:
        """The name of its slot sharing group."""
        return self.node.slot_sharing_group

    def getParallelism(self) -> int:
        """How many subtasks it has."""
        return self.node.parallelism

    def getMaxParallelism(self) -> int:
        """How many key groups it has, -1 where nothing is said."""
        return self.node.max_parallelism

    def getTransformationUID(self) -> str | None:
        """Its uid."""
        return self.node.uid

    def getUserHash(self) -> str | None:
        """The operator ID that was given for it."""
        return self.node.user_hash

    def getBufferTimeout(self) -> int:
        """Its buffer timeout in milliseconds."""
        return self.node.buffer_timeout

    def getInEdges(self) -> JavaList[JavaStreamEdge]:
        """The edges that enter it."""
        return self.graph.edges(self.node.in_edges)

    def getOutEdges(self) -> JavaList[JavaStreamEdge]:
        """The edges that leave it."""
        return self.graph.edges(self.node.out_edges)


class JavaNumber(JavaObject):
    """A number in an object.

    Args:
        value: the number.
    """

    def __init__(self, value: float) -> None:
        self._value = value

    def getValue(self) -> float:
        """The number."""
        return self._value


class JavaResourceProfile(JavaObject):
    """What a slot needs.

    Args:
        group: that says so.
    """

    java_class = "org.apache.flink.runtime.clusterframework.types.ResourceProfile"

    def __init__(self, group: SlotSharingGroup) -> None:
        self._group = group

    def getCpuCores(self) -> JavaNumber:
        """How many cores."""
        return JavaNumber(self._group.cpu_cores or 0.0)

    def getTaskHeapMemory(self) -> MemorySize:
        """How much memory for user code."""
        return self._group.task_heap_memory or MemorySize(0)

    def getTaskOffHeapMemory(self) -> MemorySize:
        """How much memory outside of the heap."""
        return self._group.task_off_heap_memory or MemorySize(0)

    def getManagedMemory(self) -> MemorySize:
        """How much memory for state and sorting."""
        return self._group.managed_memory or MemorySize(0)


class JavaStreamGraph(JavaObject):
    """The stream graph of a program.

    Args:
        graph: the graph.
        groups: slot sharing groups that were registered, by name.
    """

    java_class = "org.apache.flink.streaming.api.graph.StreamGraph"

    def __init__(self, graph: StreamGraph, groups: Mapping[str, SlotSharingGroup]) -> None:
        self.graph, self._groups = graph, groups
        self._edges = graph.edges
        self._chained: list[bool] | None = None

    def edges(self, indices: list[int]) -> JavaList[JavaStreamEdge]:
        """Edges by their places."""
        return JavaList(JavaStreamEdge(self, self._edges[index]) for index in indices)

    def chained(self, edge: JavaStreamEdge) -> bool:
        """Whether the ends of an edge share a task."""
        if self._chained is None:
            self._chained = [verdict.chained for verdict in self.graph.verdicts()]
        return self._chained[edge.edge.index]

    def getStreamNodes(self) -> JavaList[JavaStreamNode]:
        """All nodes."""
        return JavaList(JavaStreamNode(self, node) for node in self.graph.nodes)

    def getJobName(self) -> str:
        """The job's name."""
        return self.graph.job_name

    def getStreamingPlanAsJSON(self) -> str:
        """The plan as JSON text."""
        return self.graph.streaming_plan_json()

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
