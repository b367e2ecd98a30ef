"""The states that the operators of a program keep, before anything runs.

Built-in operators keep what their definition says, under Flink's names. Functions say it when they are opened
(:mod:`~penstock.analysis.dry_open`); what they ask for later, while records are processed, nobody can know: state of
windows, of triggers of a program's own, and of functions that keep the runtime context.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from penstock.analysis.dry_open import Place, asked_in_open
from penstock.analysis.model import StateModel, default_max_parallelism
from penstock.plan import Pipeline, StreamEdge
from penstock.runtime.io.sinks import BuiltinSink, CollectSink, PrintSink
from penstock.runtime.operators import reduce, window_contents
from penstock.runtime.operators.broadcast import BroadcastProcess
from penstock.runtime.operators.interval_join import LEFT, RIGHT, IntervalJoin
from penstock.runtime.operators.reduce import GroupedFold, GroupedReduce
from penstock.runtime.operators.sink import StreamSink
from penstock.runtime.operators.window import WindowOperator
from penstock.runtime.windows import merging

POSITIONS = StateModel("positions", "list of operator")
"""Where a source goes on reading."""
PENDING = StateModel("pending", "list of operator")
"""What a sink has written and not yet published."""
USER_TIMERS = StateModel("user-timers", "timers")
WINDOW_TIMERS = StateModel("window-timers", "timers")
CLEANUP_TIMERS = StateModel("CLEANUP_TIMER_SERVICE", "timers")

States = tuple[StateModel, ...]


class Declared(NamedTuple):
    """What is known of an operator's states.

    Attributes:
        states: those that it declares; None where they are not known.
        unknown: why they are not known; "" otherwise.
    """

    states: States | None
    unknown: str = ""


def declared_states(pipeline: Pipeline) -> dict[int, States | None]:
    """The states of all operators by node; None where they are not known.

    Functions of the program are opened for it, without a task. O(operators), and what ``open`` takes.

    Args:
        pipeline: the program.
    """
    return {node: found.states for node, found in declared(pipeline).items()}


def declared(pipeline: Pipeline) -> dict[int, Declared]:
    """Likewise, with why the states of an operator are not known."""
    made: dict[int, Declared] = {}
    graph = pipeline.stream_graph
    edges = graph.edges
    for node in graph.nodes:
        operator = pipeline.operators.get(node.id)
        place = Place(
            node.name,
            max(node.parallelism, 1),
            node.max_parallelism if node.max_parallelism > 0 else default_max_parallelism(node.parallelism),
            pipeline.settings,
            key_of(operator),
        )
        made[node.id] = _declared(operator, place, [_type_of(edges[each], pipeline.types) for each in node.in_edges])
    return made


def _type_of(edge: StreamEdge, types: Mapping[Any, Any]) -> str | None:
    """The declared type of what an edge carries, as a text."""
    found = types.get(edge.source if edge.side_output is None else (edge.source, edge.side_output))
    return None if found is None else repr(found)


def key_of(operator: Any) -> Any:
    """How an operator's input is keyed, of two the first that is; None without key."""
    first = getattr(operator, "keyed", None)
    return first if first is not None else getattr(operator, "second_keyed", None)


def _declared(operator: Any, place: Place, inputs: list[str | None]) -> Declared:
    if operator is None:
        return Declared(None, "only the graph of the operator is known")
    kind = type(operator).__name__
    if kind == "PlanOnly":
        return Declared(None, f"{operator.what} has no runtime here")
    own = next((make(operator, inputs) for base, make in _OWN.items() if isinstance(operator, base)), ())
    if getattr(operator, "field_defaults", None):
        own = tuple(replace(state, defaults=tuple(operator.field_defaults)) for state in own)
    if kind in _SOURCES:
        own = (POSITIONS,)
    functions = _functions(operator)
    try:
        asked = asked_in_open(functions, place)
    except Exception as error:  # whatever a user's function does
        return Declared(None, f"open() of {_name(functions)} has failed: {type(error).__name__}: {error}")
    timers = (USER_TIMERS,) if place.keyed is not None and any(map(_has_timers, functions)) else ()
    return Declared((*own, *asked, *timers))


_SOURCES = ("StreamSource", "FormatMonitor", "FormatReader", "FileReader")


def _reduced(_: GroupedReduce, inputs: list[str | None]) -> States:
    return (StateModel(reduce.STATE, "reducing", _typed(value=inputs[0])),)


def _folded(operator: GroupedFold, inputs: list[str | None]) -> States:
    return (StateModel(reduce.STATE, "aggregating"),)


def _window(operator: WindowOperator, inputs: list[str | None]) -> States:
    kept = None if operator.evictor is not None else operator.function.kept()
    elements = inputs[0] if kept is None or kept.start is None else None  # or what a function has made of them
    contents = StateModel(window_contents.STATE, "window contents", _typed(element=elements))
    merged = (StateModel(merging.STATE, "window set"),) if operator.assigner.merging else ()
    return contents, *merged, WINDOW_TIMERS


def _joined(_: IntervalJoin, inputs: list[str | None]) -> States:
    sides = zip((LEFT, RIGHT), inputs, strict=False)
    return (*(StateModel(name, "map", _typed(element=declared)) for name, declared in sides), CLEANUP_TIMERS)


def _typed(**roles: str | None) -> dict[str, str]:
    return {role: text for role, text in roles.items() if text is not None}


def _broadcast(operator: BroadcastProcess, inputs: list[str | None]) -> States:
    known = {each.name: each for each in operator.descriptors}
    return tuple(StateModel(name, "broadcast", _map_types(known.get(name))) for name in operator.states)


def _map_types(descriptor: Any) -> dict[str, str]:
    key, value = (getattr(descriptor, f"{role}_type_info", None) for role in ("key", "value"))
    return _typed(key=None if key is None else repr(key), value=None if value is None else repr(value))


def _sink(operator: StreamSink, inputs: list[str | None]) -> States:
    stateless = not isinstance(operator.function, BuiltinSink) or isinstance(operator.function, PrintSink | CollectSink)
    return () if stateless else (PENDING,)


_OWN: dict[type, Callable[[Any, list[str | None]], States]] = {
    GroupedReduce: _reduced,
    GroupedFold: _folded,
    WindowOperator: _window,
    IntervalJoin: _joined,
    BroadcastProcess: _broadcast,
    StreamSink: _sink,
}


def _functions(operator: Any) -> list[Any]:
    """The user functions of an operator that its task opens."""
    function = getattr(operator, "f", None)
    if isinstance(operator, WindowOperator):
        function = operator.function.function
    elif isinstance(operator, GroupedReduce | GroupedFold):
        function = operator.reducer if isinstance(operator, GroupedReduce) else operator.folder
    elif isinstance(operator, StreamSink) and not isinstance(operator.function, BuiltinSink):
        function = operator.function
    return [] if function is None else [function]


def _has_timers(function: Any) -> bool:
    """Whether a function has an ``on_timer`` of its own; the bases have one that does nothing."""
    on_timer = getattr(function, "on_timer", None)
    home = str(getattr(on_timer, "__module__", ""))
    return callable(on_timer) and not home.startswith("penstock.datastream.")


def _name(functions: list[Any]) -> str:
    return ", ".join(type(function).__name__ for function in functions)
