"""Doors to Spark's data in plans: nothing of Spark is asked for them but a schema."""

from __future__ import annotations

import json

import pytest

from penstock.cli.program import PlanCaptured, PlanOnlyExecutor
from penstock.common import Types
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors import SparkSink
from penstock.errors import UnsupportedError
from tests.datastream.wrong_calls.world import Frame

PAIR = Types.TUPLE([Types.STRING(), Types.LONG()])


def environment(executor=None):
    return StreamExecutionEnvironment.get_execution_environment(executor=executor).set_parallelism(4)


def pairs(env):
    return env.from_spark(Frame(["string", "long"]), PAIR, "sales").set_parallelism(3).uid("sales")


def names(plan):
    return [(node["type"], node["parallelism"]) for node in json.loads(plan)["nodes"]]


def test_sources_and_sinks_are_nodes_as_others():
    env = environment()
    pairs(env).key_by(0).sum(1).sink_to(SparkSink(table="totals")).name("totals")
    results = names(env.get_execution_plan())
    assert results == [("Source: sales", 3), ("Keyed Aggregation", 4), ("Sink: totals", 4)]
    rows = env.from_spark(Frame(["string", "long"]))
    assert rows.transformation.output_type == Types.ROW_NAMED(["c0", "c1"], [Types.STRING(), Types.LONG()])
    assert (rows.transformation.name, rows.transformation.parallelism) == ("Spark Source", 4)


def test_a_dataframe_has_a_plan_of_its_own():
    planner = PlanOnlyExecutor()
    env = environment(planner)
    stream = pairs(env)
    stream.print()
    summed = stream.key_by(0).sum(1)
    before = env.get_execution_plan()
    with pytest.raises(PlanCaptured):
        summed.to_spark()
    assert planner.pipeline is not None
    results = names(planner.pipeline.stream_graph.streaming_plan_json())
    assert results == [("Source: sales", 3), ("Keyed Aggregation", 4), ("Sink: to_spark", 4)]
    assert env.get_execution_plan() == before
    assert summed.map(str).transformation.id == summed.transformation.id + 1


def test_the_local_executor_names_what_it_cannot_run():
    env = environment("local")
    pairs(env).sink_to(SparkSink(path="out")).name("files")
    with pytest.raises(UnsupportedError, match=r"\['Source: sales', 'Sink: files'\] read or write DataFrames"):
        env.execute()


def test_sinks_say_where_they_write():
    assert repr(SparkSink(table="t", mode="append")) == "<SparkSink to the table 't'>"
    assert repr(SparkSink(path="out", format="orc")) == "<SparkSink to 'out' (orc)>"
    assert repr(SparkSink(lambda df: None)) == "<SparkSink to what its lambda writes>"
