"""StreamGraph + IDs -> JobGraph: chains first, then everything that is said about the vertices."""

from __future__ import annotations

from tests.reference import errors, slots
from tests.reference.chaining import Chainability
from tests.reference.errors import FlinkError
from tests.reference.hasher import operator_ids, user_hashes
from tests.reference.job_types import Config, DataSet, JobEdge, JobGraph, JobVertex, cut_cpu, merge_resources
from tests.reference.stream_graph import Edge, Node, StreamGraph

SELECTING_PARTITIONERS = {"HASH", "CUSTOM"}
POINTWISE_PARTITIONERS = {"FORWARD", "RESCALE"}
PIPELINED_UNDER = {  # partitioners whose edges are pipelined under each global exchange mode; None: all
    "ALL_EDGES_PIPELINED": None,
    "ALL_EDGES_BLOCKING": set(),
    "FORWARD_EDGES_PIPELINED": {"FORWARD"},
    "POINTWISE_EDGES_PIPELINED": {"FORWARD", "RESCALE"},
}
UNDEFINED_BUFFER_TIMEOUT = -1


def build(graph: StreamGraph, chainable: Chainability) -> JobGraph:
    """All steps in Flink's order, which is also the order of its refusals."""
    if graph.iterative and not graph.profile.allows_iterations:
        raise FlinkError(None, "there are no iterations")
    _pre_validate(graph)
    hashes = operator_ids(graph, chainable)
    user = user_hashes(graph)
    chains = _Chains(graph, chainable, hashes, user)
    sources = graph.source_ids()
    for source in sources if graph.profile.hash_ordered else sorted(sources):
        chains.create(source, source, graph.profile.head_index)
    chains.connect_late()
    job = chains.job
    topological_order(job)  # refuses a cyclic graph
    slots.assign_slot_sharing(graph, job)
    slots.assign_co_location(job, graph.profile)
    slots.assign_memory_fractions(job, chains.latest, graph.profile)
    return job


def _pre_validate(graph: StreamGraph) -> None:
    settings = graph.settings
    if graph.iterative and graph.checkpoints and not settings["force_checkpointing"]:
        raise FlinkError(errors.UNSUPPORTED_OPERATION, "checkpointing is not supported for iterative jobs")


class _Chains:
    """The recursive walk that makes vertices downstream first and connects each one as soon as it exists."""

    def __init__(
        self, graph: StreamGraph, chainable: Chainability, hashes: dict[int, bytes], user: dict[int, bytes]
    ) -> None:
        self.job = JobGraph()
        self.latest: dict[int, Config] = {}  # by node; a node in two chains: the configuration made last
        self._graph, self._chainable, self._hashes, self._user = graph, chainable, hashes, user
        self._operators: dict[int, list[tuple[int, bytes, bytes | None]]] = {}  # per head, in order of creation
        self._chained: dict[int, dict[int, Config]] = {}
        self._names: dict[int, str] = {}
        self._min: dict[int, dict | None] = {}
        self._preferred: dict[int, dict | None] = {}
        self._open: set[tuple[int, int]] = set()

    def create(self, head: int, current: int, index: int) -> list[Edge]:
        """The part of head's chain that begins at current. Returns the edges that leave it, in order."""
        if head in self.job.vertices:
            return []
        if (head, current) in self._open:
            raise FlinkError(errors.STACK_OVERFLOW, f"cycle through {self._graph.nodes[current].name}")
        self._open.add((head, current))
        node = self._graph.nodes[current]
        chained = [edge for edge in node.out_edges if self._chainable(edge)]
        others = [edge for edge in node.out_edges if not self._chainable(edge)]
        leaving: list[Edge] = []
        for edge in chained:
            leaving += self.create(head, edge.target.id, index + 1)
        for edge in others:
            leaving.append(edge)
            self.create(edge.target.id, edge.target.id, self._graph.profile.head_index)
        self._finish(head, node, index, chained, others, leaving)
        self._open.discard((head, current))
        return leaving

    def _finish(
        self, head: int, node: Node, index: int, chained: list[Edge], others: list[Edge], leaving: list[Edge]
    ) -> None:
        if node.id not in self._hashes:
            raise FlinkError(self._graph.profile.unhashed, f"{node.name} has no ID")
        operator_id = self._hashes[node.id]
        self._operators.setdefault(head, []).append((node.id, operator_id, self._user.get(node.id)))
        self._names[node.id] = _chained_name(node.name, [self._names[edge.target.id] for edge in chained])
        digits = self._graph.profile.cpu_digits
        self._min[node.id] = cut_cpu(node.min_resources, digits)
        self._preferred[node.id] = cut_cpu(node.preferred_resources, digits)
        for edge in chained:
            self._min[node.id] = merge_resources(self._min[node.id], self._min[edge.target.id])
            self._preferred[node.id] = merge_resources(self._preferred[node.id], self._preferred[edge.target.id])
        config = Config(node, operator_id, index, node.id == head, chained, others)
        self.latest[node.id] = config
        if node.id != head:
            self._refuse_fed_source(node)
            self._chained.setdefault(head, {})[node.id] = config
            return
        vertex = self._vertex(config)
        self._refuse_fed_source(node)
        vertex.out_edges = leaving
        if self._graph.profile.connects_at_once:
            self._connect_all(vertex)

    def _refuse_fed_source(self, node: Node) -> None:
        if node.is_source and node.in_edges and not self._graph.profile.allows_fed_sources:
            raise FlinkError(errors.ILLEGAL_STATE, f"source {node.name} has an input")

    def connect_late(self) -> None:
        """Connect what has not been connected while it was made."""
        for vertex in self.job.vertices.values():
            if not self._graph.profile.connects_at_once:
                self._connect_all(vertex)

    def _connect_all(self, vertex: JobVertex) -> None:
        for edge in vertex.out_edges:
            _connect(vertex, self.job.vertices[edge.target.id], edge, self._graph)

    def _vertex(self, config: Config) -> JobVertex:
        head = config.node
        for node_id, _, user in self._operators[head.id]:
            if user is not None and len(user) != 16:
                raise FlinkError(errors.ILLEGAL_ARGUMENT, "an operator ID has 16 bytes")
            node = self._graph.nodes[node_id]
            if not self._graph.profile.allows_empty_texts and "" in (node.name, node.uid):
                raise FlinkError(errors.ILLEGAL_ARGUMENT, "neither name nor uid may be empty")
        vertex = JobVertex(
            id=config.operator_id,
            name=self._names[head.id],
            head=config,
            parallelism=head.parallelism if head.parallelism > 0 else -1,
            max_parallelism=head.max_parallelism,
            operators=self._operators[head.id],
            chained=self._chained.get(head.id, {}),
            min_resources=self._min[head.id],
            preferred_resources=self._preferred[head.id],
        )
        self.job.vertices[head.id] = vertex
        return vertex


