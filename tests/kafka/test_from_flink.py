"""Jobs of Flink that read Kafka, stopped half-way, resume in Penstock at the offsets where Flink has stopped."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from penstock.common import Configuration, Types, WatermarkStrategy
from penstock.connectors.kafka.flink_splits import positions_of
from penstock.datastream import KeyedProcessFunction, StreamExecutionEnvironment, ValueStateDescriptor
from penstock.flink.entries.values import Pojo
from tests.kafka.topics import Topics
from tests.moves.golden import FOLDER, RELEASES, kafka_savepoint
from tests.moves.kafka import LINES, TOPIC, messages

MOVES = {line["flink"]: line for line in json.loads((FOLDER / LINES).read_text())}
RECORD = Types.TUPLE([Types.STRING(), Types.LONG()])


class Sums(KeyedProcessFunction[str, Any, Any]):
    def open(self, runtime_context: Any) -> None:
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum", Types.LONG()))

    def process_element(self, value: Any, ctx: Any) -> Any:
        self.sum.update((self.sum.value() or 0) + value[1])
        yield value[0], self.sum.value()


def sums(topics: Topics, topic: str, settings: dict[str, str], parallelism: int = 2) -> list[list[Any]]:
    """The outputs of the program of ``KafkaRecorder``, as one would port it."""
    env = StreamExecutionEnvironment.get_execution_environment(Configuration(settings), executor="local")
    env.set_parallelism(parallelism).set_max_parallelism(128)
    texts = env.from_source(topics.source(topic).build(), WatermarkStrategy.no_watermarks(), "records").uid("records")
    records = texts.map(lambda text: (text.split(",")[0], int(text.split(",")[1])), RECORD)
    results = records.key_by(lambda record: record[0], Types.STRING()).process(Sums(), RECORD).uid("sums")
    with results.execute_and_collect() as collected:
        return [list(value) for value in collected]


@pytest.fixture(scope="module")
def topics(mock_cluster: Topics) -> Topics:
    """With all messages of the topic that the jobs of Flink have read the first half of."""
    records = [
        {"value": text.encode(), "partition": partition} for half in (0, 1) for partition, text in messages(half)
    ]
    mock_cluster.fill(TOPIC, records)
    return mock_cluster


def bag(outputs: list[Any]) -> Counter[str]:
    return Counter(map(json.dumps, outputs))


@pytest.mark.parametrize("parallelism", [1, 2, 3])
@pytest.mark.parametrize("release", RELEASES)
def test_a_job_goes_on_where_flink_has_stopped(release: str, parallelism: int, topics: Topics) -> None:
    line = MOVES[release]
    assert len(line["before"]) == len(line["after"]) == len(messages(1))
    settings = {"execution.savepoint.path": kafka_savepoint(release)}
    assert bag(sums(topics, TOPIC, settings, parallelism)) == bag(line["after"])
    assert bag(sums(topics, TOPIC, {}, parallelism)) == bag(line["before"] + line["after"])


def test_splits_that_are_not_kafkas_are_refused() -> None:
    for odd in (b"", b"\0" * 8, b"\0" * 40, 7, None):
        with pytest.raises(ValueError, match="a split is not one of Flink's KafkaSource"):
            positions_of("SourceReaderState", [odd])
    for other in (7, (1, 2), (Pojo({}), 1)):
        with pytest.raises(ValueError, match="a partition is not one of a FlinkKafkaConsumer"):
            positions_of("topic-partition-offset-states", [other])


def test_a_partition_without_an_offset_is_left_to_its_beginning_or_refused() -> None:
    partition = Pojo({"topic": "orders", "partition": 3})
    state = "topic-partition-offset-states"
    assert positions_of(state, [(partition, 41), (Pojo({"topic": "x", "partition": 0}), -915623761775)]) == {
        "orders-3": 42
    }
    with pytest.raises(ValueError, match="nothing of orders-3 was read yet, and only Kafka can say where it begins"):
        positions_of(state, [(partition, -915623761773)])
