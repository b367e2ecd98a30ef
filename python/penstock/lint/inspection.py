"""What can be seen of a user's functions without running them: which names their code uses, and what they carry.

Code is read as Python's bytecode, so names are those that will be found when it runs, whatever they were imported as.
What a function calls in turn is not looked into, nor are installed libraries. Objects are never asked for anything that
could run code of theirs: proxies connect when they are touched, lazy modules load. Cost: each code object is read once,
and each carried object until the limit is reached.
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
_LIBRARIES = ("site-packages", "dist-packages")
_CONTAINERS: tuple[Any, ...] = (dict, list, tuple, set, frozenset)
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
        if _home(type(current)).startswith(_OURS):
            if is_dataclass(current):
                pending.extend(reversed([getattr(current, field.name) for field in fields(current)]))
        elif _is(current, type):
            if not _home(current).startswith((_OURS, "builtins")):
                found.append(current)
        elif _is(current, *_FUNCTIONS) or _is_users(type(current)):
            found.append(current)
    return [each for each in found if not (_is(each, FunctionType) and _home(each).startswith(_OURS))]


def _is(value: object, *kinds: type) -> bool:
    """Whether an object is of one of some classes by what it is, not by what it says."""
    return issubclass(type(value), kinds)


def _class(value: object) -> type:
    """What an object is, not what it says that it is."""
    return type(value)


def _home(value: Any) -> str:
    """The module of a class or function."""
    return str(value.__module__)


def _is_users(cls: type) -> bool:
    """Whether a class may have methods that a program has written."""
    package = _home(cls).partition(".")[0]
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
    while _is(function, functools.partial, MethodType):
        function = function.func if _is(function, functools.partial) else function.__func__
    if _is(function, FunctionType):
        methods: list[Any] = [function]
    else:
        cls = function if _is(function, type) else _class(function)
        bases = (base for base in cls.__mro__ if _is_users(base) and not _home(base).startswith(_OURS))
        members = [member for base in bases for member in vars(base).values()]
        methods = [each.__func__ if _is(each, staticmethod, classmethod) else each for each in members]
    for method in methods:
        if _is(method, FunctionType) and not any(each in method.__code__.co_filename for each in _LIBRARIES):
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
    """An attribute of a module, or of a class of Python's own."""
    if _is(owner, ModuleType):
        names: dict[str, Any] = owner.__dict__
        return names.get(name)
    return getattr(owner, name, None) if _is(owner, type) and _home(owner) in sys.stdlib_module_names else None


def _full_name(value: Any) -> str | None:
    """How a function or class is called wherever it is known; functions of ``random`` by that module."""
    if _is(value, BuiltinMethodType, MethodType):
        owner = value.__self__
        if _is(owner, random.Random):
            return f"random.{value.__name__}"
        if _is(owner, type):
            return f"{_home(owner)}.{owner.__qualname__}.{value.__name__}"
    if _is(value, FunctionType, BuiltinMethodType, type):
        return f"{_home(value)}.{value.__qualname__}"
    return None


def _carried(function: Any) -> Iterator[tuple[str, Any]]:
    """What is pickled with a function, by name: variables of enclosing functions, defaults, attributes; of the main
    program's functions also the global variables that they use, as those travel by value."""
    if _is(function, functools.partial):
        yield from ((f"argument {index}", part) for index, part in enumerate(function.args))
        yield from function.keywords.items()
        yield from _carried(function.func)
    elif _is(function, MethodType):
        yield from _carried(function.__self__)
    elif _is(function, FunctionType):
        yield from _variables(function)
    elif not _is(function, type):
        yield from ((f"self.{name}", part) for name, part in _attributes(function).items())


def _attributes(value: object) -> Mapping[str, Any]:
    try:
        return object.__getattribute__(value, "__dict__")
    except AttributeError:  # it has slots
        return {}


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
        yield from ((name, names[name]) for name in used if not _is(names[name], ModuleType, type))


def _size(value: Any, limit: int) -> int:
    """Bytes of plain data, about, counted until the limit is reached. Objects count without what they refer to,
    containers with it, arrays and frames as they say themselves."""
    total, pending, seen = 0, [value], set[int]()
    while pending and total < limit:
        current = pending.pop()
        if id(current) in seen or _is(current, ModuleType, type, FunctionType):
            continue
        seen.add(id(current))
        total += _own_size(current)
        pending.extend(_items(current, limit))
    return total


def _own_size(value: Any) -> int:
    cls = _class(value)
    if _home(cls).partition(".")[0] in _DATA:
        told = getattr(value, "nbytes", None)
        return told if isinstance(told, int) else sys.getsizeof(value)
    return object.__sizeof__(value) if _is_users(cls) else sys.getsizeof(value)


def _items(value: Any, limit: int) -> Iterable[Any]:
    """What a container holds, whatever a class of a user's makes of that."""
    kind = next((each for each in _CONTAINERS if _is(value, each)), None)
    if kind is None or _own_size(value) >= limit:
        return ()
    items: list[Any] = list(kind.__iter__(value))
    return [*items, *cast("Any", dict).values(value)] if _is(value, dict) else items
