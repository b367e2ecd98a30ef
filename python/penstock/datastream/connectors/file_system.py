"""File sources, and the names of file sinks, which are in :mod:`penstock.datastream.connectors.file_sink` (PyFlink:
``pyflink.datastream.connectors.file_system``).

Source of names and defaults: Flink 1.20 ``FileSource``. :mod:`penstock.runtime.io.file_source` finds and reads
files.
"""
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from penstock.common import Duration, TypeInformation, checks
from penstock.common.time import milliseconds_of
from penstock.connectors.files.buckets import BucketAssigner
from penstock.connectors.files.watched_folders import (
    ALL,
    MOST_BYTES,
    MOST_FILES,
    Limits,
    Watch,
    check_length,
    is_read,
    length_to_check,
    named,
    piece_of,
)
from penstock.datastream.connectors.file_sink import (
    BulkFormatBuilder,
    DefaultBulkFormatBuilder,
    DefaultRollingPolicy,
    DefaultRowFormatBuilder,
    FileSink,
    OnCheckpointRollingPolicy,
    OutputFileConfig,
    RollingPolicy,
    RowFormatBuilder,
    StreamingFileSink,
)
from penstock.errors import UnsupportedError
from penstock.runtime.io.file_format import BulkFormat, FileFormat, StreamFormat
from penstock.runtime.io.splits import Records, Source, Split
from penstock.storage.storage import Dated

__all__ = [
    "BucketAssigner",
    "BulkFormat",
    "BulkFormatBuilder",
    "DefaultBulkFormatBuilder",
    "DefaultRollingPolicy",
    "DefaultRowFormatBuilder",
    "FileEnumeratorProvider",
    "FileSink",
    "FileSource",
    "FileSourceBuilder",
    "FileSplitAssignerProvider",
    "OnCheckpointRollingPolicy",
    "OutputFileConfig",
    "RollingPolicy",
    "RowFormatBuilder",
    "StreamFormat",
    "StreamingFileSink",
]

T = TypeVar("T", covariant=True)
S = TypeVar("S")


@dataclass(frozen=True)
class FileEnumeratorProvider:
    """Which pieces of files are read one by one.

    Attributes:
        splittable: whether a file may be cut; parts of it are then read in several subtasks, and the order of its
            records is kept within each part only.
    """

    splittable: bool

    @staticmethod
    def default_splittable_file_enumerator() -> FileEnumeratorProvider:
        """Large files are cut into pieces of 32 MiB, where they are not compressed and the encoding allows it."""
        return FileEnumeratorProvider(True)

    @staticmethod
    def default_non_splittable_file_enumerator() -> FileEnumeratorProvider:
        """Each file is read in one subtask, from its first record to its last."""
        return FileEnumeratorProvider(False)


@dataclass(frozen=True)
class FileSplitAssignerProvider:
    """How files are assigned to subtasks. There is one way: by size, before the job starts, so that a retried task
    reads the same files."""

    @staticmethod
    def locality_aware_split_assigner() -> FileSplitAssignerProvider:
        """PyFlink's only assigner. Spark does not report where a file is stored, so files are assigned by size."""
        return FileSplitAssignerProvider()


