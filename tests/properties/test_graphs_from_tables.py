"""A graph from tables == the same graph from its description, whatever the tables look like."""

from __future__ import annotations

import json
from collections.abc import Callable

from hypothesis import given

from penstock.errors import PenstockError
from penstock.plan import StreamGraph, plan_record
from tests.properties.graphs import SeededChoices, Spec, seeded_spec, specs
from tests.properties.odd_values import odd_spec
from tests.spec_tables import disguised, settings, tables


def outcome(make: Callable[[], StreamGraph]) -> tuple[StreamGraph | None, object]:
    """A graph and its text, or none and why."""
    try:
        graph = make()
    except PenstockError as error:
        return None, (type(error), error.flink_class, error.operators)
    return graph, graph.to_json()


def compare(spec: Spec, seed: int) -> bool:
    """Both ways make one graph, or both refuse it for one reason. Returns whether there is a graph."""
    choices = SeededChoices(seed)
    arguments = {name: disguised(table, choices) for name, table in tables(spec).items()}
    _, expected = outcome(lambda: StreamGraph.from_json(json.dumps(spec)))
    graph, actual = outcome(lambda: StreamGraph.from_columns(**arguments, **settings(spec)))
    assert actual == expected
    if graph is None:
        return False
    assert not graph.verify()
    again = StreamGraph.from_columns(
        graph.nodes_table(), graph.edges_table(), iterations=graph.iterations_table(), **settings(spec)
    )
    assert again.to_json() == graph.to_json(), "its own tables do not hold all of a graph"
    assert plan_record(graph.to_json()) == plan_record(json.dumps(spec))
    return True


@given(specs(max_nodes=12))
def test_random_graphs(spec: Spec) -> None:
    compare(spec, len(spec["edges"]))


def test_seeded_graphs_of_all_sizes() -> None:
    assert sum(compare(seeded_spec(seed, seed % 61), seed) for seed in range(300)) > 200


def test_odd_values() -> None:
    assert sum(compare(odd_spec(seed), seed) for seed in range(1000, 1300)) > 200
