"""Facts of operators whose changes reviewers want to see, as texts that are the same on every machine."""

from __future__ import annotations

import dis
from collections.abc import Mapping
from types import FunctionType
from typing import Any

from penstock.analysis.program import Program
from penstock.analysis.states import key_of
from penstock.runtime.operators.sink import StreamSink
from penstock.runtime.operators.source import StreamSource
from penstock.runtime.operators.window import WindowOperator

RECORD, KEY_BY, WINDOW, TRIGGER, SOURCE, PLACE = "record", "key by", "window", "trigger", "source", "place"
NAMES = (RECORD, KEY_BY, WINDOW, TRIGGER, SOURCE, PLACE)  # all of them, in the order in which they are shown


def facts_of(program: Program, node: int) -> Mapping[str, str]:
    """The facts of an operator by name, without empty ones."""
    operator, declared = program.operators[node], program.types.get(node)
    key = key_of(operator)
    facts = {RECORD: "" if declared is None else repr(declared)}
    facts[KEY_BY] = "" if key is None else selector_text(key.key_selector)
    if isinstance(operator, WindowOperator):
        facts |= {WINDOW: _text(operator.assigner), TRIGGER: _text(operator.trigger)}
    if isinstance(operator, StreamSource):
        facts[SOURCE] = operator.hands_over.split("/")[1] or "function"
    if isinstance(operator, StreamSource | StreamSink):
        facts[PLACE] = _place(getattr(operator.function, "source", operator.function))
    return {name: text for name, text in facts.items() if text}


def _text(thing: Any) -> str:
    """The text of a window assigner or a trigger; for one of the program's own, its class."""
    return str(thing) if type(thing).__module__.startswith("penstock.") else type(thing).__qualname__


def _place(function: Any) -> str:
    """The place that a source reads or a sink writes, if it is one of ours."""
    if not type(function).__module__.startswith("penstock."):
        return ""
    for name in ("place", "path"):
        place = getattr(function, name, None)
        if isinstance(place, str):
            return place
    text = repr(function)
    return text if text.startswith("<") and " at 0x" not in text else ""


def selector_text(selector: Any) -> str:
    """A key selector, a callable or an object with ``get_key``, as a text: its fields, what a lambda names, or its
    name."""
    if not isinstance(selector, FunctionType):
        fields = getattr(selector, "field", getattr(selector, "fields", None))
        if fields is None:
            return type(selector).__qualname__
        return f"field {', '.join(map(str, fields)) if isinstance(fields, tuple | list) else fields}"
    if selector.__name__ != "<lambda>":
        return selector.__qualname__
    parts: list[str] = []
    for instruction in dis.get_instructions(selector):
        name, value = instruction.opname, instruction.argval
        if name in ("LOAD_CONST", "LOAD_SMALL_INT") and isinstance(value, str | int):
            parts.append(repr(value))
        elif name in ("LOAD_ATTR", "LOAD_METHOD", "LOAD_GLOBAL", "LOAD_DEREF"):
            parts.append(str(value))
    return f"a lambda of {', '.join(filter(None, parts)) or 'nothing'}"
