"""Base classes of sinks, apart from the connectors, so that a program without connectors loads none."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from penstock.common import checks
from penstock.common.contexts import RuntimeContext
from penstock.common.typeinfo import TypeInformation
from penstock.connectors.two_phase import TwoPhaseOutput
from penstock.runtime.io.sinks import BuiltinSink

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["AddedSink", "Sink", "TwoPhaseCommitSink"]

C = TypeVar("C")
T = TypeVar("T", contravariant=True)


class Sink(ABC, Generic[T]):
    """A sink for ``sink_to``, from :mod:`penstock.datastream.connectors`. A custom sink is a ``SinkFunction`` for
    ``add_sink``, or a :class:`TwoPhaseCommitSink`."""

    def __new__(cls, *arguments: Any, **_: Any) -> Self:
        checks.no_java_class(cls, Sink, arguments, "Use a connector, a SinkFunction, or a TwoPhaseCommitSink.")
        return super().__new__(cls)

    def check(self, record_type: TypeInformation[object] | None) -> None:
        """Refuse records of a type that the sink cannot write; None is undeclared."""

    @abstractmethod
    def runtime(self) -> BuiltinSink:
        """The part of the sink that tasks run."""

    def runtime_for(self, record_type: TypeInformation[object] | None) -> BuiltinSink:
        """The part that tasks run for records of a type, which is checked."""
        self.check(record_type)
        return self.runtime()


class AddedSink(ABC):
    """A connector's sink for ``add_sink``, the interface before Flink 1.12."""

    @abstractmethod
    def runtime(self) -> BuiltinSink:
        """The part of the sink that tasks run."""


class TwoPhaseCommitSink(Sink[T], Generic[T, C]):
    """Base of custom sinks that write each record exactly once; for ``sink_to``.

    Each subtask has a copy of the object. It writes records invisibly to readers, and at the end of each step returns
    from :meth:`prepare` what is to become visible: a *committable*, such as the name of a file or an upload. Once the
    step counts, the driver calls :meth:`commit` with those of all subtasks. If the driver dies in between, it calls it
    after a restart, perhaps a second time: ``owner`` and the version identify a commit, so that the sink can find out
    whether it has been done. ``owner`` is, on the driver, the id of the checkpoint directory, the same for all runs
    with it; empty for a job that is one step and has none.

    Source of the semantics: ``TwoPhaseCommitSinkFunction`` (Flink 1.20), without its transactions.
    """

    owner: str = ""

    def open(self, context: RuntimeContext) -> None:
        """In a task, before the first record."""

    @abstractmethod
    def write(self, value: T) -> None:
        """In a task: write a record, invisibly to readers."""

    @abstractmethod
    def prepare(self, version: int) -> C | None:
        """In a task, at the end of a step, which will make this version, if it counts: make durable what has been
        written since the last step, and return the committable, to be pickled, or None. If the step does not count,
        another attempt is given the same version."""

    @abstractmethod
    def commit(self, committables: Sequence[C], version: int) -> None:
        """On the driver, once a step counts: make visible what its subtasks have prepared, in order; not called if
        nothing was. A repeated call with the same arguments must have no further effect. Versions rise, with gaps. If
        it raises, the job ends; the next run calls it again."""

    def recover(self, version: int) -> None:
        """On the driver, before a run starts or resumes: data prepared for later versions, and not committed, never
        will be."""

    def abort(self) -> None:
        """In a task that has failed: discard what was written since the last step."""

    def close(self) -> None:
        """In a task, at its end."""

    def runtime(self) -> BuiltinSink:
        return TwoPhaseOutput(self)
