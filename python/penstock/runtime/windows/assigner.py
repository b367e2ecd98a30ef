"""What an assigner is, and what it is given. Those of Flink are in :mod:`penstock.runtime.windows.assigners`.

Source of the names: ``pyflink.datastream.window``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from penstock.common.contexts import RuntimeContext
from penstock.common.serialization import TypeSerializer
from penstock.runtime.windows.time_window import MergeCallback
from penstock.runtime.windows.trigger import Trigger
from penstock.runtime.windows.triggers import EventTimeTrigger, ProcessingTimeTrigger

Assign = Callable[[Any, "int | None"], Collection[Any]]
"""The windows of (element, timestamp)."""

T = TypeVar("T", contravariant=True)
W = TypeVar("W", covariant=True)
X = TypeVar("X")


class GapExtractor(Protocol[T]):
    """An object that says the gap of a session."""

    def extract(self, element: T, /) -> int:
        """The gap in milliseconds after an element."""
        ...


class SessionWindowTimeGapExtractor(ABC, Generic[T]):
    """Base of the objects that say the gap of a session, for ``with_dynamic_gap``."""

    @abstractmethod
    def extract(self, element: T, /) -> int:
        """The gap in milliseconds after an element: 1 or more."""


class AssignerContext:
    """What a WindowAssigner of a program's own knows besides the element.

    Args:
        now: gives the processing time of the task.
        runtime_context: of the operator; its states are those of the element's key.

    Attributes:
        now: as given.
    """

    def __init__(self, now: Callable[[], int], runtime_context: RuntimeContext) -> None:
        self.now: Callable[[], int] = now
        self._runtime_context = runtime_context

    def get_current_processing_time(self) -> int:
        """Milliseconds since the epoch."""
        return self.now()

    def get_runtime_context(self) -> RuntimeContext:
        """Where the operator runs, and its state: of the element's key, over all windows."""
        return self._runtime_context


class WindowAssigner(Generic[T, W]):
    """Base of the assigners. One of a program's own overrides ``assign_windows``, and what else is not as here.

    Attributes:
        event_time: whether timestamps decide, and lateness counts; otherwise the clock decides.
        merging: whether windows that touch become one (sessions).
        constant: the windows of every element, where they are the same for all.
    """

    WindowAssignerContext = AssignerContext

    event_time: ClassVar[bool] = True
    merging: ClassVar[bool] = False
    constant: ClassVar[Collection[object] | None] = None

    def is_event_time(self) -> bool:
        """Whether timestamps decide, and lateness counts; otherwise the clock decides."""
        return self.event_time

    def default_trigger(self) -> Trigger[object, Any]:
        """The trigger of windows without one of their own."""
        return EventTimeTrigger() if self.is_event_time() else ProcessingTimeTrigger()

    def get_default_trigger(self, env: object, /) -> Trigger[object, Any]:
        """:meth:`default_trigger` as PyFlink calls it.

        Args:
            env: the environment of the program.
        """
        return self.default_trigger()

    def get_window_serializer(self) -> TypeSerializer[Any]:
        """What writes the windows in PyFlink. Nobody asks for it here: windows are pickled."""
        raise NotImplementedError(f"{type(self).__name__}.get_window_serializer")

    def assign_windows(self, element: T, timestamp: int, context: AssignerContext, /) -> Collection[W]:
        """The windows of an element.

        Args:
            element: the record.
            timestamp: its time in milliseconds.
            context: knows the clock, and state per key.
        """
        raise NotImplementedError(f"{type(self).__name__}.assign_windows")

    def bind(self, context: AssignerContext) -> Assign:
        """The function that assigns, in one subtask."""
        assign: Callable[..., Collection[Any]] = self.assign_windows
        return lambda value, timestamp: assign(value, timestamp, context)

    def sort(self) -> str:
        """Which windows it makes, in the plural: windows of one sort are closed by any assigner of that sort, and by no
        other."""
        return "global windows" if self.constant is not None else f"windows of {type(self).__name__}"

    def arguments(self) -> tuple[int, ...]:
        """What stands in brackets in Flink's text form."""
        return ()

    def __str__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(str, self.arguments()))})"


class MergingWindowAssigner(WindowAssigner[T, X], Generic[T, X]):
    """Base of the assigners whose windows merge. One of a program's own overrides ``merge_windows`` too."""

    MergeCallback = MergeCallback

    merging = True

    def merge_windows(self, windows: Iterable[X], callback: MergeCallback[X], /) -> None:
        """Say which windows become one.

        Args:
            windows: the live ones of a key, in the order in which they came to be, the new one last.
            callback: told of every group: ``callback.merge(windows, result)``.
        """
        raise NotImplementedError(f"{type(self).__name__}.merge_windows")
