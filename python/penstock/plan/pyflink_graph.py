"""The StreamGraph of a real PyFlink environment, read from Flink's Java objects through PyFlink's gateway.

Flink makes the graph, with everything that PyFlink does to it before a job. Nothing is submitted. The requirements of
PyFlink and Penstock exclude each other (cloudpickle, pyarrow): ``pip install --no-deps penstock`` beside
``apache-flink`` has all that planning needs.
"""

from __future__ import annotations

import heapq
import importlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from graphlib import TopologicalSorter
from itertools import chain, pairwise
from typing import Any

from penstock._native import StreamGraph
from penstock.common.settings.settings import Settings
from penstock.errors import ConfigurationError, InvalidProgramError, UnsupportedError
from penstock.plan.pipeline import Pipeline

_TASKS = {"SourceStreamTask": "source", "SourceOperatorStreamTask": "source", "TwoInputStreamTask": "two_input"}
_DEFAULT_TASKS = {
    "source": "SourceStreamTask",
    "operator": "OneInputStreamTask",
    "two_input": "TwoInputStreamTask",
    "sink": "OneInputStreamTask",
}
_OPERATORS = "org.apache.flink.streaming.api.operators"
_YIELDING = (f"{_OPERATORS}.legacy.YieldingOperatorFactory", f"{_OPERATORS}.YieldingOperatorFactory")
"""The class of factories whose operators give way to the mailbox: since 2.0, and before."""
_PARTITIONERS = {"FORWARD", "REBALANCE", "RESCALE", "SHUFFLE", "BROADCAST", "GLOBAL", "HASH", "CUSTOM"}
_STRATEGIES = {"ALWAYS": "ALWAYS", "NEVER": "NEVER", "HEAD": "HEAD", "HEAD_WITH_SOURCES": "HEAD"}
_EXCHANGES = {"PIPELINED", "BATCH", "UNDEFINED"}


def from_pyflink(env: Any, job_name: str | None = None) -> Pipeline:
    """The program of a PyFlink environment as Flink itself translates it, to be explained, compared and checked; it can
    be executed afterwards. States and places are unknown. About five milliseconds per operator.

    Args:
        env: a ``pyflink.datastream.StreamExecutionEnvironment`` (apache-flink 1.20 to 2.3) with at least one sink.
        job_name: of the job; None for Flink's.

    Raises:
        ConfigurationError: apache-flink is not installed.
        InvalidProgramError: it is not such an environment.
        UnsupportedError: the graph has what no profile of the planner knows, such as hybrid exchanges.
    """
    try:
        gateway = importlib.import_module("pyflink.java_gateway").get_gateway()
        py4j: Any = importlib.import_module("py4j.java_gateway")
    except ImportError as error:
        raise ConfigurationError(
            f"from_pyflink() needs apache-flink, and it cannot be imported: {error}. Install Penstock beside it with "
            "`pip install --no-deps penstock`; or plan the program without Flink: penstock explain --pyflink FILE."
        ) from error
    if not hasattr(env, "_generate_stream_graph") or not isinstance(
        getattr(env, "_j_stream_execution_environment", None), py4j.JavaObject
    ):
        raise InvalidProgramError(
            f"from_pyflink() was given a {type(env).__module__}.{type(env).__qualname__}, which is not an environment "
            "of the real PyFlink. Give one of pyflink.datastream, without penstock.pyflink.install."
        )
    reader = _Reader(gateway, env._generate_stream_graph(False, job_name))
    graph = StreamGraph.from_json(json.dumps(reader.spec()))
    return Pipeline(graph.job_name, graph, {}, settings=Settings(flink="2.3"))


