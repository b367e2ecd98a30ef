"""What a window applies to its contents: reductions, aggregations, and functions that see all elements.

A description says how contents are kept (:attr:`WindowFunction.kept`) and makes, in each subtask, the function that
turns them into records. With an evictor all elements are kept and reduced anew at each firing, as in Flink.

Sources of the semantics: the ``Internal*WindowFunction`` classes, ``ReduceApplyWindowFunction``,
``AggregateApplyWindowFunction``, ``CoGroupedStreams`` (Flink 1.11).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import Any

from penstock.runtime.usercode.functions import bind, lifecycle

Apply = Callable[[Any, Any, list[Any], Any], Any]
"""(key, window, elements, context) → an iterable of records, or None."""


class WindowFunction:
    """Base of the descriptions.

    Attributes:
        function: what is opened and closed with the operator.
    """

    function: Any

    def kept(self) -> Accumulation | None:
        """How elements become one value as they come; None keeps them all."""
        return None

    def bind(self) -> Apply:
        """The function from what is in a window to the records to emit."""
        raise NotImplementedError

    def reduced(self, elements: list[Any]) -> list[Any]:
        """With an evictor: the contents to apply the function to; ``elements`` may be changed in place."""
        return elements

    def clearer(self) -> Callable[[Any], None] | None:
        """The function's ``clear(context)``, called when a window is over."""
        return None


@dataclass(frozen=True)
class Accumulation:
    """How a window keeps one value instead of its elements.

    Attributes:
        function, state: what they are called in errors.
        add: (value, element) → value.
        merge: two values as one, the older first.
        start: gives the value of no element; None: the first element is the first value.
        result: value → what the function sees.
    """

    function: str
    state: str
    add: Callable[[Any, Any], Any]
    merge: Callable[[Any, Any], Any]
    start: Callable[[], Any] | None = None
    result: Callable[[Any], Any] = lambda value: value

    def first(self, element: Any) -> Any:
        """The value of the first element."""
        return element if self.start is None else self.add(self.start(), element)


@dataclass(frozen=True)
class ApplyWindow(WindowFunction):
    """Shows windows to a WindowFunction.

    Attributes:
        function: an object with ``apply(key, window, inputs)``, or without ``key`` for a stream without key.
        keyed: whether it is given the key.
    """

    function: Any
    keyed: bool = True

    def bind(self) -> Apply:
        apply = bind(self.function, "apply")
        if self.keyed:
            return lambda key, window, elements, context: apply(key, window, elements)
        return lambda key, window, elements, context: apply(window, elements)


@dataclass(frozen=True)
class ProcessWindow(WindowFunction):
    """Shows windows to a ProcessWindowFunction, with a context: state, watermark.

    Attributes:
        function: an object with ``process(key, context, elements)``, or without ``key`` for a stream without key.
        keyed: whether it is given the key.
    """

    function: Any
    keyed: bool = True

    def bind(self) -> Apply:
        process = bind(self.function, "process")
        if self.keyed:
            return lambda key, window, elements, context: process(key, context, elements)
        return lambda key, window, elements, context: process(context, elements)

    def clearer(self) -> Callable[[Any], None] | None:
        return getattr(self.function, "clear", None)


class _Reducing(WindowFunction):
    """Base of what combines elements; another function may see the result."""

    then: WindowFunction | None = None

    @property
    def function(self) -> Any:
        """The window function; functions inside a window's state are not opened."""
        return None if self.then is None else self.then.function

    def kept(self) -> Accumulation:
        raise NotImplementedError

    def reduced(self, elements: list[Any]) -> list[Any]:
        kept = self.kept()
        assert kept.start is not None
        return [kept.result(reduce(kept.add, elements, kept.start()))]

    def bind(self) -> Apply:
        return (lambda key, window, elements, context: elements) if self.then is None else self.then.bind()

    def clearer(self) -> Callable[[Any], None] | None:
        return None if self.then is None else self.then.clearer()


