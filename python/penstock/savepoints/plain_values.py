"""The classes whose objects are created from a pickle without running code, and the function that creates each. Nothing
that a pickle brings is called. Arguments are checked first, so that a maker copies no more than it is given, and no
object gets a state that its class would not give it."""

from __future__ import annotations

import datetime
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from pickle import UnpicklingError
from typing import Any
from uuid import UUID, SafeUUID

from penstock.common.row import Row, RowKind
from penstock.common.time import Instant
from penstock.runtime.operators import interval_join
from penstock.runtime.windows.evictors import TimestampedValue
from penstock.runtime.windows.time_window import GLOBAL_WINDOW, CountWindow, TimeWindow

Maker = Callable[..., Any]
_BUFFER: Any = interval_join._Buffer  # pyright: ignore[reportPrivateUsage]
_ITEMS = (list, tuple, set, frozenset)
_UUID_BITS = 128


class Unmade:
    """An object that was not created, or the class or function that would create it."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<not made: {self.name}>"


class Known(Unmade):
    """A class that has a maker. It is not a plain value itself."""

    __slots__ = ("bare", "make")

    def __init__(self, name: str, make: Maker) -> None:
        super().__init__(name)
        self.make, self.bare = make, isinstance(make, partial)


def _checked(what: str, argument: Any, *kinds: type, fits: bool = True) -> Any:
    """The argument, if it is of one of these classes and fits."""
    if type(argument) not in kinds or not fits:
        raise UnpicklingError(f"{what} is made of {type(argument).__name__}, which Penstock never writes")
    return argument


def _of_items(cls: Any) -> Maker:
    return lambda items=(): cls(_checked(cls.__name__, items, *_ITEMS))


def _of(cls: Any, *kinds: type) -> Maker:
    def make(*arguments: Any) -> Any:
        for argument in arguments:
            _checked(cls.__name__, argument, *kinds)
        return cls(*arguments)

    return make


def _row(values: Any, names: Any = None, kind: Any = RowKind.INSERT) -> Row:
    _checked("a row", values, list, tuple)
    _checked("a row", kind, RowKind)
    for item in () if names is None else _checked("a row", names, tuple):
        _checked("a row", item, str)
    return Row.of_values(values, names, kind)


def _pyflink_row(names: Any, values: Any, kind: Any) -> Row:
    """The row of PyFlink's own pickles, whose names come first."""
    return _row(values, tuple(_checked("a row", names, list)) if names else None, kind)


def _deque(items: Any = (), length: Any = None) -> deque[Any]:
    return deque(_checked("deque", items, *_ITEMS), _checked("deque", length, int, type(None)))


def _bare(cls: type) -> Maker:
    """Creates an object whose state follows in the pickle."""
    return partial(object.__new__, cls)


