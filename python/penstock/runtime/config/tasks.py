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
"""Partitioners of pointwise edges."""


def _float32(x: float) -> float:
    return struct.unpack("f", struct.pack("f", x))[0]


def pointwise_producers(producers: int, consumers: int, subtask: int, *, exact: bool = False) -> range:
    """Producers that a consumer subtask reads from over a pointwise connection.

    Flink 1.11 computes in 32-bit floats where neither number divides the other, which differs from whole numbers for
    some pairs (14 → 16 is one); Flink 2.3 computes in whole numbers (``exact``).
    """
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
    """One consumer of an output: where its rows go.

    Attributes:
        edge: index of the stream edge, by which the consumer knows its input.
        level: level of the consuming vertex.
        offset: slot of the consumer's subtask 0 in that level.
    """

    edge: int
    level: int
    offset: int


@dataclass(frozen=True)
class NetworkOutput:
    """Output over the exchange. Edges that choose the same channels for every record share one, and are serialised
    once.

    Attributes:
        side_tag: id of the side output it carries, None for the main output.
        partitioner: FORWARD, REBALANCE, RESCALE, SHUFFLE, BROADCAST, GLOBAL, HASH or CUSTOM.
        partition: pickled KeyPartition or CustomPartition.
        parallelism: of the consumers.
        max_parallelism: of the consumers; key groups are counted in it.
        seed: text from which random starts derive.
        destinations: one or more.
        record_type: type of the records, None for undeclared.
        exact_shares: FORWARD and RESCALE share subtasks in whole numbers (Flink 2.3), not in 32-bit floats.
        sorted: whether the consumers want records sorted by key; then ``partition`` is their key, also if the
            partitioner is not HASH.
        combined: the reduction by which records of a key may be combined before.
    """

    side_tag: str | None
    partitioner: str
    partition: bytes | None
    parallelism: int
    max_parallelism: int
    seed: str
    destinations: tuple[Destination, ...]
    record_type: TypeInformation[Any] | None
    exact_shares: bool = False
    sorted: bool = False
    combined: Aggregator | None = None


@dataclass(frozen=True)
class ChainedOutput:
    """Output to another operator of the chain.

    Attributes:
        side_tag: id of the side output it carries, None for the main output.
        position: of the consumer in the chain (pre-order).
        input: type number of the consumer's input: 0 | 1 | 2.
        record_type: type of the records, None for undeclared.
    """

    side_tag: str | None
    position: int
    input: int
    record_type: TypeInformation[Any] | None = None


@dataclass(frozen=True)
class OperatorConfig:
    """One operator of a chain.

    Attributes:
        node: id of the stream node.
        operator_id: 32 hex digits.
        name: as the user sees it.
        uid: given by the user, or None.
        max_parallelism: the operator's own, or the vertex's where it has none.
        operator: the pickled operator.
        chained: outputs inside the chain, in edge order.
        network: outputs over the exchange, in edge order.
        input_type: type of the records it reads, None for undeclared.
        pinned: the operator ID that the user has said by a uid hash, by which its state may be found; None if none was.
        hands_over: what kind of data it hands from step to step beside its state.
        keyed: whether an input of it is keyed.
        keeps_state: whether it has state, or a function that may ask for some.
        side_outputs: whether the program asks for a side output of it, even one that nothing reads.
    """

    node: int
    operator_id: str
    name: str
    uid: str | None
    max_parallelism: int
    operator: bytes
    chained: tuple[ChainedOutput, ...] = ()
    network: tuple[NetworkOutput, ...] = ()
    input_type: TypeInformation[Any] | None = None
    pinned: str | None = None
    hands_over: str = ""
    keyed: bool = False
    keeps_state: bool = False
    side_outputs: bool = False


@dataclass(frozen=True)
class InputEdge:
    """One stream edge into a vertex.

    Attributes:
        edge: its index.
        input: type number at the head operator: 0 | 1 | 2.
        senders: parallelism of the producer.
        pointwise: whether each consumer reads from its own share of them only.
        exact_shares: as for :class:`NetworkOutput`.
        sorted: whether its records come sorted by key.
        early: whether it is read to its end before those that are not early.
    """

    edge: int
    input: int
    senders: int
    pointwise: bool = False
    exact_shares: bool = False
    sorted: bool = False
    early: bool = False

    def senders_of(self, parallelism: int, subtask: int) -> range:
        """The producer's subtasks that one of the consumer's reads from."""
        if not self.pointwise:
            return range(self.senders)
        return pointwise_producers(self.senders, parallelism, subtask, exact=self.exact_shares)


