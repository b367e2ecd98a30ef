"""What a running job tells of itself: plain data, as it was at one moment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from penstock.display import drawn_by
from penstock.metrics.results import JobMetrics, OperatorMetrics

NO_WATERMARK = -(2**63)
"""Of an operator that has seen none."""
END_OF_TIME = 2**63 - 1
"""The watermark of what has ended."""


@dataclass(frozen=True)
class StateSize:
    """Keyed and operator state of one subtask, or of several together.

    Attributes:
        keys: that have state; a key counts once for each namespace, such as a window.
        bytes: of the files that the newest version names.
    """

    keys: int = 0
    bytes: int = 0

    def __add__(self, other: StateSize) -> StateSize:
        return StateSize(self.keys + other.keys, self.bytes + other.bytes)


@dataclass(frozen=True)
class SourceProgress:
    """How far a source has got.

    Attributes:
        splits: that it reads; those that were read to their end are not among them.
        records_behind: what there is and was not read yet; None if the source cannot know.
    """

    splits: int = 0
    records_behind: int | None = None


@dataclass(frozen=True)
class RunningOperator:
    """One operator of a running job.

    Attributes:
        metrics: what it has counted since the job was started, by subtask.
        in_rate, out_rate: records per second that it reads and emits, over the last ten seconds.
        state: of all subtasks.
        source: how far it has got, if it is a source that tells.
        time: milliseconds since the epoch when all this was true.
    """

    metrics: OperatorMetrics
    in_rate: float
    out_rate: float
    state: StateSize
    source: SourceProgress | None
    time: int

    @property
    def operator_id(self) -> str:
        """32 hex digits."""
        return self.metrics.operator_id

    @property
    def name(self) -> str:
        """As the program, or Flink, names it."""
        return self.metrics.name

    @property
    def uid(self) -> str | None:
        """Its uid, if it has one."""
        return self.metrics.uid

    @property
    def watermark(self) -> int | None:
        """Its output watermark in milliseconds, the least of its subtasks; None before the first one and after the
        last."""
        found = self.metrics.output_watermark if self.metrics.subtasks else NO_WATERMARK
        return None if found in (NO_WATERMARK, END_OF_TIME) else found

    @property
    def watermark_lag_ms(self) -> int | None:
        """By how much its watermark is behind the clock; None without a watermark."""
        watermark = self.watermark
        return None if watermark is None else self.time - watermark


@dataclass(frozen=True)
class RunningTask:
    """One subtask of a chain.

    Attributes:
        state: of its current execution, an ExecutionState of Flink.
        attempt: number of that execution, from 0.
        busy: share of the last ten seconds in which it worked, from 0 to 1.
    """

    state: str
    attempt: int
    busy: float


@dataclass(frozen=True)
class RunningVertex:
    """One chain of operators.

    Attributes:
        name: of the chain.
        operators: ids of its operators, the head first.
        tasks: by subtask.
    """

    name: str
    operators: tuple[str, ...]
    tasks: tuple[RunningTask, ...]

    @property
    def busiest(self) -> int:
        """The subtask that works most."""
        return max(range(len(self.tasks)), key=lambda subtask: self.tasks[subtask].busy)

    @property
    def busy(self) -> float:
        """The share of its busiest subtask."""
        return self.tasks[self.busiest].busy


@dataclass(frozen=True)
class Bottleneck:
    """The subtask that works most of all: what it takes, the job takes.

    Attributes:
        task: its name with its number, as in Flink: ``Map -> Sink: Out (2/7)``.
        operators: ids of the operators of its chain.
        subtask: from 0.
        busy: the share of the last ten seconds in which it worked, from 0 to 1.
        skew: how much more than the average subtask of its chain it works; 1 for as much.
    """

    task: str
    operators: tuple[str, ...]
    subtask: int
    busy: float
    skew: float


@dataclass(frozen=True)
class StepTimes:
    """How long steps take, of the last hundred.

    Attributes:
        median_ms, p99_ms: of a whole step.
        parts: medians in milliseconds, by part: ``plan``, ``run``, ``state``, ``manifest``, ``publish``.
        last_ms: of the last one.
    """

    median_ms: float = 0
    p99_ms: float = 0
    parts: Mapping[str, float] = field(default_factory=dict[str, float])
    last_ms: float = 0


@drawn_by("penstock.metrics.running_drawing:running_metrics")
@dataclass(frozen=True, repr=False, eq=False)
class RunningMetrics(Mapping[str, RunningOperator]):
    """A running job at one moment: its operators by operator ID, sources first, and the job as a whole. Look-ups also
    take a uid, or a name that only one operator has.

    Attributes:
        job_name: the name given to ``execute()``.
        status: how far the job is, such as ``RUNNING``.
        seconds: since it was started.
        version: the newest version of the job, which is how many steps were committed; 0 for none yet.
        failed_steps: since it was started.
        step: how long steps take.
        vertices: the chains, in order of their levels.
        operators: by operator ID, sources first.
        sources, sinks: the ids of those where records come from, and where they go.
    """

    job_name: str
    status: str
    seconds: float
    version: int
    failed_steps: int
    step: StepTimes
    vertices: tuple[RunningVertex, ...]
    operators: Mapping[str, RunningOperator]
    sources: tuple[str, ...]
    sinks: tuple[str, ...]

    def __repr__(self) -> str:
        rates = f"{self.in_rate:,.0f} records/s in, {self.out_rate:,.0f} out"
        return f"RunningMetrics({self.job_name!r}, {self.status}, version {self.version}, {rates})"

    def __getitem__(self, key: str) -> RunningOperator:
        """The operator with that operator ID, uid or name.

        Raises:
            UnknownNameError: there is none (a KeyError).
            InvalidProgramError: several have the name.
        """
        found = self.operators.get(key)
        if found is None:
            known = JobMetrics([each.metrics for each in self.operators.values()])
            found = self.operators[known[key].operator_id]
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self.operators)

    def __len__(self) -> int:
        return len(self.operators)

    @property
    def in_rate(self) -> float:
        """Records per second that all sources emit."""
        return sum(self.operators[each].out_rate for each in self.sources)

    @property
    def out_rate(self) -> float:
        """Records per second that all sinks read."""
        return sum(self.operators[each].in_rate for each in self.sinks)

    @property
    def records_behind(self) -> int | None:
        """What there is and was not read yet, of all sources that know; None if none does."""
        found = [each.source.records_behind for each in self.operators.values() if each.source is not None]
        known = [each for each in found if each is not None]
        return sum(known) if known else None

    @property
    def bottleneck(self) -> Bottleneck | None:
        """The subtask that works most; None while none has worked. O(subtasks)."""
        vertex = max(self.vertices, key=lambda each: each.busy, default=None)
        if vertex is None or vertex.busy <= 0:
            return None
        subtask = vertex.busiest
        name = f"{vertex.name} ({subtask + 1}/{len(vertex.tasks)})"
        mean = sum(task.busy for task in vertex.tasks) / len(vertex.tasks)
        return Bottleneck(name, vertex.operators, subtask, vertex.busy, vertex.busy / mean)
