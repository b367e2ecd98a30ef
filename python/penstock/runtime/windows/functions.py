"""Functions that a window applies to its contents: reductions, aggregations, and functions that see all elements (Flink
1.11: the ``Internal*WindowFunction`` classes). A description says how contents are kept (:attr:`WindowFunction.kept`)
and makes, in each subtask, the function that turns them into records. With an evictor all elements are kept and
reduced at each firing."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, reduce
from itertools import product
from types import FunctionType, MethodType
from typing import Any

from penstock.common.callables import is_hook
from penstock.runtime.keys.field_selectors import shape_of
from penstock.runtime.usercode.functions import bind, lifecycle

Apply = Callable[[Any, Any, list[Any], Any], Any]  # (key, window, elements, context) → an iterable of records, or None


class WindowFunction:
    """Base of the descriptions. ``function`` is opened and closed with the operator."""

    function: Any

    def kept(self) -> Accumulation | None:
        """How elements become one value as they come; None keeps them all."""
        return None

    def bind(self) -> Apply:
        raise NotImplementedError

    def reduced(self, elements: list[Any]) -> list[Any]:
        """With an evictor: the contents to apply the function to; ``elements`` may be changed in place."""
        return elements

    def clearer(self) -> Callable[[Any], None] | None:
        """The function's ``clear(context)``, called when a window is over."""
        return None


@dataclass(frozen=True)
class Accumulation:
    """How a window keeps one value instead of its elements. In errors it is a ``function`` in a ``state``."""

    function: str
    state: str
    add: Callable[[Any, Any], Any]  # (value, element) → value
    merge: Callable[[Any, Any], Any]  # two values as one, the older first
    start: Callable[[], Any] | None = None  # gives the value of no element; None: the first element is the first value
    result: Callable[[Any], Any] = lambda value: value  # what the function sees
    element_first: Callable[[Any, Any], Any] | None = None  # ``add`` with its arguments the other way round, if known
    counts: bool = False  # whether ``add`` does no more than to add 1, so that many records can be added at once

    def first(self, element: Any) -> Any:
        return element if self.start is None else self.add(self.start(), element)


@dataclass(frozen=True)
class ApplyWindow(WindowFunction):
    """Shows windows to a WindowFunction: an object with ``apply(key, window, inputs)``, or without ``key`` if not
    ``keyed``. ``program`` is the function, compiled."""

    function: Any
    keyed: bool = True
    program: str | None = field(default=None, compare=False, kw_only=True)

    def bind(self) -> Apply:
        apply = bind(self.function, "apply")
        if self.keyed:
            return lambda key, window, elements, context: apply(key, window, elements)
        return lambda key, window, elements, context: apply(window, elements)


@dataclass(frozen=True)
class ProcessWindow(WindowFunction):
    """Shows windows to a ProcessWindowFunction, with a context: ``process(key, context, elements)``, or without
    ``key``. ``program`` is the function, compiled."""

    function: Any
    keyed: bool = True
    program: str | None = field(default=None, compare=False, kw_only=True)

    def bind(self) -> Apply:
        process = bind(self.function, "process")
        if self.keyed:
            return lambda key, window, elements, context: process(key, context, elements)
        return lambda key, window, elements, context: process(context, elements)

    def clearer(self) -> Callable[[Any], None] | None:
        clear = getattr(self.function, "clear", None)
        return None if is_hook(clear) else clear


