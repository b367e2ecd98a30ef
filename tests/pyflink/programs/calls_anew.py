"""Calls of a service that fail at first and are made anew; their results in files."""

import asyncio
import functools
import json
import tempfile
from pathlib import Path

from pyflink.common import Encoder, Row, Time, Types
from pyflink.datastream import (
    AsyncDataStream,
    AsyncFunction,
    AsyncRetryStrategy,
    CheckpointingMode,
    StreamExecutionEnvironment,
    async_retry_predicates,
)
from pyflink.datastream.connectors.file_system import FileSink, OutputFileConfig, RollingPolicy


class Judge(AsyncFunction):
    def __init__(self):
        self.tried = set()

    def open(self, runtime_context):
        self.sign = "?"

    def close(self):
        self.sign = None

    async def async_invoke(self, value: Row):
        await asyncio.sleep(0.01)
        if value.number % 3 == 0 and value.number not in self.tried:
            self.tried.add(value.number)
            raise TimeoutError
        return [json.dumps({"number": value.number, "judged": value.comment + self.sign})]

    def timeout(self, value: Row):
        return [json.dumps({"number": value.number, "judged": None})]


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    env.enable_checkpointing(30000, CheckpointingMode.EXACTLY_ONCE)
    comment = Types.ROW_NAMED(["number", "comment"], [Types.INT(), Types.STRING()])
    stream = env.from_collection([Row(number=n, comment=f"c{n}") for n in range(6)], type_info=comment)
    strategy = AsyncRetryStrategy.fixed_delay(
        max_attempts=5,
        backoff_time_millis=20,
        result_predicate=None,
        exception_predicate=functools.partial(
            async_retry_predicates.exception_type_predicate, expected_error_type=TimeoutError
        ),
    )
    judged = AsyncDataStream.unordered_wait_with_retry(
        data_stream=stream,
        async_function=Judge(),
        timeout=Time.seconds(10),
        async_retry_strategy=strategy,
        capacity=100,
        output_type=Types.STRING(),
    )
    judged.print()
    folder = tempfile.mkdtemp()
    names = OutputFileConfig.builder().with_part_prefix("judged").with_part_suffix(".json").build()
    sink = FileSink.for_row_format(base_path=folder, encoder=Encoder.simple_string_encoder())
    sink = sink.with_output_file_config(names).with_rolling_policy(RollingPolicy.default_rolling_policy()).build()
    judged.sink_to(sink=sink)
    env.execute()
    for line in sorted(line for file in Path(folder).rglob("*.json") for line in file.read_text().splitlines()):
        print("in a file", line)
