"""What rules look at: a program with its plan, each part worked out when the first rule asks for it.

Nothing is run but ``open`` of functions that keep state, which says what states they have
(:mod:`penstock.analysis.declared`). All is O(operators + edges).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from penstock.analysis.declared import declared_states
from penstock.analysis.model import Site, StateModel, default_max_parallelism
from penstock.errors import PlanError
from penstock.lint.event_time import Lack, lacks
from penstock.lint.inspection import Inspector, Uses, user_functions
from penstock.plan import Pipeline, StreamEdge, StreamNode, Verdict
from penstock.runtime.operators.interval_join import IntervalJoin
from penstock.runtime.operators.reduce import GroupedFold, GroupedReduce
from penstock.runtime.operators.source import StreamSource
from penstock.runtime.operators.window import WindowOperator

LARGE = 1 << 20
"""Bytes from which on data that travels with a function is large."""


@dataclass(frozen=True)
class Known:
    """What is known besides the program.

    Attributes:
        uids: by node, of the same program planned a second time; None where it was planned once.
        max_parallelisms: by operator ID, in the lock file; None without one.
        long_running: whether the program is to be taken for one that goes on from its state, whatever it looks like.
        large: bytes from which on data that travels with a function is large.
    """

    uids: Mapping[int, str | None] | None = None
    max_parallelisms: Mapping[str, int] | None = None
    long_running: bool = False
    large: int = LARGE


@dataclass(frozen=True, eq=False)
class Subject:
    """A program as rules see it.

    Attributes:
        pipeline: the program as an executor gets it.
        known: what is known besides.
    """

    pipeline: Pipeline
    known: Known = field(default_factory=Known)

    # --- the graph ----------------------------------------------------------------------------------------------------

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
        found: dict[int, list[StreamEdge]] = {node: [] for node in self.nodes}
        for edge in self.edges:
            found[edge.target].append(edge)
        return found

    @cached_property
    def outputs(self) -> Mapping[int, list[StreamEdge]]:
        """The edges out of each node."""
        found: dict[int, list[StreamEdge]] = {node: [] for node in self.nodes}
        for edge in self.edges:
            found[edge.source].append(edge)
        return found

    @cached_property
    def chains(self) -> list[list[int]]:
        """The nodes of each chain, heads first. Operators that share a head share its chain."""
        upstream = {
            self.edges[each.edge].target: self.edges[each.edge].source for each in self.verdicts if each.chained
        }
        chain_of: dict[int, list[int]] = {}
        for node in self.nodes:  # what is chained to a node has been added after it
            chain = chain_of[node] = chain_of.get(upstream.get(node, node), [])
            chain.append(node)
        return [chain for node, chain in chain_of.items() if chain[0] == node]

    # --- operators ----------------------------------------------------------------------------------------------------

    def operator(self, node: int) -> Any:
        """The runtime operator of a node; None where there is none, as of iterations."""
        return self.pipeline.operators.get(node)

    def of(self, kind: type[Any] | tuple[type[Any], ...]) -> Iterator[tuple[StreamNode, Any]]:
        """The nodes whose operators are of a kind, with these."""
        for number, node in self.nodes.items():
            operator = self.operator(number)
            if isinstance(operator, kind):
                yield node, operator

    def sinks(self) -> Iterator[tuple[StreamNode, Any]]:
        """The sinks, each with what writes."""
        for number, node in self.nodes.items():
            if node.kind == "sink":
                yield node, getattr(self.operator(number), "function", None)

    def site(self, node: int | None) -> Site | None:
        """Where the program makes an operator, if that is known."""
        return None if node is None else self.pipeline.sites.get(node)

    @cached_property
    def states(self) -> Mapping[int, tuple[StateModel, ...] | None]:
        """The states that operators declare, None where that is not known."""
        return declared_states(self.pipeline)

    def stateful(self, node: StreamNode) -> bool:
        """Whether an operator keeps state, or may do so: it has a key, and what it does is not known."""
        states = self.states.get(node.id)
        return bool(states) if states is not None else self.keyed(node)

    def keyed(self, node: StreamNode) -> bool:
        """Whether the operator has a key."""
        operator = self.operator(node.id)
        return getattr(operator, "keyed", None) is not None or getattr(operator, "second_keyed", None) is not None

    def built_in(self, node: StreamNode) -> bool:
        """Whether the states of an operator follow from what it is, not from a function."""
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
        return node.max_parallelism if node.max_parallelism > 0 else default_max_parallelism(max(node.parallelism, 1))

    # --- time ---------------------------------------------------------------------------------------------------------

    @cached_property
    def goes_on(self) -> bool:
        """Whether the program may be started again from its state: it never ends, takes checkpoints, begins from a
        savepoint, or has a job folder. The state of any other ends with it, and nobody asks for it again."""
        settings = self.pipeline.settings
        told = settings.checkpoint_interval or settings.savepoint or settings.job_folder
        return self.known.long_running or bool(told) or bool(self.endless)

    @cached_property
    def endless(self) -> frozenset[int]:
        """The nodes whose input never ends, sources that never end among them."""
        found = {node for node in self.nodes if getattr(self.operator(node), "unbounded", False)}
        for node in self.nodes:  # inputs come before their readers, but for the tails of loops
            if any(edge.source in found for edge in self.inputs[node]):
                found.add(node)
        return frozenset(found)

    @cached_property
    def lacking(self) -> Mapping[int, Lack]:
        """What the records that leave each node lack of event time."""
        return lacks(self.nodes, self.inputs, self.pipeline.operators)

    def lacking_input(self, node: int) -> Lack:
        """What the records that reach a node lack of event time, on any of its inputs."""
        lack = Lack.NOTHING
        for edge in self.inputs[node]:
            lack |= self.lacking[edge.source]
        return lack

    def sources_of_splits(self) -> Iterator[tuple[StreamNode, StreamSource]]:
        """The sources with splits that are there all the time, such as partitions of a topic."""
        for node, operator in self.of(StreamSource):
            if getattr(getattr(operator.function, "source", None), "together", False):
                yield node, operator

    # --- functions ----------------------------------------------------------------------------------------------------

    @cached_property
    def inspector(self) -> Inspector:
        """What looks at functions, each once."""
        return Inspector(self.known.large)

    @cached_property
    def functions(self) -> Mapping[int, list[Any]]:
        """The user's functions of each operator."""
        return {node: user_functions(self.operator(node)) for node in self.nodes}

    def own_functions(self, node: int) -> list[Any]:
        """The functions that an operator calls with records; its key selectors are not among them."""
        functions = self.functions[node]
        if not functions or not self.keyed(self.nodes[node]):
            return functions
        keys = [getattr(self.operator(node), name, None) for name in ("keyed", "second_keyed")]
        selectors = {id(each) for key in keys if key is not None for each in user_functions(key)}
        return [each for each in functions if id(each) not in selectors]

    @cached_property
    def uses(self) -> list[tuple[StreamNode, Any, Uses]]:
        """Each function that is called with records, with its node and with what its code uses."""
        return [
            (self.nodes[node], function, self.inspector.uses(function))
            for node in self.nodes
            for function in self.own_functions(node)
        ]
