"""A manifest as the tasks of a changed program need it: under its operators' IDs, for its numbers of subtasks.

What is kept: state, positions and ended splits of sources, rows on their way in loops, totals of counters. What tasks
hand to themselves beside that, watermarks above all, is forgotten. A task that had ended runs, and ends, once more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from penstock.job.folder.manifest import SourceState, StepManifest, TaskState, pushed
from penstock.job.restore import refusals
from penstock.job.restore.matches import Matching, fits, match, rows_in
from penstock.runtime.buffers.codec import dumps
from penstock.runtime.buffers.row import Row
from penstock.runtime.config.tasks import VertexConfig
from penstock.runtime.exchange.gate import ENDED

Fold = Callable[[Sequence[Mapping[str, Any]]], Mapping[str, Any]]  # makes one of the totals of several subtasks


def adapt(
    manifest: StepManifest, vertices: Sequence[VertexConfig], plan: str, fold: Fold, *, allow: bool = False
) -> tuple[StepManifest, Matching]:
    """The manifest for a changed program, and what each of its operators has taken."""
    manifest = manifest.filled()
    operators = [operator for vertex in vertices for operator in vertex.operators]
    matching = match(manifest, operators)
    if matching.left and not allow:
        raise refusals.unclaimed(manifest, matching.left)
    state_ids = {new: taken.state_id for new, taken in matching.taken.items()}
    states = {new: manifest.operators[old] for new, old in state_ids.items() if old in manifest.operators}
    for operator in operators:
        state = states.get(operator.operator_id)
        if state is not None and state.max_parallelism != operator.max_parallelism:
            who = refusals.name_of(manifest, state_ids[operator.operator_id])
            raise refusals.mismatch(who, state.max_parallelism, operator.max_parallelism)
    new = replace(
        manifest,
        plan=plan,
        operators=states,
        sources=dict(_sources(manifest, vertices, state_ids)),
        tasks={vertex.operators[0].operator_id: tuple(_tasks(manifest, vertex, state_ids)) for vertex in vertices},
        counters=dict(_counters(manifest, vertices, state_ids, fold)),
    )
    return new, matching


def _sources(
    manifest: StepManifest, vertices: Iterable[VertexConfig], state_ids: Mapping[str, str]
) -> Iterator[tuple[str, SourceState]]:
    for vertex in vertices:
        head = vertex.operators[0].operator_id
        state_id = state_ids.get(head, head)
        source = manifest.sources.get(state_id)
        if source is not None and not vertex.inputs and fits(source, vertex.operators[0]):
            asked = source.asked or len(manifest.tasks.get(state_id, ())) or len(source.positions)
            yield head, _source(source, vertex.parallelism, asked, len(manifest.tasks.get(state_id, ())) or asked)


def _source(source: SourceState, parallelism: int, asked: int, before: int) -> SourceState:
    """The state of a source for its subtasks. At another parallelism a function that pushes starts over."""
    if parallelism == before:
        return replace(source, asked=asked)
    dealt = enumerate(sorted(source.positions))
    positions = {name: [i % parallelism, *source.positions[name][1:]] for i, name in dealt}
    kept = {name: at for name, at in positions.items() if not pushed(name, at)}
    return replace(source, positions=kept, asked=asked)


def _tasks(manifest: StepManifest, vertex: VertexConfig, state_ids: Mapping[str, str]) -> Iterator[TaskState]:
    """The task states of a vertex: empty, but at the head of a loop the rows that wait there."""
    head = vertex.operators[0].operator_id
    old = manifest.tasks.get(state_ids.get(head, head), ())
    waiting = [[Row._make(row) for row in rows_in(task)] for task in old]
    if not (vertex.inputs and vertex.level == 0 and any(waiting)):
        yield from (TaskState() for _ in range(vertex.parallelism))
        return
    for subtask, rows in enumerate(_dealt(waiting, vertex.parallelism)):
        edge = vertex.inputs[0].edge
        renumbered = [
            Row(vertex.level, vertex.offset + subtask, edge, subtask, number, row.data)
            for number, row in enumerate(rows)
        ]
        yield TaskState(dumps((b"", [tuple(row) for row in renumbered]))) if renumbered else TaskState()


def _dealt(waiting: Sequence[Sequence[Row]], parallelism: int) -> list[list[Row]]:
    """Rows for each subtask: its own where there are as many as before, else in turn."""
    kept = [[row for row in rows if row.data != ENDED] for rows in waiting]
    if len(kept) == parallelism:
        return kept
    together = [row for rows in kept for row in rows]
    return [together[subtask::parallelism] for subtask in range(parallelism)]


def _counters(
    manifest: StepManifest, vertices: Iterable[VertexConfig], state_ids: Mapping[str, str], fold: Fold
) -> Iterator[tuple[str, tuple[Mapping[str, Any], ...]]]:
    """Totals: those of subtasks that are no more are added to those that are."""
    for vertex in vertices:
        for operator in vertex.operators:
            known = manifest.counters.get(state_ids.get(operator.operator_id, operator.operator_id), ())
            count = min(len(known), vertex.parallelism)
            if count:
                yield operator.operator_id, tuple(fold(known[subtask::count]) for subtask in range(count))
