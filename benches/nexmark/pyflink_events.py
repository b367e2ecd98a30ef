"""``penstock_events.py`` on PyFlink: the same text with its imports exchanged, but for what PyFlink has otherwise.

The text is run here, so that the Python workers of PyFlink, which import functions by name, have them by this module.
"""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import Any

from pyflink.common import Duration, WatermarkStrategy
from pyflink.common.typeinfo import TypeInformation
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import DataStream
from pyflink.datastream.connectors.file_system import FileSource, FileSplitAssignerProvider, StreamFormat
from pyflink.java_gateway import get_gateway

EXCHANGED = {
    "from penstock_events": "from pyflink_events",
    "from penstock.common.data_types": "from pyflink.table.types",
    "from penstock.datastream.connectors": "from pyflink.datastream.connectors.file_system",
    "from penstock.datastream.formats": "from pyflink.datastream.formats.parquet",
    "from penstock.": "from pyflink.",
}
"""Beginnings of imports of Penstock's and of PyFlink's, in the order in which they are tried."""


def code(script: str) -> Any:
    """The program of a script beside this file, with the names of PyFlink."""
    path = Path(__file__).with_name(script)
    text = path.read_text(encoding="utf-8")
    for ours, theirs in EXCHANGED.items():
        text = text.replace(f"\n{ours}", f"\n{theirs}")
    return compile(text, os.fspath(path), "exec")


def without_java(kind: TypeInformation) -> dict[str, Any]:
    """What is pickled of a type: not its Java object, which it has after its first use, and windows then fail at."""
    return {**vars(kind), "_j_typeinfo": None}


TypeInformation.__getstate__ = without_java
exec(code("penstock_events.py"))


class InOrder:
    """Reads the parts of a log in order of time, by the split assigner of the programs in Java."""

    @cached_property
    def lines(self: Any) -> DataStream:
        folder = str(self.folder / self.name)
        reading = FileSource.for_record_stream_format(StreamFormat.text_line_format(), folder)
        assigner = FileSplitAssignerProvider(get_gateway().jvm.penstock.nexmark.InOrder.PROVIDER)
        source = reading.set_split_assigner(assigner).build()
        return self.env.from_source(source, WatermarkStrategy.no_watermarks(), "events")


class Field(TimestampAssigner):
    """The time that a field has."""

    def __init__(self, field: int) -> None:
        self.field = field

    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return value[self.field]


def in_time(stream: DataStream, field: int) -> DataStream:
    """With the timestamps of a field, and watermarks; PyFlink has no assigners that are mere functions."""
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(DISORDER))  # noqa: F821
    return stream.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(Field(field)))


FORMATS = {  # its readers of Parquet are further jars
    name: type(log.__name__, (InOrder, log), {})
    for name, log in FORMATS.items()  # noqa: F821
    if name != "parquet"
}
