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
    ("graph: number", lambda w: StreamGraph.from_dict(5), S, "from_dict.* number, `5`, and"),
    ("graph: empty", lambda w: StreamGraph.from_dict({}), S, "missing field `nodes`"),
    ("graph: text", lambda w: StreamGraph.from_json("no json"), S, "from_json.* is no JSON.* column 2, near `no j"),
    ("graph: list", lambda w: StreamGraph.from_json("[]"), S, r"from_json.* a list, `\[\]`, .* an object"),
    ("graph: nodes text", lambda w: StreamGraph.from_dict({"nodes": "a", "edges": []}), S, "nodes"),
    ("graph: unknown field", lambda w: StreamGraph.from_dict({"nodes": [], "edges": [], "node": 1}), S, "node"),
    ("builder: kind", lambda w: builder().add_node(2, "Map", "mapper"), S, r'node 2 \(Map\): kind is "mapper"'),
    ("builder: twice", lambda w: builder().add_node(1, "Map", "operator"), G, "1"),
    ("builder: no such node", lambda w: builder().add_edge(1, 7, 0), G, "7"),
    ("builder: number", lambda w: builder().add_edge(1, 1, 9), G, "input 9, .* Give the edge input 0"),
    ("plan: profile", lambda w: builder().build().job_graph(flink="3"), U, 'Give flink="1.11" or '),
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
