"""The native module: the planner, whose names to import are those of ``penstock.plan``, and functions of the runtime."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Protocol, final

from typing_extensions import CapsuleType

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: object | None = None) -> object: ...

_Table = _ArrowStream | _ArrowArray | Mapping[str, Any]

def plan_record(spec: str, flink: str = "1.11") -> str:
    """Plan one described graph and report everything that was decided. O(nodes + edges + execution edges).

    Args:
        spec: a graph as JSON (the format of ``StreamGraph.from_json``).
        flink: the Flink version to equal; one of ``PROFILES``.

    Returns:
        One line of JSON with the stages ``stream_graph``, ``hashes``, ``streaming_plan``, ``job_graph`` and
        ``execution_graph``; a stage that fails is ``{"error": {"class": Flink's exception class, "message": ours}}``.

    Raises:
        UnsupportedError: another Flink version.
    """

def operator_id(uid: str) -> str:
    """The OperatorID of an operator with this uid: 32 hex digits of murmur3_128 over its UTF-8 bytes."""

def layered_dag(
    operators: int, *, width: int = 100, inputs: int = 2, parallelism: int = 4, seed: int = 0
) -> StreamGraph:
    """Layers of ``width`` operators; each reads the one above it without partitioner, and drawn ones of that layer by HASH.

    Args:
        operators: how many there are, from 1; the first layer are sources, the last may be shorter.
        width: operators of a layer, from 1.
        inputs: edges into each operator, 1 to 65,535; with 2 it is a two-input operator.
        parallelism: of every operator, 1 to 32,768.
        seed: of what is drawn, 0 to 2**64 - 1.

    Raises:
        SpecError: an argument out of bounds.
    """

def forward_chain(operators: int, *, parallelism: int = 4, seed: int = 0) -> StreamGraph:
    """A source and operators behind it, one after the other: a single chain.

    Args:
        operators: how many there are, from 1.
        parallelism: of every operator, 1 to 32,768.
        seed: accepted by every shape; nothing is drawn in this one.

    Raises:
        SpecError: an argument out of bounds.
    """

def keyed_pipelines(operators: int, *, parallelism: int = 4, seed: int = 0) -> StreamGraph:
    """Pipelines of a source and a map, then behind a HASH edge an aggregation, a filter and a sink: two vertices each.

    Args:
        operators: how many there are, from 1; the last pipeline may be shorter than five.
        parallelism: of every operator, 1 to 32,768.
        seed: accepted by every shape; nothing is drawn in this one.

    Raises:
        SpecError: an argument out of bounds.
    """

def fan_in(operators: int, *, parallelism: int = 4, seed: int = 0) -> StreamGraph:
    """Sources that one sink reads, each through a partitioner drawn from those that never chain.

    Args:
        operators: how many there are, from 1.
        parallelism: of every operator, 1 to 32,768.
        seed: of what is drawn, 0 to 2**64 - 1.

    Raises:
        SpecError: an argument out of bounds.
    """

def fan_out(operators: int, *, parallelism: int = 4, seed: int = 0) -> StreamGraph:
    """A source that sinks read, each through a partitioner drawn from those that never chain.

    Args:
        operators: how many there are, from 1.
        parallelism: of every operator, 1 to 32,768.
        seed: of what is drawn, 0 to 2**64 - 1.

    Raises:
        SpecError: an argument out of bounds.
    """

def uid_table(operators: int, *, parallelism: int = 4, seed: int = 0) -> StreamGraph:
    """A source and sinks behind REBALANCE edges, each with the uid ``uid-`` and its id.

    Args:
        operators: how many there are, from 1.
        parallelism: of every operator, 1 to 32,768.
        seed: accepted by every shape; nothing is drawn in this one.

    Raises:
        SpecError: an argument out of bounds.
    """

def diamonds(operators: int, *, yielding: bool = False, parallelism: int = 4, seed: int = 0) -> StreamGraph:
    """A source and diamonds one after the other: an operator, two branches and a join, which the next diamond reads.

    Args:
        operators: how many there are, from 1; the last diamond may be incomplete.
        yielding: whether operators and branches (not joins) yield to the mailbox; Flink's time doubles with each.
        parallelism: of every operator, 1 to 32,768.
        seed: accepted by every shape; nothing is drawn in this one.

    Raises:
        SpecError: an argument out of bounds.
    """

def yielding_chain(operators: int, *, parallelism: int = 4, seed: int = 0) -> StreamGraph:
    """A source and, behind a REBALANCE edge, yielding operators one after the other.

    Args:
        operators: how many there are, from 1.
        parallelism: of every operator, 1 to 32,768.
        seed: accepted by every shape; nothing is drawn in this one.

    Raises:
        SpecError: an argument out of bounds.
    """

def all_to_all(parallelism: int, *, seed: int = 0) -> StreamGraph:
    """A source and a keyed aggregation: ``parallelism`` squared execution edges.

    Args:
        parallelism: of both operators, 1 to 32,768.
        seed: accepted by every shape; nothing is drawn in this one.

    Raises:
        SpecError: an argument out of bounds.
    """

def scheduler_benchmark(parallelism: int = 4000, *, blocking: bool = False, seed: int = 0) -> StreamGraph:
    """The graph of Flink's scheduler benchmarks (SchedulerBenchmarkBase): a source, a sink, an all-to-all exchange between.

    Args:
        parallelism: of both operators, 1 to 32,768.
        blocking: whether the exchange is BATCH, as in the batch benchmarks, instead of PIPELINED (streaming).
        seed: accepted by every shape; nothing is drawn in this one.

    Raises:
        SpecError: an argument out of bounds.
    """

@final
class Columns:
    """A table of named columns; pyarrow, polars, pandas and DuckDB read it through the Arrow PyCapsule interface, Spark as
    ``spark.createDataFrame(pyarrow.table(columns))``.

    It is a stream of record batches of bounded size. Those of a large table are made while they are read, each time anew;
    those of ``execution_edges()`` exist and are handed on without a copy.
    """

    @property
    def num_rows(self) -> int:
        """Number of rows."""
    @property
    def column_names(self) -> list[str]:
        """Names of the columns, in order."""
    @property
    def nbytes(self) -> int:
        """Bytes of memory behind the columns; what batches share counts once. Makes all batches, O(rows)."""
    def __len__(self) -> int: ...
    def __arrow_c_schema__(self) -> CapsuleType: ...
    def __arrow_c_array__(self, requested_schema: CapsuleType | None = None) -> tuple[CapsuleType, CapsuleType]: ...
    def __arrow_c_stream__(self, requested_schema: CapsuleType | None = None) -> CapsuleType: ...

@final
class StreamGraphBuilder:
    """Puts a StreamGraph together, node by node, as Flink's StreamGraph is filled; ``build`` consumes it.

    Settings are those of a program: ``exchange_mode`` is Flink's GlobalDataExchangeMode, ``schedule_mode`` its
    ScheduleMode, intervals are milliseconds.
    """

    def __new__(
        cls,
        *,
        name: str = "",
        job_name: str = "job",
        chaining_enabled: bool = True,
        exchange_mode: str = "ALL_EDGES_PIPELINED",
        schedule_mode: str = "EAGER",
        checkpointing_enabled: bool = False,
        checkpoint_interval: int = 1000,
        checkpointing_mode: str = "EXACTLY_ONCE",
        force_checkpointing: bool = False,
        all_vertices_in_same_slot_sharing_group: bool = True,
    ) -> StreamGraphBuilder: ...
    def add_node(
        self,
        id: int,
        name: str,
        kind: str,
        *,
        uid: str | None = None,
        user_hash: str | None = None,
        slot_sharing_group: str | None = "default",
        co_location_group: str | None = None,
        parallelism: int = -1,
        max_parallelism: int = -1,
        chaining_strategy: str = "ALWAYS",
        yielding: bool = False,
        managed_memory_weight: int | None = None,
        buffer_timeout: int = -1,
        min_resources: tuple[float, int, int, int] | None = None,
        preferred_resources: tuple[float, int, int, int] | None = None,
        task: str | None = None,
        input_format: str | None = None,
        output_format: str | None = None,
        coordinator: str | None = None,
    ) -> None:
        """Add an operator.

        Args:
            id: its number in the program, 32 bits, any sign.
            name: its final name, prefixes such as ``"Source: "`` included.
            kind: ``source``, ``operator``, ``two_input`` or ``sink``.
            uid: identity that is hashed to the OperatorID.
            user_hash: an OperatorID taken as it is, 32 hex digits.
            slot_sharing_group: ``None`` is Flink's null.
            co_location_group: key of a co-location constraint.
            parallelism: number of subtasks; 0 or less is unset.
            max_parallelism: number of key groups; -1 is unset.
            chaining_strategy: ``ALWAYS``, ``NEVER`` or ``HEAD``.
            yielding: whether its factory yields to the mailbox (async operators, file readers).
            managed_memory_weight: share of managed memory; ``None`` is 1 in Flink 1.11, and none in 2.3.
            buffer_timeout: milliseconds; -1 is unset.
            min_resources: (CPU shares, heap MiB, off-heap MiB, managed MiB), with ``preferred_resources`` or not at all.
            preferred_resources: likewise.
            task: simple name of the task class, if it is not the kind's own.
            input_format: what the operator reads through an InputFormat.
            output_format: what the operator writes through an OutputFormat.
            coordinator: the operator's coordinator.

        Raises:
            StreamGraphError: the id is taken, or the builder has been used.
            SpecError: a value out of range.
        """
    def add_iteration(
        self,
        loop_id: int,
        source_id: int,
        sink_id: int,
        *,
        parallelism: int,
        max_parallelism: int = -1,
        timeout: int = 0,
        slot_sharing_group: str | None = None,
        min_resources: tuple[float, int, int, int] | None = None,
        preferred_resources: tuple[float, int, int, int] | None = None,
    ) -> None:
        """Add head and tail of a loop (Flink's createIterationSourceAndSink); ``timeout`` is milliseconds.

        Raises:
            StreamGraphError: one of the ids is taken.
        """
    def set_slot_sharing_group(self, id: int, group: str | None) -> None:
        """Change the slot sharing group of a node; a loop knows its own only after its body.

        Raises:
            StreamGraphError: there is no such node.
        """
    def add_virtual_partition(self, id: int, input: int, partitioner: str, shuffle_mode: str = "UNDEFINED") -> None:
        """Add a node that only chooses the partitioner of the edges that leave it.

        Raises:
            StreamGraphError: the id is taken or the input unknown.
        """
    def add_virtual_side_output(self, id: int, input: int, tag: str) -> None:
        """Add a node that only selects a side output.

        Raises:
            StreamGraphError: the id is taken or the input unknown.
        """
    def add_union(self, id: int, inputs: Sequence[int]) -> None:
        """Add a node that stands for several, in order.

        Raises:
            StreamGraphError: the id is taken or an input unknown.
        """
    def add_edge(
        self,
        source: int,
        target: int,
        input: int = 0,
        *,
        partitioner: str | None = None,
        shuffle_mode: str = "UNDEFINED",
    ) -> None:
        """Add the edges from a node, real or virtual, to a real node, which both exist.

        Args:
            source: id of the upstream node.
            target: id of the downstream node.
            input: 0 for one-input operators; 1 or 2 for two-input operators.
            partitioner: ``None`` is FORWARD between equal parallelisms and REBALANCE otherwise.
            shuffle_mode: ``PIPELINED``, ``BATCH`` or ``UNDEFINED``.

        Raises:
            StreamGraphError: an unknown node, or FORWARD between different parallelisms.
        """
    def build(self) -> StreamGraph:
        """Freeze the graph. O(nodes + edges).

        Raises:
            StreamGraphError: the builder has been used.
        """

@final
class StreamGraph:
    """A program's operators and connections, virtual nodes resolved; immutable (Flink's StreamGraph)."""

    def __new__(cls, spec: str) -> StreamGraph: ...
    @staticmethod
    def from_json(text: str) -> StreamGraph:
        """Parse a described graph (docs/planning.md, "The description (FORMAT)"). O(length).

        Raises:
            SpecError: not JSON, a missing or unknown field, a value of the wrong type or range.
            StreamGraphError: unknown or duplicate nodes, FORWARD between different parallelisms.
        """
    @staticmethod
    def from_dict(spec: Mapping[str, Any]) -> StreamGraph:
        """Like :meth:`from_json`, from plain Python data."""
    @staticmethod
    def from_columns(
        nodes: _Table,
        edges: _Table,
        *,
        iterations: _Table | None = None,
        name: str = "",
        job_name: str = "job",
        chaining_enabled: bool = True,
        exchange_mode: str = "ALL_EDGES_PIPELINED",
        schedule_mode: str = "EAGER",
        checkpointing_enabled: bool = False,
        checkpoint_interval: int = 1000,
        checkpointing_mode: str = "EXACTLY_ONCE",
        force_checkpointing: bool = False,
        all_vertices_in_same_slot_sharing_group: bool = True,
    ) -> StreamGraph:
        """Make a graph of tables: a row per node, a row per edge, no Python object for either (docs/planning.md, "Columns in").

        A table is anything with the Arrow PyCapsule interface (pyarrow, polars, pandas, DuckDB, ``nodes_table()``), or a
        mapping from column names to NumPy arrays, Arrow arrays or buffers. Columns, defaults and the meaning of null are
        those of :meth:`StreamGraphBuilder.add_node` and :meth:`StreamGraphBuilder.add_edge`, and rows are added as by
        those, in order; nodes need ``id``, ``name``, ``kind``, edges ``source``, ``target``. Integers may have any width,
        texts any encoding, dictionaries included; all are read in place. O(rows x columns).

        Args:
            nodes: columns ``id``, ``name``, ``kind``, ``uid``, ``parallelism``, …
            edges: columns ``source``, ``target``, ``partitioner``, ``shuffle_mode``, ``input``, ``side_output``, …
            iterations: loops, added after the nodes: ``loop_id``, ``source_id``, ``sink_id``, ``parallelism``, …
            **settings: those of :class:`StreamGraphBuilder`.

        Raises:
            SpecError: no table, an unknown, missing or mistyped column, a cell out of range; names row and column.
            StreamGraphError: unknown or duplicate nodes, FORWARD between different parallelisms; names the row.
        """
    @staticmethod
    def from_parquet(
        nodes_path: str | PathLike[str],
        edges_path: str | PathLike[str],
        *,
        iterations_path: str | PathLike[str] | None = None,
        name: str = "",
        job_name: str = "job",
        chaining_enabled: bool = True,
        exchange_mode: str = "ALL_EDGES_PIPELINED",
        schedule_mode: str = "EAGER",
        checkpointing_enabled: bool = False,
        checkpoint_interval: int = 1000,
        checkpointing_mode: str = "EXACTLY_ONCE",
        force_checkpointing: bool = False,
        all_vertices_in_same_slot_sharing_group: bool = True,
    ) -> StreamGraph:
        """Like :meth:`from_columns`, of Parquet files, read by pyarrow.

        Args:
            nodes_path: a file, a folder of files, or a URI, as pyarrow.parquet.read_table takes it.
            edges_path: likewise.
            iterations_path: likewise; ``None`` is a program without loops.
            **settings: those of :class:`StreamGraphBuilder`.

        Raises:
            OSError: a path that cannot be read.
            SpecError: a file that is not Parquet, and whatever :meth:`from_columns` refuses.
            StreamGraphError: whatever :meth:`from_columns` refuses.
        """
    def to_json(self) -> str:
        """The graph as text that :meth:`from_json` reads back without loss."""
    def to_dict(self) -> dict[str, Any]:
        """The graph as plain Python data."""
    def __getnewargs__(self) -> tuple[str]: ...
    @property
    def job_name(self) -> str:
        """Name of the job."""
    @property
    def nodes(self) -> list[StreamNode]:
        """All nodes in order of addition, loop heads and tails included. O(nodes) at each access."""
    @property
    def edges(self) -> list[StreamEdge]:
        """All edges in order of addition. O(edges) at each access."""
    @property
    def source_ids(self) -> list[int]:
        """Ids of the sources in the iteration order of Flink's getSourceIDs(), a HashSet."""
    def operator_ids(self) -> dict[int, str]:
        """OperatorID by node id, ascending; nodes that no source reaches are absent (StreamGraphHasherV2). O(V + E).

        Raises:
            OperatorIdError: two operators claim one uid.
        """
    def verdicts(self) -> list[Verdict]:
        """Per edge, whether it is chained, or the first rule that broke (isChainable). O(V + E)."""
    def streaming_plan_json(self) -> str:
        """What Flink's getStreamingPlanAsJSON returns, byte for byte.

        Raises:
            StreamGraphError: the graph is empty.
        """
    def job_graph(
        self,
        *,
        flink: str = "1.11",
        additional_hashes: Sequence[Mapping[int, str]] = ...,
        savepoint_path: str | None = None,
        allow_non_restored_state: bool = False,
        artifacts: Mapping[str, str] = ...,
    ) -> JobGraph:
        """Compile to a JobGraph (StreamingJobGraphGenerator). O(V + E), no recursion.

        Args:
            flink: the Flink version to equal, ``"1.11"`` or ``"2.3"``.
            additional_hashes: tables of alternative OperatorIDs by node id, carried to the vertices.
            savepoint_path: where to restore from.
            allow_non_restored_state: whether state of operators that are gone may be dropped.
            artifacts: files shipped with the job, path by name.

        Raises:
            UnsupportedError: another Flink version.
            OperatorIdError: a uid used twice, a uid hash that is none.
            JobGraphError: a cycle, an unreached input, slot sharing or co-location conflicts, blocking timeouts.
        """
    def verify(self) -> list[str]:
        """Broken invariants, a sentence each; empty when all is well. O(V + E)."""
    def nodes_table(self) -> Columns:
        """The nodes as columns."""
    def edges_table(self) -> Columns:
        """The edges as columns, with verdicts. O(E)."""
    def verdicts_table(self) -> Columns:
        """Per edge, whether it is chained, or the rule that broke and the reason, as columns. O(V + E)."""
    def operator_ids_table(self, *, binary: bool = False) -> Columns:
        """The OperatorID of each node in order of addition, as columns; null where no source reaches. O(V + E).

        Args:
            binary: the IDs as 16 bytes (fixed-size binary) instead of 32 hex digits.

        Raises:
            OperatorIdError: two operators claim one uid.
        """
    def iterations_table(self) -> Columns:
        """The loops as columns; with the other two tables, what :meth:`from_columns` makes the same graph of."""

@final
class StreamNode:
    """One operator of a program."""

    id: int
    name: str
    kind: str
    uid: str | None
    user_hash: str | None
    slot_sharing_group: str | None
    co_location_group: str | None
    parallelism: int
    max_parallelism: int
    chaining_strategy: str
    yielding: bool
    managed_memory_weight: int | None
    buffer_timeout: int
    in_edges: list[int]
    out_edges: list[int]

@final
class StreamEdge:
    """One connection of a program, between real nodes.

    ``partition_node`` is the id of the virtual partition that chose the partitioner.
    """

    index: int
    source: int
    target: int
    partitioner: str
    shuffle_mode: str
    type_number: int
    side_output: str | None
    buffer_timeout: int
    partition_node: int | None

@final
class Verdict:
    """What the chaining rules say about one edge: chained, or the first rule that broke and both values in a sentence."""

    edge: int
    chained: bool
    rule: str | None
    reason: str | None

@final
class JobGraph:
    """Chains as vertices and the data sets between them; immutable (Flink's JobGraph)."""

    @property
    def name(self) -> str:
        """Name of the job."""
    @property
    def flink(self) -> str:
        """The Flink version it equals."""
    @property
    def schedule_mode(self) -> str:
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
    def slot_sharing_groups(self) -> list[tuple[list[int], tuple[float, int, int, int] | None]]:
        """Per group its vertices, ordered as Flink's TreeSet, and their summed resources (``None``: UNKNOWN)."""
    @property
    def co_location_groups(self) -> list[list[int]]:
        """Per group its vertices, in the order in which Flink adds them."""
    @property
    def checkpointing(self) -> dict[str, Any]:
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
    def min_resources(self) -> tuple[float, int, int, int] | None:
        """Summed minimum resources (CPU shares, heap, off-heap, managed MiB); ``None`` is UNKNOWN."""
    @property
    def preferred_resources(self) -> tuple[float, int, int, int] | None:
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

    node: int
    operator_id: str
    user_defined_id: str | None
    name: str
    uid: str | None
    chain_index: int
    chain_start: bool
    chain_end: bool
    managed_memory_fraction: float | None
    chained_outputs: list[int]
    non_chained_outputs: list[int]
    number_of_outputs: int

@final
class JobEdge:
    """A data set and the vertex that reads it: ``source``'s result number ``result`` is ``target``'s input ``input``."""

    source: int
    result: int
    target: int
    input: int
    distribution: str
    result_type: str
    ship_strategy: str
    stream_edge: int

@final
class IntermediateDataSet:
    """What a vertex produces; consumers are pairs of vertex and input. It has an ``id`` where Flink derives one (2.3)."""

    index: int
    id: str | None
    producer: int
    result: int
    result_type: str
    consumers: list[tuple[int, int]]

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

    input: int
    producer: int
    result: int
    first: int
    last: int

@final
class ConsumerSubtasks:
    """The subtasks, ``first`` to ``last``, that read one partition through one input of a consumer."""

    consumer: int
    input: int
    first: int
    last: int

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
    def transition(self, vertex: int, subtask: int, state: str) -> Execution:
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

    id: str
    subtask: int
    attempt: int
    state: str

@final
class PipelinedRegions:
    """Subtasks that exchange records while they run, region by region (Flink's SchedulingPipelinedRegion).

    Regions are numbered by their first subtask, which is the order in which Flink schedules them.
    """

    def __len__(self) -> int: ...
    def region_of(self, vertex: int, subtask: int) -> int:
        """The region of a subtask. O(1).

        Raises:
            SpecError: there is no such subtask.
        """
    def spans(self, region: int) -> list[tuple[int, int, int]]:
        """The subtasks of a region, as (vertex, first subtask, last subtask). O(result).

        Raises:
            IndexError: there is no such region.
        """
    def spans_table(self) -> Columns:
        """The subtasks of all regions as columns: region, vertex, first_subtask, last_subtask. O(rows)."""
    def subtasks_table(self) -> Columns:
        """The same subtask by subtask: region, vertex, subtask. O(subtasks)."""

@final
class RestartedRegions:
    """The regions that run again after a failure (Flink's RestartPipelinedRegionFailoverStrategy)."""

    @property
    def regions(self) -> list[int]:
        """Numbers of the regions, ascending. O(regions) at each access."""
    @property
    def total_vertices(self) -> int:
        """Number of subtasks that run again. O(regions) at each access."""
    def __len__(self) -> int: ...
    def spans_table(self) -> Columns:
        """The subtasks as columns: region, vertex, first_subtask, last_subtask. O(rows)."""
    def subtasks_table(self) -> Columns:
        """The same subtask by subtask: region, vertex, subtask. O(subtasks)."""

@final
class PartitionRelease:
    """Keeps book of finished subtasks and says which partitions nobody needs any more (Flink's
    RegionPartitionReleaseStrategy; RegionPartitionGroupReleaseStrategy in 2.3).
    """

    def vertex_finished(self, vertex: int, subtask: int) -> list[ReleasablePartitions]:
        """Note that a subtask has finished.

        Returns:
            The partitions that its region reads and whose readers' regions have all finished with it; empty while a
            subtask of the region has not. O(partition groups that the region reads) when a region finishes, else O(1).

        Raises:
            SpecError: there is no such subtask.
        """
    def vertices_finished(self, vertex: int, first: int, last: int) -> list[ReleasablePartitions]:
        """Note that the subtasks ``first`` to ``last`` of a vertex have finished, one after the other.

        Raises:
            SpecError: there is no such subtask; those before it are noted.
        """
    def vertex_unfinished(self, vertex: int, subtask: int) -> None:
        """Note that a subtask runs again, so that its region has not finished.

        Raises:
            SpecError: there is no such subtask.
        """

@final
class RegionScheduling:
    """Keeps book of what has been written and says which regions may be scheduled (Flink's
    PipelinedRegionSchedulingStrategy).
    """

    def start(self) -> list[int]:
        """The regions that wait for nothing and have not been scheduled, ascending; from now on they count as scheduled."""
    def vertex_finished(self, vertex: int, subtask: int) -> list[int]:
        """Note that a subtask has finished, so that what it writes is there.

        Returns:
            The regions that waited for nothing else, ascending; they count as scheduled. A region waits for the whole of
            each blocking result that it reads from outside; in Flink 2.3, for the partitions of it that it reads.

        Raises:
            SpecError: there is no such subtask.
        """
    def restart(self, regions: Sequence[int]) -> list[int]:
        """Note that regions run again, so that what they have written is gone. O(their subtasks and readers).

        Returns:
            Those of them that wait for nothing, ascending; the others are named when what they wait for is there.

        Raises:
            IndexError: there is no such region.
        """

@final
class ReleasablePartitions:
    """Partitions ``first`` to ``last`` of a result that one input of a consumer has read to the end.

    ``free`` tells whether all other readers of these partitions have finished too, so that the data may be dropped; only a
    result that several inputs share (Flink 2.3) is ever named with ``free`` being False.
    """

    producer: int
    result: int
    first: int
    last: int
    consumer: int
    input: int
    free: bool

# --- a batch of records at a time, for penstock.runtime.native ----------------------------------------------------------

@final
class KeyedFold:
    """A cache in front of a table of reductions: keys whose records are plain tuples with an integer in one field.

    While a key is here the table does not know it, or knows an old value; `flush` writes everything back. Keys and values
    that do not fit go through the table and the Python function, so the results are always the same.

    Args:
        table: the reduction so far by key.
        kind: sum, min or max.
        position: the field.
        reduce: what does the same for records that do not fit; what it raises is passed on.
    """

    def __new__(
        cls, table: dict[Any, Any], kind: str, position: int, reduce: Callable[[Any, Any], Any]
    ) -> KeyedFold: ...
    def add(self, keys: list[Any], values: list[Any], results: list[Any]) -> None:
        """Reduce a batch of records.

        Args:
            keys: of the records, in order, each its own canonical form.
            values: the records.
            results: takes the reduction after each record; when an error stops it, those before.
        """

    def add_columns(self, data: bytes) -> list[Any] | None:
        """Reduce a buffer of pairs, a text that is the key and an integer, without making records of it.

        A key that occurs in it several times is looked up once.

        Args:
            data: a buffer of typed columns.

        Returns:
            The reduction after each record, in order. None if the buffer holds something else, or what has been reached does
            not fit; then nothing has been done.

        Raises:
            ValueError: these bytes are no buffer.
        """

    def flush(self) -> None:
        """Write everything back into the table."""

class KeyRouter:
    """Sends the records of a batch to the subtasks that own their keys.

    Args:
        key_type: code of the declared type of the key (``javahash.native_code``).
        max_parallelism: number of key groups.
        channels: number of subtasks.

    Raises:
        ValueError: the code is none, or one of the numbers is zero.
    """

    def __new__(cls, key_type: bytes, max_parallelism: int, channels: int) -> KeyRouter: ...
    def split(
        self, keys: list[Any], values: list[Any], assign: Callable[[Any], int]
    ) -> tuple[list[tuple[int, list[Any]]], int]:
        """Distribute records to channels. O(records + channels).

        Args:
            keys: of the records, in order.
            values: the records.
            assign: gives the channel of a key that is not plain data; what it raises is passed on.

        Returns:
            Channel and records, in order, for each channel that gets some; and what ``key_field`` says of all of them.

        Raises:
            ValueError: there are not as many keys as records.
        """

    def split_by_field(
        self, field: int, values: list[Any], assign: Callable[[Any], int]
    ) -> list[tuple[int, list[Any]]] | None:
        """The same where a field of the records is the key.

        Args:
            field: its position.
            values: the records.
            assign: as for ``split``.

        Returns:
            Channel and records; None, where some records are not plain tuples with such a field.
        """

def are_immutable(values: list[Any]) -> bool:
    """Whether no record can change: each is a text, a number, a truth value, bytes, None, or a tuple of them.

    Args:
        values: the records.
    """

def are_own_forms(keys: list[Any]) -> bool:
    """Whether every key is its own canonical form as an undeclared type: a text, an int, or a tuple of texts, ints and Nones.

    Args:
        keys: the keys.
    """

def decode_columns(data: bytes) -> tuple[list[Any], list[Any] | None, bytes]:
    """The records in typed columns.

    Args:
        data: what ``encode_columns`` or ``columns.encode`` has made.

    Returns:
        The records, their keys (None where they are not known), and the bytes that travelled with them.

    Raises:
        ValueError: these bytes are something else.
    """

def encode_columns(values: list[Any], key: int, extras: bytes) -> bytes | None:
    """Records as typed columns.

    Args:
        values: the records.
        key: what ``key_field`` says of their keys.
        extras: bytes that travel with them.

    Returns:
        The bytes, as ``columns.encode`` makes them; None when the records are not of one plain type.
    """

def is_immutable(value: object) -> bool:
    """The same for one record.

    Args:
        value: the record.
    """

def key_field(keys: list[Any], values: list[Any]) -> int:
    """Which field of its record each key is, the very object.

    Args:
        keys: of the records, in order.
        values: the records.

    Returns:
        The field of plain tuples; 254 when each record is its own key; 255 when it is neither.
    """

def text_size(values: list[Any]) -> int | None:
    """About how many bytes some records will take, as the Python function of this name counts them.

    Args:
        values: the records.

    Returns:
        The sum, None when a record is neither plain nor a tuple of what is plain.
    """
