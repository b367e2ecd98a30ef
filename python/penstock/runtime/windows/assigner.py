"""What an assigner is, and what it is given. Those of Flink are in :mod:`penstock.runtime.windows.assigners`.

Source of the names: ``pyflink.datastream.window``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from penstock.common.contexts import RuntimeContext
from penstock.common.serializer import TypeSerializer
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
    """What a WindowAssigner of a program's own knows besides the element. ``now`` gives the processing time of the
    task."""

    def __init__(self, now: Callable[[], int], runtime_context: RuntimeContext) -> None:
        self.now, self._runtime_context = now, runtime_context

    def get_current_processing_time(self) -> int:
        """Milliseconds since the epoch."""
        return self.now()

    def get_runtime_context(self) -> RuntimeContext:
        """Where the operator runs, and its state: of the element's key, over all windows."""
        return self._runtime_context


class WindowAssigner(Generic[T, W]):
    """Base of the assigners. One of a program's own overrides ``assign_windows``, and what else is not as here."""

    WindowAssignerContext = AssignerContext

    event_time: ClassVar[bool] = True
    merging: ClassVar[bool] = False  # whether windows that touch become one (sessions)
    constant: ClassVar[Collection[object] | None] = None  # the windows of every element, where all have the same

    def is_event_time(self) -> bool:
        """Whether timestamps decide, and lateness counts; otherwise the clock decides."""
        return self.event_time

    def default_trigger(self) -> Trigger[object, Any]:
        return EventTimeTrigger() if self.is_event_time() else ProcessingTimeTrigger()

    def get_default_trigger(self, env: object, /) -> Trigger[object, Any]:
        """:meth:`default_trigger` as PyFlink calls it."""
        return self.default_trigger()

    def get_window_serializer(self) -> TypeSerializer[Any]:
        """What writes the windows in PyFlink. Nobody asks for it here: windows are pickled."""
        raise NotImplementedError(f"{type(self).__name__}.get_window_serializer")

    def assign_windows(self, element: T, timestamp: int, context: AssignerContext, /) -> Collection[W]:
        """The windows of an element with a timestamp in milliseconds; the context knows the clock, and state per
        key."""
        raise NotImplementedError(f"{type(self).__name__}.assign_windows")

    def bind(self, context: AssignerContext) -> Assign:
        """The function that assigns, in one subtask."""
        assign: Callable[..., Collection[Any]] = self.assign_windows
        return lambda value, timestamp: assign(value, timestamp, context)

    def sort(self) -> str:
        """Which windows it makes, in the plural: only an assigner of the same sort closes them."""
        return "global windows" if self.constant is not None else f"windows of {type(self).__name__}"

    def arguments(self) -> tuple[int, ...]:
        return ()

    def __str__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(str, self.arguments()))})"


class MergingWindowAssigner(WindowAssigner[T, X], Generic[T, X]):
    """Base of the assigners whose windows merge. One of a program's own overrides ``merge_windows`` too."""

    MergeCallback = MergeCallback

    merging = True

    def merge_windows(self, windows: Iterable[X], callback: MergeCallback[X], /) -> None:
        """Say which of the live windows of a key become one, by ``callback.merge(windows, result)`` for each group.
        They are in the order in which they came to be, the new one last."""
        raise NotImplementedError(f"{type(self).__name__}.merge_windows")
