"""JobGraph, its vertices and their parts."""

from typing import Final, final

from penstock._stubs.arrow import Columns
from penstock._stubs.execution_graph import ExecutionGraph
from penstock._stubs.stream_graph import StreamGraph
from penstock.plan.types import (
    Checkpointing,
    Distribution,
    FlinkVersion,
    Partitioner,
    Resources,
    ResultType,
    ScheduleMode,
)

@final
class JobGraph:
    """Chains as vertices and the data sets between them; immutable (Flink's JobGraph)."""

    @property
    def name(self) -> str:
        """Name of the job."""
    @property
    def flink(self) -> FlinkVersion:
        """The Flink version it equals."""
    @property
    def schedule_mode(self) -> ScheduleMode:
        """When vertices are scheduled; Flink 2.3 has no such choice."""
    @property
    def maximum_parallelism(self) -> int:
        """The largest parallelism of any vertex; -1 when there is none."""
    @property
    def stream_graph(self) -> StreamGraph:
        """The program it was compiled from."""
    @property
    def vertices(self) -> list[JobVertex]:
        """Vertices in order of creation (getVertices). O(V) at each access."""
    @property
    def edges(self) -> list[JobEdge]:
        """Job edges in the order in which they were connected. O(E) at each access."""
    @property
    def data_sets(self) -> list[IntermediateDataSet]:
        """Data sets in order of creation. O(E) at each access."""
    @property
    def topological_order(self) -> list[int]:
        """Vertex indices as getVerticesSortedTopologicallyFromSources returns them."""
    @property
    def slot_sharing_groups(self) -> list[tuple[list[int], Resources | None]]:
        """Per group its vertices, ordered as Flink's TreeSet, and their summed resources (``None``: UNKNOWN)."""
    @property
    def co_location_groups(self) -> list[list[int]]:
        """Per group its vertices, in the order in which Flink adds them."""
    @property
    def checkpointing(self) -> Checkpointing:
        """``enabled``, ``mode``, ``interval`` in ms (2**63 - 1: off), and the vertices that trigger, acknowledge, confirm."""
    @property
    def savepoint_restore(self) -> tuple[str, bool] | None:
        """Path of the savepoint to restore, and whether state may be left out."""
    @property
    def artifacts(self) -> dict[str, str]:
        """Files shipped with the job, path by name."""
    def buffer_timeouts(self) -> list[int]:
        """Buffer timeout of each stream edge after compilation, milliseconds."""
    def json_plan(self) -> str:
        """What Flink's JsonPlanGenerator writes, byte for byte, with a JobID of zeros.

        Raises:
            JobGraphError: Flink 2.3's description of a chain, which indents each operator, would take over 1 GiB.
        """
    def verify(self) -> list[str]:
        """Broken invariants, a sentence each; empty when all is well. O(V + E)."""
    def execution_graph(self) -> ExecutionGraph:
        """Expand to subtasks (ExecutionGraph.attachJobGraph). O(V + E) whatever the parallelism.

        Raises:
            ExecutionGraphError: parallelism or maximum parallelism out of bounds.
        """
    def operators_table(self) -> Columns:
        """Operators as columns: node, OperatorID, vertex, chain index, names."""
    def vertices_table(self) -> Columns:
        """Vertices as columns."""
    def edges_table(self) -> Columns:
        """Job edges as columns."""
    def datasets_table(self) -> Columns:
        """Data sets as columns: producer vertex, its result, type, number of job edges that consume it."""

@final
class JobVertex:
    """A chain of operators that runs as one task (Flink's JobVertex)."""

    @property
    def index(self) -> int:
        """Position among the vertices."""
    @property
    def id(self) -> str:
        """JobVertexID: the OperatorID of the head."""
    @property
    def name(self) -> str:
        """Chained name, ``A -> (B, C -> D)``."""
    @property
    def parallelism(self) -> int:
        """Number of subtasks; -1 when unset."""
    @property
    def max_parallelism(self) -> int:
        """Number of key groups; -1 when unset."""
    @property
    def invokable(self) -> str:
        """Simple name of the task class."""
    @property
    def head(self) -> int:
        """Node id of the first operator."""
    @property
    def operator_ids(self) -> list[tuple[str, str | None]]:
        """Pairs of generated and alternative OperatorID, in order of creation, the head last."""
    @property
    def operator_nodes(self) -> list[int]:
        """Node ids of the operators, in order of creation, the head last."""
    @property
    def slot_sharing_group(self) -> int:
        """Number of the slot sharing group."""
    @property
    def co_location_group(self) -> int | None:
        """Number of the co-location group."""
    @property
    def min_resources(self) -> Resources | None:
        """Summed minimum resources (CPU shares, heap, off-heap, managed MiB); ``None`` is UNKNOWN."""
    @property
    def preferred_resources(self) -> Resources | None:
        """Summed preferred resources; ``None`` is UNKNOWN."""
    @property
    def inputs(self) -> list[JobEdge]:
        """Job edges it reads, in order."""
    @property
    def results(self) -> list[IntermediateDataSet]:
        """Data sets it produces, in order."""
    @property
    def in_edges(self) -> list[int]:
        """Stream edges it reads, in physical order."""
    @property
    def out_edges(self) -> list[int]:
        """Stream edges it writes, in order."""
    @property
    def chain(self) -> list[ChainedOperator]:
        """Its operators from the head down the chained outputs. O(operators) at each access."""
    @property
    def input_formats(self) -> list[tuple[str, str]]:
        """Input formats of its operators by OperatorID."""
    @property
    def output_formats(self) -> list[tuple[str, str]]:
        """Output formats of its operators by OperatorID."""
    @property
    def operator_coordinators(self) -> list[tuple[str, str]]:
        """Coordinators of its operators by OperatorID."""

@final
class ChainedOperator:
    """An operator inside a vertex, with what an executor needs of it (Flink's StreamConfig).

    Outputs are stream edges: chained ones stay in the vertex, the others leave it.
    """

    node: Final[int]
    operator_id: Final[str]
    user_defined_id: Final[str | None]
    name: Final[str]
    uid: Final[str | None]
    chain_index: Final[int]
    chain_start: Final[bool]
    chain_end: Final[bool]
    managed_memory_fraction: Final[float | None]
    chained_outputs: Final[list[int]]
    non_chained_outputs: Final[list[int]]
    number_of_outputs: Final[int]

@final
class JobEdge:
    """A data set and the vertex that reads it: ``source``'s result number ``result`` is ``target``'s input ``input``."""

    source: Final[int]
    result: Final[int]
    target: Final[int]
    input: Final[int]
    distribution: Final[Distribution]
    result_type: Final[ResultType]
    ship_strategy: Final[Partitioner]
    stream_edge: Final[int]

@final
class IntermediateDataSet:
    """What a vertex produces; consumers are pairs of vertex and input. It has an ``id`` where Flink derives one (2.3)."""

    index: Final[int]
    id: Final[str | None]
    producer: Final[int]
    result: Final[int]
    result_type: Final[ResultType]
    consumers: Final[list[tuple[int, int]]]
