"""Facts about a function without calling it: its name in a message, and the arguments it takes. It looks at the
compiled code of plain functions and methods only: that is certain, and takes below a microsecond."""

from __future__ import annotations

from collections.abc import Callable
from inspect import CO_VARARGS
from types import BuiltinFunctionType, FunctionType, GeneratorType, MethodType
from typing import Any, NamedTuple, TypeVar

F = TypeVar("F", bound=Callable[..., object])

_HOOK = "_penstock_hook"
LONGEST_SHOWN = 300
"""Characters of a value in a message."""


class Role(NamedTuple):
    """A method that the runtime calls."""

    base: str  # the class a function object is derived from, "" where there is none
    arguments: tuple[str, ...]  # what it is called with


ROLES = {
    "add": Role("AggregateFunction", ("value", "accumulator")),
    "apply": Role("WindowFunction", ("key", "window", "inputs")),
    "async_invoke": Role("AsyncFunction", ("value",)),
    "async_invoke_batch": Role("AsyncBatchFunction", ("values",)),
    "co_group": Role("CoGroupFunction", ("first", "second")),
    "create_accumulator": Role("AggregateFunction", ()),
    "extract": Role("", ("element",)),
    "extract_timestamp": Role("TimestampAssigner", ("value", "record_timestamp")),
    "filter": Role("FilterFunction", ("value",)),
    "flat_map": Role("FlatMapFunction", ("value",)),
    "flat_map1": Role("CoFlatMapFunction", ("value",)),
    "flat_map2": Role("CoFlatMapFunction", ("value",)),
    "fold": Role("", ("accumulator", "value")),
    "get_delta": Role("", ("old_value", "new_value")),
    "get_key": Role("KeySelector", ("value",)),
    "get_result": Role("AggregateFunction", ("accumulator",)),
    "invoke": Role("SinkFunction", ("value",)),
    "join": Role("JoinFunction", ("first", "second")),
    "map": Role("MapFunction", ("value",)),
    "map1": Role("CoMapFunction", ("value",)),
    "map2": Role("CoMapFunction", ("value",)),
    "partition": Role("Partitioner", ("key", "num_partitions")),
    "process": Role("ProcessWindowFunction", ("key", "context", "elements")),
    "process_element": Role("ProcessFunction", ("value", "ctx")),
    "process_element1": Role("CoProcessFunction", ("value", "ctx")),
    "process_element2": Role("CoProcessFunction", ("value", "ctx")),
    "process_broadcast_element": Role("BroadcastProcessFunction", ("value", "ctx")),
    "reduce": Role("ReduceFunction", ("value1", "value2")),
}
"""By method: all that the API checks."""


def shown(value: Any) -> str:
    """A value in a message: functions by name, objects without a text of their own by class, others by their text."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if isinstance(value, (FunctionType, MethodType, BuiltinFunctionType)):
        return "a lambda" if value.__name__ == "<lambda>" else f"the function {value.__name__}"
    if isinstance(value, GeneratorType):
        return "a generator, which gives its values only once"
    if type(value).__repr__ is object.__repr__:
        return f"an object of the class {type(value).__name__}"
    text = shortened(value)
    return text if text[:1] != "<" or text.startswith("<Row(") else f"a {type(value).__name__}"


def shortened(value: Any) -> str:
    """The beginning of a value's text."""
    text = repr(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def fits(function: Any, count: int, *, optional: int = 0) -> bool:
    """Whether a function can be called with so many arguments; True where that is not certain."""
    if isinstance(function, type):
        return _class_fits(function, count)
    bound = int(type(function) is MethodType)
    plain = function.__func__ if bound else function
    if type(plain) is not FunctionType:
        return True
    code = plain.__code__
    if code.co_kwonlyargcount > len(plain.__kwdefaults__ or ()):
        return False
    most = code.co_argcount - bound
    least = most - len(plain.__defaults__ or ())
    return least <= count + optional and (count <= most or bool(code.co_flags & CO_VARARGS))


def _class_fits(cls: type, count: int) -> bool:
    """A class is called to make an object; one without constructor takes nothing."""
    if type(cls).__call__ is not type.__call__ or cls.__new__ is not object.__new__:
        return True
    constructor = cls.__init__
    if constructor is object.__init__:
        return count == 0
    return type(constructor) is not FunctionType or fits(constructor, count + 1)


def parameters(function: Any) -> str:
    """The parameters of a plain function or method, for a message: ``(a, b)``."""
    plain = getattr(function, "__func__", function)
    code = getattr(plain, "__code__", None)
    if code is None:
        return "()"
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return f"({', '.join(names[int(plain is not function) :])})"


def hook(method: F) -> F:
    """Mark a method of a base class that does nothing unless it is overridden."""
    method.__dict__[_HOOK] = True
    return method


def is_hook(method: object) -> bool:
    """Whether a method is that of a base class, and does nothing."""
    return hasattr(method, _HOOK)


def is_rich(function: object) -> bool:
    """Whether a function object has an ``open`` or ``close`` of its own (Flink: RichFunction)."""
    methods = (getattr(function, name, None) for name in ("open", "close"))
    return any(method is not None and not hasattr(method, _HOOK) for method in methods)
