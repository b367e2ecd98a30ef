"""Pickles user code, once, on the driver, and names what cannot be pickled.

When pickling fails, the search goes from the function through its variables, globals, attributes and items, always into
the first part that cannot be pickled by itself.
"""

from __future__ import annotations

import contextlib
import importlib.machinery
import io
import sys
from collections.abc import Callable, Iterator
from enum import EnumMeta
from types import BuiltinMethodType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import cloudpickle

from penstock.errors import InvalidProgramError
from penstock.runtime.state.classes import code_with_file, name_of

_CODE = (type, ModuleType)  # what is no data
_DEPTH = 8  # steps into a function's parts


def culprit(value: Any, picklable: Callable[[Any], bool]) -> tuple[str, Any]:
    """The innermost part that cannot be pickled, behind where the program has it, such as ``self.connection``."""
    path, seen = "", {id(value)}
    for _ in range(_DEPTH):
        unfit = (part for part in _parts(value) if id(part[1]) not in seen and not isinstance(part[1], _CODE))
        part = next((part for part in unfit if not picklable(part[1])), None)
        if part is None or is_sparks(value):
            break
        name, value = part
        if name:
            path = f"{path or 'self'}{name}" if name[0] in ".[" else name
        seen.add(id(value))
    return path, value


def is_sparks(value: Any) -> bool:
    """Whether it is an object of pyspark."""
    return (type(value).__module__ or "").partition(".")[0] == "pyspark"


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    """The parts of a value, by the text that follows the value's own name; "" in parts of penstock's own."""
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


def pickle_operator(operator: Any, name: str) -> bytes:
    """Bytes of an operator or partitioner."""
    target = io.BytesIO()
    try:
        _Pickler(target, protocol=5).dump(operator)
    except Exception as error:
        first_line = str(error).strip().split("\n")[0].rstrip(".")
        raise InvalidProgramError(
            f"The function of operator {name!r} cannot be sent to the executors: {type(error).__name__}: "
            f"{first_line}. {_advice(operator, error)}",
            flink_class="org.apache.flink.api.common.InvalidProgramException",
        ) from error
    return target.getvalue()


def _advice(operator: Any, error: BaseException) -> str:
    try:
        path, part = culprit(operator, _picklable)
    except Exception:  # an object that does not let itself be looked at
        path, part = "", None
    what = f"{path} ({type(part).__name__})" if path else ""
    text = f"{type(error).__name__}: {error}"
    if is_sparks(part) or "Spark" in text or "CONTEXT_ONLY_VALID_ON_DRIVER" in text:
        return (
            f"It captures {what or 'a SparkSession, SparkContext or DataFrame'}; what belongs to Spark can exist on "
            "the driver only. Collect what the function needs into plain Python values before."
        )
    return (
        f"It captures {what or 'an object'}, which cannot be pickled; open files, locks and connections cannot. "
        "Create it in the function's open() method, which runs on the executor."
    )


def _picklable(value: Any) -> bool:
    try:
        _Pickler(io.BytesIO(), protocol=5).dump(value)
    except Exception:
        return False
    return True


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    """cloudpickle that sends by value what an executor cannot import."""

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, CodeType):
            return code_with_file(self, obj)
        if isinstance(obj, (type, FunctionType)):
            module = getattr(obj, "__module__", None)
            if module not in (None, "__main__", *_seen) and module in sys.modules:
                _seen.add(module)
                if not _importable(module):
                    cloudpickle.register_pickle_by_value(sys.modules[module])
        reduced = super().reducer_override(obj)
        if isinstance(obj, EnumMeta) and isinstance(reduced, tuple) and len(reduced[1]) > 3:
            return _with_aliases(obj, reduced)
        return reduced


def _with_aliases(enum: Any, reduced: Any) -> Any:
    """An enum by value with all its names: cloudpickle leaves out aliases, and named combinations of flags."""
    make, (bases, name, qualname, _, *rest), (attributes, slots), *others = reduced
    members = {alias: member.value for alias, member in enum.__members__.items()}
    attributes = {key: value for key, value in attributes.items() if key not in members}
    return make, (bases, name, qualname, members, *rest), (attributes, slots), *others


def classes_in(operator: Any) -> dict[str, type]:
    """The classes that travel with an operator by value, by name (``module:name``), as far as it can be pickled."""
    classes: dict[str, type] = {}

    class Noting(_Pickler):
        def reducer_override(self, obj: Any) -> Any:
            if isinstance(obj, type):
                classes[name_of(obj)] = obj
            return super().reducer_override(obj)

    with contextlib.suppress(Exception):
        Noting(io.BytesIO(), protocol=5).dump(operator)
    return classes


_seen: set[str] = set()


def _importable(module: str) -> bool:
    """Whether another process with the same path finds the module by its name."""
    top, *rest = module.split(".")
    if top in sys.stdlib_module_names:
        return True
    name, path = top, None
    for part in (None, *rest):
        name = name if part is None else f"{name}.{part}"
        try:
            spec = importlib.machinery.PathFinder.find_spec(name, path)
        except (ImportError, AttributeError, ValueError):
            return False
        if spec is None:
            return False
        path = spec.submodule_search_locations
        if path is None:  # a plain module; what it calls its submodules it makes itself
            return True
    return True
