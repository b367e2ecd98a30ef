"""What ``penstock run --metrics`` prints after each job, on standard error: the output is the program's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from penstock.cli.render import IDENTITY, borderless, heading, printer
from penstock.common import JobExecutionResult
from penstock.metrics import DistributionValue, OperatorMetrics


def print_metrics(result: JobExecutionResult) -> None:
    """Print records in and out of every operator, then the metrics of the program's own functions, summed over
    subtasks."""
    operators = list(result.metrics.values())
    user = [(each, name, value) for each in operators for name, value in each.user.items()]
    show = printer(err=True)
    show(heading(f'Metrics of job "{result.job_name}", {result.net_runtime_ms:,} ms'), _indented(_counts(operators)))
    if user:
        show(_indented(_user(user)))


def _indented(table: Table) -> Padding:
    return Padding(table, (1, 0, 0, 2))


def _counts(operators: list[OperatorMetrics]) -> Table:
    late = any(each.late_dropped for each in operators)
    table = borderless("operator", ">p", ">in", ">out", *([">late"] if late else []), ">bytes out", "operator ID")
    for each in operators:
        numbers = [len(each.subtasks), each.records_in, each.records_out, *([each.late_dropped] if late else [])]
        numbers.append(each.bytes_out)
        table.add_row(each.name, *(f"{number:,}" for number in numbers), Text(each.operator_id, style=IDENTITY))
    return table


def _user(metrics: Iterable[tuple[OperatorMetrics, str, Any]]) -> Table:
    table = borderless("operator", "metric", "value")
    for operator, name, value in metrics:
        table.add_row(operator.name, name, _text(value))
    return table


def _text(value: Any) -> str:
    if isinstance(value, DistributionValue):
        if not value.count:
            return "no values"
        numbers = {"count": value.count, "min": value.min, "mean": value.mean, "max": value.max, "sum": value.sum}
        return ", ".join(f"{name} {_number(number)}" for name, number in numbers.items())
    if isinstance(value, tuple):
        return "by subtask: " + ", ".join(map(str, value))
    return _number(value)


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"