class _Reducing(WindowFunction):
    """Base of what combines elements; another function may see the result."""

    then: WindowFunction | None = None

    @property
    def function(self) -> Any:
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
    """Reduces a window to one record, by a user reduce function or one of :mod:`penstock.runtime.aggregators`.
    ``program`` is the user's function, compiled."""

    reducer: Any
    then: WindowFunction | None = None
    program: str | None = field(default=None, compare=False, kw_only=True)

    def kept(self) -> Accumulation:
        combine = bind(self.reducer, "reduce")
        return Accumulation("ReduceFunction", "reducing", combine, combine)

    def reduced(self, elements: list[Any]) -> list[Any]:
        """The reduction of all elements; no elements give None, as in Flink. Its min and max write the extreme into
        the object of the first element, which the next firing of an evicting window sees; so the first element is
        replaced here."""
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
    """Folds a window's elements, in order, into an accumulator and emits its result. ``programs`` are the aggregator's
    methods, compiled: create_accumulator, add, get_result, and merge where windows merge."""

    aggregator: Any
    then: WindowFunction | None = None
    programs: tuple[str, ...] | None = field(default=None, compare=False, kw_only=True)

    def kept(self) -> Accumulation:
        user, add_element = self.aggregator, self.aggregator.add
        merge = getattr(user, "merge", _unmergeable)

        def add(accumulator: Any, element: Any) -> Any:
            return add_element(element, accumulator)

        start, result = user.create_accumulator, user.get_result
        counts = _counts(add_element)
        return Accumulation("AggregateFunction", "aggregating", add, merge, start, result, add_element, counts)


@dataclass(frozen=True)
class FoldWindow(_Reducing):
    """Folds a window's elements, in order, into a copy of ``initial``, by a callable of (value so far, element), or
    ``fold``."""

    initial: Any
    folder: Any
    then: WindowFunction | None = None

    def kept(self) -> Accumulation:
        fold, initial = bind(self.folder, "fold"), self.initial
        return Accumulation("FoldFunction", "folding", fold, _unmergeable, lambda: copy.deepcopy(initial))


def _counts(add: Any) -> bool:
    """Whether the ``add`` of an AggregateFunction is, by its code, one of those in :func:`_counting`."""
    return type(add) is MethodType and type(add.__func__) is FunctionType and shape_of(add.__func__) in _counting()


@cache
def _counting() -> frozenset[Any]:
    shapes = "lambda self, value, counted: counted + 1", "lambda self, value, counted: 1 + counted"
    return frozenset(shape_of(eval(text)) for text in shapes)


def _unmergeable(one: Any, other: Any) -> Any:
    raise TypeError("sessions merge, and this function cannot: it has no merge()")


@dataclass(frozen=True)
class CoGroupWindow(WindowFunction):
    """Shows the two groups of a window of a join. Its elements are (1, left, None) and (2, None, right); in state of
    earlier versions (1, left) and (2, right). ``program`` is the function, compiled, of key, window and elements."""

    function: Any  # an object with the method, or a callable of that form
    method: str  # "co_group" or "join"
    flat: bool = False  # a `join` gives any number of records for a pair instead of one
    program: str | None = field(default=None, compare=False, kw_only=True)

    def bind(self) -> Apply:
        call = bind(self.function, self.method)

        def see(key: Any, window: Any, elements: list[Any], context: Any) -> Any:
            groups: tuple[list[Any], list[Any]] = [], []
            for element in elements:
                side = element[0]
                groups[side - 1].append(element[side if len(element) == 3 else 1])
            if self.method == "co_group":
                return call(*groups)
            results = (call(*pair) for pair in product(*groups))
            return (record for records in results for record in records or ()) if self.flat else results

        return see


@dataclass(frozen=True)
class Tagged:
    """Marks which side of a join a record comes from: 1 or 2. Records of both sides have one type, so that they can be
    in the same columns."""

    side: int

    @property
    def map(self) -> Callable[[Any], tuple[int, Any, Any]]:
        """The function that marks a record."""
        return (lambda record: (1, record, None)) if self.side == 1 else (lambda record: (2, None, record))


@dataclass(frozen=True)
class TaggedKey:
    """The key of a record of either side, by the key selectors of the two."""

    first: Any
    second: Any

    def open(self, runtime_context: Any) -> None:
        self._live("open", runtime_context)

    def close(self) -> None:
        self._live("close")

    def _live(self, method: str, *arguments: Any) -> None:
        for selector in (self.first,) if self.first is self.second else (self.first, self.second):
            call = lifecycle(selector, method)
            if call is not None:
                call(*arguments)

    @property
    def get_key(self) -> Callable[[tuple[int, Any, Any]], Any]:
        """The function that gives the key."""
        first, second = bind(self.first, "get_key"), bind(self.second, "get_key")

        def key_of(record: tuple[int, Any, Any]) -> Any:
            side, left, right = record
            return first(left) if side == 1 else second(right)

        return key_of
