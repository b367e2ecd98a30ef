"""What ``aggregate`` applies to a window: an AggregateFunction as one of the runtime's window functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.runtime.windows import WindowFunction

if TYPE_CHECKING:
    from penstock.datastream.functions import AggregateFunction


@dataclass(frozen=True)
class AggregateWindow(WindowFunction):
    """Folds a window's elements, in order, into an accumulator and emits its result.

    The elements are kept until the window is purged: O(size of the window) memory per key.

    Attributes:
        function: the user's AggregateFunction.
    """

    function: AggregateFunction

    def bind(self) -> Callable[[list[Any]], list[Any]]:
        function = self.function

        def apply(elements: list[Any]) -> list[Any]:
            accumulator = function.create_accumulator()
            for element in elements:
                accumulator = function.add(element, accumulator)
            return [function.get_result(accumulator)]

        return apply
