"""Triggers that do the same for each element of a window: they register timers at times that the window alone decides,
and a timer that fires empties the window. Such a trigger needs to be asked for the first element only."""

from __future__ import annotations

import dis
from types import FunctionType, MethodType
from typing import Any

from penstock.runtime.windows.triggers import Trigger, TriggerResult

_PLAIN = frozenset(
    {
        *("CACHE", "EXTENDED_ARG", "NOP", "POP_TOP", "PUSH_NULL", "RESUME"),
        *("CALL", "CALL_FUNCTION", "CALL_METHOD", "PRECALL", "RETURN_CONST", "RETURN_VALUE"),
        *("LOAD_CONST", "LOAD_SMALL_INT"),
    }
)
"""Instructions that only move values, and call what the others allow."""
_TIMERS = frozenset({"register_event_time_timer", "register_processing_time_timer"})
_ASKED = _TIMERS | {"CONTINUE", "end", "max_timestamp", "start"}
_ANSWERS = frozenset({"CONTINUE", "FIRE", "FIRE_AND_PURGE", "PURGE"})


def is_steady(trigger: Trigger[Any, Any]) -> bool:
    """Whether a trigger is known, by its code, to be of that kind. An integer that it reads from its module counts as
    constant."""
    if not _is_straight(trigger.on_element, 2, _ASKED):
        return False
    on_times = trigger.on_event_time, trigger.on_processing_time
    return all(_is_straight(on_time, 0, _ANSWERS) and _purges(on_time) for on_time in on_times)


def _is_straight(method: Any, arguments: int, names: frozenset[str]) -> bool:
    """Whether a method has neither branches nor variables, and uses the last ``arguments`` only, and these names."""
    if type(method) is not MethodType or type(method.__func__) is not FunctionType:
        return False
    function: FunctionType = method.__func__
    code = function.__code__
    used = code.co_varnames[code.co_argcount - arguments : code.co_argcount]
    return all(_is_allowed(instruction, function, used, names) for instruction in dis.get_instructions(code))


def _is_allowed(
    instruction: dis.Instruction, function: FunctionType, arguments: tuple[str, ...], names: frozenset[str]
) -> bool:
    kind, value = instruction.opname, instruction.argval
    if kind.startswith("LOAD_FAST"):
        return set(value if isinstance(value, tuple) else (value,)) <= set(arguments)
    if kind in ("LOAD_ATTR", "LOAD_METHOD"):
        return value in names
    if kind == "LOAD_GLOBAL":
        known = function.__globals__.get(value)
        return known is TriggerResult or type(known) is int
    return kind in _PLAIN


def _purges(on_time: Any) -> bool:
    result = on_time(0, None, None)
    return isinstance(result, TriggerResult) and result.purge
