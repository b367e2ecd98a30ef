"""Word count with running sums, on PyFlink."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from functions import PairSink, pair, split, word_of


def word_count(parallelism: int = 2, settings: dict[str, str] | None = None) -> Callable[[str, str], Any]:
    """The job, in a cluster inside this process's JVM."""
    from pyflink.common import Types, WatermarkStrategy
    from pyflink.datastream import FilterFunction
    from pyflink.datastream.connectors.file_system import FileSource, StreamFormat

    class Swallow(FilterFunction):
        """The sink, in the chain of the sums: it lets nothing through."""

        def __init__(self, folder: str) -> None:
            self.sink = PairSink(folder)

        def filter(self, value: Any) -> bool:
            self.sink.invoke(tuple(value))
            return False

        def close(self) -> None:
            self.sink.close()

    def job(data: str, folder: str) -> None:
        env = environment(parallelism, settings or {})
        source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), data).build()
        (
            env.from_source(source, WatermarkStrategy.no_watermarks(), "lines")
            .flat_map(split, output_type=Types.STRING())
            .map(pair, output_type=Types.TUPLE([Types.STRING(), Types.LONG()]))
            .key_by(word_of, key_type=Types.STRING())
            .sum(1)
            .filter(Swallow(folder))
            .print()
        )
        env.execute("word count")

    return job


def environment(parallelism: int, settings: dict[str, str]) -> Any:
    """Flink's, in streaming mode, with the modules of this folder."""
    from pyflink.common import Configuration
    from pyflink.datastream import RuntimeExecutionMode, StreamExecutionEnvironment

    configuration = Configuration()
    for key, value in settings.items():
        configuration.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_runtime_mode(RuntimeExecutionMode.STREAMING)
    env.set_parallelism(parallelism)
    env.set_python_executable(sys.executable)
    env.add_python_file(str(Path(__file__).parent))
    return env
