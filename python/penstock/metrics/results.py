"""Metrics of operators: values of one subtask, their sums over steps, and aggregates over the subtasks of a job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from penstock.display import drawn_by
from penstock.errors import InvalidProgramError, UnknownNameError

if TYPE_CHECKING:
    from rich.console import Group

    from penstock.display.tables import Shown


@dataclass(frozen=True)
class CounterValue:
    """A counter of one subtask."""

    count: int


@dataclass(frozen=True)
class GaugeValue:
    """A gauge of one subtask, as it was when the subtask's input had ended."""

    value: Any


@dataclass(frozen=True)
class MeterValue:
    """A meter of one subtask."""

    count: int  # events
    rate: float  # events per second over the meter's last time span, or its life if that was shorter


@dataclass(frozen=True)
class DistributionValue:
    """A distribution of one subtask, or of several together."""

    count: int = 0  # values
    sum: float = 0
    min: float | None = None  # None without values
    max: float | None = None

    @property
    def mean(self) -> float | None:
        """``sum / count``; None without values."""
        return self.sum / self.count if self.count else None


MetricValue = CounterValue | GaugeValue | MeterValue | DistributionValue
"""The value of one of the user's metrics in one subtask."""


@dataclass(frozen=True)
class SubtaskMetrics:
    """One operator in one subtask."""

    operator_id: str  # 32 hex digits
    name: str
    records_in: int  # numRecordsIn
    records_out: int  # numRecordsOut
    late_dropped: int  # numLateRecordsDropped
    input_watermark: int  # milliseconds; Long.MIN_VALUE for none, Long.MAX_VALUE after the end of the input
    output_watermark: int  # currentOutputWatermark, likewise
    user: Mapping[str, MetricValue] = field(default_factory=dict[str, MetricValue])  # by identifier (``group.name``)
    bytes_in: int = 0  # numBytesIn of the task, if the operator is its head
    bytes_out: int = 0  # sent over the exchange to each other task, without what Spark adds


@drawn_by(lambda operator, shown: _draw_operator(operator, shown))
@dataclass(frozen=True, repr=False)
class OperatorMetrics:
    """One operator of a finished job."""

    operator_id: str  # 32 hex digits
    name: str
    uid: str | None
    subtasks: tuple[SubtaskMetrics, ...]  # from 0; each has finished exactly once, however often Spark tried it

    def __repr__(self) -> str:
        late = f", {self.late_dropped} late" if self.late_dropped else ""
        records = f"{self.records_in} in, {self.records_out} out{late}"
        return f"OperatorMetrics({self.name!r}, {len(self.subtasks)} subtasks, {records}, id={self.operator_id})"

    @property
    def records_in(self) -> int:
        """numRecordsIn, the sum over the subtasks."""
        return sum(subtask.records_in for subtask in self.subtasks)

    @property
    def records_out(self) -> int:
        """numRecordsOut, the sum over the subtasks."""
        return sum(subtask.records_out for subtask in self.subtasks)

    @property
    def bytes_in(self) -> int:
        """Bytes received over the exchange, the sum over the subtasks."""
        return sum(subtask.bytes_in for subtask in self.subtasks)

    @property
    def bytes_out(self) -> int:
        """Bytes sent over the exchange, the sum over the subtasks."""
        return sum(subtask.bytes_out for subtask in self.subtasks)

    @property
    def late_dropped(self) -> int:
        """numLateRecordsDropped, the sum over the subtasks."""
        return sum(subtask.late_dropped for subtask in self.subtasks)

    @property
    def input_watermark(self) -> int:
        """currentInputWatermark, the minimum over the subtasks."""
        return min(subtask.input_watermark for subtask in self.subtasks)

    @property
    def output_watermark(self) -> int:
        """currentOutputWatermark, the minimum over the subtasks."""
        return min(subtask.output_watermark for subtask in self.subtasks)

    @property
    def user(self) -> dict[str, Any]:
        """The aggregates of the user's metrics by identifier (``group.name``). O(metrics times subtasks).

        Counters and meters are summed, distributions united; a gauge, or a metric of several kinds, is the tuple of its
        values by subtask, None where a subtask has none."""
        return {name: _aggregate([subtask.user.get(name) for subtask in self.subtasks]) for name in self._names()}

    def counters(self) -> dict[str, int]:
        """The sums of the user's counters by identifier."""
        values = {name: [subtask.user.get(name) for subtask in self.subtasks] for name in self._names()}
        return {name: _aggregate(counts) for name, counts in values.items() if _kinds(counts) == {CounterValue}}

    def _names(self) -> list[str]:
        return list(dict.fromkeys(name for subtask in self.subtasks for name in subtask.user))


