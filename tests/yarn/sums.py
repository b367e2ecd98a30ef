"""Running sums that never end: ``spark-submit sums.py HDFS-FOLDER``.

Numbers come as files in the folder ``in``; for each the sum of its key so far is written into ``out``, and ``job`` is
the checkpoint directory, by which ``penstock stop`` ends it.
"""

from __future__ import annotations

import sys

from penstock.common import Configuration, Duration, Types, WatermarkStrategy
from penstock.common.serialization import Encoder
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors import FileSink, FileSource, StreamFormat

KEYS = 7
folder = sys.argv[1]
settings = {
    "execution.checkpointing.dir": f"{folder}/job",
    "execution.checkpointing.interval": "1 s",
    "parallelism.default": "2",
}
env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), f"{folder}/in")
watched = source.monitor_continuously(Duration.of_millis(500)).build()
lines = env.from_source(watched, WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
pairs = lines.map(lambda line: (int(line) % KEYS, int(line)), Types.TUPLE([Types.LONG(), Types.LONG()]))
sums = pairs.key_by(lambda pair: pair[0], Types.LONG()).reduce(lambda x, y: (x[0], x[1] + y[1])).uid("sums")
sink = FileSink.for_row_format(f"{folder}/out", Encoder.simple_string_encoder()).build()
sums.map(lambda pair: f"{pair[0]} {pair[1]}", Types.STRING()).sink_to(sink).uid("out")
env.execute("sums")
