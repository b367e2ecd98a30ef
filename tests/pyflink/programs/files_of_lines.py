"""Lines of files in, lines of files out."""

import tempfile
from pathlib import Path

from pyflink.common import Encoder, Types, WatermarkStrategy
from pyflink.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import (
    FileSink,
    FileSource,
    OutputFileConfig,
    RollingPolicy,
    StreamFormat,
)

if __name__ == "__main__":
    folder = Path(tempfile.mkdtemp())
    (folder / "in").mkdir()
    (folder / "in" / "one.txt").write_text("to be\nor not\n")
    (folder / "in" / "two.txt").write_text("to be\n")
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    env.set_parallelism(1)
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(folder / "in"))
    lines = env.from_source(
        source.process_static_file_set().build(), WatermarkStrategy.for_monotonous_timestamps(), "lines"
    )
    words = lines.flat_map(lambda line: line.split(), output_type=Types.STRING())
    row = Types.ROW([Types.STRING(), Types.INT()])
    counts = words.map(lambda word: (word, 1), output_type=Types.TUPLE([Types.STRING(), Types.INT()]))
    counts = counts.key_by(lambda pair: pair[0]).reduce(lambda x, y: (x[0], x[1] + y[1]))
    names = OutputFileConfig.builder().with_part_prefix("words").with_part_suffix(".out").build()
    sink = FileSink.for_row_format(str(folder / "out"), Encoder.simple_string_encoder("utf-8"))
    sink = sink.with_output_file_config(names).with_rolling_policy(RollingPolicy.default_rolling_policy())
    counts.sink_to(sink.build())
    env.execute("files")
    for path in sorted((folder / "out").rglob("words*.out")):
        print(path.name.startswith("words-"), path.suffix, sorted(path.read_text().split()))
