"""Streaming queries that hand their micro-batches over to the loop of steps.

In a Spark of this process the function of ``foreachBatch`` runs here, and gives the micro-batch itself. Over Spark
Connect it runs on the server: see :mod:`penstock.spark.connect_queries`."""

from __future__ import annotations

import contextlib
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.errors import JobExecutionError, PenstockError
from penstock.job.temporary import TemporaryFolder
from penstock.spark.frames import moved, text_of
from penstock.spark.stream_checkpoint import Checkpoint

PATIENCE = 1.0  # seconds for a query to take note that it is to end


@dataclass(frozen=True, eq=False)
class Handed:
    """A micro-batch."""

    frame: Any  # as :func:`penstock.spark.frames.read` takes it
    partitions: Collection[int]  # that have rows, or may
    position: Mapping[str, Any]  # behind it
    seen: list[str]  # what has ended with it


class Query(ABC):
    """A streaming query that hands its micro-batches over, one at a time.

    Args:
        name: of the operator that reads it.
        goes_on: whether it begins at a position.
    """

    def __init__(self, name: str, *, goes_on: bool) -> None:
        self._name, self._goes_on = name, goes_on

    @abstractmethod
    def handed(self) -> Handed | None:
        """The micro-batch that waits, if there is one."""

    @property
    @abstractmethod
    def over(self) -> bool:
        """Whether it has read what there was when it began."""

    @abstractmethod
    def go_on(self) -> None:
        """The micro-batch counts: the query reads the next one."""

    @abstractmethod
    def stop(self) -> None:
        """End the query; what it has handed over does not count."""

    def refuse_state(self) -> None:
        """See :class:`penstock.spark.stream_checkpoint.Checkpoint`. Called when a batch has been read."""

    def failed(self, what: str) -> JobExecutionError:
        """The error of a query that cannot go on."""
        text = f"The streaming DataFrame of the operator {self._name!r} cannot be read: {what}."
        if self._goes_on:
            text += (
                " If it reads other sources than when the checkpoint directory was written, or in another order, begin "
                "with another checkpoint directory."
            )
        return JobExecutionError(text)


def triggered(writer: Any, *, once: bool) -> Any:
    """The writer of a query that reads what there is now, if ``once``, or all that comes."""
    return writer.trigger(availableNow=True) if once else writer


class QueryLeft(Exception):
    """The error that ends a query whose micro-batch is not wanted."""


@dataclass(eq=False)
class _Waiting:
    """A micro-batch that the query's thread waits for."""

    frame: Any
    position: Mapping[str, Any]
    seen: list[str]
    read: bool = False  # whether a step has read it to its end
    done: threading.Event = field(default_factory=threading.Event)  # set when nobody needs it any more


class ClassicQuery(Query):
    """A query of a Spark of this process. Its checkpoint is a temporary folder.

    Args:
        frame: the streaming DataFrame.
        session: that of the job, which reads the micro-batches.
        name: of the operator.
        at: where to begin; None: at the beginning.
        seen: the entries of logs up to there.
        once: whether it ends when it has read what there is now.
    """

    def __init__(
        self, frame: Any, session: Any, name: str, at: Mapping[str, Any] | None, seen: Iterable[str], *, once: bool
    ) -> None:
        super().__init__(name, goes_on=at is not None)
        self._session = session
        self._folder = TemporaryFolder("penstock-query-")
        self._checkpoint = Checkpoint(str(self._folder.path), at, seen)
        self._lock = threading.Lock()
        self._waiting: _Waiting | None = None
        self._left = False
        self._refused: PenstockError | None = None
        writer = frame.writeStream.foreachBatch(self._take).option("checkpointLocation", self._folder.path.as_uri())
        writer = writer.queryName(f"{name} ({self._folder.path.parent.name[-8:]})")
        try:
            self._query = triggered(writer, once=once).start()
        except Exception as error:
            self._folder.remove()
            raise self.failed(text_of(error)) from error

    def _take(self, frame: Any, batch: int) -> None:
        """Hand a micro-batch over, and wait until it counts. Runs in the query's thread."""
        try:
            waiting = _Waiting(frame, *self._checkpoint.position(batch))
        except PenstockError as error:
            self._refused = error
            raise QueryLeft from None
        with self._lock:
            if not self._left:
                self._waiting = waiting
        if not self._left:
            waiting.done.wait()
        if not waiting.read:  # a short error: Spark looks at its text for long
            raise QueryLeft from None

    def refuse_state(self) -> None:
        self._checkpoint.refuse_state()

    def handed(self) -> Handed | None:
        if self._refused is not None:
            raise self._refused
        waiting = self._waiting
        if waiting is None:
            if not self._left and (error := self._query.exception()) is not None:
                raise self.failed(text_of(error)) from error
            return None
        try:
            frame = moved(waiting.frame, self._session)
            partitions = range(frame.rdd.getNumPartitions())
        except Exception as error:
            raise self.failed(text_of(error)) from error
        return Handed(frame, partitions, waiting.position, waiting.seen)

    @property
    def over(self) -> bool:
        return self._waiting is None and not self._query.isActive and self._query.exception() is None

    def go_on(self) -> None:
        waiting = self._waiting
        if waiting is not None:
            self._waiting = None
            waiting.read = True
            waiting.done.set()

    def stop(self) -> None:
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
        if self._waiting is not None:
            self._waiting.done.set()
        ending.join()
        self._folder.remove()
