"""From the reports of a step to the next checkpoint of a job, and back from a checkpoint to what its tasks are
given."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from penstock.errors import PenstockError
from penstock.job.deployment import Deployment, deploy
from penstock.job.folder.manifest import OperatorState, SourceState, StepManifest, TaskState
from penstock.job.folder.read_splits import EndedSplits
from penstock.job.restore.adapted_manifest import adapt
from penstock.job.restore.carried import for_beginning
from penstock.job.restore.matches import Matching
from penstock.job.restore.taking_over import fit_to_state
from penstock.job.savepoint.format import StoredSavepoint
from penstock.job.steps.counts import StepSummary
from penstock.job.steps.source_plans import SourcePlan, now_millis
from penstock.job.steps.stopwatch import Stopwatch
from penstock.metrics.results import CounterValue, SubtaskMetrics, added
from penstock.metrics.running_job import StateSize
from penstock.runtime.buffers.codec import decode_value, dumps
from penstock.runtime.buffers.row import Row
from penstock.runtime.buffers.signals import MIN_WATERMARK
from penstock.runtime.config.steps import Assignment, BySender, Reading, StepReport
from penstock.runtime.config.tasks import OperatorConfig, VertexConfig

if TYPE_CHECKING:
    from penstock.plan import Pipeline

Place = tuple[int, int]  # A vertex, by index, and a subtask
_FIRST = MIN_WATERMARK, True  # the status of a channel without a signal
_NUMBERS = [field.name for field in fields(SubtaskMetrics) if field.name not in ("operator_id", "name", "user")]


def digest_of(deployment: Deployment) -> str:
    """A text that differs for plans whose tasks cannot take each other's place. O(operators + edges)."""
    shape = [
        (
            v.parallelism,
            v.max_parallelism,
            [(o.operator_id, o.hands_over, [(n.side_tag, n.partitioner) for n in o.network]) for o in v.operators],
            [(e.edge, e.senders) for e in v.inputs],
        )
        for v in deployment.vertices
    ]
    return hashlib.sha256(json.dumps(shape).encode("ascii")).hexdigest()


def key_of(vertex: VertexConfig) -> str:
    """By which a vertex is named in a manifest: the ID of its first operator."""
    return vertex.operators[0].operator_id


