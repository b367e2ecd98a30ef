"""Visits of customers, counted out of lines such as ``anna /home`` in the files of a folder: the program of
docs/never-lose-state.md before it is edited. No operator has a uid. It ends when it has read what is there.
"""

# pyright: basic
from __future__ import annotations

from penstock.common import Configuration, Duration, Types, WatermarkStrategy
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors import FileSource, StreamFormat

COUNT = Types.TUPLE([Types.STRING(), Types.LONG()])

env = StreamExecutionEnvironment.get_execution_environment(Configuration({"penstock.step.available-now": "true"}))
files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), "inbox")
files = files.monitor_continuously(Duration.of_seconds(1)).build()
lines = env.from_source(files, WatermarkStrategy.no_watermarks(), "inbox").set_parallelism(1)
visits = lines.map(lambda line: (line.split()[0], 1), output_type=COUNT)
counts = visits.key_by(lambda visit: visit[0], Types.STRING()).sum(1).name("counts")
counts.print().set_parallelism(1)
env.execute("visits")
# penstock: ignore-file[PS001, PS006] the uids are missing on purpose
