"""User functions, inspected without running them: the names that their code uses, and the data that they carry.

Bytecode is read, so names are resolved as at run time, whatever they were imported as. Functions that a function calls
are not looked into, nor are installed libraries. No code of inspected objects ever runs: proxies connect when they are
touched, lazy modules load. Cost: each code object is read once, and each carried object until the limit is reached.
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

from penstock.compiler.trees import closure_of

_OURS = "penstock."
_LIBRARIES = ("site-packages", "dist-packages")
_CONTAINERS: tuple[Any, ...] = (dict, list, tuple, set, frozenset)
CLOCKS = frozenset(
    {f"datetime.{name}" for name in ("date.today", "datetime.now", "datetime.today", "datetime.utcnow")}
    | {f"time.{name}" for name in ("monotonic", "monotonic_ns", "perf_counter", "time", "time_ns")}
)
"""Functions that read a clock, by full name."""
_DATA = frozenset({"numpy", "pandas", "polars", "pyarrow", "pyspark"})
"""Packages whose objects are data, whatever methods they have."""
_FUNCTIONS = (FunctionType, MethodType, functools.partial)
ONCE = frozenset({"__init__", "open", "close"})
"""Methods that may keep something for the whole process, such as a connection."""
_PLUMBING = frozenset({"RESUME", "NOP", "CACHE", "COPY_FREE_VARS", "RETURN_GENERATOR", "PRECALL"})
_CONSTANTS = (["LOAD_CONST", "RETURN_VALUE"], ["RETURN_CONST"], ["LOAD_SMALL_INT", "RETURN_VALUE"])


@dataclass(frozen=True)
class Uses:
    """The names that the code of a function uses."""

    calls: frozenset[str] = frozenset()  # global functions, classes and their attributes, such as ``time.time``
    attributes: frozenset[str] = frozenset()  # names of attributes of any object
    written: frozenset[str] = frozenset()  # variables outside of it that it assigns to while it processes records
    constant: bool = False  # whether it only returns a constant


def user_functions(operator: Any) -> list[Any]:
    """The user's functions, and objects with functions, of an operator or a partitioner, in the order of its fields."""
    functions: list[Any] = []
    pending: list[Any] = [operator]
    while pending:
        current: object = pending.pop()
        if _home(type(current)).startswith(_OURS):
            if is_dataclass(current):
                pending.extend(reversed([getattr(current, field.name) for field in fields(current)]))
        elif is_of(current, type):
            if not _home(current).startswith((_OURS, "builtins")):
                functions.append(current)
        elif is_of(current, *_FUNCTIONS) or _is_users(type(current)):
            functions.append(current)
    return [part for part in functions if not (is_of(part, FunctionType) and _home(part).startswith(_OURS))]


def is_of(value: object, *kinds: type) -> bool:
    """Whether an object is an instance of some classes, without asking the object."""
    return issubclass(type(value), kinds)


def class_of(value: object) -> type:
    """The class of an object, without asking the object."""
    return type(value)


def _home(value: Any) -> str:
    return str(value.__module__)


def _is_users(cls: type) -> bool:
    """Whether a class may have methods that a program has written."""
    package = _home(cls).partition(".")[0]
    return package not in _DATA and package not in sys.stdlib_module_names


class Inspector:
    """Inspects functions, each once; carried data of ``limit`` bytes or more is large."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._codes: dict[int, tuple[Any, Uses]] = {}  # with the object, which keeps its id
        self._sizes: dict[int, tuple[Any, int]] = {}

    def uses(self, function: Any) -> Uses:
        """The names that the code of a function, or of all methods of an object, uses."""
        return self._together(list(_codes(function)))

    def uses_per_record(self, function: Any) -> Uses:
        """Likewise, without the methods that are called once: ``__init__``, ``open`` and ``close``."""
        return self._together([code for code in _codes(function) if code[0].co_name not in ONCE])

    def _together(self, codes: list[tuple[CodeType, Mapping[str, Any]]]) -> Uses:
        for code, names in codes:
            if id(code) not in self._codes:
                self._codes[id(code)] = (code, _read(code, names))
        every = [self._codes[id(code)][1] for code, _ in codes]
        if len(every) == 1:
            return every[0]
        nothing = frozenset[str]()
        return Uses(
            nothing.union(*(uses.calls for uses in every)),
            nothing.union(*(uses.attributes for uses in every)),
            nothing.union(*(self._codes[id(code)][1].written for code, _ in codes if code.co_name not in ONCE)),
        )

    def carried(self, function: Any) -> tuple[str, int] | None:
        """The name and approximate bytes of the largest object that travels with a function; None below the limit."""
        size, name = 0, ""
        for part_name, part in carried_parts(function):
            if id(part) not in self._sizes:
                self._sizes[id(part)] = (part, _size(part, self._limit))
            size, name = max((size, name), (self._sizes[id(part)][1], part_name))
        return (name, size) if size >= self._limit else None


def _codes(function: Any) -> Iterator[tuple[CodeType, Mapping[str, Any]]]:
    """The code of a function, or of all methods that a program has written of an object's class."""
    while is_of(function, functools.partial, MethodType):
        function = function.func if is_of(function, functools.partial) else function.__func__
    if is_of(function, FunctionType):
        if is_of_program(function):
            yield function.__code__, function.__globals__
        return
    for _, method in methods_of(function if is_of(function, type) else class_of(function)):
        yield method.__code__, method.__globals__


