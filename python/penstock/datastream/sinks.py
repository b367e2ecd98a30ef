"""What sinks of connectors derive from, apart from them: a program without a connector loads none."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic, TypeVar

from penstock.common.contexts import RuntimeContext
from penstock.common.typeinfo import TypeInformation
from penstock.runtime.io.sinks import BuiltinSink
from penstock.runtime.io.two_phase import TwoPhaseOutput

__all__ = ["AddedSink", "Sink", "TwoPhaseCommitSink"]

C = TypeVar("C")
T = TypeVar("T", contravariant=True)


class Sink(ABC, Generic[T]):
    """What ``sink_to`` writes to: a sink of :mod:`penstock.datastream.connectors`. A sink of your own is a
    ``SinkFunction`` for ``add_sink``, or a :class:`TwoPhaseCommitSink`."""

    def check(self, record_type: TypeInformation[object] | None) -> None:
        """Refuse records of a type that it cannot write.

        Args:
            record_type: of the stream, None for undeclared.
        """

    @abstractmethod
    def runtime(self) -> BuiltinSink:
        """What tasks run."""


class AddedSink(ABC):
    """A connector's sink for ``add_sink``, as they were before Flink 1.12."""

    @abstractmethod
    def runtime(self) -> BuiltinSink:
        """What tasks run."""


class TwoPhaseCommitSink(Sink[T], Generic[T, C]):
    """Base of sinks of your own that write each record exactly once; for ``sink_to``.

    Each subtask has a copy of the object. It writes records to where nobody sees them, and at the end of each step says
    by :meth:`prepare` what is to become visible: a *committable*, such as the name of a file, or of an upload. Once the
    step counts, the driver calls :meth:`commit` with those of all subtasks. A driver that dies in between calls it when
    the program is started again, also a second time if it does not know: ``owner`` and the version name a commit, so
    that it can find out what it has done.

    Attributes:
        owner: on the driver, in :meth:`commit` and :meth:`recover`: the id of the job folder, the same for all runs
            with it; empty for a job that is one step and has no such folder.

    Source of the semantics: ``TwoPhaseCommitSinkFunction`` (Flink 1.20), without its transactions.
    """

    owner: str = ""

    def open(self, context: RuntimeContext) -> None:
        """In a task, before the first record."""

    @abstractmethod
    def write(self, value: T) -> None:
        """In a task: write a record to where nobody sees it."""

    @abstractmethod
    def prepare(self, version: int) -> C | None:
        """In a task, at the end of a step: what has been written since the last one is safe from now on.

        Args:
            version: that the step will make, if it counts. If it does not, another attempt is given the same.

        Returns:
            What :meth:`commit` needs, to be pickled; None for nothing.
        """

    @abstractmethod
    def commit(self, committables: Sequence[C], version: int) -> None:
        """On the driver, once a step counts: make visible what its subtasks have prepared. It can be called again with
        the same, and has no effect then. What it raises ends the job; the next run calls it again.

        Args:
            committables: of all subtasks, in order. Not called if there are none.
            version: that the step has made; versions rise, with gaps.
        """

    def recover(self, version: int) -> None:
        """On the driver, before a run begins or goes on after a failure: what was prepared for later versions, and not
        committed, will not be."""

    def abort(self) -> None:
        """In a task that has failed: what it has written since the last step does not count."""

    def close(self) -> None:
        """In a task, at its end."""

    def runtime(self) -> BuiltinSink:
        """What tasks run."""
        return TwoPhaseOutput(self)
