"""Key selectors that take one field: ``lambda pair: pair[0]``, ``operator.itemgetter(0)``.

Most key selectors do nothing else. For many records at once ``map(itemgetter(0), records)`` does the same without a
Python call per record. A function is known by its compiled code: it must be, byte for byte and constant for constant,
what this very interpreter makes of ``lambda x: x[0]``, so it cannot do anything else.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import itemgetter
from types import FunctionType
from typing import Any

_FIELDS = 16
"""Positions that are recognised."""


def field_of(selector: Callable[[Any], Any]) -> int | None:
    """The position of the field that a function takes; None where it is not known to take one."""
    return _shapes().get(_shape(selector)) if type(selector) is FunctionType else None


def quick(selector: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A selector with the same results that costs less, or the selector itself.

    What it raises comes without the user's line: whoever wants to show that calls the selector itself.
    """
    position = field_of(selector)
    return selector if position is None else itemgetter(position)


def _shape(function: FunctionType) -> tuple[Any, ...]:
    """All that decides what a function without a closure does with its one argument."""
    code = function.__code__
    constants = code.co_consts
    # a docstring may stand where None does otherwise; code that uses it is another
    if constants and type(constants[0]) is str:
        constants = (None, *constants[1:])
    return (
        code.co_code,
        tuple((type(constant), constant) for constant in constants),
        code.co_names,
        code.co_argcount,
        code.co_posonlyargcount,
        code.co_kwonlyargcount,
        code.co_flags,
        code.co_freevars,
    )


@cache
def _shapes() -> dict[tuple[Any, ...], int]:
    functions = (eval(f"lambda x: x[{position}]") for position in range(_FIELDS))
    return {_shape(function): position for position, function in enumerate(functions)}
