"""The JSON of a StreamGraph, as ``getStreamingPlanAsJSON`` prints it."""

from __future__ import annotations

from tests.reference import errors
from tests.reference.errors import FlinkError
from tests.reference.java import json_string
from tests.reference.stream_graph import Edge, Node, StreamGraph


def render(graph: StreamGraph) -> str:
    if not graph.nodes:
        raise FlinkError(errors.RUNTIME, "JSON plan creation failed", cause_class=errors.INDEX_OUT_OF_BOUNDS)
    nodes = sorted(graph.nodes.values(), key=lambda node: (node.is_sink, node.id))
    return '{\n  "nodes" : [ ' + ", ".join(map(_node, nodes)) + " ]\n}"


def _node(node: Node) -> str:
    pact = "Data Source" if node.is_source else "Data Sink" if node.is_sink else "Operator"
    fields = [
        f'"id" : {node.id}',
        f'"type" : {json_string(node.name)}',
        f'"pact" : "{pact}"',
        f'"contents" : {json_string(node.name)}',
        f'"parallelism" : {node.parallelism}',
    ]
    if not node.is_source:
        fields.append(f'"predecessors" : [ {", ".join(map(_predecessor, node.in_edges))} ]'.replace("[  ]", "[ ]"))
    return "{\n    " + ",\n    ".join(fields) + "\n  }"


def _predecessor(edge: Edge) -> str:
    fields = [f'"id" : {edge.source.id}', f'"ship_strategy" : "{edge.partitioner}"', '"side" : "second"']
    return "{\n      " + ",\n      ".join(fields) + "\n    }"
