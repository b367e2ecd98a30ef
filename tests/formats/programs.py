"""Programs that read and write files of formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from penstock.common import WatermarkStrategy
from penstock.datastream.connectors import BucketAssigner, BulkFormat, FileEnumeratorProvider, FileSink, FileSource
from tests.running import environment

BASE = BucketAssigner.base_path_bucket_assigner()
NONE = WatermarkStrategy.no_watermarks()


def source(file_format: Any, *paths: Any, splittable: bool | None = None) -> FileSource[Any]:
    """A source of files of a format."""
    begin = FileSource.for_record_stream_format
    if isinstance(file_format, BulkFormat):
        begin = FileSource.for_bulk_file_format
    builder = begin(file_format, *map(str, paths))
    if splittable is not None:
        builder.set_file_enumerator(FileEnumeratorProvider(splittable))
    return builder.build()


def read(file_format: Any, *paths: Any, parallelism: int = 1, env: Any = None, splittable: bool | None = None) -> list:
    """The records of files, in the order of subtasks and splits."""
    env = env or environment(parallelism)
    stream = env.from_source(source(file_format, *paths, splittable=splittable), NONE, "files")
    with stream.execute_and_collect() as records:
        return list(records)


def sink(folder: Any, factory: Any, assigner: Any = BASE) -> FileSink[Any]:
    """A sink of files of a bulk format."""
    return FileSink.for_bulk_format(str(folder), factory).with_bucket_assigner(assigner).build()


def write(
    folder: Any, factory: Any, records: Any, type_info: Any = None, parallelism: int = 1, env: Any = None
) -> list:
    env = environment(parallelism)
    stream = env.from_collection(records, type_info)
    if parallelism > 1:
        stream = stream.rebalance()
    stream.sink_to(sink(folder, factory))
    env.execute()
    return files(folder)


def files(folder: Any) -> list[Path]:
    """The files below a folder, also hidden ones."""
    return sorted(path for path in Path(folder).rglob("*") if path.is_file())
