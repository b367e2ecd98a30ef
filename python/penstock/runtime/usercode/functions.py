"""Binds user functions: a callable, or an object with the method that the operator calls; and names them."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterable
from typing import Any

from penstock.errors import InvalidProgramError


def bind(function: Any, method: str) -> Callable[..., Any]:
    """The callable behind a user function: the method of that name, or the function itself. InvalidProgramError if
    there is neither, or it is a class instead of an instance."""
    if isinstance(function, type) and hasattr(function, method):
        raise InvalidProgramError(
            f"{function.__name__} is a class, and its {method}() needs an instance. Write {function.__name__}() "
            "instead."
        )
    bound = getattr(function, method, None)
    if callable(bound):
        return bound
    if callable(function):
        return function
    raise InvalidProgramError(
        f"{function!r} is neither callable nor has it a method {method}(). Give a function of one record or an "
        f"object with {method}()."
    )


def lifecycle(function: Any, method: str) -> Callable[..., Any] | None:
    """``open`` or ``close`` of a user function, if it has one. Plain functions and classes have none."""
    if function is None or isinstance(function, type):
        return None
    bound = getattr(function, method, None)
    return bound if callable(bound) else None


def unless_iterable(results: Any, function: Any, error: Exception) -> Exception:
    """The error of a function whose results were iterated over: ``error`` itself, or if it came from ``results``
    being no iterable, one that says so. If the function did not return, ``results`` is anything iterable."""
    if not isinstance(error, TypeError) or hasattr(results, "__iter__") or hasattr(results, "__getitem__"):
        return error
    name = getattr(function, "__qualname__", type(function).__qualname__)
    bases = {"async_invoke": "AsyncFunction", "async_invoke_batch": "AsyncBatchFunction"}
    base = next((base for method, base in bases.items() if hasattr(function, method)), None)
    asked = "" if base is None else f"The result of {base} should be of list type. "
    return InvalidProgramError(
        f"{asked}The function {name}{place_of(function)} returned {reprlib.repr(results)} ({type(results).__name__}), "
        "where an iterable of records is due. Return a list, [] for no record and [record] for one, or make it a "
        "generator with yield."
    )


def place_of(function: Any) -> str:
    """Where a function of the program is, in brackets; "" for one that is not written in Python."""
    code = getattr(function, "__code__", None)
    return "" if code is None else f" ({code.co_filename}:{code.co_firstlineno})"


def simple_name(function: Any) -> str:
    """The name a function shows in operator names: its class, or its own name if it is a plain function. A lambda is
    called ``lambda``: unlike Java's, its name must be the same in every run."""
    name = getattr(function, "__name__", None)
    if name == "<lambda>":
        return "lambda"
    return name if isinstance(name, str) else type(function).__name__


def java_object(class_name: str) -> str:
    """How Java prints an object without a text form of its own. A star stands for its address, which differs in each
    run."""
    return f"{class_name}@*"


def mark(function: Any, methods: Iterable[str]) -> str:
    """The methods of a user function as a text that tells them from others of the same file: where they are written."""
    return " ".join(_place(getattr(function, method, function)) for method in methods)


def _place(function: Any) -> str:
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return "?" if code is None else f"{code.co_name}:{code.co_firstlineno}"