def methods_of(cls: type) -> Iterator[tuple[str, FunctionType]]:
    """The methods of a class and its bases that the program defines, by name; those of derived classes first."""
    for base in cls.__mro__:
        if not _is_users(base) or _home(base).startswith(_OURS):
            continue
        for name, member in vars(base).items():
            method = member.__func__ if is_of(member, staticmethod, classmethod) else member
            if is_of(method, FunctionType) and is_of_program(method):
                yield name, method


def is_of_program(function: FunctionType) -> bool:
    """Whether a function is neither of an installed library nor ours."""
    installed = any(library in function.__code__.co_filename for library in _LIBRARIES)
    return not installed and not _home(function).startswith(_OURS)


def _read(code: CodeType, names: Mapping[str, Any]) -> Uses:
    """The names that a code object uses, with those that are defined in it."""
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
                path = names.get(step.argval, getattr(builtins, step.argval, None))
            elif step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                attributes.add(step.argval)
                path = None if path is None else _attribute(path, step.argval)
            else:
                path = path if step.opname in _PLUMBING or step.opname == "PUSH_NULL" else None
                if step.opname == "STORE_GLOBAL" or (step.opname == "STORE_DEREF" and step.argval in code.co_freevars):
                    written.add(step.argval)
            if path is not None and (name := full_name(path)) is not None:
                calls.add(name)
        if current is code:
            constant = [step for step in steps if step not in _PLUMBING] in _CONSTANTS
    return Uses(frozenset(calls), frozenset(attributes), frozenset(written), constant)


def _attribute(owner: Any, name: str) -> Any:
    """An attribute of a module, or of a class of Python's own."""
    if is_of(owner, ModuleType):
        names: dict[str, Any] = owner.__dict__
        return names.get(name)
    return getattr(owner, name, None) if is_of(owner, type) and _home(owner) in sys.stdlib_module_names else None


def full_name(value: Any) -> str | None:
    """The full name of a function or class; functions of ``random`` under that module."""
    if is_of(value, BuiltinMethodType, MethodType):
        owner = value.__self__
        if is_of(owner, random.Random):
            return f"random.{value.__name__}"
        if is_of(owner, type):
            return f"{_home(owner)}.{owner.__qualname__}.{value.__name__}"
    if is_of(value, FunctionType, BuiltinMethodType, type):
        return f"{_home(value)}.{value.__qualname__}"
    return None


def carried_parts(function: Any) -> Iterator[tuple[str, Any]]:
    """The objects that are pickled with a function, by name: variables of enclosing functions, defaults, attributes;
    for functions of the main program also the global variables that they use, as those travel by value."""
    if is_of(function, functools.partial):
        yield from ((f"argument {index}", part) for index, part in enumerate(function.args))
        yield from function.keywords.items()
        yield from carried_parts(function.func)
    elif is_of(function, MethodType):
        yield from carried_parts(function.__self__)
    elif is_of(function, FunctionType):
        yield from _variables(function)
    elif not is_of(function, type):
        yield from ((f"self.{name}", part) for name, part in attributes_of(function).items())


def attributes_of(value: object) -> Mapping[str, Any]:
    """The attributes of an object, without running code of its class."""
    try:
        return object.__getattribute__(value, "__dict__")
    except AttributeError:  # it has slots
        return {}


def _variables(function: FunctionType) -> Iterator[tuple[str, Any]]:
    code = function.__code__
    yield from closure_of(function)
    defaults = function.__defaults__ or ()
    yield from zip(code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount], defaults, strict=True)
    if function.__module__ == "__main__":
        names = function.__globals__
        used = (name for name in code.co_names if name in names)
        yield from ((name, names[name]) for name in used if not is_of(names[name], ModuleType, type))


def _size(value: Any, limit: int) -> int:
    """Approximate bytes of plain data, counted until the limit is reached: containers with their items, other objects
    without what they refer to, arrays and frames by their own count."""
    total, pending, seen = 0, [value], set[int]()
    while pending and total < limit:
        current = pending.pop()
        if id(current) in seen or is_of(current, ModuleType, type, FunctionType):
            continue
        seen.add(id(current))
        total += _own_size(current)
        pending.extend(_items(current, limit))
    return total


def _own_size(value: Any) -> int:
    cls = class_of(value)
    if _home(cls).partition(".")[0] in _DATA:
        size = getattr(value, "nbytes", None)
        return size if isinstance(size, int) else sys.getsizeof(value)
    return object.__sizeof__(value) if _is_users(cls) else sys.getsizeof(value)


def _items(value: Any, limit: int) -> Iterable[Any]:
    """The items of a container, without calling overridden methods."""
    kind = next((container for container in _CONTAINERS if is_of(value, container)), None)
    if kind is None or _own_size(value) >= limit:
        return ()
    items: list[Any] = list(kind.__iter__(value))
    return [*items, *cast("Any", dict).values(value)] if is_of(value, dict) else items
