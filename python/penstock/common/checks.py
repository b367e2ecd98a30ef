"""Checks of what a program passes to the API, at the call: a mistake would otherwise surface late, on another machine.
Messages name call, value, likely cause and fix; ``flink_class`` is Flink's exception where Flink refuses the same."""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import Enum
from types import FunctionType
from typing import Any, NoReturn, TypeGuard, TypeVar, cast

from penstock.common.callables import ROLES, fits, parameters, shown
from penstock.common.typeinfo import PickledBytesTypeInfo, TypeInformation, Types
from penstock.errors import InvalidProgramError, TypeInfoError, UnsupportedError


class LeftOpen(int):
    """The environment's parallelism, of operators without one of their own, and of others that take theirs."""

    __slots__ = ()


T = TypeVar("T")
E = TypeVar("E", bound=Enum)

ILLEGAL_ARGUMENT = "java.lang.IllegalArgumentException"
ILLEGAL_STATE = "java.lang.IllegalStateException"
_LEAST_LONG, _MOST_LONG = -(1 << 63), (1 << 63) - 1
UNSUPPORTED_OPERATION = "java.lang.UnsupportedOperationException"
NULL_POINTER = "java.lang.NullPointerException"
INDEX_OUT_OF_BOUNDS = "java.lang.IndexOutOfBoundsException"
RUNTIME_EXCEPTION = "java.lang.RuntimeException"
INVALID_PROGRAM = "org.apache.flink.api.common.InvalidProgramException"
INVALID_FIELD = "org.apache.flink.api.common.typeutils.CompositeType$InvalidFieldReferenceException"

UPPER_BOUND_MAX_PARALLELISM = 32768
"""Flink's largest max parallelism (``KeyGroupRangeAssignment.UPPER_BOUND_MAX_PARALLELISM``)."""


def refuse(message: str, flink_class: str | None = None) -> NoReturn:
    """Raise :class:`InvalidProgramError` as Flink's ``flink_class``."""
    raise InvalidProgramError(message, flink_class=flink_class)


def illegal_argument(message: str) -> NoReturn:
    """:func:`refuse` as Java's IllegalArgumentException."""
    refuse(message, ILLEGAL_ARGUMENT)


def unsupported_operation(message: str) -> NoReturn:
    """:func:`refuse` as Java's UnsupportedOperationException."""
    refuse(message, UNSUPPORTED_OPERATION)


def function(func: Any, call: str, method: str, *arguments: str) -> Any:
    """``func`` itself if it can serve as the user function of ``call``."""
    if type(func) is FunctionType and not arguments:
        code = func.__code__
        if code.co_argcount == len(ROLES[method].arguments) and not code.co_kwonlyargcount:
            return func  # the usual case, at a third of the cost
    has_method = not isinstance(func, str | bytes) and hasattr(func, method)  # texts have a partition()
    if has_method and isinstance(func, type):
        refuse(f"{call}() was given the class {func.__name__}. Pass an object of it: {func.__name__}().")
    if not has_method and not callable(func):
        refuse(
            f"{call}() needs a callable or an object with a method {method}(), not {shown(func)}. "
            f"{_guess(func, call, method)}"
        )
    _check_arguments(func, getattr(func, method) if has_method else func, call, method, arguments)
    return func


def no_java_class(cls: type, base: type, arguments: Sequence[object], instead: str) -> None:
    """Refuse to wrap a class of Java, as PyFlink's bases of functions, sources and sinks do."""
    if cls is base and arguments:
        raise UnsupportedError(
            f"{base.__name__}({shown(arguments[0])}) wraps a class of Java, and no Flink in Java runs here. {instead}"
        )