def _kinds(values: Sequence[Any]) -> set[type]:
    return {type(value) for value in values if value is not None}


def _aggregate(values: Sequence[Any]) -> Any:
    kinds, known = _kinds(values), [value for value in values if value is not None]
    if kinds <= {CounterValue} or kinds <= {MeterValue}:
        return sum(value.count for value in known)
    if kinds <= {DistributionValue}:
        return together(known)
    return tuple(value.value if isinstance(value, GaugeValue) else value for value in values)


def together(values: Sequence[DistributionValue]) -> DistributionValue:
    """The distribution of the values of several, which may be empty. O(distributions)."""
    filled = [value for value in values if value.count]
    return DistributionValue(
        sum(value.count for value in filled),
        sum(value.sum for value in filled),
        min((value.min for value in filled), default=None),  # type: ignore[type-var]
        max((value.max for value in filled), default=None),  # type: ignore[type-var]
    )


_NAMED = 8  # operators that a ``repr`` of metrics names


@drawn_by(lambda metrics, shown: draw_job(metrics, shown))
class JobMetrics(Mapping[str, OperatorMetrics]):
    """The operators of a finished job by operator ID, sources first. Look-ups also take a uid, or a unique name."""

    def __init__(self, operators: Sequence[OperatorMetrics] = ()) -> None:
        self._by_id = {operator.operator_id: operator for operator in operators}
        self._by_alias: dict[str, list[OperatorMetrics]] = {}
        for operator in operators:
            for alias in {operator.name, operator.uid or operator.name}:
                self._by_alias.setdefault(alias, []).append(operator)

    def __repr__(self) -> str:
        first = islice(self._by_id.values(), _NAMED)
        operators = [f"{operator.name!r} {operator.records_in} in {operator.records_out} out" for operator in first]
        rest = [f"{len(self) - _NAMED} more"] if len(self) > _NAMED else []
        return f"JobMetrics({', '.join(operators + rest)})"

    def __getitem__(self, key: str) -> OperatorMetrics:
        """The operator with that operator ID, uid or name.

        Raises:
            UnknownNameError: there is none (a KeyError).
            InvalidProgramError: several have the name.
        """
        if key in self._by_id:
            return self._by_id[key]
        operators = self._by_alias.get(key)
        if operators is None:
            raise UnknownNameError(
                f"There are no metrics of an operator {key!r}. Ask by operator ID, uid or name; there are the names "
                f"{sorted({operator.name for operator in self._by_id.values()})}."
            )
        if len(operators) > 1:
            ids = ", ".join(operator.operator_id for operator in operators)
            raise InvalidProgramError(
                f"The name {key!r} is that of {len(operators)} operators. Ask by operator ID, one of {ids}."
            )
        return operators[0]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_id)

    def __len__(self) -> int:
        return len(self._by_id)

    def counters(self) -> dict[str, int]:
        """The user's counters by identifier, summed over all operators that have one of that name."""
        result: dict[str, int] = {}
        for operator in self._by_id.values():
            for name, count in operator.counters().items():
                result[name] = result.get(name, 0) + count
        return result


def added(before: SubtaskMetrics | None, step: SubtaskMetrics) -> SubtaskMetrics:
    """The metrics of an operator of a subtask after one more step, with watermarks and gauges of the step."""
    return step if before is None else _combined(step, before, 1)


def difference(after: SubtaskMetrics, before: SubtaskMetrics | None) -> SubtaskMetrics:
    """The metrics of an operator since an earlier moment; minimum and maximum are those of the whole time."""
    return after if before is None else _combined(after, before, -1)


