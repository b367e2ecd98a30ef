"""Streaming DataFrames as sources of a job that runs in steps.

Each is read by a streaming query, whose ``foreachBatch`` gives the micro-batch to the loop of steps, and waits. A step
reads what has been handed over beside the job's other sources; when the step counts, the queries continue, and the next
manifest has their offsets. A query's checkpoint is a temporary folder, laid out from the manifest at each start. Source
of the semantics: ``OffsetSeqLog``, ``CommitLog``, ``CompactibleFileStreamLog`` (Spark 4.3)."""

from __future__ import annotations

import contextlib
import json
import threading
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.errors import JobExecutionError, PenstockError, UnsupportedError
from penstock.job.deployment import Deployment
from penstock.job.steps.source_plans import Plan, SourcePlan
from penstock.job.temporary import TemporaryFolder
from penstock.runtime.config.steps import Reading
from penstock.runtime.config.tasks import VertexConfig
from penstock.spark.frames import moved, text_of

STREAM = "stream"  # the one split of a streaming DataFrame; its position is that of its query
WHOLE = "whole"  # the one split of a DataFrame that ends; it has a position when it has been read

PATIENCE = 1.0  # seconds for a query to take note that it is to end

LAID_OUT = 1
"""The last batch that counts as done: an empty one behind all that was read, as sources repeat their last batch."""
_COMMIT = 'v1\n{"nextBatchWatermarkMs":0}'
_HEAD = 2  # lines of offsets before those of sources: a version, and Spark's own data of the batch


class Checkpoint:
    """The folder of a query's checkpoint. ``seen`` are entries of logs of sources of files, as of :meth:`position`: a
    log grows without an end, so its entries are kept as splits that have ended."""

    def __init__(self, folder: Path, at: Mapping[str, Any] | None, seen: Iterable[str]) -> None:
        self._folder = folder
        self._logs: dict[int, int] = {}  # how far entries are known, by source
        if at is not None:
            self._lay_out(at, seen)

    def _lay_out(self, at: Mapping[str, Any], seen: Iterable[str]) -> None:
        lines = str(at["offsets"]).split("\n")
        logs = {index for index, line in enumerate(lines[_HEAD:]) if _log_offset(line) is not None}
        self._logs = dict.fromkeys(logs, LAID_OUT)
        self._write("metadata", json.dumps({"id": str(uuid.uuid4())}))
        for batch in range(LAID_OUT + 1):
            log = json.dumps({"logOffset": batch}, separators=(",", ":"))
            offsets = (log if index in logs else line for index, line in enumerate(lines[_HEAD:]))
            self._write(f"offsets/{batch}", "\n".join((*lines[:_HEAD], *offsets)))
            self._write(f"commits/{batch}", _COMMIT)
        for name, text in at["sources"].items():
            self._write(f"sources/{name}", text)
        entries: dict[int, list[str]] = {index: ["v1"] for index in logs}
        for line in seen:
            index, _, entry = line.partition(" ")
            entries[int(index)].append(json.dumps({**json.loads(entry), "batchId": 0}, separators=(",", ":")))
        for index, lines in entries.items():
            self._write(f"sources/{index}/0", "\n".join(lines))
            self._write(f"sources/{index}/{LAID_OUT}", "v1")

    def _write(self, name: str, text: str) -> None:
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def position(self, batch: int) -> tuple[dict[str, Any], list[str]]:
        """The position behind a batch that is running, and the entries that logs have got with it."""
        self.refuse_state()
        text = (self._folder / "offsets" / str(batch)).read_text(encoding="utf-8")
        lines = text.split("\n")
        if lines[0] != "v1":
            raise UnsupportedError(
                f"The streaming query writes its offsets in the form {lines[0]!r}, and Penstock reads 'v1'. Leave the "
                "setting spark.sql.streaming.queryEvolution.enableSourceEvolution out; operators are known by uid()."
            )
        seen: list[str] = []
        for index, line in enumerate(lines[_HEAD:]):
            newest = _log_offset(line)
            if newest is not None:
                seen += self._entries(index, newest)
        return {"offsets": text, "sources": dict(self._others())}, seen

    def refuse_state(self) -> None:
        """Refuse a query with state of its own. Before Spark 4.0 that is seen only when a batch has been read."""
        if (self._folder / "state").exists():
            raise UnsupportedError(
                "The streaming DataFrame that from_spark() was given keeps state of Spark's own (an aggregation, "
                "dropDuplicates, a join of streams, limit()), and a job that resumes from its manifest would have lost "
                "it. Do that in the program instead: key_by() and what follows it."
            )

    def _entries(self, index: int, newest: int) -> Iterator[str]:
        """The entries that the log of a source has got since it was last asked."""
        for number in range(self._logs.get(index, -1) + 1, newest + 1):
            plain = self._folder / "sources" / str(index) / str(number)
            path = plain if plain.exists() else plain.with_name(f"{number}.compact")  # with all that came before, too
            for line in path.read_text(encoding="utf-8").split("\n")[1:]:
                if line and json.loads(line)["batchId"] == number:
                    yield f"{index} {line}"
        self._logs[index] = newest

    def _others(self) -> Iterator[tuple[str, str]]:
        """The files of sources without such a log, by their place."""
        root, logs = self._folder / "sources", set(map(str, self._logs))
        for source in sorted(root.glob("*")):
            files = (path for path in source.rglob("*") if path.is_file() and path.name[0] != ".")
            for path in sorted(files) if source.name not in logs else ():
                yield path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")


def _log_offset(line: str) -> int | None:
    """How far a source of files has written its log; None for another source."""
    try:
        offset = json.loads(line)
    except ValueError:  # "-": it has not begun
        return None
    return offset["logOffset"] if isinstance(offset, dict) and offset.keys() == {"logOffset"} else None


class QueryLeft(Exception):
    """The error that ends a query whose micro-batch is not wanted."""


@dataclass(eq=False)
class Handed:
    """A micro-batch."""

    frame: Any
    position: Mapping[str, Any]
    seen: list[str]  # what has ended with it
    read: bool = False  # whether a step has read it to its end
    done: threading.Event = field(default_factory=threading.Event)  # set when nobody needs it any more


class Query:
    """A streaming query that returns its micro-batches, one at a time."""

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
            raise self.failed(text_of(error)) from error

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

    def refuse_state(self) -> None:
        """See :class:`Checkpoint`."""
        self._checkpoint.refuse_state()

    def handed(self) -> Handed | None:
        """The micro-batch that waits, if there is one."""
        if self._refused is not None:
            raise self._refused
        if self._handed is None and not self._left and (error := self._query.exception()) is not None:
            raise self.failed(text_of(error)) from error
        return self._handed

    def failed(self, what: str) -> JobExecutionError:
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
        idle = ({True: True, False: False if busy else None}[subtask >= self._partitions] for subtask in self._subtasks)
        return Plan(tuple(Reading((), records, millis, idle=is_idle) for is_idle in idle), busy=busy)

    def _take(self, handed: Handed) -> None:
        try:
            self.frame = moved(handed.frame, self._session)
            self._partitions = self.frame.rdd.getNumPartitions()
        except Exception as error:
            raise self._query.failed(text_of(error)) from error
        self._taken = handed

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
