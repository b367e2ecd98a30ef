"""Streaming DataFrames as sources of a job that runs in steps.

Each is read by a streaming query, whose ``foreachBatch`` gives the micro-batch to the loop of steps, and waits. A step
reads what has been handed over beside the job's other sources; when the step counts, the queries continue, and the next
manifest has their offsets. A query's checkpoint is a temporary folder (:mod:`.stream_checkpoint`).
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.errors import JobExecutionError, PenstockError
from penstock.job.deployment import Deployment
from penstock.job.steps.source_plans import Plan, SourcePlan
from penstock.job.temporary import TemporaryFolder
from penstock.runtime.config.steps import Reading
from penstock.runtime.config.tasks import VertexConfig
from penstock.spark.frames import moved, told
from penstock.spark.stream_checkpoint import Checkpoint

STREAM = "stream"
"""The one split of a streaming DataFrame; its position is that of its query."""
WHOLE = "whole"
"""The one split of a DataFrame that ends; it has a position when it has been read."""

PATIENCE = 1.0
"""Seconds for a query to take note that it is to end."""


class QueryLeft(Exception):
    """What ends a query whose micro-batch nobody wants."""


@dataclass(eq=False)
class Handed:
    """A micro-batch."""

    frame: Any
    position: Mapping[str, Any]
    seen: list[str]  # what has ended with it
    read: bool = False  # whether a step has read it to its end
    done: threading.Event = field(default_factory=threading.Event)  # set when nobody needs it any more


class Query:
    """A streaming query that hands over its micro-batches, one at a time."""

    def __init__(self, frame: Any, name: str, at: Mapping[str, Any] | None, seen: Iterable[str], *, once: bool) -> None:
        self._name, self._goes_on = name, at is not None
        self._folder = TemporaryFolder("penstock-query-")
        self._checkpoint = Checkpoint(self._folder.path, at, seen)
        self._lock = threading.Lock()
        self._handed: Handed | None = None
        self._left = False
        self._refused: PenstockError | None = None
        writer = frame.writeStream.foreachBatch(self._take).option("checkpointLocation", self._folder.path.as_uri())
        writer = writer.queryName(f"{name} ({self._folder.path.parent.name[-8:]})")
        try:
            self._query = (writer.trigger(availableNow=True) if once else writer).start()
        except Exception as error:
            self._folder.remove()
            raise self.failed(told(error)) from error

    def _take(self, frame: Any, batch: int) -> None:
        """Hand a micro-batch over, and wait until it counts. Runs in the query's thread."""
        try:
            handed = Handed(frame, *self._checkpoint.position(batch))
        except PenstockError as error:
            self._refused = error
            raise QueryLeft from None
        with self._lock:
            if not self._left:
                self._handed = handed
        if not self._left:
            handed.done.wait()
        if not handed.read:  # a short error: Spark looks at its text for long
            raise QueryLeft from None

    def handed(self) -> Handed | None:
        """The micro-batch that waits, if there is one."""
        if self._refused is not None:
            raise self._refused
        if self._handed is None and not self._left and (error := self._query.exception()) is not None:
            raise self.failed(told(error)) from error
        return self._handed

    def failed(self, what: str) -> JobExecutionError:
        """The error for what Spark says."""
        text = f"The streaming DataFrame of the operator {self._name!r} cannot be read: {what}."
        if self._goes_on:
            text += (
                " If it reads other sources than when the checkpoint directory was written, or in another order, begin "
                "with another checkpoint directory."
            )
        return JobExecutionError(text)

    @property
    def over(self) -> bool:
        """Whether it has read what there was when it began."""
        return self._handed is None and not self._query.isActive and self._query.exception() is None

    def go_on(self) -> None:
        """What was handed over has been read."""
        handed = self._handed
        if handed is not None:
            self._handed = None
            handed.read = True
            handed.done.set()

    def stop(self) -> None:
        """End the query; what it has handed over does not count."""
        with self._lock:
            if self._left:
                return
            self._left = True

        def end() -> None:
            with contextlib.suppress(Exception):  # Spark may have been stopped, or be gone
                if self._query.isActive:
                    self._query.stop()

        ending = threading.Thread(target=end, name="penstock-query", daemon=True)
        ending.start()
        with contextlib.suppress(Exception):
            until = time.monotonic() + PATIENCE
            while self._query.isActive and time.monotonic() < until:
                time.sleep(0.005)  # Spark logs at length what ends a query before it is to end
        if self._handed is not None:
            self._handed.done.set()
        ending.join()
        self._folder.remove()


class StreamPlan(SourcePlan):
    """A source that reads a streaming DataFrame."""

    def __init__(
        self,
        vertex: VertexConfig,
        positions: Mapping[str, Any],
        over: Iterable[str],
        frame: Any,
        session: Any,
        once: bool,
    ) -> None:
        super().__init__(vertex, positions, over)
        self._session, self._once = session, once
        self._taken: Handed | None = None
        self._subtasks = range(vertex.parallelism)
        self._partitions = vertex.parallelism  # of the last micro-batch; subtasks beyond hold nobody's watermark back
        self.frame: Any = None
        at = self.positions[STREAM][1] if STREAM in self.positions else None
        self._query = Query(frame, self.operator.name, at, self.over, once=once)

    def plan(self, records: int, millis: int | None) -> Plan:
        """How much a micro-batch holds is for the options of Spark's source."""
        if self._taken is None and not self.over_for_good and (handed := self._query.handed()) is not None:
            self._take(handed)
        busy = self._taken is not None
        idle = ({True: True, False: False if busy else None}[each >= self._partitions] for each in self._subtasks)
        return Plan(tuple(Reading((), records, millis, idle=each) for each in idle), busy=busy)

    def _take(self, handed: Handed) -> None:
        try:
            self.frame = moved(handed.frame, self._session)
            self._partitions = self.frame.rdd.getNumPartitions()
        except Exception as error:
            raise self._query.failed(told(error)) from error
        self._taken = handed

    def read(self, subtask: int, positions: Mapping[str, Any], ended: Iterable[str]) -> None:
        """Once for all subtasks: the query knows how far the step has read."""
        if self._taken is not None and subtask == 0:
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
        """What the next step reads; None if it has been read."""
        return None if WHOLE in self.positions else self._frame

    def plan(self, records: int, millis: int | None) -> Plan:
        reading = Reading((), records, millis, last=True)
        return Plan((reading,) * self.vertex.parallelism, busy=not self.over_for_good)

    def read(self, subtask: int, positions: Mapping[str, Any], ended: Iterable[str]) -> None:
        self.positions[WHOLE] = 0, True


class FramePlans:
    """The plans of the sources of a job that read DataFrames."""

    def __init__(self, deployment: Deployment, session: Any) -> None:
        self._frames, self._session = deployment.frames, session
        self._plans: dict[int, StreamPlan | WholePlan] = {}

    def plan(
        self, vertex: VertexConfig, positions: Mapping[str, Any], over: Iterable[str], *, once: bool
    ) -> SourcePlan:
        """See :class:`penstock.job.steps.source_plans.PlanFrame`."""
        frame = self._frames[vertex.index]
        if frame.isStreaming:
            plan = StreamPlan(vertex, positions, over, frame, self._session, once)
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