def methods(func: Any, call: str, names: Sequence[str]) -> Any:
    """``func`` itself if it is an object with all the methods that ``call`` needs of it."""
    if isinstance(func, type) or not all(callable(getattr(func, name, None)) for name in names):
        needed = " and ".join(f"{name}()" for name in names)
        hint = (
            f"Pass an object of it: {func.__name__}()."
            if isinstance(func, type) and hasattr(func, names[0])
            else f"Derive a class from {ROLES[names[0]].base} and pass an object of it."
        )
        refuse(f"{call}() needs an object with {needed}, not {shown(func)}. {hint}")
    for name in names:
        _check_arguments(func, getattr(func, name), call, name, ())
    return func


def _check_arguments(func: Any, called: Any, call: str, method: str, arguments: Sequence[str]) -> None:
    """Refuse a function that cannot take what the runtime will call it with."""
    if not arguments:
        arguments = ROLES[method].arguments
    if fits(called, len(arguments), optional=int(method == "invoke")):  # a sink may ask for a context
        return
    wanted, inner = ", ".join(arguments), called is not func
    takes = parameters(called.__init__ if isinstance(called, type) else called)
    count = ("no arguments", "one argument", "two arguments", "three arguments")[len(arguments)]
    refuse(
        f"{call}() was given {shown(func)}, {f'whose {method}()' if inner else 'which'} takes {takes}, but it will be "
        f"called with ({wanted}). Give {'it' if inner else 'a function with'} {count}"
        f"{'.' if inner else f', such as lambda {wanted}: …'}"
    )


def _guess(func: Any, call: str, method: str) -> str:
    if func is None:
        return f"Did you call the function instead of passing it, {call}(f()) instead of {call}(f)?"
    known = ("map", "flat_map", "filter", "reduce", "process_element", "apply", "process")
    others = [name for name in known if name != method and hasattr(func, name)]
    if others:
        return f"A {type(func).__name__} has {others[0]}(); did you mean {others[0].removesuffix('_element')}()?"
    base = ROLES[method].base
    kind = f"of a subclass of {base}" if base else f"with a method {method}()"
    return f"Write {call}(lambda …) or pass an object {kind}."


def integer(value: Any, call: str, what: str, flink_class: str | None = None, *, bits: int = 64) -> int:
    """``value`` itself if it is an int (and not a bool) that fits into Java's long, or int with 32 ``bits``."""
    if type(value) is int:
        if -(1 << bits - 1) <= value < 1 << bits - 1:
            return value
        refuse(
            f"{call}() was given {value} as {what}, which does not fit into {bits} bits as Flink's type does. "
            f"Give a number below {1 << bits - 1}."
        )
    kind = type(value).__name__
    hint = "Give a whole number."
    if _is_integral(value):
        hint = f"Convert it first: int({value!r})."
    elif hasattr(value, "to_milliseconds") and "milliseconds" in what:
        hint = f"Give the number: {value.to_milliseconds()}."
    refuse(f"{call}() was given {shown(value)} as {what}, which is a {kind}; an int is needed. {hint}", flink_class)


def moment(value: Any, call: str) -> int:
    """A time in milliseconds: an int, or an integer of another library (NumPy) as one."""
    if type(value) is int and _LEAST_LONG <= value <= _MOST_LONG:
        return value
    if not isinstance(value, int | str) and _is_integral(value):
        value = int(value)
    return integer(value, call, "a time in milliseconds", ILLEGAL_ARGUMENT)


def at_least(least: int, value: Any, call: str, what: str) -> int:
    """``value`` itself if it is an int that is not below another one."""
    if integer(value, call, what) >= least:
        return value
    illegal_argument(f"{call}() was given {value} as {what}. Give {least} or more.")


def positive(value: Any, call: str, what: str) -> int:
    """``value`` itself if it is an int above 0."""
    return at_least(1, value, call, what)


def member(value: Any, call: str, cls: type[E]) -> E:
    """``value`` itself if it is a member of the enumeration ``cls``."""
    name = cls.__qualname__
    members = " or ".join(f"{name}.{option.name}" for option in cls)
    return instance(value, call, cls, f"Give {members}.", f", which is not a member of {name}")


