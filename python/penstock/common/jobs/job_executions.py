"""JobExecutions: the ExecutionGraph of a running job with its attempts, as they are at one moment."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from penstock.display import drawn_by

if TYPE_CHECKING:
    from rich.console import Group

    from penstock.display.tables import Shown


class Attempt(Protocol):
    """One attempt at running a subtask: a ``penstock.plan.Execution``."""

    @property
    def id(self) -> str: ...  # ``<vertex id>_<subtask>_<attempt>``

    @property
    def subtask(self) -> int: ...

    @property
    def attempt(self) -> int: ...

    @property
    def state(self) -> str: ...  # an ExecutionState of Flink, such as ``RUNNING``


@dataclass(frozen=True)
class VertexExecutions:
    """The executions of one vertex."""

    job_vertex: int  # its index in the JobGraph
    name: str  # of the chain
    executions: tuple[Attempt, ...]  # the current ones, by subtask
    prior: tuple[tuple[Attempt, ...], ...]  # the last sixteen before, by subtask, the oldest first

    def states(self) -> dict[str, int]:
        """How many subtasks are in each state."""
        return dict(Counter(execution.state for execution in self.executions))


def _draw(executions: JobExecutions, shown: Shown) -> Group:
    """The vertices with the states of their subtasks, then the attempts that failed or were cancelled."""
    from rich.console import Group

    from penstock.display.tables import count, heading

    def states(numbers: dict[str, int]) -> str:
        return ", ".join(f"{number:,} {state}" for state, number in numbers.items())

    vertices = executions.vertices
    rows = ((f"[{v.job_vertex}]", v.name, f"{len(v.executions):,}", states(v.states())) for v in vertices)
    ended = [attempt for v in vertices for attempts in v.prior for attempt in attempts]
    attempts = ((attempt.id, attempt.state) for attempt in ended)
    subtasks = sum(len(vertex.executions) for vertex in vertices)
    return Group(
        heading(f"Executions: {count(subtasks, 'subtask')}, {states(executions.states())}"),
        *shown.table(("vertex", "name", ">subtasks", "states"), rows, len(vertices), "vertices"),
        *shown.table(("attempt before", "state"), attempts, len(ended), "attempts"),
    )


@drawn_by(_draw)
@dataclass(frozen=True, repr=False)
class JobExecutions:
    """The result of ``JobClient.execution_graph()``."""

    graph: Any  # the ``penstock.plan.ExecutionGraph``: subtasks and what connects them
    vertices: tuple[VertexExecutions, ...]  # the executions of its vertices, in its order

    def __repr__(self) -> str:
        states = ", ".join(f"{count} {state}" for state, count in self.states().items())
        return f"JobExecutions({len(self.vertices)} vertices, {states})"

    def states(self) -> dict[str, int]:
        """How many subtasks of the whole job are in each state."""
        return dict(sum((Counter(vertex.states()) for vertex in self.vertices), Counter[str]()))
