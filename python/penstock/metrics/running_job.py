"""The metrics of a running job at one moment, as plain data and as a drawing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from penstock.display import drawn_by
from penstock.metrics.results import JobMetrics, OperatorMetrics

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.text import Text

    from penstock.display.tables import Shown

NO_WATERMARK = -(2**63)  # the watermark of an operator before the first one
END_OF_TIME = 2**63 - 1  # the watermark after the end of the input
_LONGEST_LAG_MS = 10 * 365 * 86_400_000


@dataclass(frozen=True)
class StateSize:
    """Keyed and operator state of one subtask, or of several together."""

    keys: int = 0  # a key counts once for each namespace, such as a window
    bytes: int = 0  # of the files that the newest version names

    def __add__(self, other: StateSize) -> StateSize:
        return StateSize(self.keys + other.keys, self.bytes + other.bytes)


@dataclass(frozen=True)
class SourceProgress:
    """How far a source has got."""

    splits: int = 0  # that it reads, without those read to their end
    records_behind: int | None = None  # what there is and was not read yet; None if unknown


@dataclass(frozen=True)
class RunningOperator:
    """One operator of a running job."""

    metrics: OperatorMetrics  # since the job was started
    in_rate: float  # records per second over the last ten seconds
    out_rate: float
    state: StateSize
    source: SourceProgress | None  # if it is a source that tells
    time: int  # of all this, in milliseconds since the epoch

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
        """Its least output watermark in milliseconds; None before the first one and after the last."""
        watermark = self.metrics.output_watermark if self.metrics.subtasks else NO_WATERMARK
        return None if watermark in (NO_WATERMARK, END_OF_TIME) else watermark

    @property
    def watermark_lag_ms(self) -> int | None:
        """By how much its watermark is behind the clock, as :func:`lag` says; None without a watermark."""
        watermark = self.watermark
        return None if watermark is None else lag(self.time, watermark)


def lag(now: int, watermark: int) -> int | None:
    """A watermark's lag behind the clock in milliseconds; None above ten years: then timestamps are other numbers."""
    behind = now - watermark
    return behind if abs(behind) <= _LONGEST_LAG_MS else None


@dataclass(frozen=True)
class RunningTask:
    """One subtask of a chain."""

    state: str  # of its current execution, an ExecutionState of Flink
    attempt: int  # number of that execution, from 0
    busy: float  # share of the last ten seconds in which it worked, from 0 to 1


@dataclass(frozen=True)
class RunningVertex:
    """One chain of operators."""

    name: str
    operators: tuple[str, ...]  # ids, the head first
    tasks: tuple[RunningTask, ...]  # by subtask

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
    """The subtask that works most of all: what it takes, the job takes."""

    task: str  # as in Flink: ``Map -> Sink: Out (2/7)``
    operators: tuple[str, ...]  # ids of the operators of its chain
    subtask: int  # from 0
    busy: float  # share of the last ten seconds in which it worked, from 0 to 1
    skew: float  # how much more than the average subtask of its chain it works; 1 for as much


@dataclass(frozen=True)
class StepTimes:
    """How long the last hundred steps took, in milliseconds."""

    median_ms: float = 0
    p99_ms: float = 0
    # by part: ``plan``, ``run``, ``state``, ``manifest``, ``publish``
    parts: Mapping[str, float] = field(default_factory=dict[str, float])
    last_ms: float = 0  # of the last one that was a checkpoint


