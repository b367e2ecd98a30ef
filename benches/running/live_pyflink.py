"""Running sums that never end on PyFlink, with checkpoints."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

from live import SumSink, key_of, keyed
from on_pyflink import environment


def sums(parallelism: int = 2, interval: int = 1_000, settings: dict[str, str] | None = None) -> Callable[..., None]:
    """Running sums of a folder's files; ``interval`` milliseconds between checkpoints."""
    from pyflink.common import Duration, Types, WatermarkStrategy
    from pyflink.datastream import FilterFunction
    from pyflink.datastream.connectors.file_system import FileSource, StreamFormat

    class Swallow(FilterFunction):
        """The sink, in the chain of the sums: it lets nothing through."""

        def __init__(self, folder: str) -> None:
            self.sink = SumSink(folder)

        def filter(self, value: Any) -> bool:
            self.sink.invoke(tuple(value))
            self.sink.flush()
            return False

    def job(inbox: str, out: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            env = environment(parallelism, {"execution.checkpointing.dir": f"file://{folder}", **(settings or {})})
            env.enable_checkpointing(interval)
            reading = FileSource.for_record_stream_format(StreamFormat.text_line_format(), inbox)
            source = reading.monitor_continuously(Duration.of_millis(100)).build()
            (
                env.from_source(source, WatermarkStrategy.no_watermarks(), "lines")
                .map(keyed, output_type=Types.TUPLE([Types.STRING(), Types.LONG()]))
                .key_by(key_of, key_type=Types.STRING())
                .sum(1)
                .filter(Swallow(out))
                .print()
            )
            env.execute("sums")

    return job
