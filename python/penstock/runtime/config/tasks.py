"""Descriptors of tasks: frozen and picklable, all a subtask needs apart from its rows, like Flink's ``StreamConfig``.

User code is inside as bytes, pickled once on the driver; every subtask unpickles its own copy, as in Flink. Which
subtasks a pointwise edge connects follows ``ExecutionVertex`` (1.11) and ``VertexInputInfoComputationUtils`` (2.3).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from penstock.common.settings.settings import Settings
from penstock.common.typeinfo import TypeInformation
from penstock.metrics.results import SubtaskMetrics
from penstock.runtime.aggregators import Aggregator

POINTWISE = frozenset({"FORWARD", "RESCALE"})


def _float32(x: float) -> float:
    return struct.unpack("f", struct.pack("f", x))[0]


def pointwise_producers(producers: int, consumers: int, subtask: int, *, exact: bool = False) -> range:
    """Producers that a consumer subtask reads from over a pointwise connection. Flink 1.11 computes in 32-bit floats
    where neither number divides the other, which differs from whole numbers for some pairs (14 → 16 is one); Flink
    2.3 computes in whole numbers (``exact``)."""
    n, m = producers, consumers
    if exact:
        first = subtask * n // m
        return range(first, max((subtask + 1) * n // m, first + 1))
    if n == m:
        return range(subtask, subtask + 1)
    if m % n == 0:
        first = subtask // (m // n)
        return range(first, first + 1)
    if n < m:
        first = int(_float32(subtask / _float32(m / n)))
        return range(first, first + 1)
    if n % m == 0:
        return range(subtask * (n // m), (subtask + 1) * (n // m))
    factor = _float32(n / m)
    end = n if subtask == m - 1 else int(_float32((subtask + 1) * factor))
    return range(int(_float32(subtask * factor)), end)


def pointwise_consumers(producers: int, consumers: int, subtask: int, *, exact: bool = False) -> list[int]:
    """Consumers that a producer subtask sends to over a pointwise connection, in order. O(consumers)."""
    return [i for i in range(consumers) if subtask in pointwise_producers(producers, consumers, i, exact=exact)]


@dataclass(frozen=True)
class Destination:
    """Where the rows of an output go: to a stream edge, and the slot of the consumer's subtask 0 in its level."""

    edge: int
    level: int
    offset: int


@dataclass(frozen=True)
class NetworkOutput:
    """Output over the exchange. Edges that choose the same channels for every record share one, and are serialised
    once."""

    side_tag: str | None  # of the side output it carries, None for the main output
    partitioner: str  # FORWARD, REBALANCE, RESCALE, SHUFFLE, BROADCAST, GLOBAL, HASH or CUSTOM
    partition: bytes | None  # pickled KeyPartition or CustomPartition
    parallelism: int  # of the consumers
    max_parallelism: int  # of the consumers; key groups are counted in it
    seed: str  # from which random starts derive
    destinations: tuple[Destination, ...]
    record_type: TypeInformation[Any] | None
    exact_shares: bool = False  # pointwise shares in whole numbers (Flink 2.3), not in 32-bit floats
    sorted: bool = False  # whether the consumers want records sorted by key, which `partition` then is in any case
    combined: Aggregator | None = None  # the reduction by which records of a key may be combined before


@dataclass(frozen=True)
class ChainedOutput:
    """Output to an input (0, 1 or 2) of another operator of the chain, by its position in pre-order."""

    side_tag: str | None
    position: int
    input: int
    record_type: TypeInformation[Any] | None = None


@dataclass(frozen=True)
class OperatorConfig:
    """One operator of a chain."""

    node: int  # id of the stream node
    operator_id: str  # 32 hex digits
    name: str
    uid: str | None
    max_parallelism: int  # the operator's own, or the vertex's where it has none
    operator: bytes  # pickled
    chained: tuple[ChainedOutput, ...] = ()  # in edge order, as `network`
    network: tuple[NetworkOutput, ...] = ()
    input_type: TypeInformation[Any] | None = None
    pinned: str | None = None  # the operator ID that the user has said by a uid hash, by which its state may be found
    hands_over: str = ""  # what kind of data it hands from step to step beside its state
    keyed: bool = False
    keeps_state: bool = False  # whether it has state, or a function that may ask for some
    side_outputs: bool = False  # whether the program asks for a side output of it, even one that nothing reads


