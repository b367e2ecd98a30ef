"""A running job as a drawing for terminals and notebooks: the job in two lines, its operators by chain, and who is
busiest. The live view of ``penstock run`` is this, drawn again and again."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from penstock.display.tables import NO, QUIET, TITLE, YES, Shown
from penstock.metrics.running import RunningMetrics, RunningOperator, RunningTask, RunningVertex

Cells = list["str | Text"]
_COLUMNS = ("operator", "tasks", ">in/s", ">out/s", ">records", ">late", ">lag", ">keys", ">state", "busy")
_FIRST_TO_GO = (">keys", ">records", ">late", ">in/s", ">state")
"""Columns that a narrow terminal does without."""
_NAME = 24
"""Characters that an operator's name has at least."""
_BAR = 5
_BUSY = 0.5
"""From this share on the busiest subtask is named."""
_UNITS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"))


def running_metrics(metrics: RunningMetrics, shown: Shown) -> Group:
    """The whole job. What an operator has read stands in its line, or what a source has emitted.

    Args:
        metrics: what is known of it.
        shown: how many operators are, and how wide; a narrow terminal shows fewer columns.
    """
    parts: list[RenderableType] = [_head(metrics)]
    if metrics.version or metrics.failed_steps:
        parts.append(_steps(metrics))
    rows = [row for vertex in metrics.vertices for row in _chain(vertex, metrics)]
    parts += shown.table(*_needed(rows, shown.width), len(rows), "operators")
    slow = metrics.bottleneck
    if slow is not None and slow.busy >= _BUSY:
        skew = f", {slow.skew:.1f} × the average of its subtasks" if slow.skew >= 1.2 else ""
        parts += [Text(""), Text(f"busiest: {slow.task}, {slow.busy:.0%} of the time{skew}", style=NO)]
    return Group(*parts)


def _needed(rows: list[Cells], width: int) -> tuple[list[str], list[Cells]]:
    """Without the columns in which nothing stands, as a job has no watermarks, or no state, and those for which there
    is no room."""
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
    behind = metrics.records_behind
    waiting = "" if behind is None else f", {behind:,} behind"
    status = (metrics.status, YES if metrics.status in ("RUNNING", "FINISHED") else NO)
    rates = f"{_rate(metrics.in_rate)} records/s in, {_rate(metrics.out_rate)} out{waiting}"
    head = (f'Job "{metrics.job_name}"', TITLE)
    return Text.assemble(head, " · ", status, f" · {_clock(metrics.seconds)} · {rates}")


def _steps(metrics: RunningMetrics) -> Text:
    step = metrics.step
    parts = ", ".join(f"{name} {_number(value)}" for name, value in step.parts.items())
    failed = f", {metrics.failed_steps:,} failed" if metrics.failed_steps else ""
    times = f"step {_number(step.median_ms)} ms median, {_number(step.p99_ms)} ms p99"
    return Text(f"version {metrics.version:,}{failed} · {times}{f': {parts}' if parts else ''}", style=QUIET)


def _chain(vertex: RunningVertex, metrics: RunningMetrics) -> Iterator[Cells]:
    for position, operator_id in enumerate(vertex.operators):
        each = metrics.operators[operator_id]
        head = position == 0
        name = each.name if head else f"→ {each.name}"
        tasks, bar = (_tasks(vertex.tasks), _bar(vertex.busy)) if head else ("", "")
        yield [name, tasks, *_counts(each), _lag(each.watermark_lag_ms), *_state(each), bar]


def _counts(each: RunningOperator) -> Iterator[str]:
    found = each.metrics
    yield from map(_short, (each.in_rate, each.out_rate, found.records_in or found.records_out))
    yield _short(found.late_dropped) if found.late_dropped else ""


def _tasks(tasks: tuple[RunningTask, ...]) -> Text:
    """Such as ``2/4 done`` or ``4 running``; what has failed or was cancelled is said."""
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
    full = round(busy * _BAR)
    text = Text("█" * full, style=NO if busy >= 0.9 else YES)
    return text.append("░" * (_BAR - full), style=QUIET).append(f" {busy:4.0%}")


def _state(each: RunningOperator) -> tuple[str, str]:
    return (_short(each.state.keys), _bytes(each.state.bytes)) if each.state.keys or each.state.bytes else ("", "")


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
    """The job in one line, for a log.

    Args:
        metrics: of the job.
    """
    slow = metrics.bottleneck
    busiest = f", busiest {slow.task} {slow.busy:.0%}" if slow is not None and slow.busy >= _BUSY else ""
    step = f", step {_number(metrics.step.median_ms)} ms" if metrics.version else ""
    return f"{_head(metrics).plain}, version {metrics.version:,}{step}{busiest}"
