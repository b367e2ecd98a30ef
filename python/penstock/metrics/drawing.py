"""Metrics as drawings for terminals and notebooks: records in and out of every operator, then the metrics of the
program's own functions, all summed over subtasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from rich.console import Group
from rich.text import Text

from penstock.display.tables import Drawn, Shown, identity
from penstock.metrics.results import DistributionValue, JobMetrics, OperatorMetrics, SubtaskMetrics


def job_metrics(metrics: JobMetrics, shown: Shown) -> Group:
    """The operators of a job, and what its functions have measured."""
    operators = list(metrics.values())
    user = [(each, name, value) for each in operators for name, value in each.user.items()]
    rows = ((operator.name, name, _text(value)) for operator, name, value in user)
    return Group(*_counts(operators, shown), *shown.table(("operator", "metric", "value"), rows, len(user), "metrics"))


def operator_metrics(operator: OperatorMetrics, shown: Shown) -> Group:
    """One operator by subtask, and what its function has measured."""
    head = Text.assemble(f"{operator.name}   ", identity(operator.operator_id))
    columns = ("subtask", ">in", ">out", ">late", ">bytes in", ">bytes out")
    rows = ((str(number), *_numbers(each)) for number, each in enumerate(operator.subtasks))
    user = [(name, _text(value)) for name, value in operator.user.items()]
    return Group(
        head,
        *shown.table(columns, rows, len(operator.subtasks), "subtasks"),
        *shown.table(("metric", "value"), user, len(user), "metrics"),
    )


def _numbers(each: SubtaskMetrics) -> Iterator[str]:
    numbers = each.records_in, each.records_out, each.late_dropped, each.bytes_in, each.bytes_out
    return (f"{number:,}" for number in numbers)


def _counts(operators: Sequence[OperatorMetrics], shown: Shown) -> Drawn:
    late = any(each.late_dropped for each in operators)
    columns = ("operator", ">p", ">in", ">out", *([">late"] if late else []), ">bytes out", "operator ID")
    rows = ((each.name, *_sums(each, late), identity(each.operator_id)) for each in operators)
    return shown.table(columns, rows, len(operators), "operators")


def _sums(each: OperatorMetrics, late: bool) -> Iterator[str]:
    dropped = [each.late_dropped] if late else []
    numbers = [len(each.subtasks), each.records_in, each.records_out, *dropped, each.bytes_out]
    return (f"{number:,}" for number in numbers)


def _text(value: Any) -> str:
    if isinstance(value, DistributionValue):
        if not value.count:
            return "no values"
        numbers = {"count": value.count, "min": value.min, "mean": value.mean, "max": value.max, "sum": value.sum}
        return ", ".join(f"{name} {_number(number)}" for name, number in numbers.items())
    if isinstance(value, tuple):
        return "by subtask: " + ", ".join(map(str, cast("tuple[Any, ...]", value)))
    return _number(value)


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"
