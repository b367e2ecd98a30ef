"""The view of a program that rules have: its plan and its functions, each part computed when a rule first needs it.

Nothing runs except ``open`` of functions that keep state, which shows their states (:mod:`penstock.analysis.states`).
All is O(operators + edges).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Any, NamedTuple

from penstock.analysis.model import Site, StateModel
from penstock.analysis.states import declared_states
from penstock.errors import PlanError
from penstock.lint.bodies import HOOKS, reached
from penstock.lint.event_time import Lack, lacks
from penstock.lint.inspection import ONCE, Inspector, Uses, class_of, user_functions
from penstock.lint.sources import Source, Sources
from penstock.plan import Pipeline, StreamEdge, StreamNode, Verdict, default_max_parallelism
from penstock.runtime.operators.interval_join import IntervalJoin
from penstock.runtime.operators.reduce import GroupedFold, GroupedReduce
from penstock.runtime.operators.window import WindowOperator
from penstock.runtime.usercode.functions import simple_name

LARGE = 1 << 20  # data of at least so many bytes that travels with a function is large


_HOOKS: Mapping[str, tuple[str, ...]] = {
    "StreamMap": ("map",),
    "StreamFlatMap": ("flat_map",),
    "StreamFilter": ("filter",),
    "ProcessOperator": ("process_element", "on_timer"),
    "KeyedProcessOperator": ("process_element", "on_timer"),
    "GroupedReduce": ("reduce",),
    "CoMap": ("map1", "map2"),
    "CoFlatMap": ("flat_map1", "flat_map2"),
    "CoProcess": ("process_element1", "process_element2", "on_timer"),
    "BroadcastProcess": ("process_element", "process_broadcast_element", "on_timer"),
    "IntervalJoin": ("process_element",),
    "WindowOperator": ("reduce", "create_accumulator", "add", "get_result", "merge", "process", "apply"),
    "StreamSink": ("invoke",),
}
"""The methods that each operator calls; a plain function stands for the first, except in windows."""


class Body(NamedTuple):
    """A user's function whose source is known: its methods by name, and the names of those that the operator calls with
    records."""

    node: StreamNode
    function: Any
    methods: Mapping[str, Source]
    hooks: tuple[str, ...]

    @property
    def title(self) -> str:
        """The names of function and operator, for messages."""
        return f"{simple_name(self.function)} of {self.node.name!r}"

    @property
    def is_object(self) -> bool:
        """Whether the function is an object with methods."""
        return hasattr(class_of(self.function), self.hooks[0])

    @property
    def at_run_time(self) -> list[str]:
        """The methods that run while records are processed: those that the operator calls, and those that they call."""
        return [method for method in reached(self.methods, self.hooks) if method not in ONCE]

    def sources(self, *names: str) -> list[Source]:
        """The methods of some names, as far as there are."""
        return [self.methods[name] for name in names if name in self.methods]

    def called(self, *kinds: str) -> Iterator[Source]:
        """The methods that the operator calls, of some kinds (:data:`~penstock.lint.bodies.HOOKS`)."""
        return (self.methods[name] for name in self.hooks if HOOKS[name] in kinds)


@dataclass(frozen=True)
class Known:
    """Facts beside the program."""

    uids: Mapping[int, str | None] | None = None  # by node, of the same program planned a second time
    max_parallelisms: Mapping[str, int] | None = None  # by operator ID, in the lock file
    long_running: bool = False  # whether to treat any program as one that is started again from its state
    large: int = LARGE  # data of at least so many bytes that travels with a function is large


@dataclass(frozen=True, eq=False)
class Subject:
    """A program as rules see it."""

    pipeline: Pipeline
    known: Known = field(default_factory=Known)

    @cached_property
    def nodes(self) -> Mapping[int, StreamNode]:
        """The operators by id, in order of addition."""
        return {node.id: node for node in self.pipeline.stream_graph.nodes}

    @cached_property
    def edges(self) -> list[StreamEdge]:
        """The edges in order of addition."""
        return self.pipeline.stream_graph.edges

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """Whether each edge is chained, and why not."""
        return self.pipeline.stream_graph.verdicts()

    @cached_property
    def inputs(self) -> Mapping[int, list[StreamEdge]]:
        """The edges into each node."""
        return self._edges("target")

    @cached_property
    def outputs(self) -> Mapping[int, list[StreamEdge]]:
        """The edges out of each node."""
        return self._edges("source")

    def _edges(self, end: str) -> Mapping[int, list[StreamEdge]]:
        by_node: dict[int, list[StreamEdge]] = {node: [] for node in self.nodes}
        for edge in self.edges:
            by_node[getattr(edge, end)].append(edge)
        return by_node

    @cached_property
    def chains(self) -> list[list[int]]:
        """The nodes of each chain, heads first. Operators that share a head share its chain."""
        chained = [self.edges[verdict.edge] for verdict in self.verdicts if verdict.chained]
        upstream = {edge.target: edge.source for edge in chained}
        chain_of: dict[int, list[int]] = {}
        for node in self.nodes:  # what is chained to a node has been added after it
            chain = chain_of[node] = chain_of.get(upstream.get(node, node), [])
            chain.append(node)
        return [chain for node, chain in chain_of.items() if chain[0] == node]

    def operator(self, node: int) -> Any:
        """The runtime operator of a node; None for those without, as of iterations."""
        return self.pipeline.operators.get(node)

    def of(self, kind: type[Any] | tuple[type[Any], ...]) -> Iterator[tuple[StreamNode, Any]]:
        """The nodes with operators of a kind, and these operators."""
        operators = ((node, self.operator(node.id)) for node in self.nodes.values())
        return ((node, operator) for node, operator in operators if isinstance(operator, kind))

    def sinks(self) -> Iterator[tuple[StreamNode, Any]]:
        """The sinks, each with its function."""
        nodes = (node for node in self.nodes.values() if node.kind == "sink")
        return ((node, getattr(self.operator(node.id), "function", None)) for node in nodes)

    def declared(self, edge: StreamEdge) -> Any:
        """The declared type of the records on an edge, if any."""
        return self.pipeline.types.get(edge.source if edge.side_output is None else (edge.source, edge.side_output))

    def site(self, node: int | None) -> Site | None:
        """The call of the program that makes an operator, if it is known."""
        return None if node is None else self.pipeline.sites.get(node)

    @cached_property
    def states(self) -> Mapping[int, tuple[StateModel, ...] | None]:
        """The states that operators declare, None if they are unknown."""
        return declared_states(self.pipeline)

    def stateful(self, node: StreamNode) -> bool:
        """Whether an operator keeps state, or may do so: it is keyed, and its states are unknown."""
        states = self.states.get(node.id)
        return bool(states) if states is not None else self.keyed(node)

    def keyed(self, node: StreamNode) -> bool:
        """Whether the operator has a key."""
        operator = self.operator(node.id)
        return getattr(operator, "keyed", None) is not None or getattr(operator, "second_keyed", None) is not None

    def built_in(self, node: StreamNode) -> bool:
        """Whether the states of an operator follow from its class, not from a function."""
        return isinstance(self.operator(node.id), GroupedReduce | GroupedFold | WindowOperator | IntervalJoin)

    @cached_property
    def operator_ids(self) -> Mapping[int, str]:
        """The operator IDs by node; none where the planner refuses them."""
        try:
            return self.pipeline.stream_graph.operator_ids()
        except PlanError:
            return {}

    def key_groups(self, node: StreamNode) -> int:
        """The max parallelism of an operator: its own, or the one that follows from its parallelism."""
        return node.max_parallelism if node.max_parallelism > 0 else default_max_parallelism(node.parallelism)

    @cached_property
    def resumable(self) -> bool:
        """Whether the program may be started again from its state: it never ends, takes checkpoints, begins from a
        savepoint, or has a checkpoint directory."""
        settings = self.pipeline.settings
        keeps_state = settings.checkpoint_interval or settings.savepoint or settings.checkpoint_directory
        return self.known.long_running or bool(keeps_state) or bool(self.endless)

    @cached_property
    def endless(self) -> frozenset[int]:
        """The nodes whose input never ends, sources that never end among them."""
        endless = {node for node in self.nodes if getattr(self.operator(node), "unbounded", False)}
        for node in self.nodes:  # inputs come before their readers, but for the tails of loops
            if any(edge.source in endless for edge in self.inputs[node]):
                endless.add(node)
        return frozenset(endless)

    @cached_property
    def lacking(self) -> Mapping[int, Lack]:
        """The parts of event time that the records lack that leave each node."""
        return lacks(self.nodes, self.inputs, self.pipeline.operators)

    def lacking_input(self, node: int) -> Lack:
        """The parts of event time that records lack on any input of a node."""
        return reduce(Lack.__or__, (self.lacking[edge.source] for edge in self.inputs[node]), Lack.NOTHING)

    @cached_property
    def inspector(self) -> Inspector:
        """Inspects functions, each once."""
        return Inspector(self.known.large)

    @cached_property
    def functions(self) -> Mapping[int, list[Any]]:
        """The user's functions of each operator."""
        return {node: user_functions(self.operator(node)) for node in self.nodes}

    def own_functions(self, node: int) -> list[Any]:
        """The functions that an operator calls with records, without its key selectors."""
        functions = self.functions[node]
        if not functions or not self.keyed(self.nodes[node]):
            return functions
        keys = [getattr(self.operator(node), name, None) for name in ("keyed", "second_keyed")]
        selectors = {id(selector) for key in keys if key is not None for selector in user_functions(key)}
        return [function for function in functions if id(function) not in selectors]

    @cached_property
    def uses(self) -> list[tuple[StreamNode, Any, Uses]]:
        """Each function that is called with records, with its node and the names that its code uses."""
        functions = ((node, function) for node in self.nodes for function in self.own_functions(node))
        return [(self.nodes[node], function, self.inspector.uses(function)) for node, function in functions]

    @cached_property
    def sources(self) -> Sources:
        """Finds the sources of functions."""
        return Sources()

    def dropped_calls(self, *methods: str) -> Iterator[str]:
        """The calls of some methods whose results are not used, with their places, in the files that make operators."""
        for file in sorted({site.file for site in self.pipeline.sites.values()}):
            for call in self.sources.dropped_calls(file):
                if call.method in methods:
                    yield f"{call.method}() (line {call.line} of {os.path.basename(file)})"

    @cached_property
    def bodies(self) -> list[Body]:
        """The functions that operators call with records and whose sources are known."""
        bodies: list[Body] = []
        for node in self.nodes.values():
            hooks = _HOOKS.get(type(self.operator(node.id)).__name__, ())
            for function in self.own_functions(node.id) if hooks else ():
                methods = self.sources.of(function, hooks[0])
                called = tuple(name for name in hooks if name in methods)
                if called:
                    bodies.append(Body(node, function, methods, called))
        return bodies
