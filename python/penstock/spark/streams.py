"""Streaming DataFrames as sources of a job that runs in steps.

Each is read by a streaming query, which hands its micro-batches over to the loop of steps, and waits. A step reads what
has been handed over beside the job's other sources; when the step counts, the queries continue, and the next manifest
has their offsets. A query's checkpoint is disposable: it is laid out from the manifest at each start."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Any

from penstock.job.deployment import Deployment
from penstock.job.steps.source_plans import Plan, SourcePlan
from penstock.runtime.config.steps import Reading
from penstock.runtime.config.tasks import VertexConfig
from penstock.spark.connect_queries import ConnectQuery, remove_queries
from penstock.spark.job_sessions import JobSession
from penstock.spark.session import is_connect
from penstock.spark.stream_queries import ClassicQuery, Handed, Query

STREAM = "stream"  # the one split of a streaming DataFrame; its position is that of its query
WHOLE = "whole"  # the one split of a DataFrame that ends; it has a position when it has been read


class StreamPlan(SourcePlan):
    """A source that reads a streaming DataFrame. ``begun`` makes its query, of the name of the operator, where it is to
    begin, and the entries of logs up to there."""

    def __init__(
        self,
        vertex: VertexConfig,
        positions: Mapping[str, Any],
        over: Iterable[str],
        begun: Callable[[str, Mapping[str, Any] | None, Iterable[str]], Query],
        once: bool,
    ) -> None:
        super().__init__(vertex, positions, over)
        self._once = once
        self._taken: Handed | None = None
        self._subtasks = range(vertex.parallelism)
        self._partitions: Collection[int] = self._subtasks  # of the last micro-batch
        self.frame: Any = None
        at = self.positions[STREAM][1] if STREAM in self.positions else None
        self._query = begun(self.operator.name, at, self.over)

    def plan(self, records: int, millis: int | None) -> Plan:
        """How much a micro-batch holds is for the options of Spark's source. Subtasks without a partition of the last
        one hold nobody's watermark back."""
        if self._taken is None and not self.over_for_good and (handed := self._query.handed()) is not None:
            self._taken, self.frame, self._partitions = handed, handed.frame, handed.partitions
        busy = self._taken is not None
        reading = {partition % self.vertex.parallelism for partition in self._partitions}
        idle = ({True: False if busy else None, False: True}[subtask in reading] for subtask in self._subtasks)
        return Plan(tuple(Reading((), records, millis, idle=is_idle) for is_idle in idle), busy=busy)

    def read(self, subtask: int, positions: Mapping[str, Any], ended: Iterable[str]) -> None:
        """Once for all subtasks: the query knows how far the step has read."""
        if self._taken is not None and subtask == 0:
            self._query.refuse_state()
            self.positions[STREAM] = 0, self._taken.position
            self.over.update(self._taken.seen)
            self.just_over += self._taken.seen

    def stepped(self) -> None:
        """The query continues. After a failure another takes its place, which begins at the last checkpoint."""
        if self._taken is not None:
            self._taken = self.frame = None
            self._query.go_on()

    def dry(self) -> bool:
        return self._once and self._query.over

    def give_up(self) -> None:
        self._query.stop()

    def close(self) -> None:
        self._query.stop()


class WholePlan(SourcePlan):
    """A source that reads a DataFrame that ends: all of it, in the first step."""

    def __init__(self, vertex: VertexConfig, positions: Mapping[str, Any], over: Iterable[str], frame: Any) -> None:
        super().__init__(vertex, positions, over)
        self._frame = frame

    @property
    def frame(self) -> Any:
        """The readings of the next step; None if it has been read."""
        return None if WHOLE in self.positions else self._frame

    def plan(self, records: int, millis: int | None) -> Plan:
        return Plan((Reading((), records, millis, last=True),) * self.vertex.parallelism, busy=not self.over_for_good)

    def read(self, subtask: int, positions: Mapping[str, Any], ended: Iterable[str]) -> None:
        self.positions[WHOLE] = 0, True


class FramePlans:
    """The plans of the sources of a job that read DataFrames."""

    def __init__(self, deployment: Deployment, session: JobSession) -> None:
        self._frames, self._session = deployment.frames, session
        self._plans: dict[int, StreamPlan | WholePlan] = {}
        self._begun = False

    def plan(
        self, vertex: VertexConfig, positions: Mapping[str, Any], over: Iterable[str], *, once: bool, folder: str
    ) -> SourcePlan:
        """See :class:`penstock.job.steps.source_plans.PlanFrame`."""
        if not self._begun:  # from now on there are queries of this program's
            remove_queries(folder)
            self._begun = True
        frame = self._frames[vertex.index]
        if frame.isStreaming:
            session = self._session.get()
            if is_connect(session):
                begun = partial(ConnectQuery, frame, session, folder, once=once)
            else:
                begun = partial(ClassicQuery, frame, session, once=once)
            plan = StreamPlan(vertex, positions, over, begun, once)
        else:
            plan = WholePlan(vertex, positions, over, frame)
        self._plans[vertex.index] = plan
        return plan

    def close(self) -> None:
        """End all queries; those that have ended stay so."""
        for plan in self._plans.values():
            plan.close()

    def taken(self) -> dict[int, Any]:
        """The DataFrames that the next step reads, by index of their vertex."""
        return {index: plan.frame for index, plan in self._plans.items() if plan.frame is not None}