@dataclass
class _Reader:
    """Reads a graph."""

    gateway: Any  # to Java
    graph: Any  # Flink's StreamGraph

    @cached_property
    def yielding(self) -> Any:
        """The class of factories whose operators give way to the mailbox."""
        loader = self.graph.getClass().getClassLoader()
        name = _YIELDING[self.graph.getClass().getResource(f"/{_YIELDING[0].replace('.', '/')}.class") is None]
        return self.gateway.jvm.java.lang.Class.forName(name, False, loader)

    def spec(self) -> dict[str, Any]:
        """The graph as a description."""
        nodes = {node.getId(): node for node in self.all(self.graph.getStreamNodes())}
        sources, sinks = self.all(self.graph.getSourceIDs()), set(self.all(self.graph.getSinkIDs()))
        rest = sorted(nodes.keys() - set(sources))
        checkpoints = self.graph.getCheckpointConfig()
        return {
            "chaining_enabled": self.graph.isChainingEnabled(),
            "settings": {
                "job_name": self.graph.getJobName(),
                "exchange_mode": self.graph.getGlobalStreamExchangeMode().toString(),
                "checkpointing_enabled": checkpoints.isCheckpointingEnabled(),
                "checkpoint_interval": max(checkpoints.getCheckpointInterval(), 0),
                "all_vertices_in_same_slot_sharing_group": self.graph.isAllVerticesInSameSlotSharingGroupByDefault(),
            },
            # the order of sources decides the order of vertices; that of others decides nothing
            "nodes": [self.node(nodes[node_id], node_id in sinks) for node_id in [*sources, *rest]],
            "edges": self.edges(nodes[node_id] for node_id in sorted(nodes)),
        }

    def all(self, collection: Any) -> list[Any]:
        """The elements of a collection of Java; of most kinds the gateway makes no list."""
        return list(self.gateway.jvm.java.util.ArrayList(collection))

    def node(self, node: Any, sink: bool) -> dict[str, Any]:
        """One operator."""
        task = node.getJobVertexClass().getSimpleName()
        kind = "sink" if sink else _TASKS.get(task, "operator")
        factory = node.getOperatorFactory()
        weights = node.getManagedMemoryOperatorScopeUseCaseWeights()
        return {
            "id": node.getId(),
            "name": node.getOperatorName(),
            "kind": kind,
            "uid": node.getTransformationUID(),
            "user_hash": node.getUserHash(),
            "slot_sharing_group": node.getSlotSharingGroup(),
            "co_location_group": node.getCoLocationGroup(),
            "parallelism": node.getParallelism(),
            "max_parallelism": node.getMaxParallelism(),
            "chaining_strategy": _STRATEGIES[factory.getChainingStrategy().toString()],
            "yielding": self.yielding.isInstance(factory),
            "buffer_timeout": node.getBufferTimeout(),
            "managed_memory_weight": next((weights[use] for use in weights if use.toString() == "OPERATOR"), None),
            **({} if task == _DEFAULT_TASKS[kind] else {"task": task}),
        }

    def edges(self, nodes: Iterable[Any]) -> list[dict[str, Any]]:
        """All edges, in an order that is that of each source's outputs and of each target's inputs."""
        result: dict[str, dict[str, Any]] = {}
        orders: list[list[str]] = []
        for node in nodes:
            outputs, inputs = self.all(node.getOutEdges()), self.all(node.getInEdges())
            result.update((output.toString(), self.edge(output)) for output in outputs)  # the texts differ
            orders += [[output.toString() for output in outputs], [edge.toString() for edge in inputs]]
        return [result[in_all_order] for in_all_order in in_all_orders(list(result), orders)]

    def edge(self, edge: Any) -> dict[str, Any]:
        """One connection."""
        partitioner, exchange = edge.getPartitioner().toString(), edge.getExchangeMode().toString()
        ends = edge.getSourceId(), edge.getTargetId()
        if partitioner not in _PARTITIONERS or exchange not in _EXCHANGES:
            raise UnsupportedError(
                f"The edge from node {ends[0]} to node {ends[1]} is of the kind {partitioner}, {exchange}, which the "
                f"planner does not know; it knows {', '.join(sorted(_PARTITIONERS | _EXCHANGES))}. Set "
                "execution.batch-shuffle-mode to ALL_EXCHANGES_BLOCKING if that asks for it."
            )
        tag = edge.getOutputTag()
        return {
            "source": ends[0],
            "target": ends[1],
            "partitioner": partitioner,
            "shuffle_mode": exchange,
            "input": edge.getTypeNumber(),
            **({} if tag is None else {"side_output": tag.getId()}),
        }


def in_all_orders(items: list[str], orders: Iterable[list[str]]) -> list[str]:
    """Items in one order that agrees with several orders of some of them; otherwise as they come. O(n log n)."""
    position = {item: index for index, item in enumerate(items)}
    sorter = TopologicalSorter[str](dict.fromkeys(items, ()))
    for first, second in chain.from_iterable(map(pairwise, orders)):
        sorter.add(second, first)
    sorter.prepare()
    ready: list[int] = []
    result: list[str] = []
    while sorter.is_active():
        for item in sorter.get_ready():
            heapq.heappush(ready, position[item])
        result.append(items[heapq.heappop(ready)])
        sorter.done(result[-1])
    return result
