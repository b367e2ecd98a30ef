"""StreamGraph: what makes one, and its parts."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Final, final

from penstock._stubs.arrow import Columns
from penstock._stubs.job_graph import JobGraph
from penstock.plan.types import (
    ChainingStrategy,
    CheckpointingMode,
    Description,
    ExchangeMode,
    Kind,
    Partitioner,
    Resources,
    Role,
    Rule,
    ScheduleMode,
    ShuffleMode,
    Table,
)

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
    def from_dict(spec: Description | Mapping[str, object]) -> StreamGraph:
        """Like :meth:`from_json`, from plain Python data."""
    @staticmethod
    def from_columns(
        nodes: Table,
        edges: Table,
        *,
        iterations: Table | None = None,
        name: str = "",
        job_name: str = "job",
        chaining_enabled: bool = True,
        exchange_mode: ExchangeMode = "ALL_EDGES_PIPELINED",
        schedule_mode: ScheduleMode = "EAGER",
        checkpointing_enabled: bool = False,
        checkpoint_interval: int = 1000,
        checkpointing_mode: CheckpointingMode = "EXACTLY_ONCE",
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
        exchange_mode: ExchangeMode = "ALL_EDGES_PIPELINED",
        schedule_mode: ScheduleMode = "EAGER",
        checkpointing_enabled: bool = False,
        checkpoint_interval: int = 1000,
        checkpointing_mode: CheckpointingMode = "EXACTLY_ONCE",
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
    def to_dict(self) -> Description:
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
    def operator_id_order(self) -> list[int]:
        """Node ids in the order in which the nodes get their OperatorIDs; nodes that no source reaches are absent. O(V + E).

        An ID without a uid is a hash of its place in this order, once more for each chained output, and of the IDs of its
        inputs, in order.
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
        exchange_mode: ExchangeMode = "ALL_EDGES_PIPELINED",
        schedule_mode: ScheduleMode = "EAGER",
        checkpointing_enabled: bool = False,
        checkpoint_interval: int = 1000,
        checkpointing_mode: CheckpointingMode = "EXACTLY_ONCE",
        force_checkpointing: bool = False,
        all_vertices_in_same_slot_sharing_group: bool = True,
    ) -> StreamGraphBuilder: ...
    def add_node(
        self,
        id: int,
        name: str,
        kind: Kind,
        *,
        uid: str | None = None,
        user_hash: str | None = None,
        slot_sharing_group: str | None = "default",
        co_location_group: str | None = None,
        parallelism: int = -1,
        max_parallelism: int = -1,
        chaining_strategy: ChainingStrategy = "ALWAYS",
        yielding: bool = False,
        managed_memory_weight: int | None = None,
        buffer_timeout: int = -1,
        min_resources: Resources | None = None,
        preferred_resources: Resources | None = None,
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
        min_resources: Resources | None = None,
        preferred_resources: Resources | None = None,
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
    def add_virtual_partition(
        self, id: int, input: int, partitioner: Partitioner, shuffle_mode: ShuffleMode = "UNDEFINED"
    ) -> None:
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
        partitioner: Partitioner | None = None,
        shuffle_mode: ShuffleMode = "UNDEFINED",
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
class StreamNode:
    """One operator of a program."""

    id: Final[int]
    name: Final[str]
    kind: Final[Role]
    uid: Final[str | None]
    user_hash: Final[str | None]
    slot_sharing_group: Final[str | None]
    co_location_group: Final[str | None]
    parallelism: Final[int]
    max_parallelism: Final[int]
    chaining_strategy: Final[ChainingStrategy]
    yielding: Final[bool]
    managed_memory_weight: Final[int | None]
    buffer_timeout: Final[int]
    in_edges: Final[list[int]]
    out_edges: Final[list[int]]

@final
class StreamEdge:
    """One connection of a program, between real nodes.

    ``partition_node`` is the id of the virtual partition that chose the partitioner.
    """

    index: Final[int]
    source: Final[int]
    target: Final[int]
    partitioner: Final[Partitioner]
    shuffle_mode: Final[ShuffleMode]
    type_number: Final[int]
    side_output: Final[str | None]
    buffer_timeout: Final[int]
    partition_node: Final[int | None]

@final
class Verdict:
    """What the chaining rules say about one edge: chained, or the first rule that broke and both values in a sentence."""

    edge: Final[int]
    chained: Final[bool]
    rule: Final[Rule | None]
    reason: Final[str | None]
