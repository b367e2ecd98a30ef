"""The one exception tree of Penstock.

Every error names the thing, the value, the likely cause and the fix. ``flink_class`` is the fully qualified name of the
exception Apache Flink throws at the same place, or ``None`` where Flink has no such check.
"""

from __future__ import annotations

import re
import warnings
from typing import Any

_DOUBLED = re.compile(r"(?<![.\s])\.\.(?=\s|$)")


def sentences(text: str) -> str:
    """A text without doubled full stops: what a message quotes, such as another error, may end with one of its own."""
    return _DOUBLED.sub(".", text)


class PenstockError(Exception):
    """Base of every error Penstock raises on purpose; the message is full sentences for a person."""

    def __init__(self, message: str, *, flink_class: str | None = None) -> None:
        super().__init__(sentences(message))
        self.flink_class = flink_class

    def __reduce__(self) -> tuple[Any, ...]:  # keyword-only state must survive the way back from an executor
        return _rebuild, (type(self), self.args, self.__dict__.copy())


def _rebuild(cls: type[PenstockError], args: tuple[Any, ...], state: dict[str, Any]) -> PenstockError:
    error = cls.__new__(cls, *args)
    Exception.__init__(error, *args)
    error.__dict__.update(state)
    return error


class ConfigurationError(PenstockError):
    """An option, path or setting is missing or has an impossible value."""


class UnsupportedError(PenstockError):
    """The request is legal in Flink but Penstock does not support it (yet); see docs/limits.md."""


class MissingMethodError(UnsupportedError, AttributeError):
    """A method or attribute that a class does not have; the message says what was meant or what to use instead."""

    def __init__(self, message: str, *, name: str) -> None:
        super().__init__(message)
        self.name, self.obj = name, None  # without an object Python adds no guess of its own, which may be private


class UnknownNameError(PenstockError, KeyError):
    """Nothing is found under a key, such as the name of an operator in the metrics; the message lists what there is."""

    def __str__(self) -> str:  # a KeyError's would be in quotes
        return str(self.args[0])


class InvalidProgramError(PenstockError):
    """A DataStream program that cannot be translated: wrong arguments, wrong types, wrong order of calls."""


class TypeInfoError(InvalidProgramError, TypeError, ValueError):
    """A value or a field reference does not fit the declared type, or a row is used against its fields."""


class UnknownFieldError(TypeInfoError, AttributeError, KeyError):
    """A row has no field of a name, by ``row.name`` or ``row["name"]``: all that PyFlink and dicts raise there."""

    def __str__(self) -> str:  # a KeyError's would be in quotes
        return str(self.args[0])


class FileFormatError(PenstockError):
    """A file that is not what its format says, or a value that its columns cannot hold."""


class StateError(PenstockError):
    """A state file that is missing, damaged, of another operator, or too new."""


class SerializationError(PenstockError):
    """A message that a schema cannot read, or a record that it cannot write."""


class PlanError(PenstockError):
    """Base of everything the planner refuses. ``operators`` names the operators concerned, when there are any."""

    def __init__(self, message: str, *, flink_class: str | None = None, operators: tuple[str, ...] = ()) -> None:
        super().__init__(message, flink_class=flink_class)
        self.operators = operators


class SpecError(PlanError):
    """A graph description that is not valid JSON, misses a field, or has a value of the wrong type or range."""


class StreamGraphError(PlanError):
    """A StreamGraph that cannot be built: unknown or duplicate nodes, impossible partitioners."""


class OperatorIdError(PlanError):
    """Operator IDs cannot be assigned: two operators claim one uid, or a uid hash is not a hash."""


class JobGraphError(PlanError):
    """A StreamGraph that cannot become a JobGraph: cycles, slot sharing or co-location conflicts, blocking timeouts."""


class ExecutionGraphError(PlanError):
    """A JobGraph that cannot become an ExecutionGraph: parallelism out of bounds, or too many edges to materialise."""


class CheckpointDirectoryError(PenstockError):
    """A checkpoint directory that cannot be used: what is in it is damaged, of a newer version, or not a job's."""


class DirectoryHeldError(CheckpointDirectoryError):
    """The driver of another run holds the checkpoint directory; the message says who."""

    free_in: float | None = None  # seconds after which it is free if that driver is dead; None if it is known to live


class FencedError(CheckpointDirectoryError):
    """Another driver has taken the checkpoint directory over from this one, which cannot commit any more."""


class ShutOutError(FencedError, ConfigurationError):
    """Another has taken over the name under which a sink sends what it has kept; nothing is sent here any more."""


class SavepointError(CheckpointDirectoryError):
    """A savepoint that cannot be written, found or read: what is there is damaged, of a newer version, or none."""


class FlinkSavepointError(SavepointError):
    """A savepoint of Apache Flink that Flink (which throws ``flink_class``) or Penstock cannot restore."""

    def __init__(
        self,
        message: str,
        *,
        flink_class: str | None = None,
        flink_message: str | None = None,
        file: str | None = None,
        position: int | None = None,
    ) -> None:
        super().__init__(message, flink_class=flink_class)
        self.flink_message = flink_message  # with which message; None for none
        self.file = file  # which is damaged, or None
        self.position = position  # of the byte in it where reading ended, or None


class JobExecutionError(PenstockError):
    """A job failed while running. The user's own exception is ``__cause__``."""

    def __init__(
        self,
        message: str,
        *,
        operator: str | None = None,
        uid: str | None = None,
        operator_id: str | None = None,
        task: str | None = None,
        subtask: int | None = None,
        attempt: int | None = None,
        function: str | None = None,
    ) -> None:
        super().__init__(message, flink_class="org.apache.flink.runtime.client.JobExecutionException")
        self.operator = operator  # name of the operator that failed, if known
        self.uid = uid  # its uid, if it has one
        self.operator_id = operator_id  # its OperatorID as 32 hex digits
        self.task = task  # task name with subtask, ``"Map -> Sink: Out (2/7)"``
        self.subtask = subtask  # index from 0
        self.attempt = attempt  # attempt number from 0
        self.function = function  # the function beside the operator, such as a key selector, with its place


class StandInError(PenstockError):
    """Stands for an exception of a function that ran on another machine, as ``__cause__`` of the job's error: one that
    is neither built-in with plain arguments nor Penstock's."""

    def __init__(self, kind: str, text: str, traceback: str = "") -> None:
        super().__init__(f"{kind}: {text}" if text else kind)
        self.kind = kind  # its class with its module, such as ``orders.errors.UnknownCurrency``
        self.text = text
        self.traceback = traceback  # as Python prints it, without the frames of Penstock


class StepLostError(JobExecutionError):
    """A step of a job that goes on has failed by no fault of the program: a worker died, say. It is run again."""


class JobCancelledError(JobExecutionError):
    """A job was cancelled while it ran."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.flink_class = "org.apache.flink.runtime.client.JobCancellationException"


_FORMER: dict[str, type[PenstockError]] = {
    "JobFolderError": CheckpointDirectoryError,
    "FolderHeldError": DirectoryHeldError,
}


def __getattr__(name: str) -> type[PenstockError]:
    if name not in _FORMER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warnings.warn(f"{name} is now called {_FORMER[name].__name__}.", DeprecationWarning, stacklevel=2)
    return _FORMER[name]
