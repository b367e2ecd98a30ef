"""Schemas and the names of what fails, on Spark as in this process."""

from __future__ import annotations

import pytest

from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.schemas import CsvRowSerializationSchema
from penstock.errors import JobExecutionError
from tests.datastream.test_whose_helper import Pulled, windowed
from tests.serialization.test_row_schemas import PAIR, json_in


def test_messages_become_rows_and_lines(spark):
    env = StreamExecutionEnvironment.get_execution_environment(spark=spark).set_parallelism(2)
    reading, writing = json_in(), CsvRowSerializationSchema.Builder(PAIR).build()
    messages = env.from_collection([b'{"id": 1, "name": "a,b"}', b'{"id": 2}', b'{"name": "c"}'])
    rows = messages.rebalance().map(reading.deserialize, output_type=reading.get_produced_type())
    lines = rows.key_by(lambda row: row.id or 0).map(writing.serialize)
    assert sorted(lines.execute_and_collect()) == [b",c\n", b'1,"a,b"\n', b"2,\n"]


def test_a_failure_names_the_trigger_and_its_line(spark):
    env = StreamExecutionEnvironment.get_execution_environment(spark=spark)
    windowed(env.from_collection([1, 2]), trigger=Pulled())
    message = r"^The trigger Pulled, in on_element\(\) \(line \d+ of test_whose_helper\.py\), in operator 'Window"
    with pytest.raises(JobExecutionError, match=message):
        env.execute()