@dataclass(frozen=True)
class ReduceWindow(_Reducing):
    """Reduces a window to one record.

    Attributes:
        reducer: a user reduce function, or one of the aggregators of :mod:`penstock.runtime.aggregators`.
        then: sees the result instead of the elements.
    """

    reducer: Any
    then: WindowFunction | None = None

    def kept(self) -> Accumulation:
        combine = bind(self.reducer, "reduce")
        return Accumulation("ReduceFunction", "reducing", combine, combine)

    def reduced(self, elements: list[Any]) -> list[Any]:
        """The reduction of all elements; no elements give None, as in Flink.

        Flink's min and max write the extreme into the object of the first element, which an evicting window keeps: the
        next firing sees it there. So the first element is replaced here (``changes_first``).
        """
        if not elements:
            return [None]
        fold = getattr(self.reducer, "fold", None)
        if fold is not None:
            return [fold(elements)]
        result = reduce(bind(self.reducer, "reduce"), elements)
        if getattr(self.reducer, "changes_first", False):
            elements[0] = result
        return [result]


@dataclass(frozen=True)
class AggregateWindow(_Reducing):
    """Folds a window's elements, in order, into an accumulator and emits its result.

    Attributes:
        aggregator: the user's AggregateFunction.
        then: sees the result instead of the elements.
    """

    aggregator: Any
    then: WindowFunction | None = None

    def kept(self) -> Accumulation:
        own, add = self.aggregator, self.aggregator.add
        return Accumulation(
            "AggregateFunction",
            "aggregating",
            lambda accumulator, element: add(element, accumulator),
            getattr(own, "merge", _unmergeable),
            own.create_accumulator,
            own.get_result,
        )


@dataclass(frozen=True)
class FoldWindow(_Reducing):
    """Folds a window's elements, in order, into a copy of an initial value.

    Attributes:
        initial: the value of no element.
        folder: a callable of (value so far, element), or an object with ``fold``.
        then: sees the result instead of the elements.
    """

    initial: Any
    folder: Any
    then: WindowFunction | None = None

    def kept(self) -> Accumulation:
        fold, initial = bind(self.folder, "fold"), self.initial
        return Accumulation("FoldFunction", "folding", fold, _unmergeable, lambda: copy.deepcopy(initial))


def _unmergeable(one: Any, other: Any) -> Any:
    raise TypeError("sessions merge, and this function cannot: it has no merge()")


@dataclass(frozen=True)
class CoGroupWindow(WindowFunction):
    """Shows the two groups of a window of a join. Its elements are (1, left) and (2, right).

    Attributes:
        function: an object with ``co_group(left, right)`` or ``join(left, right)``, or a callable of that form.
        method: which of the two.
        flat: a ``join`` gives any number of records for a pair instead of one.
    """

    function: Any
    method: str
    flat: bool = False

    def bind(self) -> Apply:
        f = bind(self.function, self.method)
        apply = f if self.method == "co_group" else _pairs(f, self.flat)

        def see(key: Any, window: Any, elements: list[Any], context: Any) -> Any:
            groups: tuple[list[Any], list[Any]] = [], []
            for side, element in elements:
                groups[side - 1].append(element)
            return apply(*groups)

        return see


def _pairs(join: Callable[[Any, Any], Any], flat: bool) -> Callable[[list[Any], list[Any]], Iterable[Any]]:
    if flat:
        return lambda left, right: (record for pair in product(left, right) for record in join(*pair) or ())
    return lambda left, right: (join(*pair) for pair in product(left, right))


@dataclass(frozen=True)
class Tagged:
    """Marks which side of a join a record comes from.

    Attributes:
        side: 1 or 2.
    """

    side: int

    def __call__(self, record: Any) -> tuple[int, Any]:
        """The record with its side."""
        return self.side, record


@dataclass(frozen=True)
class TaggedKey:
    """The key of a record of either side.

    Attributes:
        first, second: key selectors of the two sides.
    """

    first: Any
    second: Any

    def open(self, runtime_context: Any) -> None:
        """Open both."""
        self._live("open", runtime_context)

    def close(self) -> None:
        """Close both."""
        self._live("close")

    def _live(self, method: str, *arguments: Any) -> None:
        for selector in (self.first,) if self.first is self.second else (self.first, self.second):
            call = lifecycle(selector, method)
            if call is not None:
                call(*arguments)

    def __call__(self, record: tuple[int, Any]) -> Any:
        """The key of the record inside."""
        side, value = record
        return bind(self.first if side == 1 else self.second, "get_key")(value)