@drawn_by(lambda metrics, shown: running_metrics(metrics, shown))
@dataclass(frozen=True, repr=False, eq=False)
class RunningMetrics(Mapping[str, RunningOperator]):
    """A running job at one moment: its operators by operator ID, uid or unique name, sources first."""

    job_name: str
    status: str  # such as ``RUNNING``
    seconds: float  # since it was started
    version: int  # the newest, which is how many checkpoints there were; 0 for none yet
    failed_steps: int  # since it was started
    step: StepTimes
    vertices: tuple[RunningVertex, ...]  # the chains, in order of their levels
    operators: Mapping[str, RunningOperator]  # by operator ID, sources first
    sources: tuple[str, ...]  # ids
    sinks: tuple[str, ...]  # ids
    waits_for: str = ""  # why its numbers do not move now; "" while they do
    steps_since: int = 0  # the newest version; durable with the next checkpoint only

    def __repr__(self) -> str:
        rates = f"{self.in_rate:,.0f} records/s in, {self.out_rate:,.0f} out"
        return f"RunningMetrics({self.job_name!r}, {self.status}, version {self.version}, {rates})"

    def __getitem__(self, key: str) -> RunningOperator:
        """The operator with that operator ID, uid or name.

        Raises:
            UnknownNameError: there is none (a KeyError).
            InvalidProgramError: several have the name.
        """
        operator = self.operators.get(key)
        if operator is None:
            known = JobMetrics([operator.metrics for operator in self.operators.values()])
            operator = self.operators[known[key].operator_id]
        return operator

    def __iter__(self) -> Iterator[str]:
        return iter(self.operators)

    def __len__(self) -> int:
        return len(self.operators)

    @property
    def in_rate(self) -> float:
        """Records per second that all sources emit."""
        return sum(self.operators[source].out_rate for source in self.sources)

    @property
    def out_rate(self) -> float:
        """Records per second that all sinks read."""
        return sum(self.operators[sink].in_rate for sink in self.sinks)

    @property
    def records_behind(self) -> int | None:
        """The number of records that are not read yet, of all sources that know; None if none does."""
        sources = [operator.source for operator in self.operators.values() if operator.source is not None]
        known = [source.records_behind for source in sources if source.records_behind is not None]
        return sum(known) if known else None

    @property
    def bottleneck(self) -> Bottleneck | None:
        """The subtask that works most; None while none has worked. O(subtasks)."""
        vertex = max(self.vertices, key=lambda vertex: vertex.busy, default=None)
        if vertex is None or vertex.busy <= 0:
            return None
        subtask = vertex.busiest
        name = f"{vertex.name} ({subtask + 1}/{len(vertex.tasks)})"
        mean = sum(task.busy for task in vertex.tasks) / len(vertex.tasks)
        return Bottleneck(name, vertex.operators, subtask, vertex.busy, vertex.busy / mean)


Cells = list["str | Text"]
_COLUMNS = ("operator", "tasks", ">in/s", ">out/s", ">records", ">late", ">lag", ">keys", ">state", "busy")
_FIRST_TO_GO = (">keys", ">records", ">late", ">in/s", ">state")  # columns that a narrow terminal does without
_NAME = 24  # characters that an operator's name has at least
_BAR = 5
_BUSY = 0.5  # from this share on the busiest subtask is named
_UNITS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"))


def running_metrics(metrics: RunningMetrics, shown: Shown) -> Group:
    """The whole job: two lines, its operators by chain, and the busiest subtask."""
    from rich.console import Group
    from rich.text import Text

    from penstock.display.tables import NO, QUIET

    parts: list[RenderableType] = [_head(metrics)]
    if metrics.waits_for:
        parts.append(Text(f"waits for {metrics.waits_for}", style=QUIET))
    if metrics.version or metrics.failed_steps or metrics.steps_since:
        parts.append(_steps(metrics))
    rows = [row for vertex in metrics.vertices for row in _chain(vertex, metrics)]
    parts += shown.table(*_needed(rows, shown.width), len(rows), "operators")
    slow = metrics.bottleneck
    if slow is not None and slow.busy >= _BUSY:
        skew = f", {slow.skew:.1f} × the average of its subtasks" if slow.skew >= 1.2 else ""
        parts += [Text(""), Text(f"busiest: {slow.task}, {slow.busy:.0%} of the time{skew}", style=NO)]
    return Group(*parts)


def _needed(rows: list[Cells], width: int) -> tuple[list[str], list[Cells]]:
    """Columns and rows without empty columns, and without those that do not fit."""
    taken = [
        max([len(name.lstrip(">")), *(len(row[index]) for row in rows)]) + 2 for index, name in enumerate(_COLUMNS)
    ]
    used = [index for index in range(len(_COLUMNS)) if any(len(row[index]) for row in rows)]
    for name in _FIRST_TO_GO:
        if _NAME + 2 + sum(taken[index] for index in used[1:]) <= width:
            break
        used = [index for index in used if _COLUMNS[index] != name]
    return [_COLUMNS[index] for index in used], [[row[index] for index in used] for row in rows]


def _head(metrics: RunningMetrics) -> Text:
    from rich.text import Text

    from penstock.display.tables import NO, TITLE, YES

    behind = metrics.records_behind
    waiting = "" if behind is None else f", {behind:,} behind"
    status = (metrics.status, YES if metrics.status in ("RUNNING", "FINISHED") else NO)
    rates = f"{_rate(metrics.in_rate)} records/s in, {_rate(metrics.out_rate)} out{waiting}"
    head = (f'Job "{metrics.job_name}"', TITLE)
    return Text.assemble(head, " · ", status, f" · {_clock(metrics.seconds)} · {rates}")