class Version:
    """A version of a job as its next step needs it. ``matching``: who has taken which state of another plan, if so."""

    def __init__(self, deployment: Deployment, manifest: StepManifest | None) -> None:
        self._deployment = deployment
        self._senders = {
            to.edge: vertex.index
            for vertex in deployment.vertices
            for operator in vertex.operators
            for output in operator.network
            for to in output.destinations
        }
        self.plan = digest_of(deployment)
        self.before = self.manifest = manifest or StepManifest(0, deployment.job.name, deployment.job.job_id, 0)
        self.matching: Matching | None = None
        if not (self.manifest.is_nothing or self.manifest.plan == self.plan):
            allow = deployment.job.settings.ignore_unclaimed
            self.manifest, self.matching = adapt(self.before, deployment.vertices, self.plan, _folded, allow=allow)
        self._tasks: dict[Place, tuple[bytes, tuple[Row, ...]]] = {}
        self._statuses: dict[Place, Mapping[int, tuple[int, bool]]] = {}
        self.finished: set[Place] = set()
        self._totals: dict[Place, tuple[SubtaskMetrics | None, ...]] = {}
        for vertex in deployment.vertices:
            tasks = self.manifest.tasks.get(key_of(vertex), ())
            for subtask in range(vertex.parallelism):
                place, task = (vertex.index, subtask), tasks[subtask] if subtask < len(tasks) else TaskState()
                volatile, rows, *statuses = decode_value(task.volatile) if task.volatile else (b"", ())
                self._tasks[place] = volatile, tuple(map(Row._make, rows))
                self._statuses[place] = statuses[0] if statuses else {}
                if task.finished:
                    self.finished.add(place)
                counters = [self.manifest.counters.get(operator.operator_id, ()) for operator in vertex.operators]
                self._totals[place] = tuple(
                    _decoded(operator.operator_id, operator.name, known[subtask]) if subtask < len(known) else None
                    for operator, known in zip(vertex.operators, counters, strict=True)
                )

    @property
    def number(self) -> int:
        return self.manifest.version

    @property
    def over(self) -> bool:
        return len(self.finished) == len(self._tasks)

    @property
    def comes_back(self) -> bool:
        """Whether records are on their way back to the heads of loops."""
        return any(rows for _, rows in self._tasks.values())

    @property
    def places(self) -> list[Place]:
        return [place for place in self._tasks if place not in self.finished]

    def totals(self) -> dict[Place, tuple[SubtaskMetrics, ...]]:
        result: dict[Place, tuple[SubtaskMetrics, ...]] = {}
        for vertex in self._deployment.vertices:
            none = tuple(
                SubtaskMetrics(o.operator_id, o.name, 0, 0, 0, MIN_WATERMARK, MIN_WATERMARK) for o in vertex.operators
            )
            for subtask in range(vertex.parallelism):
                known = self._totals[vertex.index, subtask]
                result[vertex.index, subtask] = tuple(total or other for total, other in zip(known, none, strict=True))
        return result

    def assignments(
        self,
        folder: str | None,
        readings: Mapping[Place, Reading],
        *,
        last: bool,
        saves: bool = True,
        commits: bool = True,
    ) -> dict[Place, Assignment]:
        result: dict[Place, Assignment] = {}
        for vertex in self._deployment.vertices:
            states = (o.operator_id for o in vertex.operators if o.operator_id in self.manifest.operators)
            series = {operator_id: self.manifest.operators[operator_id].subtasks for operator_id in states}
            separate = frozenset(o.operator_id for o in vertex.operators if self._is_separate(o, vertex.parallelism))
            statuses = self._statuses_of_senders(vertex)
            for subtask in range(vertex.parallelism):
                place = vertex.index, subtask
                if place not in self.finished:
                    volatile, rows = self._tasks[place]
                    ends = last and not rows
                    reading = readings.get(place)
                    about = series, statuses, separate, volatile, reading, rows, ends
                    result[place] = Assignment(self.number, folder, *about, saves=saves, commits=commits)
        return result

    def _is_separate(self, operator: OperatorConfig, parallelism: int) -> bool:
        """See :attr:`.Assignment.separate`."""
        state = self.manifest.operators.get(operator.operator_id)
        known = state is not None and (state.keyed, state.parallelism, state.max_parallelism)
        return known == (True, parallelism, operator.max_parallelism)

    def _statuses_of_senders(self, vertex: VertexConfig) -> dict[int, BySender]:
        """See :attr:`.Assignment.statuses`. O(edges * subtasks)."""
        result: dict[int, BySender] = {}
        for edge in vertex.inputs if vertex.level else ():
            senders = [(self._senders[edge.edge], subtask) for subtask in range(edge.senders)]
            last = (self._statuses[place].get(edge.edge, _FIRST) for place in senders)
            ended = (place in self.finished for place in senders)
            result[edge.edge] = tuple(None if end else one for one, end in zip(last, ended, strict=True))
        return {edge: statuses for edge, statuses in result.items() if any(one != _FIRST for one in statuses)}

    def next(
        self,
        reports: Sequence[StepReport],
        back: Sequence[Row],
        sources: Sequence[SourcePlan],
        with_ended: Callable[[EndedSplits, Sequence[str]], EndedSplits],
        **also: Any,
    ) -> StepManifest:
        states = {plan.operator.operator_id: self._source(plan, with_ended) for plan in sources}
        return self._after(reports, back, self.number + 1, sources=states, **also)

    def between(self, reports: Sequence[StepReport], back: Sequence[Row]) -> StepManifest:
        """The version after a step that is not a checkpoint: never written, of the same version as before."""
        return self._after(reports, back, self.number, sources=self.manifest.sources)

    def _after(self, reports: Sequence[StepReport], back: Sequence[Row], number: int, **also: Any) -> StepManifest:
        by_place = {(report.task.vertex, report.task.subtask): report for report in reports}
        returned: defaultdict[int, list[Row]] = defaultdict(list)  # by slot, in the order in which they are read
        for row in sorted(back, key=lambda row: (row.slot, row.sequence, row.edge, row.sender)):
            returned[row.slot].append(row)
        tasks, totals = {}, {}
        for vertex in self._deployment.vertices:
            head = vertex.level == 0 and bool(vertex.inputs)
            tasks[key_of(vertex)] = tuple(
                _state(by_place.get((vertex.index, i)), returned.get(vertex.offset + i, ()) if head else ())
                for i in range(vertex.parallelism)
            )
            totals.update(self._counted(vertex, by_place))
        return StepManifest(
            version=number,
            job=self._deployment.job.name,
            job_id=self._deployment.job.job_id,
            time=now_millis(),
            plan=self.plan,
            parallelism=max((vertex.parallelism for vertex in self._deployment.vertices), default=1),
            operators=self._operators(by_place),
            tasks=tasks,
            counters=totals,
            **{"origin": self.manifest.origin, **also},
        )

    def _counted(
        self, vertex: VertexConfig, reports: Mapping[Place, StepReport]
    ) -> dict[str, tuple[Mapping[str, Any], ...]]:
        result: dict[str, list[Mapping[str, Any]]] = {operator.operator_id: [] for operator in vertex.operators}
        for subtask in range(vertex.parallelism):
            report, known = reports.get((vertex.index, subtask)), self._totals[vertex.index, subtask]
            for number, operator in enumerate(vertex.operators):
                total = known[number]
                if report is not None:
                    total = added(total, report.task.counters[number])
                result[operator.operator_id].append({} if total is None else _encoded(total))
        return {operator_id: tuple(subtasks) for operator_id, subtasks in result.items()}

    def _operators(self, reports: Mapping[Place, StepReport]) -> dict[str, OperatorState]:
        result: dict[str, OperatorState] = dict(self.manifest.operators)
        with_lists = {operator_id for report in reports.values() for operator_id in report.lists}
        for vertex in self._deployment.vertices:
            places = [(vertex.index, subtask) for subtask in range(vertex.parallelism)]
            for operator in vertex.operators:
                before = self.manifest.operators.get(operator.operator_id)
                old = before.subtasks if before is not None and before.parallelism == vertex.parallelism else ()
                all_series = tuple(
                    reports[place].series.get(operator.operator_id, ())
                    if place in reports
                    else (old[place[1]] if old else ())
                    for place in places
                )
                if any(all_series):
                    known = operator.name, operator.uid, vertex.parallelism, operator.max_parallelism
                    keyed = operator.operator_id not in with_lists and (not old or before is None or before.keyed)
                    empty = before is not None and before.empty
                    gone = (
                        operator.operator_id in reports[place].empty if place in reports else empty for place in places
                    )
                    result[operator.operator_id] = OperatorState(*known, all_series, empty=all(gone), keyed=keyed)
        return result

    def _source(self, plan: SourcePlan, with_ended: Callable[[EndedSplits, Sequence[str]], EndedSplits]) -> SourceState:
        before = self.manifest.sources.get(plan.operator.operator_id, SourceState())
        ended = with_ended(before.ended, plan.just_over) if plan.just_over else before.ended
        positions = {name: list(at) for name, at in plan.positions.items()}
        return SourceState(positions, ended, plan.operator.name, plan.operator.uid, plan.asked)


