"""A job that reads Kafka is drained: its windows fire, and who goes on reads what has come since."""

from __future__ import annotations

from pathlib import Path

from penstock.common import Duration, Types, WatermarkStrategy
from penstock.common.serialization import SimpleStringSchema
from penstock.datastream.connectors import KafkaOffsetsInitializer, KafkaSource
from penstock.datastream.window import TumblingEventTimeWindows
from penstock.job.savepoint.store import read_savepoint
from tests.job.savepoint.jobs import environment
from tests.job.savepoint.test_running import SECONDS, ByItself, lines, sink_to, version, when
from tests.kafka.topics import NONE, Topics


def test_windows_fire_and_the_next_one_reads_on(mock_cluster: Topics, tmp_path: Path) -> None:
    topic, times = mock_cluster.name(), WatermarkStrategy.for_monotonous_timestamps()
    mock_cluster.fill(topic, ({"value": b"%d" % number, "partition": number % 2} for number in range(25)))

    def program(out: str, **more: str):
        env = environment(tmp_path / out, **more)
        builder = KafkaSource.builder().set_bootstrap_servers(mock_cluster.servers).set_topics(topic)
        builder.set_starting_offsets(KafkaOffsetsInitializer.earliest())
        source = builder.set_value_only_deserializer(SimpleStringSchema()).build()
        stream = env.from_source(source, NONE, "in").uid("in")
        numbers = stream.map(int, Types.LONG()).assign_timestamps_and_watermarks(
            times.with_timestamp_assigner(ByItself())
        )
        keyed = numbers.map(lambda number: (0, 1)).key_by(lambda pair: pair[0], Types.INT())
        window = keyed.window(TumblingEventTimeWindows.of(Duration.of_millis(100)))
        sink_to(tmp_path / f"{out}.txt", window.sum(1).uid("windows"))
        return env

    client = program("first").execute_async("first")
    when(lambda: client.metrics()["in"].metrics.records_out == 25)
    place = client.stop_with_savepoint(True, str(tmp_path)).result(SECONDS)
    assert client.get_job_execution_result().exception(SECONDS) is None
    assert lines(tmp_path / "first.txt") == ["(0, 25)"]
    assert read_savepoint(place).about.kind == "drain"

    mock_cluster.fill(topic, ({"value": b"%d" % number, "partition": number % 2} for number in range(100, 103)))
    client = program("second", execution__savepoint__path=place).execute_async("second")
    when(lambda: version(client) >= 1 and client.metrics()["in"].metrics.records_out >= 3)
    client.stop_with_savepoint(True, str(tmp_path)).result(SECONDS)
    assert lines(tmp_path / "second.txt") == ["(0, 3)"]
