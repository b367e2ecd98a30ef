"""How the functions of a program are called: the function behind a method or a partial function, and its parameters."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import FunctionType, MethodType
from typing import Any

from penstock.compiler.names import Static
from penstock.compiler.program import RefusedError
from penstock.compiler.signatures import Use
from penstock.compiler.trees import Tree


@dataclass(frozen=True)
class Invocation:
    """How a function is called.

    Attributes:
        first, keywords: the first arguments, and arguments by name, that are the same in every call.
        result: what is done with its result.
        count: with how many more arguments it is called; all that it takes if None.
        emits: what it yields, or returns, are results.
        changes: the places of the arguments that it may change.
        method: what an operator calls it as; "" if another function calls it.
        kept: variables that are parameters in front of its arguments.
        yields: it is a generator, and what it yields is gone through where it is called.
        makes: it is an ``__init__``, and gives these attributes of its object as a tuple.
    """

    first: Sequence[Any] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)
    result: Use = Use.KEEP
    count: int | None = None
    emits: bool = False
    changes: Sequence[int] = ()
    method: str = ""
    kept: Sequence[str] = ()
    yields: bool = False
    makes: tuple[str, ...] = ()


def plain_function(called: Any) -> tuple[FunctionType | None, list[Any], dict[str, Any]]:
    """The function behind a method or a partial function, with its bound arguments."""
    first: list[Any] = []
    keywords: dict[str, Any] = {}
    while True:
        if type(called) is functools.partial:
            first = [*called.args, *first]
            keywords = {**called.keywords, **keywords}
            called = called.func
        elif type(called) is MethodType:
            first = [called.__self__, *first]
            called = called.__func__
        else:
            return (called if type(called) is FunctionType else None), first, keywords


def bound_method(function: Any, method: str) -> Any:
    """The callable of a user function: the method of that name, or the function itself."""
    if type(function) in (FunctionType, MethodType, functools.partial) or isinstance(function, type):
        return function
    bound = member(function, method)
    if bound is None:
        called = member(function, "__call__") if type(type(function).__call__) is FunctionType else None
        return function if called is None else called
    return bound


def member(value: Any, name: str) -> Any:
    """A method of an object, without running code of its class."""
    for base in type(value).__mro__:
        if name in vars(base):
            method = vars(base)[name]
            if isinstance(method, staticmethod):
                return method.__func__
            if isinstance(method, classmethod):
                return MethodType(method.__func__, type(value))
            return MethodType(method, value) if isinstance(method, FunctionType) else None
    return None


def parameters_of(function: FunctionType, call: Invocation, tree: Tree) -> tuple[list[str], dict[str, Static]]:
    """The parameters that differ from call to call, and the others with their values."""
    code, first, count = function.__code__, call.first, call.count
    positional = list(code.co_varnames[: code.co_argcount])
    if len(first) > len(positional):
        raise RefusedError("takes fewer arguments than are bound", tree)
    statics = {name: Static(value, name) for name, value in zip(positional, first, strict=False)}
    by_name = list(code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount])
    for name, value in call.keywords.items():
        if name not in (*positional[len(first) :], *by_name):
            raise RefusedError(f"has no parameter {name}", tree)
        statics[name] = Static(value, name)
    rest = positional[len(first) :]
    if count is None:
        return [name for name in (*rest, *by_name) if name not in statics], statics
    if any(name in statics for name in rest[:count]) or len(rest) < count:
        raise RefusedError(f"does not take {count} arguments", tree)
    defaults = defaults_of(function)
    for name in (*rest[count:], *by_name):
        if name not in statics:
            if name not in defaults:
                raise RefusedError(f"is called without {name}", tree)
            statics[name] = Static(defaults[name], name)
    return rest[:count], statics


def defaults_of(function: FunctionType) -> dict[str, Any]:
    """The values of parameters that a call may leave out."""
    code = function.__code__
    defaults = function.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
    return {**dict(zip(names, defaults, strict=True)), **(function.__kwdefaults__ or {})}
