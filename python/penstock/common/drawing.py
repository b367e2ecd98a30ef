"""A job's result, and the executions of one that runs, as drawings for terminals and notebooks."""

from __future__ import annotations

from rich.console import Group

from penstock.common.job import JobExecutionResult
from penstock.common.job_executions import JobExecutions
from penstock.display.tables import Shown, count, heading
from penstock.metrics.drawing import job_metrics


def job_result(result: JobExecutionResult, shown: Shown) -> Group:
    """The job in a line, and its metrics."""
    return Group(heading(f'Job "{result.job_name}": {result.summary()}'), job_metrics(result.metrics, shown))


def job_executions(executions: JobExecutions, shown: Shown) -> Group:
    """The vertices with the states of their subtasks, then the attempts that have failed or were cancelled."""
    vertices = executions.vertices
    rows = ((f"[{v.job_vertex}]", v.name, f"{len(v.executions):,}", _states(v.states())) for v in vertices)
    ended = [each for v in vertices for attempts in v.prior for each in attempts]
    attempts = ((each.id, each.state) for each in ended)
    subtasks = sum(len(vertex.executions) for vertex in vertices)
    return Group(
        heading(f"Executions: {count(subtasks, 'subtask')}, {_states(executions.states())}"),
        *shown.table(("vertex", "name", ">subtasks", "states"), rows, len(vertices), "vertices"),
        *shown.table(("attempt before", "state"), attempts, len(ended), "attempts"),
    )


def _states(states: dict[str, int]) -> str:
    return ", ".join(f"{number:,} {state}" for state, number in states.items())