@dataclass(frozen=True)
class VertexConfig:
    """A JobVertex: what each of its subtasks runs.

    Attributes:
        index: in the JobGraph.
        name: of the chain.
        parallelism: number of subtasks.
        max_parallelism: number of key groups.
        level: 0 for sources.
        offset: slot of subtask 0 in its level.
        operators: the chain in pre-order; the head is first.
        inputs: physical edges in order; none for a source.
    """

    index: int
    name: str
    parallelism: int
    max_parallelism: int
    level: int
    offset: int
    operators: tuple[OperatorConfig, ...] = ()
    inputs: tuple[InputEdge, ...] = ()

    def reached_by(self, edge: int) -> Destination:
        """Where the rows of an edge into the vertex go."""
        return Destination(edge, self.level, self.offset)

    def task_name(self, subtask: int) -> str:
        """Name of a subtask as Flink writes it: ``Map -> Sink: Out (2/7)``."""
        return f"{self.name} ({subtask + 1}/{self.parallelism})"


@dataclass(frozen=True)
class JobConfig:
    """What all tasks of a job share.

    Attributes:
        name: job name.
        job_id: random text, different for every run; names of pending files contain it, and a job's client tells it.
        settings: of the program.
        shipped: name of the archive with the program's files, None if it ships none.
        folder_id: of the checkpoint directory, 32 hex digits, the same for all runs with it; None for a job that is
            one step without such a folder.
        folder: where the checkpoint directory is: a path, or the URL of a store.
        times: how often the run has been planned before, as there were other cores.
    """

    name: str
    job_id: str
    settings: Settings = Settings()  # noqa: RUF009 - it is immutable
    shipped: str | None = None
    folder_id: str | None = None
    folder: str | None = None
    times: int = 0


def in_slot(vertices: Sequence[VertexConfig], slot: int) -> tuple[VertexConfig, int]:
    """The vertex and subtask that run in a slot. O(vertices).

    Args:
        vertices: of one level, in order of their slots.
        slot: from 0.
    """
    for vertex in vertices:
        if slot < vertex.offset + vertex.parallelism:
            return vertex, slot - vertex.offset
    raise IndexError(f"level {vertices[0].level} has no slot {slot}")


@dataclass(frozen=True)
class PendingFile:
    """A file that a sink has finished but nobody may see before the job has succeeded.

    Attributes:
        operator_id: of the sink.
        pending: its path now.
        final: its path in the output.
    """

    operator_id: str
    pending: str
    final: str


@dataclass(frozen=True)
class StateFile:
    """A file of an operator's state. A snapshot and the logs after it are a *chain*.

    Attributes:
        operator_id: 32 hex digits.
        name: of the file, in the folder of state files.
        kind: ``snapshot`` or ``log``.
        bytes: its size.
        checksum: of its header, which has those of its sections; 32 hex digits.
        keys: how many values, timers and changes are in it.
    """

    operator_id: str
    name: str
    kind: str
    bytes: int
    checksum: str
    keys: int


@dataclass(frozen=True)
class Committable:
    """What a sink of the user's own has prepared in a step, to be committed when the step counts.

    Attributes:
        operator_id: of the sink.
        subtask: index from 0.
        data: what ``prepare`` has returned, pickled; or the path of a file that has it, as UTF-8.
        kept: whether ``data`` is such a path.
        version: that the step makes, if it counts.
    """

    operator_id: str
    subtask: int
    data: bytes
    kept: bool = False
    version: int = 0


@dataclass(frozen=True)
class TaskReport:
    """The commit row of a subtask: what exactly the attempt produced whose output was consumed.

    Attributes:
        vertex: index of the JobVertex.
        task: name with subtask.
        subtask: index from 0.
        parallelism: of the vertex.
        attempt: number from 0.
        counters: what each operator of the chain has measured, in pre-order.
        files: finished pending files of its sinks.
        committables: what its two-phase sinks have prepared.
    """

    vertex: int
    task: str
    subtask: int
    parallelism: int
    attempt: int
    counters: tuple[SubtaskMetrics, ...]
    files: tuple[PendingFile, ...] = ()
    committables: tuple[Committable, ...] = ()
