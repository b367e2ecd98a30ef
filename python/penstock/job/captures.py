"""Which part of a user function cannot be pickled: looked for once pickling has failed, to name it in the error.

From the function through the variables it closes over, the globals it uses, attributes and items, always into the first
part that cannot be pickled by itself. Cost: pickles each part on that way once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import BuiltinMethodType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

_CODE = (type, ModuleType)
"""What is no data."""
_DEPTH = 8
"""Steps into a function's parts."""


def culprit(value: Any, picklable: Callable[[Any], bool]) -> tuple[str, Any]:
    """The innermost part that cannot be pickled.

    Args:
        value: an operator, or a user function.
        picklable: whether something can be pickled.

    Returns:
        Where the program has it, such as ``self.connection`` (empty if that is unknown), and the part itself.
    """
    path, seen = "", {id(value)}
    for _ in range(_DEPTH):
        unfit = (each for each in _parts(value) if id(each[1]) not in seen and not isinstance(each[1], _CODE))
        found = next((each for each in unfit if not picklable(each[1])), None)
        if found is None or is_sparks(value):
            break
        name, value = found
        if name:
            path = f"{path or 'self'}{name}" if name[0] in ".[" else name
        seen.add(id(value))
    return path, value


def is_sparks(value: Any) -> bool:
    """Whether it is an object of pyspark."""
    return (type(value).__module__ or "").partition(".")[0] == "pyspark"


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    """What a value consists of: variables by name, attributes and items by the text that follows the value's own name;
    parts of penstock's own have none."""
    if isinstance(value, FunctionType):
        yield from _variables(value)
    elif isinstance(value, (MethodType, BuiltinMethodType)):
        yield "", value.__self__
    elif isinstance(value, dict):
        yield from ((f"[{key!r}]", part) for key, part in value.items())
    elif isinstance(value, (list, tuple)):
        yield from ((f"[{index}]", part) for index, part in enumerate(value))
    else:
        ours = type(value).__module__.startswith("penstock.")
        yield from (("" if ours else f".{name}", part) for name, part in getattr(value, "__dict__", {}).items())


def _variables(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """The variables that a function, or one defined inside it, takes from outside, then its defaults."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    for name in _names(function.__code__):
        if name in function.__globals__:
            yield name, function.__globals__[name]
    defaults, code = function.__defaults__ or (), function.__code__
    yield from zip(code.co_varnames[code.co_argcount - len(defaults) :], defaults, strict=False)
    yield from (function.__kwdefaults__ or {}).items()


def _names(code: CodeType) -> Iterator[str]:
    stack = [code]
    while stack:
        code = stack.pop()
        yield from code.co_names
        stack.extend(part for part in code.co_consts if isinstance(part, CodeType))
