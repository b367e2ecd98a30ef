"""What can be seen of a user's functions without running them: which names their code uses, and what they carry.

Code is read as Python's bytecode, so names are those that will be found when it runs, whatever they were imported as.
What a function calls in turn is not looked into. Cost: each code object is read once, and each carried object until the
limit is reached.
"""

from __future__ import annotations

import builtins
import dis
import functools
import random
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from types import BuiltinMethodType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, cast

_OURS = "penstock."
_DATA = frozenset({"numpy", "pandas", "polars", "pyarrow", "pyspark"})
"""Packages whose objects are data, whatever methods they have."""
_FUNCTIONS = (FunctionType, MethodType, functools.partial)
_ONCE = frozenset({"__init__", "open", "close"})
"""Methods that may keep something for the whole process, such as a connection."""
_PLUMBING = frozenset({"RESUME", "NOP", "CACHE", "COPY_FREE_VARS", "RETURN_GENERATOR", "PRECALL"})
_CONSTANTS = (["LOAD_CONST", "RETURN_VALUE"], ["RETURN_CONST"], ["LOAD_SMALL_INT", "RETURN_VALUE"])


@dataclass(frozen=True)
class Uses:
    """What the code of a function uses.

    Attributes:
        calls: functions and classes by full name, such as ``time.time`` and ``builtins.print``, as far as they are
            global names or attributes of such.
        attributes: names of attributes, of whatever object.
        written: global variables, and variables of an enclosing function, that it assigns to; of an object not those
            that it does when it is made, opened or closed.
        constant: whether it does nothing but return a constant.
    """

    calls: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()
    written: frozenset[str] = frozenset()
    constant: bool = False


def user_functions(operator: Any) -> list[Any]:
    """The functions, and objects with functions, that a program has given to an operator, in the order of its fields.

    Args:
        operator: a runtime operator, or what partitions.
    """
    found: list[Any] = []
    pending: list[Any] = [operator]
    while pending:
        current: object = pending.pop()
        if type(current).__module__.startswith(_OURS):
            if is_dataclass(current):
                pending.extend(reversed([getattr(current, field.name) for field in fields(current)]))
        elif isinstance(current, type):
            if not current.__module__.startswith((_OURS, "builtins")):
                found.append(current)
        elif isinstance(current, _FUNCTIONS) or _is_users(type(current)):
            found.append(current)
    return [each for each in found if not str(getattr(each, "__module__", "")).startswith(_OURS)]


def _is_users(cls: type) -> bool:
    """Whether a class may have methods that a program has written."""
    package = cls.__module__.partition(".")[0]
    return package not in _DATA and package not in sys.stdlib_module_names


class Inspector:
    """Looks at functions, and remembers what it has seen.

    Args:
        limit: bytes from which on carried data is large.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._seen: dict[int, tuple[Any, Uses]] = {}
        self._sizes: dict[int, tuple[Any, int]] = {}

    def uses(self, function: Any) -> Uses:
        """What the code of a function, or of all methods of an object, uses."""
        codes = list(_codes(function))
        names, every = [code.co_name for code, _ in codes], [self._code(*each) for each in codes]
        if len(every) == 1:
            return every[0]
        if not every:
            return Uses()
        nothing = frozenset[str]()
        return Uses(
            nothing.union(*(each.calls for each in every)),
            nothing.union(*(each.attributes for each in every)),
            nothing.union(*(each.written for name, each in zip(names, every, strict=True) if name not in _ONCE)),
        )

    def _code(self, code: CodeType, names: Mapping[str, Any]) -> Uses:
        known = self._seen.get(id(code))
        if known is None:
            known = self._seen[id(code)] = (code, _read(code, names))  # with the code, which keeps its id
        return known[1]

    def carried(self, function: Any) -> tuple[str, int] | None:
        """The largest thing that travels with a function, by the name that it has there, and its bytes, about; None
        where nothing is as large as the limit."""
        large = [(size, name) for name, part in _carried(function) if (size := self._size(part)) >= self._limit]
        if not large:
            return None
        size, name = max(large)
        return name, size

    def _size(self, value: Any) -> int:
        known = self._sizes.get(id(value))
        if known is None:
            known = self._sizes[id(value)] = (value, _size(value, self._limit))
        return known[1]


def _codes(function: Any) -> Iterator[tuple[CodeType, Mapping[str, Any]]]:
    """The code of a function, or of all methods that a program has written of an object's class."""
    while isinstance(function, (functools.partial, MethodType)):
        function = function.func if isinstance(function, functools.partial) else function.__func__
    if isinstance(function, FunctionType):
        yield function.__code__, function.__globals__
        return
    cls: type = function if isinstance(function, type) else type(function)
    for base in cls.__mro__:
        if not base.__module__.startswith(_OURS) and _is_users(base):
            for member in vars(base).values():
                method = getattr(member, "__func__", member)
                if isinstance(method, FunctionType):
                    yield method.__code__, method.__globals__