class FileSource(Source[T]):
    """Reads files. Made by :meth:`for_record_stream_format` and :meth:`for_bulk_file_format`.

    A folder stands for all files in it and in folders below, except those whose names begin with ``.`` or ``_``. A path
    may have ``*``, ``?``, ``[…]`` and ``**``. Files that end in .gz, .gzip, .bz2, .xz, .deflate, .zst are decompressed.
    The driver lists files when the job starts; all executors must see them under the same path.

    With :meth:`FileSourceBuilder.monitor_continuously` the driver looks for new files forever. Each path is read once:
    data that is appended later may be read or not. So rename files to their final names when they are complete; names
    that begin with ``.`` or ``_`` are ignored.

    Attributes:
        paths: as given.
        format: of the files.
        splittable: whether large files are cut.
        bounded: whether it ends with what is there when the job starts.
        interval: between two looks for more, in milliseconds.
    """

    def __init__(
        self, paths: tuple[str, ...], format: FileFormat[T], splittable: bool, bounded: bool, interval: int = 0
    ) -> None:
        self.paths: tuple[str, ...] = paths
        self.format: FileFormat[T] = format
        self.splittable: bool = splittable
        self.bounded: bool = bounded
        self.interval: int = interval
        self.produced_type: TypeInformation[object] | None = format.produced_type
        self._watch = self._watching()

    def _watching(self) -> Watch:
        return Watch(self.paths, self.interval / 1000)

    def __repr__(self) -> str:
        return f"<FileSource of {', '.join(map(repr, self.paths))}>"

    @staticmethod
    def for_record_stream_format(stream_format: StreamFormat[S], *paths: str) -> FileSourceBuilder[S]:
        """Files whose records are read one after the other.

        Args:
            stream_format: of the files, such as ``StreamFormat.text_line_format()``.
            paths: of files or folders, or patterns; at least one.
        """
        hint = "Give a StreamFormat, such as StreamFormat.text_line_format()."
        if hasattr(stream_format, "file_format"):
            hint = "It is an InputFormat: call env.create_input(), or give AvroReaderFormat.for_generic_record(schema)."
        if isinstance(stream_format, BulkFormat):
            hint = "It is a BulkFormat: call for_bulk_file_format()."
        checks.instance(stream_format, "for_record_stream_format", StreamFormat, hint)
        return FileSourceBuilder(stream_format, _paths(paths, "for_record_stream_format"))

    @staticmethod
    def for_bulk_file_format(bulk_format: BulkFormat[S], *paths: str) -> FileSourceBuilder[S]:
        """Files whose records are read many at a time. Large ones are cut, unless :meth:`FileSourceBuilder.\
set_file_enumerator` says otherwise.

        Args:
            bulk_format: of the files, such as ``ParquetColumnarRowInputFormat(row_type)``.
            paths: of files or folders, or patterns; at least one.
        """
        hint = "Give a BulkFormat, such as ParquetColumnarRowInputFormat(row_type)."
        if isinstance(bulk_format, StreamFormat):
            hint = "It is a StreamFormat: call for_record_stream_format()."
        checks.instance(bulk_format, "for_bulk_file_format", BulkFormat, hint)
        builder = FileSourceBuilder(bulk_format, _paths(paths, "for_bulk_file_format"))
        return builder.set_file_enumerator(FileEnumeratorProvider.default_splittable_file_enumerator())

    def splits(self, parallelism: int) -> list[Split]:
        if self.bounded:
            return self.format.splits(self.paths, self.splittable)
        return self._watching().pending(self._cut, {}, frozenset(), ALL)

    def pending(self, parallelism: int, positions: Mapping[str, Any], over: Set[str] = frozenset()) -> Sequence[Split]:
        """Unread files in the order of their discovery, as many as a step can take. O(files) when it lists, else
        O(files returned)."""
        if self.bounded:
            return super().pending(parallelism, positions, over)
        limits = Limits(MOST_FILES * parallelism, MOST_BYTES * parallelism)
        return self._watch.pending(self._cut, positions, over, limits)

    def available(
        self, parallelism: int, positions: Mapping[str, Any], over: Set[str] = frozenset()
    ) -> Sequence[Split]:
        if self.bounded:
            return super().pending(parallelism, positions, over)
        return self._watch.pending(self._cut, positions, over, ALL)

    def _cut(self, file: Dated) -> list[Split]:
        return named(file, file.size, self.format.pieces(file, self.splittable))

    def locations(self) -> tuple[str, ...]:
        return self.paths

    def read(self, split: Split) -> Iterator[Records[T]]:
        if self.bounded:
            yield from self.format.read(split)
            return
        if is_read(split):
            return
        least = length_to_check(split)
        yield from self.format.read(piece_of(split))
        check_length(split, least)


def _paths(paths: tuple[str, ...], call: str) -> tuple[str, ...]:
    if not paths:
        checks.refuse(f"{call}() was given no path. Give at least one file or folder.")
    return tuple(checks.path(path, call) for path in paths)


class FileSourceBuilder(Generic[T]):
    """Settings of a FileSource before it is made. Methods change it and return it."""

    def __init__(self, file_format: FileFormat[T], paths: tuple[str, ...]) -> None:
        self._format = file_format
        self._paths = paths
        self._splittable = False
        self._bounded = True
        self._interval = 0

    def process_static_file_set(self) -> FileSourceBuilder[T]:
        """Read the files that exist when the job starts, and end. This is the default."""
        self._bounded, self._interval = True, 0
        return self

    def monitor_continuously(self, discovery_interval: Duration) -> FileSourceBuilder[T]:
        """Look for new files forever. Each path is read once; see :class:`FileSource`.

        Args:
            discovery_interval: between two looks, at least. A look at a folder of 100,000 files takes the driver 0.2 s
                on a local disk, 1.2 s when the job starts, and on a store a request per thousand files.
        """
        self._interval = milliseconds_of(discovery_interval, "monitor_continuously", "interval")
        if self._interval < 1:
            checks.illegal_argument(
                "monitor_continuously(): the interval is at least a millisecond. Give Duration.of_seconds(1), say."
            )
        self._bounded = False
        return self

    def set_file_enumerator(self, file_enumerator: FileEnumeratorProvider) -> FileSourceBuilder[T]:
        """Whether files may be cut, if their format allows it: lines of text, JSON lines, Parquet and Avro. Without
        this call those of a bulk format are, and others are not, as in Flink."""
        hint = "Use FileEnumeratorProvider.default_splittable_file_enumerator() or the other."
        checks.instance(file_enumerator, "set_file_enumerator", FileEnumeratorProvider, hint)
        self._splittable = file_enumerator.splittable
        return self

    def set_split_assigner(self, split_assigner: FileSplitAssignerProvider) -> FileSourceBuilder[T]:
        """Choose how files are assigned to subtasks; there is one way."""
        if not isinstance(split_assigner, FileSplitAssignerProvider):
            raise UnsupportedError(
                f"set_split_assigner() was given {checks.shown(split_assigner)}. Files are dealt out by size before "
                "the job starts. Leave the call out, or give FileSplitAssignerProvider.locality_aware_split_assigner()."
            )
        return self

    def build(self) -> FileSource[T]:
        """The source."""
        return FileSource(self._paths, self._format, self._splittable, self._bounded, self._interval)
