"""Recognises key selectors that take one field, ``lambda pair: pair[0]``, to call ``itemgetter(0)`` instead. The
compiled code must equal, byte for byte and constant for constant, that of ``lambda x: x[0]``."""

from __future__ import annotations
import __future__

import dis
import inspect
from collections.abc import Callable
from functools import cache, reduce
from operator import itemgetter, or_
from types import FunctionType, MethodType
from typing import Any

_FIELDS = 16  # positions that are recognised
_FUTURES = reduce(or_, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names))
"""Flags of ``from __future__ import …`` in code objects; none of them changes ``x[0]``."""
_DOCUMENTED = getattr(inspect, "CO_HAS_DOCSTRING", 0)
"""The flag of code whose first constant is a docstring, from Python 3.14 on; before, the first one is that or None."""
_NO_MATTER = _FUTURES | _DOCUMENTED | getattr(inspect, "CO_METHOD", 0)  # that it was written in a class
_READING_CONSTANTS = frozenset(dis.hasconst)


def field_of(selector: Callable[[Any], Any]) -> int | None:
    """The position of the field that a function takes; None if unknown."""
    return _shapes().get(shape_of(selector)) if type(selector) is FunctionType else None


def quick(selector: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A cheaper selector with the same results, or the selector itself; its exceptions lack the user's line."""
    position = field_of(selector)
    return selector if position is None else itemgetter(position)


def quick_keys(selector: Callable[[Any], Any]) -> Callable[[list[Any]], list[Any]] | None:
    """Gives the keys of many records, as :func:`quick` does one by one; None for the selector itself."""
    plain = type(selector) is FunctionType
    function: Any = selector if plain else getattr(selector, "__func__", None)
    shape = shape_of(function) if type(function) is FunctionType else None
    if plain and shape == _others()["itself"]:
        return list
    if type(selector) is MethodType and shape == _others()["zero"]:
        return lambda values: [0] * len(values)
    position = field_of(selector)
    return None if position is None else lambda values: list(map(itemgetter(position), values))


def shape_of(function: FunctionType) -> tuple[Any, ...]:
    """All that decides what a function without a closure does with its arguments."""
    code = function.__code__
    constants = code.co_consts
    if code.co_flags & _DOCUMENTED if _DOCUMENTED else constants and type(constants[0]) is str:
        constants = (None, *constants[1:])  # code that reads the docstring differs
    if _READING_CONSTANTS.isdisjoint(code.co_code[::2]):  # small ints are in the code itself, from Python 3.14 on
        constants = ()
    values, names = tuple((type(constant), constant) for constant in constants), (code.co_names, code.co_freevars)
    counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount
    return code.co_code, values, names, counts, code.co_flags & ~_NO_MATTER


@cache
def _others() -> dict[str, tuple[Any, ...]]:
    """The shapes of a function that gives the record itself, and of a method that gives 0."""
    functions: dict[str, Any] = {"itself": lambda record: record}
    exec("def zero(self, value):\n    return 0", functions)
    return {name: shape_of(functions[name]) for name in ("itself", "zero")}


@cache
def _shapes() -> dict[tuple[Any, ...], int]:
    functions = (eval(f"lambda x: x[{position}]") for position in range(_FIELDS))
    return {shape_of(function): position for position, function in enumerate(functions)}