_INTEGER, _TEXT, _NONE = int, str, type(None)
_MAKERS: dict[tuple[str, str], Maker] = {
    ("builtins", "bytearray"): lambda data=b"": bytearray(_checked("bytearray", data, bytes)),
    ("builtins", "complex"): _of(complex, float, int),
    ("builtins", "frozenset"): _of_items(frozenset),
    ("builtins", "range"): _of(range, _INTEGER),
    ("builtins", "set"): _of_items(set),
    ("builtins", "slice"): slice,
    ("collections", "Counter"): lambda counts=None: Counter(_checked("Counter", counts or {}, dict)),
    ("collections", "OrderedDict"): _of(OrderedDict),
    ("collections", "deque"): _deque,
    ("datetime", "date"): _of(datetime.date, bytes, _INTEGER),
    ("datetime", "datetime"): _of(datetime.datetime, bytes, _INTEGER, datetime.timezone, _NONE),
    ("datetime", "time"): _of(datetime.time, bytes, _INTEGER, datetime.timezone, _NONE),
    ("datetime", "timedelta"): _of(datetime.timedelta, _INTEGER),
    ("datetime", "timezone"): _of(datetime.timezone, datetime.timedelta, _TEXT),
    ("decimal", "Decimal"): _of(Decimal, _TEXT),
    ("uuid", "UUID"): _bare(UUID),
    ("pyflink.common.time", "Instant"): _bare(Instant),
    ("pyflink.common.types", "RowKind"): _of(RowKind, _INTEGER),
    ("pyflink.common.types", "_create_row"): _pyflink_row,
    ("penstock.common.row", "Row"): lambda *values: _row(values),
    ("penstock.common.row", "Row.of_values"): _row,
    ("penstock.common.row", "RowKind"): _of(RowKind, _INTEGER),
    ("penstock.common.row", "_row"): _row,
    ("penstock.common.time", "Instant"): _bare(Instant),
    ("penstock.runtime.operators.interval_join", "_Buffer"): _bare(_BUFFER),
    ("penstock.runtime.windows.evictors", "TimestampedValue"): _bare(TimestampedValue),
    ("penstock.runtime.windows.time_window", "CountWindow"): _of(CountWindow, _INTEGER),
    ("penstock.runtime.windows.time_window", "TimeWindow"): _of(TimeWindow, _INTEGER),
}
_ALONE = {("penstock.runtime.windows.time_window", "GLOBAL_WINDOW"): GLOBAL_WINDOW}  # objects that are pickled by name


def object_for_name(module: str, name: str) -> Any:
    """The object for a name in a pickle."""
    make, full = _MAKERS.get((module, name)), f"{module}.{name}"
    return _ALONE.get((module, name)) or (Unmade(full) if make is None else Known(full, make))


def make_object(cls: Any, arguments: Any) -> Any:
    """The result of calling a class or function of a pickle."""
    if not isinstance(cls, Unmade):
        raise UnpicklingError(f"it calls {type(cls).__name__}, which is not a class or function")
    _checked("an object", arguments, tuple)
    for argument in arguments:
        if isinstance(argument, Unmade) and isinstance(cls, Known):
            return Unmade(argument.name)
    if not isinstance(cls, Known):
        return Unmade(cls.name)
    try:
        return cls.make(*arguments)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise UnpicklingError(f"{cls.name} cannot be made from its arguments: {error}") from error


def set_state(value: Any, state: Any) -> None:
    """Set the state that follows an object in a pickle."""
    kind = type(value)
    if isinstance(value, Unmade):
        return
    if kind in (Instant, TimestampedValue):
        names = tuple(kind.__slots__)
        if kind is Instant and type(state) is dict and set(state) == set(names):  # pyright: ignore[reportUnknownArgumentType]
            state = [state[name] for name in names]  # PyFlink's
        _checked(kind.__name__, state, list, fits=type(state) is list and len(state) == len(names))
        _checked(kind.__name__, state, list, fits=kind is not Instant or all(type(item) is int for item in state))
        for name, item in zip(names, state, strict=True):
            object.__setattr__(value, name, item)
    elif kind is _BUFFER:  # one side of an interval join
        what, paired = "the state of a join", type(state) is tuple and len(state) == 2 and state[0] is None
        fields = _checked(what, state[1] if paired else None, dict)
        _checked(what, fields, dict, fits=set(fields) == {"buckets", "times"})
        value.buckets, value.times = _checked(what, fields["buckets"], int), _checked(what, fields["times"], dict)
    elif kind is UUID:
        number = _checked("UUID", state, dict).get("int")
        fits = set(state) <= {"int", "is_safe"} and type(number) is int and not number >> _UUID_BITS
        _checked("UUID", state, dict, fits=fits)
        object.__setattr__(value, "int", number)
        object.__setattr__(value, "is_safe", SafeUUID(state.get("is_safe", SafeUUID.unknown.value)))
    else:
        raise UnpicklingError(f"an object of {kind.__name__} has attributes, so it is not a plain value")
