"""ExecutionGraph, its vertices, subtasks and attempts."""

from collections.abc import Iterator, Sequence
from typing import Final, final

from typing_extensions import CapsuleType

from penstock._stubs.arrow import Columns
from penstock._stubs.job_graph import JobGraph
from penstock._stubs.regions import PartitionRelease, PipelinedRegions, RegionScheduling, RestartedRegions
from penstock.plan.types import ExecutionState

@final
class ExecutionGraph:
    """Every vertex at its parallelism; exchanges are held grouped, edges are made on request (Flink's ExecutionGraph)."""

    @property
    def job_graph(self) -> JobGraph:
        """The JobGraph it was expanded from."""
    @property
    def vertices(self) -> list[ExecutionJobVertex]:
        """Vertices in order of creation, which is topological."""
    @property
    def total_vertices(self) -> int:
        """Number of subtasks."""
    @property
    def total_edges(self) -> int:
        """Number of ExecutionEdges."""
    @property
    def edge_counts(self) -> list[int]:
        """Number of ExecutionEdges per edge of the JobGraph, in the order of its ``edges``. O(job edges) at each access."""
    def execution_edges(self, *, limit_bytes: int = 4294967296) -> Columns:
        """All ExecutionEdges as columns: consumer, subtask, input, producer, result, partition. O(edges), on all cores.

        They come in record batches of a mebi row each. Columns that repeat in an all-to-all exchange are written once and
        shared by its batches, so that the table takes 4 bytes per edge of it instead of 24.

        Args:
            limit_bytes: what a copy of the columns may take, 24 bytes per edge.

        Raises:
            ExecutionGraphError: they would take more than ``limit_bytes``; the message says how many.
        """
    def execution_edge_chunks(self, chunk_size: int = 1048576) -> EdgeChunks:
        """The same columns in tables of up to ``chunk_size`` rows, in bounded memory whatever the number of edges.

        Raises:
            ValueError: ``chunk_size`` is 0.
        """
    def consumed_partition_groups(self) -> Columns:
        """What each subtask reads, as columns: subtasks ``first_subtask`` to ``last_subtask`` of a consumer's input read
        ``first_partition`` to ``last_partition`` of a producer's result (ConsumedPartitionGroup of Flink 1.13 and later).

        Each connection is in exactly one row. One row per all-to-all exchange, one per subtask of the smaller side of a
        pointwise one: O(P + Q).
        """
    def consumer_vertex_groups(self) -> Columns:
        """Who reads each partition, as columns: the rows of :meth:`consumed_partition_groups`, ordered by producer, result,
        consumer and partition (ConsumerVertexGroup of Flink 1.13 and later). O(P + Q).
        """
    def inputs_of(self, vertex: int, subtask: int) -> list[InputPartitions]:
        """Per input of one subtask, the partitions it reads. O(inputs), whatever the parallelism.

        Raises:
            IndexError: there is no such vertex or subtask.
        """
    def consumers_of(self, vertex: int, result: int, partition: int) -> list[ConsumerSubtasks]:
        """Who reads one partition, a range of subtasks per consuming input. O(consuming inputs), whatever the parallelism.

        Raises:
            IndexError: there is no such vertex, result or partition.
        """
    def verify(self) -> list[str]:
        """Broken invariants, a sentence each; empty when all is well. O(V + E)."""
    def vertices_table(self) -> Columns:
        """Vertices as columns."""
    def subtasks_table(self) -> Columns:
        """Subtasks as columns, with their key groups."""
    def result_partitions_table(self) -> Columns:
        """Partitions of all results as columns, with the number of ExecutionEdges that read each
        (IntermediateResultPartition).
        """
    def pipelined_regions(self) -> PipelinedRegions:
        """Subtasks that exchange records while they run, and so are scheduled and restarted together. O(subtasks), found once.

        Raises:
            ExecutionGraphError: co-located subtasks are in different regions (Flink 2.3; in 1.11 they make the whole job one).
        """
    def regions_to_restart(
        self, vertex: int, subtask: int, *, lost: Sequence[tuple[int, int, int, int]] = []
    ) -> RestartedRegions:
        """What runs again when a subtask fails (Flink's RestartPipelinedRegionFailoverStrategy).

        Its region does, so do the regions that wrote what these read and what is lost, and all that read what these write.
        O(subtasks that run again + partition groups they read and write).

        Args:
            vertex: position of the vertex of the failed subtask.
            subtask: the failed subtask, from 0.
            lost: partitions that cannot be read any more, as (producer vertex, result, first, last); among them the one
                that a PartitionException names.

        Raises:
            SpecError: there is no such subtask or partition.
            ExecutionGraphError: as ``pipelined_regions``.
        """
    def partition_release(self) -> PartitionRelease:
        """Begin to keep book of which partitions may be dropped; no subtask has finished. O(subtasks).

        Raises:
            ExecutionGraphError: as ``pipelined_regions``.
        """
    def region_scheduling(self) -> RegionScheduling:
        """Begin to keep book of which regions may be scheduled; nothing has been. O(subtasks + pointwise connections).

        Raises:
            ExecutionGraphError: as ``pipelined_regions``.
        """
    def executions(self, *, history: int = 16) -> Executions:
        """First attempts of all subtasks; ``history`` prior attempts of each are remembered."""
    def sha256_of_edges(self) -> tuple[str, str]:
        """Fingerprints of all ExecutionEdges, by consumer and by producer (record format). O(edges) time, O(1) space."""

