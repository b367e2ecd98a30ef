"""The programs of the rules' docstrings as files, planned: what stands before them, and what executes them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from penstock.cli.program import PlanCaptured, PlanOnlyExecutor
from penstock.datastream.environment import executors
from penstock.plan import Pipeline

SETUP = '''
import json
import logging
import threading
import time
import urllib.request
import zlib
from collections import defaultdict
from datetime import datetime

from penstock.common import Configuration, Duration, RuntimeExecutionMode, Time, Types, WatermarkStrategy
from penstock.datastream import *
from penstock.datastream.connectors import DataGeneratorSource, FileSink
from penstock.datastream.connectors.kafka import KafkaRecordSerializationSchema, KafkaSink, KafkaSource
from penstock.datastream.connectors.base import DeliveryGuarantee
from penstock.common.serialization import Encoder, SimpleStringSchema
from penstock.datastream.state import StateTtlConfig
from penstock.datastream.window import *

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)

ORDER = Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG()])  # user, amount, time
endless = DataGeneratorSource(lambda number: (f"user {number % 10}", number, number * 1_000), None, ORDER)
in_order = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda order, _: order[2])
orders = env.from_source(endless, in_order, "orders")  # never ends
lines = env.from_collection(["to be", "or not to be"], Types.STRING())  # ends
topic = (
    KafkaSource.builder()
    .set_bootstrap_servers("broker:9092")
    .set_topics("clicks")
    .set_value_only_deserializer(SimpleStringSchema())
    .build()
)


def to_topic(name, prefix):
    """A sink that writes to a topic of Kafka in transactions."""
    records = KafkaRecordSerializationSchema.builder().set_topic(name)
    builder = KafkaSink.builder().set_bootstrap_servers("broker:9092")
    builder.set_record_serializer(records.set_value_serialization_schema(SimpleStringSchema()).build())
    builder.set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
    return builder.set_transactional_id_prefix(prefix).build()


class Latest(KeyedProcessFunction):
    """Keeps the last record of each user."""

    def open(self, runtime_context):
        self.last = runtime_context.get_state(ValueStateDescriptor("last", ORDER))

    def process_element(self, value, ctx):
        self.last.update(value)
        yield value

'''.lstrip()
"""What the examples of the rules assume."""


def cases(file: str) -> dict[str, str]:
    """The programs of a text file of this folder, by the headings above them: ``=== HEADING``."""
    _, *parts = re.split(r"^=== (.+)\n", Path(__file__).with_name(file).read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def planned(file: Path, body: str) -> Pipeline:
    """The plan of a program, which is written to a file and run up to its ``execute()``."""
    source = f"{SETUP}\n{body}\n\nenv.execute()\n"
    file.write_text(source, encoding="utf-8")
    planner: Any = PlanOnlyExecutor()
    names: dict[str, Any] = {"__name__": "__main__"}
    try:
        with executors.override(planner):
            exec(compile(source, str(file), "exec"), names)
    except PlanCaptured:
        return planner.pipeline
    raise AssertionError("the plan was not captured")
