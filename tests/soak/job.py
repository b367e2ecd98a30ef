"""The job, in a process of its own: ``python -m tests.soak.job EXECUTOR FOLDER RATE SECONDS``."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from penstock.common import Configuration, JobClient, Types, WatermarkStrategy
from penstock.common.serialization import Encoder
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors import DataGeneratorSource, FileSink, RateLimiterStrategy

KEYS = 1_000
EVERY = 5.0
"""Seconds between two lines."""
PAIR = Types.TUPLE([Types.LONG(), Types.LONG()])


def main(executor: str, folder: str, rate: float, seconds: float) -> None:
    """Run it for some time, and stop it."""
    settings = {
        "penstock.executor": executor,
        "execution.checkpointing.dir": f"{folder}/job",
        "execution.checkpointing.interval": "1s",
        "parallelism.default": "2",
        "spark.master": "local[2]",
        "spark.driver.memory": "512m",
    }
    known = {key: text for key, text in settings.items() if executor == "spark" or not key.startswith("spark.")}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration(known))
    source = DataGeneratorSource(lambda n: (n % KEYS, 1), None, PAIR, RateLimiterStrategy.per_second(rate))
    counts = (
        env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")
        .key_by(lambda pair: pair[0], Types.LONG())
        .sum(1)
    )
    lines = counts.map(lambda pair: f"{pair[0]} {pair[1]}", Types.STRING())
    lines.sink_to(FileSink.for_row_format(f"{folder}/out", Encoder.simple_string_encoder()).build())
    client = env.execute_async("soak")
    follow(client, Path(folder, "steps.jsonl"), seconds)
    client.stop().result()
    client.get_job_execution_result().result()


def follow(client: JobClient, path: Path, seconds: float) -> None:
    """Write lines as long as the job shall run."""
    end = time.monotonic() + seconds
    result = client.get_job_execution_result()
    with open(path, "a") as file:
        while time.monotonic() < end and not result.done():
            time.sleep(EVERY)
            metrics = client.metrics()
            read = sum(metrics.operators[operator_id].metrics.records_out for operator_id in metrics.sources)
            state = sum(operator.state.bytes for operator in metrics.operators.values())
            line = {
                "time": time.time(),
                "version": metrics.version,
                "step": metrics.step.median_ms,
                "longest": metrics.step.p99_ms,
                "parts": dict(metrics.step.parts),
                "records": read,
                "state": state,
            }
            print(json.dumps(line), file=file, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4]))
