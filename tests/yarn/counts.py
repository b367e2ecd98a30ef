"""A word count that ends: ``spark-submit counts.py HDFS-FOLDER``, from the folder ``in`` to the folder ``out``."""

from __future__ import annotations

import sys

from penstock.common import Types, WatermarkStrategy
from penstock.common.serialization import Encoder
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors import FileSink, FileSource, StreamFormat

folder = sys.argv[1]
env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(3)
lines = FileSource.for_record_stream_format(StreamFormat.text_line_format(), f"{folder}/in").build()
words = env.from_source(lines, WatermarkStrategy.no_watermarks(), "lines").flat_map(str.split, Types.STRING())
pairs = words.map(lambda word: (word, 1), Types.TUPLE([Types.STRING(), Types.LONG()]))
counts = pairs.key_by(lambda pair: pair[0], Types.STRING()).sum(1)
sink = FileSink.for_row_format(f"{folder}/out", Encoder.simple_string_encoder()).build()
counts.map(lambda pair: f"{pair[0]} {pair[1]}", Types.STRING()).sink_to(sink)
env.execute("counts")
