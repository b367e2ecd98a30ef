"""The functions of a join with all that Penstock puts around them, as functions that can be compiled."""

from __future__ import annotations

from collections.abc import Callable
from inspect import isgeneratorfunction
from typing import Any

from penstock.runtime.usercode.functions import bind, simple_name
from penstock.runtime.windows.functions import CoGroupWindow, Tagged, TaggedKey


def stand_in(function: Any) -> Any:
    """A function in the place of an object of Penstock's that calls those of a join; any other function is itself."""
    if type(function) is Tagged:
        return _tagging(function.side)
    if type(function) is TaggedKey:
        return _choosing(bind(function.first, "get_key"), bind(function.second, "get_key"))
    if isinstance(function, CoGroupWindow):
        return _grouping(bind(function.function, function.method), function.method, function.flat)
    return function


def name_of(function: Any) -> str:
    """The name of a function of the program, or of those that a join has."""
    if isinstance(function, CoGroupWindow):
        return simple_name(function.function)
    if isinstance(function, TaggedKey):
        return ", ".join(dict.fromkeys([simple_name(function.first), simple_name(function.second)]))
    return simple_name(function)


def _tagging(side: int) -> Callable[[Any], Any]:
    """``Tagged`` as a function that can be compiled."""
    if side == 1:
        return lambda record: (1, record, None)
    return lambda record: (2, None, record)


def _choosing(first: Callable[[Any], Any], second: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """``TaggedKey`` as a function that can be compiled if the key selectors can."""
    return lambda record: first(record[1]) if record[0] == 1 else second(record[2])


def _grouping(call: Callable[..., Any], method: str, flat: bool) -> Callable[[Any, Any, Any], Any]:
    """``CoGroupWindow`` as a function that can be compiled if the function of the join can."""
    if method == "co_group":
        return lambda key, window, elements: call(
            [element[1] for element in elements if element[0] == 1],
            [element[2] for element in elements if element[0] == 2],
        )
    if flat:
        # what a generator gives is true, so `or` would not go through it
        records = call if isgeneratorfunction(call) else lambda one, other: call(one, other) or ()
        return lambda key, window, elements: [
            record
            for one in elements
            if one[0] == 1
            for other in elements
            if other[0] == 2
            for record in records(one[1], other[2])
        ]
    return lambda key, window, elements: [
        call(one[1], other[2]) for one in elements if one[0] == 1 for other in elements if other[0] == 2
    ]
