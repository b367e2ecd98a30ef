"""A server of Spark Connect, and a client that may do no more than serverless platforms allow. What such a client does
not have at all, as RDDs, a SparkContext and the JVM, no client of Spark Connect has."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql.connect.conf import RuntimeConf
from pyspark.sql.connect.streaming.readwriter import DataStreamWriter

from tests.running import INTERPRETED
from tests.spark.cluster import FAST_JVM, HOME, start

ALLOWED = (
    "spark.sql.ansi.enabled",
    "spark.sql.files.maxPartitionBytes",
    "spark.sql.legacy.timeParserPolicy",
    "spark.sql.session.timeZone",
    "spark.sql.shuffle.partitions",
)
"""The settings that serverless platforms leave to a session."""


@contextmanager
def server(
    log: Path, submit: Sequence[str] = (f"{HOME}/bin/spark-submit",), environment: Mapping[str, str] = os.environ
) -> Iterator[str]:
    """A server of two cores, by a command of ``spark-submit``; its URL."""
    settings = {
        "spark.connect.grpc.binding.port": "0",
        "spark.ui.enabled": "false",
        "spark.driver.extraJavaOptions": FAST_JVM,
        **INTERPRETED,
    }
    options = [text for key, value in settings.items() for text in ("--conf", f"{key}={value}")]
    started = {
        "environment": {**environment, "SPARK_DAEMON_MEMORY": "1g"},
        "command": [*submit, "--master", "local[2]", *options, "--class"],
    }
    with ExitStack() as stack:
        name, pattern = "org.apache.spark.sql.connect.service.SparkConnectServer", r"started at: .*:(\d+)"
        port = start(stack, log, name, pattern, "spark-internal", **started).rpartition(":")[2]
        yield f"sc://127.0.0.1:{port}"


@contextmanager
def strict() -> Iterator[list[str]]:
    """Within the block a session takes only the settings of :data:`ALLOWED`, and only streams that end by themselves;
    the settings that it has refused."""
    refused: list[str] = []

    def only(conf: RuntimeConf, key: str, value: Any) -> None:
        if key not in ALLOWED:
            refused.append(key)
            raise ValueError(f"[CONFIG_NOT_AVAILABLE] Configuration {key} is not available.")
        original(conf, key, value)

    def ending(writer: DataStreamWriter, *args: Any, **more: Any) -> Any:
        if not writer._write_proto.available_now:
            raise ValueError("[INFINITE_STREAMING_TRIGGER_NOT_SUPPORTED] Trigger type ProcessingTime is not supported.")
        return start(writer, *args, **more)

    original, RuntimeConf.set = RuntimeConf.set, only  # type: ignore[method-assign]
    start, DataStreamWriter._start_internal = DataStreamWriter._start_internal, ending  # type: ignore[method-assign]
    try:
        yield refused
    finally:
        RuntimeConf.set = original  # type: ignore[method-assign]
        DataStreamWriter._start_internal = start  # type: ignore[method-assign]
