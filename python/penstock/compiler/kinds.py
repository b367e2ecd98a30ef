"""The kinds of functions that operators call: as which method, with which arguments, and what becomes of the result."""

from __future__ import annotations

from penstock.compiler.names import PAIR_CONTEXT, TRIGGER_CONTEXT
from penstock.compiler.signatures import Use

KINDS: dict[str, tuple[str, Use]] = {
    "map": ("map", Use.KEEP),
    "filter": ("filter", Use.READ),
    "flat_map": ("flat_map", Use.ITERATE),
    "key": ("get_key", Use.KEEP),
    "reduce": ("reduce", Use.KEEP),
    "time": ("extract_timestamp", Use.READ),
    "create_accumulator": ("create_accumulator", Use.KEEP),
    "add": ("add", Use.KEEP),
    "get_result": ("get_result", Use.KEEP),
    "merge": ("merge", Use.KEEP),
    "process_window": ("process", Use.ITERATE),
    "apply_window": ("apply", Use.ITERATE),
    "process_all": ("process", Use.ITERATE),
    "apply_all": ("apply", Use.ITERATE),
    "process": ("process_element", Use.ITERATE),
    "process1": ("process_element1", Use.ITERATE),
    "process2": ("process_element2", Use.ITERATE),
    "join": ("process_element", Use.ITERATE),
    "on_timer": ("on_timer", Use.ITERATE),
    "on_element": ("on_element", Use.READ),
    "on_event_time": ("on_event_time", Use.READ),
    "on_processing_time": ("on_processing_time", Use.READ),
    "on_merge": ("on_merge", Use.READ),
    "clear": ("clear", Use.READ),
    "delta": ("get_delta", Use.KEEP),
    "invoke": ("invoke", Use.KEEP),
    "map_of_key": ("map", Use.KEEP),
    "filter_of_key": ("filter", Use.READ),
    "flat_map_of_key": ("flat_map", Use.ITERATE),
    "map1": ("map1", Use.KEEP),
    "map2": ("map2", Use.KEEP),
    "flat_map1": ("flat_map1", Use.ITERATE),
    "flat_map2": ("flat_map2", Use.ITERATE),
}
"""By kind of function: the method of an object that it stands for, and what is done with its result."""
OF_TRIGGER = {"on_element": 4, "on_event_time": 3, "on_processing_time": 3, "on_merge": 2, "clear": 2}
"""The methods of triggers, with their arguments: the last ones are a window and a context."""
ANSWERING = ("on_element", "on_event_time", "on_processing_time")
ARGUMENTS = {"merge": 2, "on_timer": 2, "join": 3, "delta": 2, **OF_TRIGGER}
"""By kind, where they are not those of the method."""
CONTEXTS = {"join": PAIR_CONTEXT, **dict.fromkeys(OF_TRIGGER, TRIGGER_CONTEXT)}
"""By kind: the context, where it is not that of a process function."""
OPENED = frozenset({"map", "filter", "flat_map"})
"""The methods of operators whose native form begins when the object is open."""
ACCUMULATORS = {"add": (1,), "merge": (0, 1)}
"""The arguments that are the method's to change, as its result takes their place."""
WITH_CONTEXT = ("process_element", "process_element1", "process_element2", "on_timer")
"""The methods whose last argument is a context with the state of a key."""
OF_KEY = ("map_of_key", "filter_of_key", "flat_map_of_key", "map1", "map2", "flat_map1", "flat_map2")
"""The kinds of functions without a context that may have state of a key: what a program of them yields is emitted."""
EMITTING = ("flat_map", "flat_map1", "flat_map2", "process", "apply", *WITH_CONTEXT)
SEES_WINDOW = ("process", "apply")
KEEPING = ("invoke",)
"""The methods that may keep attributes of their object; its ``open`` and ``close`` are called in Python."""
WITHOUT_KEY = ("process_all", "apply_all")
AGGREGATE = ("create_accumulator", "add", "get_result", "merge")
"""The kinds of the methods of an AggregateFunction."""