def span(value: Any, call: str) -> int:
    """``value`` itself if it is a whole number of some unit of time."""
    if type(value) is float:
        refuse(f"{call}() was given {value!r}; a whole number is needed. Give it in a smaller unit, milliseconds say.")
    return integer(value, call, "length")


def _is_integral(value: Any) -> bool:
    """Whether a value that is not an int stands for one: a text of digits, or an integer of another library (NumPy)."""
    if isinstance(value, str):
        return value.lstrip("-").isdigit()
    return not isinstance(value, bool) and hasattr(value, "__index__")


def text(value: Any, call: str, what: str, *, optional: bool = False) -> Any:
    """``value`` itself if it is text, or None where that is allowed."""
    if isinstance(value, str) or (optional and value is None):
        return value
    hint = "Give a text in quotes."
    if isinstance(value, os.PathLike):
        hint = f"Convert it first: str({value!r})."
    refuse(
        f"{call}() was given {shown(value)} as {what}; a text is needed. {hint}",
        NULL_POINTER if value is None else None,
    )


def character(value: Any, call: str, what: str) -> str:
    """``value`` itself if it is one character."""
    if len(text(value, call, what)) == 1:
        return value
    illegal_argument(f"{call}({value!r}): the {what} is one character. Give a single character, such as ',' or '|'.")


def charset(value: Any, call: str) -> str:
    """``value`` itself if it is the name of an encoding of text that Python knows."""
    try:
        "\n".encode(text(value, call, "charset"))  # some codecs, such as base64, are not for text
    except LookupError:
        illegal_argument(
            f"{call}() was given the charset {value!r}, which Python does not know. Use one such as 'UTF-8' or "
            "'ISO-8859-1'."
        )
    return value


def name(value: Any, call: str, what: str, *, optional: bool = False) -> Any:
    """:func:`text` that enters a plan, which is UTF-8."""
    if text(value, call, what, optional=optional) is not None:
        try:
            value.encode()
        except UnicodeEncodeError:
            refuse(
                f"{call}() was given {value!r} as {what}, which holds half a surrogate pair and cannot be written as "
                "UTF-8. It was probably decoded wrongly; decode it with its real encoding."
            )
    return value


def path(value: Any, call: str) -> str:
    """``value`` itself if it can be the path of a file or folder."""
    if not text(value, call, "path").strip():
        illegal_argument(f"{call}({value!r}): the path is blank. Give the path of a file or folder.")
    return value


def boolean(value: Any, call: str, what: str) -> bool:
    """``value`` itself if it is True or False."""
    if isinstance(value, bool):
        return value
    refuse(f"{call}() was given {what}={shown(value)}; True or False is needed. Give one of the two.")


def instance(value: T, call: str, cls: type | tuple[type, ...], hint: str, why: str = "") -> T:
    """``value`` itself if it is an object of a class."""
    if not isinstance(value, cls):
        if hasattr(value, "build") and not isinstance(value, type):
            hint = "Call build() on it."
        refuse(f"{call}() was given {shown(value)}{why}. {hint}")
    return value


def stream(
    value: Any,
    call: str,
    cls: type | tuple[type, ...],
    hint: str = "Give what from_collection(), map() and the like return.",
) -> Any:
    """``value`` itself if it is a stream of that class."""
    if isinstance(value, list | tuple) and all(isinstance(item, cls) for item in cast("Sequence[Any]", value)):
        kind = "list" if isinstance(value, list) else "tuple"
        refuse(f"{call}() was given a {kind}, which is not a DataStream. Give streams one by one: {call}(*streams).")
    return instance(cast("Any", value), call, cls, hint, ", which is not a DataStream")


def state(descriptor: str, name: Any, *types: Any) -> None:
    """Refuse a description of state without a name, or with something that is not a type."""
    if text(name, descriptor, "name of the state") == "":
        refuse(f"{descriptor}() was given the name '', by which no state can be found. Give each state its own name.")
    for of_value in types:
        type_info(of_value, descriptor, "type")


