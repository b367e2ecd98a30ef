"""The states that the operators of a program declare, before anything runs.

Those of built-in operators follow from their definition, under Flink's names. Functions ask for theirs when they are
opened (:mod:`~penstock.analysis.dry_open`); what they ask for later, while records are processed, is unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from penstock._native import default_max_parallelism
from penstock.analysis.dry_open import Place, asked_in_open
from penstock.analysis.model import StateModel
from penstock.analysis.program import Program
from penstock.runtime.io.sinks import BuiltinSink, CollectSink, PrintSink
from penstock.runtime.io.sources import BatchSource
from penstock.runtime.operators import reduce, window_contents
from penstock.runtime.operators.broadcast import BroadcastProcess
from penstock.runtime.operators.interval_join import LEFT, RIGHT, IntervalJoin
from penstock.runtime.operators.reduce import GroupedFold, GroupedReduce
from penstock.runtime.operators.sink import StreamSink
from penstock.runtime.operators.source import StreamSource
from penstock.runtime.operators.window import WindowOperator
from penstock.runtime.state.evolution import ACCUMULATORS, REDUCTIONS, TABLE
from penstock.runtime.windows import merging_windows
from penstock.runtime.windows.assigners import CountSlidingWindowAssigner, CountTumblingWindowAssigner

POSITIONS = StateModel("positions", "list of operator")  # the positions of a source
PENDING = StateModel("pending", "list of operator")  # the uncommitted output of a sink
USER_TIMERS = StateModel("user-timers", "timers")
WINDOW_TIMERS = StateModel("window-timers", "timers")
CLEANUP_TIMERS = StateModel("CLEANUP_TIMER_SERVICE", "timers")

States = tuple[StateModel, ...]


class Declared(NamedTuple):
    """The states of an operator; None if unknown, and why."""

    states: States | None
    unknown: str = ""


def declared_states(program: Program) -> dict[int, States | None]:
    """The states of all operators by node; None if unknown. Opens the functions of the program, without a task."""
    return {node: operator.states for node, operator in declared(program).items()}


def declared(program: Program) -> dict[int, Declared]:
    """Likewise, with the reason if the states of an operator are unknown."""
    by_node: dict[int, Declared] = {}
    graph = program.stream_graph
    edges = graph.edges
    for node in graph.nodes:
        operator = program.operators.get(node.id)
        place = Place(
            node.name,
            max(node.parallelism, 1),
            node.max_parallelism if node.max_parallelism > 0 else default_max_parallelism(node.parallelism),
            program.settings,
            key_of(operator),
        )
        inputs: list[str | None] = []  # the declared types of records
        for edge in (edges[index] for index in node.in_edges):
            kind = program.types.get(edge.source if edge.side_output is None else (edge.source, edge.side_output))
            inputs.append(None if kind is None else repr(kind))
        by_node[node.id] = _declared(operator, place, inputs)
    return by_node


def key_of(operator: Any) -> Any:
    """The key of an operator's input, or of the first keyed one of two; None without key."""
    first = getattr(operator, "keyed", None)
    return first if first is not None else getattr(operator, "second_keyed", None)


def _declared(operator: Any, place: Place, inputs: list[str | None]) -> Declared:
    if operator is None:
        return Declared(None, "only the graph of the operator is known")
    kind = type(operator).__name__
    if kind == "PlanOnly":
        return Declared(None, f"{operator.what} has no runtime here")
    own_states = next((make(operator, inputs) for base, make in _OWN.items() if isinstance(operator, base)), ())
    if getattr(operator, "field_defaults", None):
        own_states = tuple(replace(state, defaults=tuple(operator.field_defaults)) for state in own_states)
    # a function that pushes records has no positions, as in Flink
    pushes = isinstance(operator, StreamSource) and not isinstance(operator.function, BatchSource)
    if kind in ("StreamSource", "FormatReader", "FileReader") and not pushes:
        own_states = (POSITIONS,)
    functions = functions_of(operator)
    try:
        asked = asked_in_open(functions, place)
    except Exception as error:  # whatever a user's function does
        names = ", ".join(type(function).__name__ for function in functions)
        return Declared(None, f"open() of {names} has failed: {type(error).__name__}: {error}")
    timers = (USER_TIMERS,) if place.keyed is not None and any(map(_has_timers, functions)) else ()
    return Declared((*own_states, *asked, *timers))


def _reduced(_: GroupedReduce, inputs: list[str | None]) -> States:
    return (StateModel(reduce.STATE, "reducing", _typed(value=inputs[0]), form=REDUCTIONS),)


def _folded(operator: GroupedFold, inputs: list[str | None]) -> States:
    return (StateModel(reduce.STATE, "aggregating", form=ACCUMULATORS),)


def _window(operator: WindowOperator, inputs: list[str | None]) -> States:
    assigner, form = operator.assigner, window_contents.kind_of(operator.function, operator.evictor)
    own_states = None if operator.accumulator_type is None else repr(operator.accumulator_type)
    types = _typed(accumulator=own_states) if form == ACCUMULATORS else _typed(element=inputs[0])
    contents = StateModel(window_contents.STATE, "window contents", types, form=form, windows=assigner.sort())
    merged = (StateModel(merging_windows.STATE, "window set", form=TABLE),) if assigner.merging else ()
    counts = isinstance(assigner, CountTumblingWindowAssigner | CountSlidingWindowAssigner)
    counter = (StateModel(assigner.counter, "value", {"value": "Types.LONG()"}),) if counts else ()
    return contents, *merged, *counter, WINDOW_TIMERS


def _joined(_: IntervalJoin, inputs: list[str | None]) -> States:
    sides = zip((LEFT, RIGHT), inputs, strict=False)
    buffers = (StateModel(name, "map", _typed(element=declared), form=TABLE) for name, declared in sides)
    return *buffers, CLEANUP_TIMERS


def _typed(**roles: str | None) -> dict[str, str]:
    return {role: text for role, text in roles.items() if text is not None}


def _broadcast(operator: BroadcastProcess, inputs: list[str | None]) -> States:
    known = {descriptor.name: descriptor for descriptor in operator.descriptors}
    states: list[StateModel] = []
    for name in operator.states:
        descriptor = known.get(name)
        if descriptor is None:
            states.append(StateModel(name, "broadcast"))
            continue
        types = ((role, getattr(descriptor, f"{role}_type_info", None)) for role in ("key", "value"))
        texts = {role: repr(declared_type) for role, declared_type in types if declared_type is not None}
        defaults, version = tuple(descriptor.field_defaults), descriptor.version
        states.append(StateModel(name, "broadcast", texts, None, descriptor.former_names, version, defaults))
    return tuple(states)


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


def functions_of(operator: Any) -> list[Any]:
    """The function of an operator that may ask for states, as a list."""
    function = getattr(operator, "f", None)
    if isinstance(operator, WindowOperator):
        function = operator.function.function
    elif isinstance(operator, GroupedReduce | GroupedFold):
        function = operator.reducer if isinstance(operator, GroupedReduce) else operator.folder
    elif isinstance(operator, StreamSink) and not isinstance(operator.function, BuiltinSink):
        function = operator.function
    return [] if function is None else [function]


def _has_timers(function: Any) -> bool:
    """Whether a function overrides ``on_timer``, which does nothing in the bases."""
    on_timer = getattr(function, "on_timer", None)
    return callable(on_timer) and not str(getattr(on_timer, "__module__", "")).startswith("penstock.datastream.")
