"""Whether state fits the key groups and subtasks that a program gives it, and how many groups other tasks get.

As in Flink it is a matter of each task. Where Flink lets a chain that joins states of different max parallelism fail in
its tasks, or look for keys in the wrong groups (FLINK-40113), it is refused. Cost: linear in operators.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from penstock.job.restore.matches import Matching

Kind = Literal["mismatch", "too few", "mixed"]


@dataclass(frozen=True)
class Planned:
    """An operator of a plan, a :class:`~penstock.job.restore.matches.Taker`."""

    operator_id: str
    name: str
    uid: str | None
    pinned: str | None
    node: int  # of the stream graph
    vertex: int  # index of its vertex
    max_parallelism: int  # set for the operator itself; -1: it was not
    keyed: bool = False  # whether it reads by key


@dataclass(frozen=True)
class Task:
    """A vertex of a plan."""

    name: str  # of the chain
    parallelism: int  # number of subtasks
    max_parallelism: int  # number of key groups
    configured: bool  # whether the program says so


@dataclass(frozen=True)
class Unfit:
    """Why a state cannot continue."""

    kind: Kind  # the program sets another number of groups, or too many subtasks; or the task has several numbers
    operator: Planned  # takes the state
    task: Task  # of the operator
    state_id: str  # under which the state is
    actual: int  # number of key groups of the state
    wanted: int  # number of key groups, or of subtasks, that the program gives it; of a mixed task that of the others
    beside: Planned | None = None  # of a mixed task: has the other number; None: the program sets it
    beside_id: str = ""  # under which the state of that one is; "" without


@dataclass(frozen=True)
class Sizes:
    """The verdict on numbers of key groups."""

    mismatches: list[Unfit] = field(default_factory=list[Unfit])  # in order of states
    misfits: list[Unfit] = field(default_factory=list[Unfit])  # in order of tasks
    wanted: dict[int, int] = field(default_factory=dict[int, int])  # by node, where the program leaves it open


_Held = tuple[Planned, str, int]
"""An operator of a task, the ID under which the state is that it takes, and its number of key groups."""


def sizes_of(
    groups: Mapping[str, int],
    matching: Matching,
    operators: Sequence[Planned],
    tasks: Mapping[int, Task],
    stateless: Collection[str] = (),
) -> Sizes:
    """The verdict on the key groups (number by operator ID) of states that are taken.

    ``stateless``: those of the IDs that have key groups and no state, as savepoints of Flink list them."""
    sizes, chains = Sizes(), dict[int, list[Planned]]()
    by_state = {taken.state_id: taker for taker in operators if (taken := matching.taken.get(taker.operator_id))}
    for state_id, actual in groups.items():
        operator = by_state.get(state_id)
        if operator is None:
            continue
        task, explicit = tasks[operator.vertex], operator.max_parallelism > 0
        wanted = operator.max_parallelism if explicit else task.max_parallelism
        if (explicit or task.configured) and wanted != actual:
            sizes.mismatches.append(Unfit("mismatch", operator, task, state_id, actual, wanted))
    for planned in operators:
        chains.setdefault(planned.vertex, []).append(planned)
    for index, chain in chains.items():
        task = tasks[index]
        taken = ((taker, match.state_id) for taker in chain if (match := matching.taken.get(taker.operator_id)))
        held = [(taker, state_id, groups[state_id]) for taker, state_id in taken if state_id in groups]
        misfits = list(_misfits(task, held, stateless))
        sizes.misfits.extend(misfits)
        if held and not misfits and not task.configured and held[0][2] != task.max_parallelism:
            sizes.wanted.update((operator.node, held[0][2]) for operator in chain if operator.max_parallelism <= 0)
    return sizes


def _misfits(task: Task, held: Sequence[_Held], stateless: Collection[str]) -> Iterator[Unfit]:
    for operator, state_id, actual in held:
        if actual < task.parallelism:
            yield Unfit("too few", operator, task, state_id, actual, task.parallelism)
    held = [entry for entry in held if entry[1] not in stateless]
    if task.configured:  # records come to the subtasks by the groups of the task
        for operator, state_id, actual in held:
            if operator.keyed and operator.max_parallelism > 0 and actual != task.max_parallelism:
                yield Unfit("mixed", operator, task, state_id, actual, task.max_parallelism)
        return
    for operator, state_id, actual in held[1:]:
        first, first_id, wanted = held[0]
        if actual != wanted:
            yield Unfit("mixed", operator, task, state_id, actual, wanted, first, first_id)