def _steps(metrics: RunningMetrics) -> Text:
    from rich.text import Text

    from penstock.display.tables import QUIET

    step = metrics.step
    parts = ", ".join(f"{name} {_number(value)}" for name, value in step.parts.items())
    failed = f", {metrics.failed_steps:,} failed" if metrics.failed_steps else ""
    times = f"step {_number(step.median_ms)} ms median, {_number(step.p99_ms)} ms p99"
    since = f" and {metrics.steps_since:,} steps" if metrics.steps_since else ""
    return Text(f"version {metrics.version:,}{since}{failed} · {times}{f': {parts}' if parts else ''}", style=QUIET)


def _chain(vertex: RunningVertex, metrics: RunningMetrics) -> Iterator[Cells]:
    for position, operator_id in enumerate(vertex.operators):
        operator = metrics.operators[operator_id]
        head = position == 0
        name = operator.name if head else f"→ {operator.name}"
        tasks, bar = (_tasks(vertex.tasks), _bar(vertex.busy)) if head else ("", "")
        records = operator.metrics.records_in or operator.metrics.records_out
        counts = map(_short, (operator.in_rate, operator.out_rate, records))
        late = _short(operator.metrics.late_dropped) if operator.metrics.late_dropped else ""
        kept = operator.state.keys or operator.state.bytes
        state = (_short(operator.state.keys), _bytes(operator.state.bytes)) if kept else ("", "")
        yield [name, tasks, *counts, late, _lag(operator.watermark_lag_ms), *state, bar]


def _tasks(tasks: tuple[RunningTask, ...]) -> Text:
    """Such as ``2/4 done``, ``4 running`` or ``1/4 failed``."""
    from rich.text import Text

    from penstock.display.tables import NO, YES

    states = [task.state for task in tasks]
    done, running = states.count("FINISHED"), states.count("RUNNING")
    ill = sorted({state for state in states if state in ("FAILED", "CANCELED", "CANCELING")})
    retried = sum(task.attempt for task in tasks)
    again = f" ↻{retried}" if retried else ""
    if ill:
        return Text(f"{states.count(ill[-1])}/{len(states)} {ill[-1].lower()}{again}", style=NO)
    if done or not running:
        return Text(f"{done}/{len(states)} done{again}", style=YES if done == len(states) else "")
    return Text(f"{running}/{len(states)} running{again}")


def _bar(busy: float) -> Text:
    from rich.text import Text

    from penstock.display.tables import NO, QUIET, YES

    full = round(busy * _BAR)
    text = Text("█" * full, style=NO if busy >= 0.9 else YES)
    return text.append("░" * (_BAR - full), style=QUIET).append(f" {busy:4.0%}")


def _lag(milliseconds: int | None) -> str:
    if milliseconds is None:
        return ""
    for factor, unit in _UNITS:
        if abs(milliseconds) >= factor:
            return f"{milliseconds / factor:,.1f} {unit}"
    return f"{milliseconds} ms"


def _bytes(number: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if number < 1024:
            return f"{number:,.0f} {unit}" if unit == "B" else f"{number:,.1f} {unit}"
        number /= 1024
    return f"{number:,.1f} TiB"


def _short(number: float) -> str:
    """In five characters, or six."""
    for factor, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k")):
        if number >= factor:
            scaled = number / (1e3 if unit == "k" else factor)
            return f"{scaled:.{2 if scaled < 10 else 1 if scaled < 100 else 0}f} {unit}"
    return f"{number:,}" if isinstance(number, int) else _rate(number)


def _rate(per_second: float) -> str:
    return f"{per_second:,.0f}" if per_second >= 10 or per_second == 0 else f"{per_second:,.1f}"


def _number(milliseconds: float) -> str:
    return f"{milliseconds:,.0f}" if milliseconds >= 10 else f"{milliseconds:.1f}"


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}"


def line(metrics: RunningMetrics) -> str:
    """The job in one line, for a log."""
    slow = metrics.bottleneck
    busiest = f", busiest {slow.task} {slow.busy:.0%}" if slow is not None and slow.busy >= _BUSY else ""
    step = f", step {_number(metrics.step.median_ms)} ms" if metrics.version else ""
    waits = f", waits for {metrics.waits_for}" if metrics.waits_for else ""
    return f"{_head(metrics).plain}, version {metrics.version:,}{step}{busiest}{waits}"
