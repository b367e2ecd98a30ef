"""The planner and the executors, called without a program of the DataStream API."""

from __future__ import annotations

from penstock.common import Configuration
from penstock.errors import ConfigurationError as C
from penstock.errors import SpecError as S
from penstock.errors import StreamGraphError as G
from penstock.errors import UnsupportedError as U
from penstock.plan import StreamGraph, StreamGraphBuilder
from penstock.spark import SparkExecutor

ROWS = [
    ("graph: number", lambda w: StreamGraph.from_dict(5), S, "5"),
    ("graph: empty", lambda w: StreamGraph.from_dict({}), S, "nodes"),
    ("graph: text", lambda w: StreamGraph.from_json("no json"), S, "line 1"),
    ("graph: list", lambda w: StreamGraph.from_json("[]"), S, "object"),
    ("graph: nodes text", lambda w: StreamGraph.from_dict({"nodes": "a", "edges": []}), S, "nodes"),
    ("graph: unknown field", lambda w: StreamGraph.from_dict({"nodes": [], "edges": [], "node": 1}), S, "node"),
    ("builder: kind", lambda w: builder().add_node(2, "Map", "mapper"), S, "mapper"),
    ("builder: twice", lambda w: builder().add_node(1, "Map", "operator"), G, "1"),
    ("builder: no such node", lambda w: builder().add_edge(1, 7, 0), G, "7"),
    ("builder: number", lambda w: builder().add_edge(1, 1, 9), G, "9"),
    ("plan: profile", lambda w: builder().build().job_graph(flink="3"), U, "3"),
    ("spark: session and master", lambda w: SparkExecutor(object(), "local[2]"), C, "master"),
    ("configuration: key", lambda w: Configuration().set_string("", "a"), C, "key"),
    ("configuration: value", lambda w: Configuration().set_string("a", 5), C, "set_string"),
    ("configuration: integer", lambda w: Configuration().set_integer("a", "5"), C, "set_integer"),
    ("configuration: boolean", lambda w: Configuration().set_boolean("a", "true"), C, "set_boolean"),
    ("configuration: float", lambda w: Configuration().set_float("a", "x"), C, "set_float"),
    ("configuration: parsed", lambda w: Configuration.from_dict({"a": "x"}).get_integer("a", 1), C, "a"),
]


def builder():
    made = StreamGraphBuilder()
    made.add_node(1, "Source", "source")
    return made
