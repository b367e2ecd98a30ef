"""What operators have measured: values of one subtask, and their aggregates over the subtasks of a finished job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from penstock.display import drawn_by
from penstock.errors import InvalidProgramError, UnknownNameError


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
    """A meter of one subtask.

    Attributes:
        count: events.
        rate: events per second over the meter's last time span, or over the meter's life if that was shorter.
    """

    count: int
    rate: float


@dataclass(frozen=True)
class DistributionValue:
    """A distribution of one subtask, or of several together.

    Attributes:
        count: values.
        sum, min, max: of the values; of no values 0, None and None.
    """

    count: int = 0
    sum: float = 0
    min: float | None = None
    max: float | None = None

    @property
    def mean(self) -> float | None:
        """``sum / count``; None without values."""
        return self.sum / self.count if self.count else None


MetricValue = CounterValue | GaugeValue | MeterValue | DistributionValue
"""What one subtask tells of one of the user's metrics."""


@dataclass(frozen=True)
class SubtaskMetrics:
    """One operator in one subtask.

    Attributes:
        operator_id: 32 hex digits.
        name: of the operator.
        records_in, records_out: numRecordsIn and numRecordsOut.
        late_dropped: numLateRecordsDropped.
        input_watermark, output_watermark: currentInputWatermark and currentOutputWatermark in milliseconds,
            Long.MIN_VALUE for none; after a bounded input Long.MAX_VALUE, the end of time.
        bytes_in, bytes_out: numBytesIn of the task if the operator is its head, and what the operator itself sends over
            the exchange to other tasks, to each of them; without what Spark adds.
        user: the metrics of the user's function by identifier (``group.name``): a CounterValue, GaugeValue, MeterValue
            or DistributionValue each.
    """

    operator_id: str
    name: str
    records_in: int
    records_out: int
    late_dropped: int
    input_watermark: int
    output_watermark: int
    user: Mapping[str, MetricValue] = field(default_factory=dict[str, MetricValue])
    bytes_in: int = 0
    bytes_out: int = 0


@drawn_by("penstock.metrics.drawing:operator_metrics")
@dataclass(frozen=True, repr=False)
class OperatorMetrics:
    """One operator of a finished job.

    Attributes:
        operator_id: 32 hex digits.
        name: of the operator.
        uid: its uid, if it has one.
        subtasks: by subtask, from 0. Each has finished exactly once, however often Spark tried it.
    """

    operator_id: str
    name: str
    uid: str | None
    subtasks: tuple[SubtaskMetrics, ...]

    def __repr__(self) -> str:
        late = f", {self.late_dropped} late" if self.late_dropped else ""
        records = f"{self.records_in} in, {self.records_out} out{late}"
        return f"OperatorMetrics({self.name!r}, {len(self.subtasks)} subtasks, {records}, id={self.operator_id})"

    @property
    def records_in(self) -> int:
        """numRecordsIn, the sum over the subtasks."""
        return sum(each.records_in for each in self.subtasks)

    @property
    def records_out(self) -> int:
        """numRecordsOut, the sum over the subtasks."""
        return sum(each.records_out for each in self.subtasks)

    @property
    def bytes_in(self) -> int:
        """Bytes received over the exchange, the sum over the subtasks."""
        return sum(each.bytes_in for each in self.subtasks)

    @property
    def bytes_out(self) -> int:
        """Bytes sent over the exchange, the sum over the subtasks."""
        return sum(each.bytes_out for each in self.subtasks)

    @property
    def late_dropped(self) -> int:
        """numLateRecordsDropped, the sum over the subtasks."""
        return sum(each.late_dropped for each in self.subtasks)

    @property
    def input_watermark(self) -> int:
        """currentInputWatermark, the minimum over the subtasks."""
        return min(each.input_watermark for each in self.subtasks)

    @property
    def output_watermark(self) -> int:
        """currentOutputWatermark, the minimum over the subtasks."""
        return min(each.output_watermark for each in self.subtasks)

    @property
    def user(self) -> dict[str, Any]:
        """The aggregates of the user's metrics by identifier (``group.name``), in order of first registration.

        A counter is the sum over the subtasks; a meter the sum of its counts (rates are per subtask only: subtasks need
        not have run at the same time); a distribution is one :class:`DistributionValue` of all values; a gauge is the
        tuple of its values by subtask, with None where a subtask has none, and so is a name that means different kinds
        of metric in different subtasks. Made anew by each access, O(metrics times subtasks).
        """
        return {name: _aggregate([each.user.get(name) for each in self.subtasks]) for name in self._names()}

    def counters(self) -> dict[str, int]:
        """The sums of the user's counters by identifier."""
        values = {name: [each.user.get(name) for each in self.subtasks] for name in self._names()}
        return {name: _aggregate(found) for name, found in values.items() if _kinds(found) == {CounterValue}}

    def _names(self) -> list[str]:
        return list(dict.fromkeys(name for each in self.subtasks for name in each.user))


def _kinds(values: Sequence[Any]) -> set[type]:
    return {type(value) for value in values if value is not None}


def _aggregate(values: Sequence[Any]) -> Any:
    """The aggregate of one metric; a value is None where a subtask does not have it."""
    kinds, found = _kinds(values), [value for value in values if value is not None]
    if kinds <= {CounterValue} or kinds <= {MeterValue}:
        return sum(value.count for value in found)
    if kinds <= {DistributionValue}:
        return together(found)
    return tuple(value.value if isinstance(value, GaugeValue) else value for value in values)


def together(values: Sequence[DistributionValue]) -> DistributionValue:
    """The distribution of all values of several. O(distributions).

    Args:
        values: distributions, of no values too.
    """
    filled = [value for value in values if value.count]
    return DistributionValue(
        sum(value.count for value in filled),
        sum(value.sum for value in filled),
        min((value.min for value in filled), default=None),  # type: ignore[type-var]
        max((value.max for value in filled), default=None),  # type: ignore[type-var]
    )


_NAMED = 8
"""Operators that a ``repr`` of metrics names."""


@drawn_by("penstock.metrics.drawing:job_metrics")
class JobMetrics(Mapping[str, OperatorMetrics]):
    """The operators of a finished job by operator ID, sources first. Look-ups also take a uid, or a name
    that only one operator has.

    Args:
        operators: all of them.
    """

    def __init__(self, operators: Sequence[OperatorMetrics] = ()) -> None:
        self._by_id = {each.operator_id: each for each in operators}
        self._by_alias: dict[str, list[OperatorMetrics]] = {}
        for each in operators:
            for alias in {each.name, each.uid or each.name}:
                self._by_alias.setdefault(alias, []).append(each)

    def __repr__(self) -> str:
        first = islice(self._by_id.values(), _NAMED)
        operators = [f"{each.name!r} {each.records_in} in {each.records_out} out" for each in first]
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
        found = self._by_alias.get(key)
        if found is None:
            raise UnknownNameError(
                f"There are no metrics of an operator {key!r}. Ask by operator ID, uid or name; there are the names "
                f"{sorted({each.name for each in self._by_id.values()})}."
            )
        if len(found) > 1:
            ids = ", ".join(each.operator_id for each in found)
            raise InvalidProgramError(
                f"The name {key!r} is that of {len(found)} operators. Ask by operator ID, one of {ids}."
            )
        return found[0]

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