@final
class ExecutionJobVertex:
    """A vertex at its parallelism (Flink's ExecutionJobVertex)."""

    @property
    def index(self) -> int:
        """Position among the vertices of the ExecutionGraph."""
    @property
    def job_vertex(self) -> int:
        """Index of the vertex in the JobGraph."""
    @property
    def name(self) -> str:
        """Name of the vertex."""
    @property
    def parallelism(self) -> int:
        """Number of subtasks."""
    @property
    def max_parallelism(self) -> int:
        """Number of key groups, Flink's default where unset."""
    @property
    def max_parallelism_configured(self) -> bool:
        """Whether the program set it."""
    @property
    def subtasks(self) -> list[ExecutionVertex]:
        """Its subtasks. O(parallelism) at each access."""
    def subtask(self, subtask: int) -> ExecutionVertex:
        """One subtask, counted from 0.

        Raises:
            IndexError: there is no such subtask.
        """
    def task_name(self, subtask: int) -> str:
        """``name (2/7)``, the subtask counted from 0.

        Raises:
            IndexError: there is no such subtask.
        """
    def consumers(self, result: int, partition: int) -> list[tuple[int, int, int, int]]:
        """Who reads a partition: (consumer vertex, input, first subtask, last subtask) of each group.

        Raises:
            IndexError: there is no such result or partition.
        """

@final
class ExecutionVertex:
    """One subtask of a vertex (Flink's ExecutionVertex)."""

    @property
    def vertex(self) -> int:
        """Position of its vertex."""
    @property
    def subtask(self) -> int:
        """Index from 0."""
    @property
    def task_name(self) -> str:
        """``name (2/7)``."""
    @property
    def inputs(self) -> list[InputPartitions]:
        """Per input, the partitions it reads."""

@final
class InputPartitions:
    """The partitions, ``first`` to ``last``, that one input of a subtask reads."""

    input: Final[int]
    producer: Final[int]
    result: Final[int]
    first: Final[int]
    last: Final[int]

@final
class ConsumerSubtasks:
    """The subtasks, ``first`` to ``last``, that read one partition through one input of a consumer."""

    consumer: Final[int]
    input: Final[int]
    first: Final[int]
    last: Final[int]

@final
class EdgeChunks:
    """Iterator of bounded tables of ExecutionEdges, made when they are asked for.

    A reader of the Arrow PyCapsule interface gets the same tables as a stream, from the first edge on at each reading.
    """

    def __iter__(self) -> Iterator[Columns]: ...
    def __next__(self) -> Columns: ...
    def __arrow_c_stream__(self, requested_schema: CapsuleType | None = None) -> CapsuleType: ...

@final
class Executions:
    """Attempts at running the subtasks of an ExecutionGraph: current ones and a bounded history (Flink's Execution)."""

    def current(self, vertex: int, subtask: int) -> Execution:
        """The current attempt of a subtask.

        Raises:
            SpecError: there is no such subtask.
        """
    def transition(self, vertex: int, subtask: int, state: ExecutionState) -> Execution:
        """Move the current attempt of a subtask on.

        Raises:
            ExecutionGraphError: the state machine does not allow it.
            SpecError: there is no such subtask or state.
        """
    def reset(self, vertex: int, subtask: int) -> Execution:
        """Start the next attempt of a subtask whose current one has ended.

        Raises:
            ExecutionGraphError: the current attempt is alive.
        """
    def prior(self, vertex: int, subtask: int) -> list[Execution]:
        """Earlier attempts that are still remembered, oldest first."""

@final
class Execution:
    """One attempt at running a subtask; ``id`` is ``<vertex id>_<subtask>_<attempt>``."""

    id: Final[str]
    subtask: Final[int]
    attempt: Final[int]
    state: Final[ExecutionState]