def _read(code: CodeType, names: Mapping[str, Any]) -> Uses:
    """What one code object uses, and those that are defined in it."""
    calls: set[str] = set()
    attributes: set[str] = set()
    written: set[str] = set()
    pending, constant = [code], False
    while pending:
        current = pending.pop()
        pending.extend(part for part in current.co_consts if isinstance(part, CodeType))
        path: Any = None
        steps: list[str] = []
        for step in dis.get_instructions(current):
            steps.append(step.opname)
            if step.opname == "LOAD_GLOBAL":
                path = _global(names, step.argval)
            elif step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                attributes.add(step.argval)
                path = None if path is None else _attribute(path, step.argval)
            else:
                path = path if step.opname in _PLUMBING or step.opname == "PUSH_NULL" else None
                if step.opname == "STORE_GLOBAL" or (step.opname == "STORE_DEREF" and step.argval in code.co_freevars):
                    written.add(step.argval)
            if path is not None and (name := _full_name(path)) is not None:
                calls.add(name)
        if current is code:
            constant = [each for each in steps if each not in _PLUMBING] in _CONSTANTS
    return Uses(frozenset(calls), frozenset(attributes), frozenset(written), constant)


def _global(names: Mapping[str, Any], name: str) -> Any:
    return names.get(name, getattr(builtins, name, None))


def _attribute(owner: Any, name: str) -> Any:
    """An attribute of a module or class; of other objects nobody asks, as that could run code."""
    return getattr(owner, name, None) if isinstance(owner, (ModuleType, type)) else None


def _full_name(value: Any) -> str | None:
    """How a function or class is called wherever it is known; functions of ``random`` by that module."""
    owner = getattr(value, "__self__", None)
    if isinstance(value, (BuiltinMethodType, MethodType)) and isinstance(owner, random.Random):
        return f"random.{value.__name__}"
    if isinstance(value, (BuiltinMethodType, MethodType)) and isinstance(owner, type):
        return f"{owner.__module__}.{owner.__qualname__}.{value.__name__}"
    if isinstance(value, (FunctionType, BuiltinMethodType, type)):
        return f"{value.__module__}.{value.__qualname__}"
    return None


def _carried(function: Any) -> Iterator[tuple[str, Any]]:
    """What is pickled with a function, by name: variables of enclosing functions, defaults, attributes; of the main
    program's functions also the global variables that they use, as those travel by value."""
    if isinstance(function, functools.partial):
        yield from ((f"argument {index}", part) for index, part in enumerate(function.args))
        yield from function.keywords.items()
        yield from _carried(function.func)
    elif isinstance(function, MethodType):
        yield from _carried(function.__self__)
    elif isinstance(function, FunctionType):
        yield from _variables(function)
    elif not isinstance(function, type):
        yield from ((f"self.{name}", part) for name, part in getattr(function, "__dict__", {}).items())


def _variables(function: FunctionType) -> Iterator[tuple[str, Any]]:
    code = function.__code__
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    defaults = function.__defaults__ or ()
    yield from zip(code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount], defaults, strict=True)
    if function.__module__ == "__main__":
        names = function.__globals__
        used = (name for name in code.co_names if name in names)
        yield from ((name, names[name]) for name in used if not isinstance(names[name], (ModuleType, type)))


def _size(value: Any, limit: int) -> int:
    """Bytes of plain data, about, counted until the limit is reached. Objects count without what they refer to,
    containers with it, arrays and frames as they say themselves."""
    total, pending, seen = 0, [value], set[int]()
    while pending and total < limit:
        current = pending.pop()
        if id(current) in seen or isinstance(current, (ModuleType, type, FunctionType)):
            continue
        seen.add(id(current))
        total += _own_size(current)
        pending.extend(_items(current, limit))
    return total


def _own_size(value: Any) -> int:
    told = getattr(value, "nbytes", None)  # NumPy, Arrow, memoryview
    return told if isinstance(told, int) else sys.getsizeof(value, 0)


def _items(value: Any, limit: int) -> Iterable[Any]:
    if not isinstance(value, (dict, list, tuple, set, frozenset)) or _own_size(value) >= limit:
        return ()
    items = cast("Iterable[Any]", value)
    return [*items, *cast("dict[Any, Any]", value).values()] if isinstance(value, dict) else items