def type_info(value: Any, call: str, argument: str = "output_type") -> TypeInformation[Any] | None:
    """``value`` itself if it is a type or None; a list of types means a row in PyFlink and must be spelled out here."""
    if value is None or isinstance(value, TypeInformation):
        return cast("TypeInformation[Any] | None", value)
    raise TypeInfoError(f"{call}() was given {shown(value)} as {argument}, which is not a type. {_type_hint(value)}")


_TYPES = {
    "bool": "BOOLEAN()",
    "bytes": "PRIMITIVE_ARRAY(Types.BYTE())",
    "date": "SQL_DATE()",
    "datetime": "SQL_TIMESTAMP()",
    "Decimal": "BIG_DEC()",
    "dict": "MAP(Types.STRING(), Types.LONG())",
    "float": "DOUBLE()",
    "int": "LONG()",
    "list": "LIST(Types.STRING())",
    "object": "PICKLED_BYTE_ARRAY()",
    "Row": "ROW([Types.STRING(), Types.LONG()])",
    "str": "STRING()",
    "time": "SQL_TIME()",
    "tuple": "TUPLE([Types.STRING(), Types.LONG()])",
}
"""The type information for classes of Python."""


def _type_hint(value: Any) -> str:
    name = getattr(value, "__name__", str(value))
    if name in _TYPES:
        return f"Write Types.{_TYPES[name]} for Python's {name}."
    if isinstance(value, list | tuple):
        return "Write Types.ROW([…]) or Types.TUPLE([…]) around a list of types."
    if isinstance(getattr(Types, name.upper(), None), FunctionType):
        return f"Write the type with its parentheses, such as Types.STRING() or Types.{name.upper()}()."
    return "Use one of Types, such as Types.STRING(), or leave it out."


def declared(type_info: TypeInformation[Any] | None) -> TypeGuard[TypeInformation[Any]]:
    """Whether anything is known of the records (undeclared and pickled records can be anything)."""
    return type_info is not None and not isinstance(type_info, PickledBytesTypeInfo)


def parallelism(value: Any, call: str, operator: str, *, fixed: bool = False) -> int:
    """Check an operator's parallelism as Flink's OperatorValidationUtils does."""
    if type(value) is not LeftOpen:
        integer(value, call, f"parallelism of {operator!r}", bits=32)
    if fixed and value != 1:
        illegal_argument(
            f"{call}({value}) on {operator!r}: this operator is not parallel, so its parallelism can only be 1. Set "
            "the parallelism of the operator after it instead."
        )
    if value < 1 and value != -1:
        illegal_argument(
            f"{call}({value}) on {operator!r}: a parallelism is at least 1, or -1 for the environment's. "
            "Give the number of subtasks the operator shall have."
        )
    return value


def max_parallelism(value: Any, call: str, operator: str, *, fixed: bool = False) -> int:
    """Check an operator's max parallelism (number of key groups), 1 to 32768; only 1 when ``fixed``."""
    integer(value, call, f"max parallelism of {operator!r}")
    if not 0 < value <= UPPER_BOUND_MAX_PARALLELISM:
        illegal_argument(
            f"{call}({value}) on {operator!r}: the max parallelism is the number of key groups and lies between 1 and "
            f"{UPPER_BOUND_MAX_PARALLELISM}. Leave the call out to get Flink's default (128 up to parallelism 85)."
        )
    if fixed and value != 1:
        illegal_argument(
            f"{call}({value}) on {operator!r}: this operator is not parallel, so its max parallelism can only be 1. "
            "Leave the call out."
        )
    return value


def same_environment(first: Any, second: Any, call: str) -> None:
    """Refuse to combine streams of two environments: they are two jobs."""
    if first.get_execution_environment() is not second.get_execution_environment():
        refuse(
            f"{call}() was given a stream of another StreamExecutionEnvironment. An environment is one job; create "
            "both streams from the same environment object."
        )