def _combined(late: SubtaskMetrics, early: SubtaskMetrics, sign: int) -> SubtaskMetrics:
    return SubtaskMetrics(  # not by dataclasses.replace, which takes three times as long
        late.operator_id,
        late.name,
        late.records_in + sign * early.records_in,
        late.records_out + sign * early.records_out,
        late.late_dropped + sign * early.late_dropped,
        late.input_watermark,
        late.output_watermark,
        _users(late.user, early.user, sign) if late.user or early.user else late.user,
        late.bytes_in + sign * early.bytes_in,
        late.bytes_out + sign * early.bytes_out,
    )


def _users(late: Mapping[str, MetricValue], early: Mapping[str, MetricValue], sign: int) -> dict[str, MetricValue]:
    kept = dict(early) if sign > 0 else {}
    return kept | {name: _user(value, early.get(name), sign) for name, value in late.items()}


def _user(late: MetricValue, early: MetricValue | None, sign: int) -> MetricValue:
    """Two values of one metric combined; a gauge, or a metric of another kind than before, has its late value."""
    if isinstance(late, CounterValue) and isinstance(early, CounterValue):
        return CounterValue(late.count + sign * early.count)
    if isinstance(late, MeterValue) and isinstance(early, MeterValue):
        return MeterValue(late.count + sign * early.count, late.rate)
    if isinstance(late, DistributionValue) and isinstance(early, DistributionValue):
        if sign > 0:
            return together([early, late])
        return DistributionValue(late.count - early.count, late.sum - early.sum, late.min, late.max)
    return late


def draw_job(metrics: JobMetrics, shown: Shown) -> Group:
    """The operators of a job, then the metrics of its functions, summed over subtasks."""
    from rich.console import Group

    from penstock.display.tables import identity

    operators = list(metrics.values())
    late = any(operator.late_dropped for operator in operators)
    columns = ("operator", ">p", ">in", ">out", *([">late"] if late else []), ">bytes out", "operator ID")
    names = ("records_in", "records_out", *(["late_dropped"] if late else []), "bytes_out")
    numbers = ([len(operator.subtasks), *(getattr(operator, name) for name in names)] for operator in operators)
    rows = (
        (operator.name, *map(_number_shown, row), identity(operator.operator_id))
        for operator, row in zip(operators, numbers, strict=True)
    )
    user = [(operator, name, value) for operator in operators for name, value in operator.user.items()]
    of_user = ((operator.name, name, _text_shown(value)) for operator, name, value in user)
    return Group(
        *shown.table(columns, rows, len(operators), "operators"),
        *shown.table(("operator", "metric", "value"), of_user, len(user), "metrics"),
    )


def _draw_operator(operator: OperatorMetrics, shown: Shown) -> Group:
    from rich.console import Group
    from rich.text import Text

    from penstock.display.tables import identity

    head = Text.assemble(f"{operator.name}   ", identity(operator.operator_id))
    columns = ("subtask", ">in", ">out", ">late", ">bytes in", ">bytes out")
    names = ("records_in", "records_out", "late_dropped", "bytes_in", "bytes_out")
    numbers = ([getattr(subtask, name) for name in names] for subtask in operator.subtasks)
    rows = ((str(index), *map(_number_shown, row)) for index, row in enumerate(numbers))
    user = [(name, _text_shown(value)) for name, value in operator.user.items()]
    return Group(
        head,
        *shown.table(columns, rows, len(operator.subtasks), "subtasks"),
        *shown.table(("metric", "value"), user, len(user), "metrics"),
    )


def _text_shown(value: Any) -> str:
    if isinstance(value, DistributionValue):
        if not value.count:
            return "no values"
        numbers = {"count": value.count, "min": value.min, "mean": value.mean, "max": value.max, "sum": value.sum}
        return ", ".join(f"{name} {_number_shown(number)}" for name, number in numbers.items())
    if isinstance(value, tuple):
        return "by subtask: " + ", ".join(map(str, cast("tuple[Any, ...]", value)))
    return _number_shown(value)


def _number_shown(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"
