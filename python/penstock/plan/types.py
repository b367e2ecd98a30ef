"""Types of what the planner takes and gives, for annotations: spellings, which are Flink's, tables, descriptions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol, TypedDict

FlinkVersion = Literal["1.11", "2.3"]
Kind = Literal["source", "operator", "two_input", "sink"]
Role = Literal["source", "operator", "two_input", "sink", "iteration_head", "iteration_tail"]
ChainingStrategy = Literal["ALWAYS", "NEVER", "HEAD"]
Partitioner = Literal["FORWARD", "REBALANCE", "RESCALE", "SHUFFLE", "BROADCAST", "GLOBAL", "HASH", "CUSTOM"]
ShuffleMode = Literal["PIPELINED", "BATCH", "UNDEFINED"]
ExchangeMode = Literal[
    "ALL_EDGES_PIPELINED", "ALL_EDGES_BLOCKING", "FORWARD_EDGES_PIPELINED", "POINTWISE_EDGES_PIPELINED"
]
ScheduleMode = Literal["EAGER", "LAZY_FROM_SOURCES", "LAZY_FROM_SOURCES_WITH_BATCH_SLOT_REQUEST"]
CheckpointingMode = Literal["EXACTLY_ONCE", "AT_LEAST_ONCE"]
Rule = Literal[
    "single_input",
    "slot_sharing_group",
    "operator",
    "upstream_chaining_strategy",
    "downstream_chaining_strategy",
    "yielding_behind_source",
    "partitioner",
    "shuffle_mode",
    "parallelism",
    "chaining_enabled",
]
"""The chaining rules, in the order in which they are tried."""
Distribution = Literal["POINTWISE", "ALL_TO_ALL"]
ResultType = Literal["PIPELINED_BOUNDED", "BLOCKING"]
ExecutionState = Literal["CREATED", "SCHEDULED", "DEPLOYING", "RUNNING", "FINISHED", "CANCELING", "CANCELED", "FAILED"]

Resources = tuple[float, int, int, int]
"""CPU shares, heap, off-heap and managed MiB."""


class ArrowStream(Protocol):
    """A table, or a column in chunks, that speaks the Arrow PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class ArrowArray(Protocol):
    """A batch of records, or a column, that speaks the Arrow PyCapsule interface."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...


class NumPyArray(Protocol):
    """A column of numbers or texts as NumPy has it."""

    def __array__(self) -> object: ...


class Buffer(Protocol):
    """A column of numbers in memory, such as ``array.array`` or ``memoryview``."""

    def __buffer__(self, flags: int, /) -> memoryview: ...


Table = ArrowStream | ArrowArray | Mapping[str, ArrowStream | ArrowArray | NumPyArray | Buffer]
"""A table of pyarrow, polars, pandas or DuckDB, a table of the planner, or columns by name."""


class Checkpointing(TypedDict):
    """Settings of a job's checkpoints; the lists are vertices."""

    enabled: bool
    mode: CheckpointingMode
    interval: int
    trigger: list[int]
    acknowledge: list[int]
    confirm: list[int]


class ResourcesDescription(TypedDict):
    """Resources of an operator; memory in MiB."""

    cpu: float
    heap_mb: int
    off_heap_mb: int
    managed_mb: int


class _NodeKey(TypedDict):
    id: int
    name: str
    kind: Kind


class NodeDescription(_NodeKey, total=False):
    """A node in the description of a graph."""

    uid: str | None
    user_hash: str | None
    slot_sharing_group: str | None
    co_location_group: str | None
    parallelism: int
    max_parallelism: int
    chaining_strategy: ChainingStrategy
    yielding: bool
    managed_memory_weight: int | None
    buffer_timeout: int
    min_resources: ResourcesDescription
    preferred_resources: ResourcesDescription
    task: str
    input_format: str
    output_format: str
    coordinator: str


class _EdgeKey(TypedDict):
    source: int
    target: int


class EdgeDescription(_EdgeKey, total=False):
    """An edge in the description of a graph."""

    partitioner: Partitioner | None
    shuffle_mode: ShuffleMode
    input: int
    side_output: str
    partition_node: int


class _IterationKey(TypedDict):
    loop_id: int
    source_id: int
    sink_id: int
    parallelism: int


class IterationDescription(_IterationKey, total=False):
    """A loop in the description of a graph."""

    max_parallelism: int
    timeout: int
    slot_sharing_group: str | None
    min_resources: ResourcesDescription
    preferred_resources: ResourcesDescription


class SettingsDescription(TypedDict, total=False):
    """Settings in the description of a graph; intervals in milliseconds."""

    job_name: str
    exchange_mode: ExchangeMode
    schedule_mode: ScheduleMode
    checkpointing_enabled: bool
    checkpoint_interval: int
    checkpointing_mode: CheckpointingMode
    force_checkpointing: bool
    all_vertices_in_same_slot_sharing_group: bool


class _DescriptionKey(TypedDict):
    nodes: list[NodeDescription]
    edges: list[EdgeDescription]


class Description(_DescriptionKey, total=False):
    """The description of a graph (docs/planning.md, "The description (FORMAT)")."""

    name: str
    chaining_enabled: bool
    settings: SettingsDescription
    iterations: list[IterationDescription]