def _encoded(total: SubtaskMetrics) -> dict[str, Any]:
    user = {name: value.count for name, value in total.user.items() if isinstance(value, CounterValue)}
    return {**{name: getattr(total, name) for name in _NUMBERS}, **({"user": user} if user else {})}


def _folded(totals: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    total: SubtaskMetrics | None = None
    for known in totals:
        one = _decoded("", "", known)
        total = total if one is None else added(total, one)
    return {} if total is None else _encoded(total)


def _decoded(operator_id: str, name: str, known: Mapping[str, Any]) -> SubtaskMetrics | None:
    if not known:
        return None
    user = {key: CounterValue(count) for key, count in known.get("user", {}).items()}
    numbers = {key: value for key, value in known.items() if key != "user"}
    return SubtaskMetrics(operator_id, name, user=user, **numbers)


def summary_of(
    watch: Stopwatch,
    manifest: StepManifest,
    reports: Sequence[StepReport],
    plans: Sequence[SourcePlan],
    *,
    durable: bool,
) -> StepSummary:
    """The summary of a step that is over."""
    places = [(report.task.vertex, report.task.subtask) for report in reports]
    progress = ((plan.operator.operator_id, plan.progress()) for plan in plans)
    return replace(
        watch.summary(manifest.version),
        durable=durable,
        busy={place: report.millis for place, report in zip(places, reports, strict=True)},
        counters={place: report.task.counters for place, report in zip(places, reports, strict=True)},
        states={
            (operator_id, report.task.subtask): StateSize(
                report.keys.get(operator_id, 0), sum(file.bytes for file in series)
            )
            for report in reports
            for operator_id, series in report.series.items()
        },
        sources={operator_id: left for operator_id, left in progress if left is not None},
    )


def _state(report: StepReport | None, rows: Sequence[Row]) -> TaskState:
    if report is None:
        return TaskState(b"", finished=True)
    kept = report.volatile, [tuple(row) for row in rows], dict(report.statuses)
    return TaskState(dumps(kept), report.finished)


def ended_operators(pipeline: Pipeline, savepoint: StoredSavepoint) -> frozenset[str]:
    """The IDs of operators that a program which resumes from a savepoint leaves, as all their tasks have ended."""
    manifest = for_beginning(savepoint)
    over = {key for key, tasks in manifest.tasks.items() if tasks and all(task.finished for task in tasks)}
    if not over:
        return frozenset()
    settings = replace(pipeline.settings, savepoint=savepoint.place)  # what resumes from one runs in steps
    try:
        program = fit_to_state(replace(pipeline, settings=settings), manifest, allow=settings.ignore_unclaimed)
        deployment = deploy(program, loops=True, resumed=True)
    except PenstockError:  # the run is refused, and others say so
        return frozenset()
    if digest_of(deployment) != manifest.plan:
        return frozenset()
    left = (operator for vertex in deployment.vertices if key_of(vertex) in over for operator in vertex.operators)
    return frozenset(operator.operator_id for operator in left)
