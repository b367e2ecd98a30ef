"""Every call that can only be planned so far: it makes a plan, and execute() refuses it by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from penstock.common import Types, WatermarkStrategy
from penstock.common.serialization import SimpleStringSchema
from penstock.datastream import (
    InputFormat,
    OutputFormat,
    Source,
    StreamExecutionEnvironment,
)
from penstock.datastream.program.plan_only import PLAN_ONLY
from penstock.datastream.streams.data_stream import DataStream
from penstock.errors import UnsupportedError
from penstock.pyflink.datastream.connectors.elasticsearch import Elasticsearch7SinkBuilder, ElasticsearchEmitter
from penstock.pyflink.datastream.connectors.rabbitmq import RMQConnectionConfig, RMQSink, RMQSource

PAIR = Types.TUPLE([Types.STRING(), Types.INT()])


QUEUE = RMQConnectionConfig.Builder().set_host("mq").build()
INDEX = ElasticsearchEmitter.static_index("words")
PROGRAMS: dict[str, Callable[[StreamExecutionEnvironment, DataStream], Any]] = {
    "add_sink": lambda env, s: s.add_sink(RMQSink(QUEUE, "words", SimpleStringSchema())),
    "add_source": lambda env, s: env.add_source(RMQSource(QUEUE, "words", True, SimpleStringSchema())).map(str),
    "as_queryable_state": lambda env, s: s.key_by(0).as_queryable_state("last"),
    "create_input": lambda env, s: env.create_input(InputFormat()).map(str),
    "from_source": lambda env, s: env.from_source(Source(), WatermarkStrategy.no_watermarks(), "in").map(str),
    "sink_to": lambda env, s: s.sink_to(Elasticsearch7SinkBuilder().set_hosts(["es"]).set_emitter(INDEX).build()),
    "write_as_csv": lambda env, s: s.write_as_csv("out"),
    "write_to_socket": lambda env, s: s.write_to_socket("localhost", 9),
    "write_using_output_format": lambda env, s: s.write_using_output_format(OutputFormat()),
}


def test_the_table_is_complete() -> None:
    assert set(PROGRAMS) == set(PLAN_ONLY)


@pytest.mark.parametrize("call", PROGRAMS)
def test_planned_and_refused_by_name(call: str) -> None:
    env = StreamExecutionEnvironment.get_execution_environment(executor="local")
    PROGRAMS[call](env, env.from_collection([("a", 1)], PAIR))
    assert env.get_stream_graph().job_graph().vertices
    with pytest.raises(UnsupportedError, match=call):
        env.execute()
