"""Assigners by number of elements: windows that begin with a certain element of a key and hold the next ones.

Unlike a :class:`CountTrigger` on the global window, they tell every window from the others, and a window fires only
when it is full.

Source of names and semantics: ``CountTumblingWindowAssigner``, ``CountSlidingWindowAssigner`` of PyFlink 2.3, whose
trigger is the plain CountTrigger, so that the elements of full windows stay for ever.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from penstock.common import checks
from penstock.common.functions.state_descriptor import ValueStateDescriptor
from penstock.common.typeinfo import Types
from penstock.runtime.windows.assigner import Assign, AssignerContext, WindowAssigner
from penstock.runtime.windows.serializers import CountWindowSerializer
from penstock.runtime.windows.time_window import CountWindow
from penstock.runtime.windows.trigger import Trigger
from penstock.runtime.windows.triggers import CountTrigger, PurgingTrigger


class _CountWindows(WindowAssigner[object, CountWindow]):
    """Base of both: counts the elements of a key."""

    event_time = False
    counter: ClassVar[str]

    window_size: int

    def default_trigger(self) -> Trigger[object, CountWindow]:
        return PurgingTrigger(CountTrigger(self.window_size))

    def get_window_serializer(self) -> CountWindowSerializer:
        return CountWindowSerializer()

    def assign_windows(self, element: object, timestamp: int, context: AssignerContext) -> Collection[CountWindow]:
        return self.bind(context)(element, timestamp)

    def bind(self, context: AssignerContext) -> Assign:
        counter = ValueStateDescriptor[int](self.counter, Types.LONG())
        seen, windows_of = context.get_runtime_context().get_state(counter), self.windows_of

        def assign(value: object, timestamp: int | None) -> Collection[CountWindow]:
            place = seen.value() or 0
            seen.update(place + 1)
            return windows_of(place)

        return assign

    def windows_of(self, place: int) -> Collection[CountWindow]:
        """The windows of the element at a place among those of its key, from 0."""
        raise NotImplementedError


def _at_least_one(value: int, call: str, what: str) -> int:
    if checks.integer(value, call, what) < 1:
        checks.illegal_argument(f"{call}() was given {value} as {what}. Give 1 or more elements.")
    return value


@dataclass(frozen=True)
class CountTumblingWindowAssigner(_CountWindows):
    """Windows of so many elements of a key, one after the other."""

    counter: ClassVar[str] = "tumble-count-assigner"

    window_size: int

    @staticmethod
    def of(window_size: int) -> CountTumblingWindowAssigner:
        return CountTumblingWindowAssigner(_at_least_one(window_size, "CountTumblingWindowAssigner.of", "size"))

    def windows_of(self, place: int) -> Collection[CountWindow]:
        return (CountWindow(place // self.window_size),)

    def arguments(self) -> tuple[int, ...]:
        return (self.window_size,)


@dataclass(frozen=True)
class CountSlidingWindowAssigner(_CountWindows):
    """Windows of so many elements of a key that begin at equal distances, in elements; none holds what falls between
    them."""

    counter: ClassVar[str] = "slide-count-assigner"

    window_size: int
    window_slide: int

    @staticmethod
    def of(window_size: int, window_slide: int) -> CountSlidingWindowAssigner:
        """Windows of ``window_size`` elements that begin every ``window_slide`` elements."""
        call = "CountSlidingWindowAssigner.of"
        return CountSlidingWindowAssigner(
            _at_least_one(window_size, call, "size"), _at_least_one(window_slide, call, "slide")
        )

    def windows_of(self, place: int) -> Collection[CountWindow]:
        size, slide = self.window_size, self.window_slide
        last = place // slide
        first = max(0, -(-(place - size + 1) // slide))  # the first that reaches so far
        return [CountWindow(number) for number in range(last, first - 1, -1)]

    def arguments(self) -> tuple[int, ...]:
        return (self.window_size, self.window_slide)