def _chained_name(name: str, chained: list[str]) -> str:
    if not chained:
        return name
    return f"{name} -> {chained[0]}" if len(chained) == 1 else f"{name} -> ({', '.join(chained)})"


def _connect(producer: JobVertex, consumer: JobVertex, edge: Edge, graph: StreamGraph) -> None:
    result_type = _result_type(edge, graph.settings["exchange_mode"])
    default = graph.profile.default_buffer_timeout
    if result_type == "BLOCKING" and edge.buffer_timeout != UNDEFINED_BUFFER_TIMEOUT:
        raise FlinkError(errors.UNSUPPORTED_OPERATION, f"blocking edge with buffer timeout {edge.buffer_timeout}")
    if result_type != "BLOCKING" and edge.buffer_timeout == UNDEFINED_BUFFER_TIMEOUT and default is not None:
        edge.buffer_timeout = default
    distribution = "POINTWISE" if edge.partitioner in POINTWISE_PARTITIONERS else "ALL_TO_ALL"
    data_set = _shared_data_set(producer, result_type, edge, graph) or DataSet(producer, result_type, edge)
    job_edge = JobEdge(data_set, consumer, distribution, edge)
    data_set.consumers.append(job_edge)
    if data_set not in producer.results:
        producer.results.append(data_set)
    consumer.inputs.append(job_edge)
    consumer.in_edges.append(edge)


def _shared_data_set(producer: JobVertex, result_type: str, edge: Edge, graph: StreamGraph) -> DataSet | None:
    """A blocking data set of the same operator that meets the same demand. No two key selectors are equal."""
    if not graph.profile.shares_data_sets or result_type != "BLOCKING" or edge.partitioner in SELECTING_PARTITIONERS:
        return None
    return next(
        (known for known in producer.results if not known.pipelined and _demand(known.edge) == _demand(edge)), None
    )


def _demand(edge: Edge) -> tuple:
    target = edge.target
    return edge.source.id, edge.partitioner, target.parallelism, target.max_parallelism, edge.side_output


def _result_type(edge: Edge, exchange_mode: str) -> str:
    if edge.shuffle_mode != "UNDEFINED":
        return "PIPELINED_BOUNDED" if edge.shuffle_mode == "PIPELINED" else "BLOCKING"
    pipelined = PIPELINED_UNDER[exchange_mode]
    return "PIPELINED_BOUNDED" if pipelined is None or edge.partitioner in pipelined else "BLOCKING"


def topological_order(job: JobGraph) -> list[JobVertex]:
    """Vertices without inputs first; then each vertex of the list so far frees consumers, depth first."""
    vertices = list(job.vertices.values())
    order = [vertex for vertex in vertices if not vertex.inputs]
    remaining = {vertex: None for vertex in vertices if vertex.inputs}  # a dict for its order
    position = 0
    while remaining:
        if position >= len(order):
            raise FlinkError(errors.INVALID_PROGRAM, "The job graph is cyclic.")
        _free_consumers(order[position], order, remaining)
        position += 1
    return order


def _free_consumers(vertex: JobVertex, order: list[JobVertex], remaining: dict[JobVertex, None]) -> None:
    for data_set in vertex.results:
        for edge in data_set.consumers:
            target = edge.target
            blocked = any(other is not edge and other.data_set.producer in remaining for other in target.inputs)
            if target in remaining and not blocked:
                del remaining[target]
                order.append(target)
                _free_consumers(target, order, remaining)
