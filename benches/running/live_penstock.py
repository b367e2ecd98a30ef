"""Programs that never end on Penstock, with a checkpoint directory."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from typing import Any

from live import FiredSink, SumSink, end_of, key_of, keyed, time_of, written

Job = Callable[[Any, str], None]
Settings = dict[str, Any]
STEP = 50_000
"""Records that a subtask reads in a step: with two of them a batch, as Spark's queries have."""


def environment(executor: str, parallelism: int, settings: Settings) -> Any:
    """An environment for such programs."""
    from penstock.common import Configuration
    from penstock.datastream import StreamExecutionEnvironment

    configuration = Configuration()
    for key, value in settings.items():
        configuration.set_string(key, str(value))
    master = {"master": f"local[{parallelism}]"} if executor == "spark" else {}
    env = StreamExecutionEnvironment.get_execution_environment(configuration, executor=executor, **master)
    return env.set_parallelism(parallelism)


def sums(executor: str = "spark", parallelism: int = 2, settings: Settings | None = None) -> Job:
    """Running sums of a folder's files."""

    def build(env: Any, inbox: str, out: str) -> None:
        _keyed(_lines(env, inbox)).sum(1).add_sink(SumSink(out))

    return _job(build, executor, parallelism, settings)


def kafka_sums(
    executor: str = "spark", parallelism: int = 2, settings: Settings | None = None, guarantee: str = "EXACTLY_ONCE"
) -> Job:
    """Running sums of one topic's lines into another topic."""
    from penstock.common import Types
    from penstock.datastream.connectors import kafka

    def build(env: Any, topics: dict[str, str], out: str) -> None:
        sums = _keyed(env.from_source(_topic(topics), _no_watermarks(), "lines")).sum(1)
        schema = kafka.KafkaRecordSerializationSchema.builder().set_topic(topics["target"])
        sink = (
            kafka.KafkaSink.builder()
            .set_bootstrap_servers(topics["address"])
            .set_record_serializer(schema.set_value_serialization_schema(_texts()).build())
            .set_delivery_guarantee(kafka.DeliveryGuarantee[guarantee])
            .set_transactional_id_prefix(topics["target"])
            .build()
        )
        sums.map(written, output_type=Types.STRING()).sink_to(sink)

    return _job(build, executor, parallelism, settings)


def timers(executor: str = "spark", parallelism: int = 2, settings: Settings | None = None, delay: int = 1_000) -> Job:
    """A count and a timer of event time per key, in a function."""
    from penstock.common import Duration, Types, WatermarkStrategy
    from penstock.datastream.functions import KeyedProcessFunction
    from penstock.datastream.state import ValueStateDescriptor

    class Timers(KeyedProcessFunction):
        def open(self, runtime_context: Any) -> None:
            self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

        def process_element(self, value: Any, ctx: Any) -> None:
            count = self.count.value() or 0
            if not count:
                ctx.timer_service().register_event_time_timer(end_of(value[1]))
            self.count.update(count + 1)

        def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
            yield ctx.get_current_key(), timestamp, self.count.value()
            self.count.clear()

    def build(env: Any, inbox: str, out: str) -> None:
        late = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(delay))
        clock = late.with_timestamp_assigner(lambda pair, _: time_of(pair))
        # one reader: of two, the one that got no file of the last would hold back the watermark
        pairs = _pairs(_lines(env, inbox).set_parallelism(1)).set_parallelism(1)
        pairs = pairs.assign_timestamps_and_watermarks(clock).set_parallelism(1)
        fired = Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG()])
        keys = pairs.key_by(key_of, key_type=Types.STRING())
        keys.process(Timers(), output_type=fired).add_sink(FiredSink(out))

    return _job(build, executor, parallelism, settings)


def _job(build: Callable[..., None], executor: str, parallelism: int, settings: Settings | None) -> Job:
    def job(inlet: Any, out: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            merged = {"execution.checkpointing.dir": folder, "penstock.step.records": STEP, **(settings or {})}
            env = environment(executor, parallelism, merged)
            build(env, inlet, out)
            env.execute("endless")

    return job


def _lines(env: Any, inbox: str) -> Any:
    from penstock.common import Duration
    from penstock.datastream.connectors.file_system import FileSource, StreamFormat

    reading = FileSource.for_record_stream_format(StreamFormat.text_line_format(), inbox)
    source = reading.monitor_continuously(Duration.of_millis(100)).build()
    return env.from_source(source, _no_watermarks(), "lines")


def _topic(topics: dict[str, str]) -> Any:
    from penstock.datastream.connectors import kafka

    return (
        kafka.KafkaSource.builder()
        .set_bootstrap_servers(topics["address"])
        .set_topics(topics["source"])
        .set_group_id("sums")
        .set_starting_offsets(kafka.KafkaOffsetsInitializer.earliest())
        .set_value_only_deserializer(_texts())
        .build()
    )


def _texts() -> Any:
    from penstock.common.serialization import SimpleStringSchema

    return SimpleStringSchema()


def _no_watermarks() -> Any:
    from penstock.common import WatermarkStrategy

    return WatermarkStrategy.no_watermarks()


def _pairs(lines: Any) -> Any:
    from penstock.common import Types

    return lines.map(keyed, output_type=Types.TUPLE([Types.STRING(), Types.LONG()]))


def _keyed(lines: Any) -> Any:
    from penstock.common import Types

    return _pairs(lines).key_by(key_of, key_type=Types.STRING())