@dataclass(frozen=True)
class InputEdge:
    """One stream edge into a vertex."""

    edge: int
    input: int  # type number at the head operator: 0 | 1 | 2
    senders: int  # parallelism of the producer
    pointwise: bool = False  # whether each consumer reads from its own share of them only
    exact_shares: bool = False  # as for NetworkOutput
    sorted: bool = False  # whether its records come sorted by key
    early: bool = False  # whether it is read to its end before those that are not early

    def senders_of(self, parallelism: int, subtask: int) -> range:
        if not self.pointwise:
            return range(self.senders)
        return pointwise_producers(self.senders, parallelism, subtask, exact=self.exact_shares)


@dataclass(frozen=True)
class VertexConfig:
    """A JobVertex: what each of its subtasks runs."""

    index: int  # in the JobGraph
    name: str  # of the chain
    parallelism: int
    max_parallelism: int
    level: int  # 0 for sources
    offset: int  # slot of subtask 0 in its level
    operators: tuple[OperatorConfig, ...] = ()  # in pre-order; the head is first
    inputs: tuple[InputEdge, ...] = ()  # physical edges in order

    def reached_by(self, edge: int) -> Destination:
        return Destination(edge, self.level, self.offset)

    def task_name(self, subtask: int) -> str:
        """Name of a subtask as Flink writes it: ``Map -> Sink: Out (2/7)``."""
        return f"{self.name} ({subtask + 1}/{self.parallelism})"


@dataclass(frozen=True)
class JobConfig:
    """The data that all tasks of a job share."""

    name: str
    job_id: str  # random, different for every run; names of pending files contain it, and a job's client tells it
    settings: Settings = Settings()  # noqa: RUF009 - it is immutable
    shipped: str | None = None  # name of the archive with the program's files
    folder_id: str | None = None
    """Of the checkpoint directory, 32 hex digits, the same for all runs with it; None for a job of one step without."""
    folder: str | None = None  # path or URL of the checkpoint directory
    times: int = 0  # how often the run has been planned before, as there were other cores


def in_slot(vertices: Sequence[VertexConfig], slot: int) -> tuple[VertexConfig, int]:
    """The vertex and subtask that run in a slot, of the vertices of one level in order of their slots. O(vertices)."""
    for vertex in vertices:
        if slot < vertex.offset + vertex.parallelism:
            return vertex, slot - vertex.offset
    raise IndexError(f"level {vertices[0].level} has no slot {slot}")


@dataclass(frozen=True)
class PendingFile:
    """A file that a sink has finished but nobody may see before the job has succeeded: its path now, and that in the
    output."""

    operator_id: str
    pending: str
    final: str


@dataclass(frozen=True)
class StateFile:
    """A file of an operator's state. A snapshot and the logs after it are a *series*."""

    operator_id: str
    name: str
    kind: str  # `snapshot` or `log`
    bytes: int
    checksum: str  # of its header, which has those of its sections; 32 hex digits
    keys: int  # how many values, timers and changes are in it


@dataclass(frozen=True)
class Committable:
    """The data that a sink of the user's own has prepared in a step, to be committed when the step counts."""

    operator_id: str
    subtask: int
    data: bytes  # what ``prepare`` has returned, pickled; or the path of a file that has it, as UTF-8
    kept: bool = False  # whether ``data`` is such a path
    version: int = 0  # that the step makes, if it counts


@dataclass(frozen=True)
class TaskReport:
    """The commit row of a subtask: what exactly the attempt produced whose output was consumed."""

    vertex: int
    task: str
    subtask: int
    parallelism: int
    attempt: int
    counters: tuple[SubtaskMetrics, ...]  # of each operator of the chain, in pre-order
    files: tuple[PendingFile, ...] = ()
    committables: tuple[Committable, ...] = ()
