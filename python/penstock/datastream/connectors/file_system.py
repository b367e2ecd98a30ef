"""File sources and sinks (PyFlink: ``pyflink.datastream.connectors.file_system``). Source of names and defaults: Flink
1.20 ``FileSource``, ``FileSink``. :mod:`penstock.connectors.files` writes files, ``penstock.job.commit`` makes them
visible."""
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar, cast

from penstock.common import Duration, TypeInformation, checks
from penstock.common.bulk_writer import BulkWriterFactory
from penstock.common.serialization import Encoder
from penstock.common.time import milliseconds_of
from penstock.connectors.files import watched_folders
from penstock.connectors.files.buckets import BucketAssigner
from penstock.connectors.files.bulk_sink import BulkOutput
from penstock.connectors.files.file_sink import FileOutput
from penstock.connectors.files.watched_folders import ALL, Limits, Watch
from penstock.datastream.connectors.base import StreamTransformer
from penstock.datastream.sinks import AddedSink, Sink
from penstock.errors import UnsupportedError
from penstock.runtime.io.file_format import BulkFormat, FileFormat, StreamFormat
from penstock.runtime.io.sinks import BuiltinSink
from penstock.runtime.io.splits import Records, Source, Split
from penstock.storage.storage import Dated

if TYPE_CHECKING:
    from typing_extensions import Self

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

S = TypeVar("S")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
T_contra = TypeVar("T_contra", contravariant=True)

_LONGEST_NAME = 180
"""Bytes of prefix and suffix together: file names have at most 255, and include ids."""


@dataclass(frozen=True)
class OutputFileConfig:
    """Prefix and suffix of file names: ``PREFIX-UID-SUBTASK-COUNTER`` and the suffix, such as ``.txt``. What cannot be
    part of a file's name is refused."""

    part_prefix: str = "part"
    part_suffix: str = ""

    def __post_init__(self) -> None:
        for text, what in ((self.part_prefix, "part prefix"), (self.part_suffix, "part suffix")):
            if set(checks.name(text, "OutputFileConfig", what)) & {"/", "\0"}:
                checks.illegal_argument(
                    f"OutputFileConfig() was given the {what} {text!r}, which cannot be part of a file's name. Use a "
                    "bucket assigner for folders."
                )
        if len((self.part_prefix + self.part_suffix).encode()) > _LONGEST_NAME:
            checks.refuse(
                f"OutputFileConfig(): part prefix and part suffix have more than {_LONGEST_NAME} bytes, too many for a "
                "file's name. Give shorter ones."
            )

    class OutputFileConfigBuilder:
        """Makes an :class:`OutputFileConfig`. Methods change it and return it."""

        def __init__(self) -> None:
            self._config = OutputFileConfig()

        def with_part_prefix(self, prefix: str) -> Self:
            """Set the prefix."""
            self._config = replace(self._config, part_prefix=prefix)
            return self

        def with_part_suffix(self, suffix: str) -> Self:
            """Set the suffix, such as ``.txt``."""
            self._config = replace(self._config, part_suffix=suffix)
            return self

        def build(self) -> OutputFileConfig:
            """The configuration."""
            return self._config

    @staticmethod
    def builder() -> OutputFileConfigBuilder:
        """Begin with the prefix ``part`` and no suffix."""
        return OutputFileConfig.OutputFileConfigBuilder()

    def get_part_prefix(self) -> str:
        """The prefix."""
        return self.part_prefix

    def get_part_suffix(self) -> str:
        """The suffix."""
        return self.part_suffix


@dataclass(frozen=True)
class RollingPolicy:
    """When a subtask begins a new file in a bucket: once it has ``part_size`` bytes, or by time; None for no limit."""

    part_size: int | None = None
    rollover_interval: int | None = None
    inactivity_interval: int | None = None

    @staticmethod
    def default_rolling_policy(
        part_size: int = 128 << 20, rollover_interval: int = 60_000, inactivity_interval: int = 60_000
    ) -> DefaultRollingPolicy:
        """By size and by time. Each commit also ends the files, which become visible with it: with each checkpoint, or,
        where the program says no interval, every ten seconds (``penstock.files.commit-interval``).

        Args:
            part_size: bytes; a file that has more gets no further record.
            rollover_interval: milliseconds that a file is open at the most.
            inactivity_interval: milliseconds after which a file without new records is closed.
        """
        return DefaultRollingPolicy(part_size, rollover_interval, inactivity_interval)

    @staticmethod
    def on_checkpoint_rolling_policy() -> OnCheckpointRollingPolicy:
        """One file per subtask and bucket for each checkpoint; a job of one step has one, at its end."""
        return OnCheckpointRollingPolicy()


@dataclass(frozen=True)
class DefaultRollingPolicy(RollingPolicy):
    """By size (Flink: ``DefaultRollingPolicy``); see :meth:`RollingPolicy.default_rolling_policy`."""

    part_size: int | None = 128 << 20
    rollover_interval: int | None = 60_000
    inactivity_interval: int | None = 60_000

    def __post_init__(self) -> None:
        for what, value in vars(self).items():
            checks.positive(value, "default_rolling_policy", what)


@dataclass(frozen=True)
class OnCheckpointRollingPolicy(RollingPolicy):
    """One file per subtask and bucket for each checkpoint (Flink: ``OnCheckpointRollingPolicy``)."""


class _Builder(Generic[T]):
    """Settings of a sink before it is made. Methods change it and return it."""

    def __init__(self, output: FileOutput) -> None:
        self._output = output

    def _with(self, **settings: Any) -> Self:
        self._output = replace(self._output, **settings)
        return self

    def with_bucket_assigner(self, bucket_assigner: BucketAssigner[T]) -> Self:
        """Choose the folder below the base path for each record; by default one per hour, ``yyyy-MM-dd--HH``."""
        hint = "Use BucketAssigner.base_path_bucket_assigner(), or an object of a class with get_bucket_id()."
        why = ", which is not a BucketAssigner"
        return self._with(assigner=checks.instance(bucket_assigner, "with_bucket_assigner", BucketAssigner, hint, why))

    def with_output_file_config(self, output_file_config: OutputFileConfig) -> Self:
        """Set prefix and suffix of file names. The default prefix is ``part``."""
        hint = "Use OutputFileConfig.builder().with_part_suffix(…).build()."
        why = ", which is not an OutputFileConfig"
        names = checks.instance(output_file_config, "with_output_file_config", OutputFileConfig, hint, why)
        return self._with(prefix=names.part_prefix, suffix=names.part_suffix)

    def with_bucket_check_interval(self, interval: int) -> Self:
        """No effect: how often, in milliseconds, Flink checks for files to roll by time. Here a file is checked at each
        record, and the next checkpoint, or the end of the job, ends all files."""
        checks.positive(interval, "with_bucket_check_interval", "interval")
        return self

    def enable_compact(self, strategy: Any, compactor: Any) -> NoReturn:
        """Unsupported: files are not compacted."""
        raise UnsupportedError(
            "enable_compact(): files are not compacted after they have been written. Leave the call out; for fewer and "
            "larger files give the sink a smaller parallelism, sink_to(…).set_parallelism(1), and a larger part_size."
        )

    def disable_compact(self) -> Self:
        """No effect: files are never compacted."""
        return self


class RowFormatBuilder(_Builder[T]):
    """Settings of a FileSink before it is made. Methods change it and return it."""

    def __init__(self, base_path: str, encoder: Encoder[T]) -> None:
        super().__init__(FileOutput(base_path, encoder, BucketAssigner.date_time_bucket_assigner(), None))
        self.with_rolling_policy(DefaultRollingPolicy())

    def with_rolling_policy(self, rolling_policy: RollingPolicy) -> Self:
        """Choose when a new file begins; :meth:`RollingPolicy.default_rolling_policy` by default."""
        hint = "Use RollingPolicy.default_rolling_policy(part_size) or RollingPolicy.on_checkpoint_rolling_policy()."
        policies, why = (DefaultRollingPolicy, OnCheckpointRollingPolicy), ", which is not one of the policies"
        if isinstance(rolling_policy, RollingPolicy) and not isinstance(rolling_policy, policies):
            raise UnsupportedError(
                f"with_rolling_policy() was given {checks.shown(rolling_policy)}, a custom policy, but "
                f"files are rolled by size and time only. {hint}"
            )
        policy = checks.instance(rolling_policy, "with_rolling_policy", policies, hint, why)
        ages = {"rollover": policy.rollover_interval, "inactivity": policy.inactivity_interval}
        return self._with(part_size=policy.part_size, **ages)

    def build(self) -> FileSink[T]:
        """The sink."""
        return FileSink(self._output)


class BulkFormatBuilder(_Builder[T]):
    """Settings of a FileSink of a bulk format before it is made. Methods change it and return it."""

    def __init__(self, base_path: str, factory: BulkWriterFactory[T]) -> None:
        super().__init__(BulkOutput(base_path, factory, BucketAssigner.date_time_bucket_assigner(), None))

    def with_rolling_policy(self, rolling_policy: OnCheckpointRollingPolicy) -> Self:
        """When a new file begins: one for each subtask and bucket, as in Flink, up to a checkpoint."""
        hint = "Files of bulk formats end with the job: use RollingPolicy.on_checkpoint_rolling_policy()."
        checks.instance(rolling_policy, "with_rolling_policy", OnCheckpointRollingPolicy, hint)
        return self

    def build(self) -> FileSink[T]:
        """The sink."""
        return FileSink(self._output)


class FileSink(Sink[T_contra]):
    """Adds files to a folder. Made by :meth:`for_row_format` and :meth:`for_bulk_format`.

    Files are ``BASE/BUCKET/PREFIX-UID-SUBTASK-COUNTER`` and a suffix. What is in the folder stays. The files of a job
    become visible all together when it has succeeded, and none of them if it fails, whatever dies when."""

    def __init__(self, output: FileOutput) -> None:
        self._output = output

    def __repr__(self) -> str:
        return f"<{type(self).__name__} to {self._output.base!r}>"

    @staticmethod
    def for_row_format(base_path: str, encoder: Encoder[T]) -> RowFormatBuilder[T]:
        """Files to which an encoder, such as ``Encoder.simple_string_encoder()``, writes records one by one, in a
        folder, which is made if it is not there."""
        return RowFormatBuilder(*_checked(base_path, encoder))

    @staticmethod
    def for_bulk_format(base_path: str, writer_factory: BulkWriterFactory[T]) -> BulkFormatBuilder[T]:
        """Files to which many records are written at once, such as Parquet, in a folder, which is made if it is not
        there. The factory makes a writer for each file, such as ``ParquetBulkWriters.for_row_type(row_type)``."""
        return BulkFormatBuilder(*_checked_bulk(base_path, writer_factory))

    def get_transformer(self) -> StreamTransformer | None:
        return None

    def runtime(self) -> BuiltinSink:
        return self._output


class DefaultRowFormatBuilder(RowFormatBuilder[T]):
    """Settings of a StreamingFileSink before it is made."""

    def build(self) -> StreamingFileSink[T]:
        """The sink."""
        return StreamingFileSink(self._output)


class DefaultBulkFormatBuilder(BulkFormatBuilder[T]):
    """Settings of a StreamingFileSink of a bulk format before it is made."""

    def build(self) -> StreamingFileSink[T]:
        """The sink."""
        return StreamingFileSink(self._output)


class StreamingFileSink(FileSink[T_contra], AddedSink):
    """The name of :class:`FileSink` before Flink 1.12, for ``add_sink``. It does the same."""

    @staticmethod
    def for_row_format(base_path: str, encoder: Encoder[T]) -> DefaultRowFormatBuilder[T]:
        """As :meth:`FileSink.for_row_format`."""
        return DefaultRowFormatBuilder(*_checked(base_path, encoder))

    @staticmethod
    def for_bulk_format(base_path: str, writer_factory: BulkWriterFactory[T]) -> DefaultBulkFormatBuilder[T]:
        """As :meth:`FileSink.for_bulk_format`."""
        return DefaultBulkFormatBuilder(*_checked_bulk(base_path, writer_factory))


def _checked(base_path: Any, encoder: Any) -> tuple[str, Encoder[Any]]:
    hint = "Give an Encoder, such as Encoder.simple_string_encoder(), or an object of a class derived from it."
    if isinstance(encoder, BulkWriterFactory):
        hint = "Call for_bulk_format() with it."
    path, why = checks.path(base_path, "for_row_format"), " as the encoder"
    return path, checks.instance(cast("Any", encoder), "for_row_format", Encoder, hint, why)


def _checked_bulk(base_path: Any, factory: Any) -> tuple[str, BulkWriterFactory[Any]]:
    hint = "Give a BulkWriterFactory, such as ParquetBulkWriters.for_row_type(row_type)."
    if isinstance(factory, Encoder):
        hint = "Call for_row_format() with it."
    path, why = checks.path(base_path, "for_bulk_format"), " as the factory of writers"
    return path, checks.instance(cast("Any", factory), "for_bulk_format", BulkWriterFactory, hint, why)


@dataclass(frozen=True)
class FileEnumeratorProvider:
    """Which pieces of files are read one by one. Parts of a ``splittable`` file are read in several subtasks; the order
    of its records is kept within each part only."""

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
    """How files are assigned to subtasks: by size, before the job starts, so that retried tasks read the same files."""

    @staticmethod
    def locality_aware_split_assigner() -> FileSplitAssignerProvider:
        """PyFlink's only assigner. Spark does not report where a file is stored, so files are assigned by size."""
        return FileSplitAssignerProvider()


class FileSource(Source[T_co]):
    """Reads files. Made by :meth:`for_record_stream_format` and :meth:`for_bulk_file_format`.

    A folder stands for all files in it and in folders below, except those whose names begin with ``.`` or ``_``. A path
    may have ``*``, ``?``, ``[…]`` and ``**``. Files that end in .gz, .gzip, .bz2, .xz, .deflate, .zst are decompressed.
    The driver lists files when the job starts; all executors must see them under the same path.

    With :meth:`FileSourceBuilder.monitor_continuously` the driver looks for new files forever. Each path is read once:
    data that is appended later may be read or not. So rename files to their final names when they are complete; names
    that begin with ``.`` or ``_`` are ignored.
    """

    def __init__(
        self, paths: tuple[str, ...], format: FileFormat[T_co], splittable: bool, bounded: bool, interval: int = 0
    ) -> None:
        self.paths: tuple[str, ...] = paths
        self.format: FileFormat[T_co] = format
        self.splittable: bool = splittable
        self.bounded: bool = bounded
        self.interval: int = interval
        self.produced_type: TypeInformation[object] | None = format.produced_type
        self._watch = Watch(paths, interval / 1000)

    def __repr__(self) -> str:
        return f"<FileSource of {', '.join(map(repr, self.paths))}>"

    @staticmethod
    def for_record_stream_format(stream_format: StreamFormat[S], *paths: str) -> FileSourceBuilder[S]:
        """Files, folders or patterns, at least one, whose records are read one after the other, in a format such as
        ``StreamFormat.text_line_format()``."""
        hint = "Give a StreamFormat, such as StreamFormat.text_line_format()."
        if hasattr(stream_format, "file_format"):
            hint = "It is an InputFormat: call env.create_input(), or give AvroReaderFormat.for_generic_record(schema)."
        if isinstance(stream_format, BulkFormat):
            hint = "It is a BulkFormat: call for_bulk_file_format()."
        checks.instance(stream_format, "for_record_stream_format", StreamFormat, hint)
        return FileSourceBuilder(stream_format, _paths(paths, "for_record_stream_format"))

    @staticmethod
    def for_bulk_file_format(bulk_format: BulkFormat[S], *paths: str) -> FileSourceBuilder[S]:
        """Files, folders or patterns, at least one, whose records are read many at a time, in a format such as
        ``ParquetColumnarRowInputFormat(row_type)``. Large files are cut, unless ``set_file_enumerator`` says
        otherwise."""
        hint = "Give a BulkFormat, such as ParquetColumnarRowInputFormat(row_type)."
        if isinstance(bulk_format, StreamFormat):
            hint = "It is a StreamFormat: call for_record_stream_format()."
        checks.instance(bulk_format, "for_bulk_file_format", BulkFormat, hint)
        builder = FileSourceBuilder(bulk_format, _paths(paths, "for_bulk_file_format"))
        return builder.set_file_enumerator(FileEnumeratorProvider.default_splittable_file_enumerator())

    def splits(self, parallelism: int) -> list[Split]:
        if self.bounded:
            return self.format.splits(self.paths, self.splittable)
        return Watch(self.paths, self.interval / 1000).pending(self._cut, {}, frozenset(), ALL)

    def pending(self, parallelism: int, positions: Mapping[str, Any], over: Set[str] = frozenset()) -> Sequence[Split]:
        """Unread files in the order of their discovery, as many as a step can take. O(files) if it lists, else
        O(returned)."""
        if self.bounded:
            return super().pending(parallelism, positions, over)
        return self._watch.pending(
            self._cut,
            positions,
            over,
            Limits(watched_folders.MOST_FILES * parallelism, watched_folders.MOST_BYTES * parallelism),
        )

    def available(
        self, parallelism: int, positions: Mapping[str, Any], over: Set[str] = frozenset()
    ) -> Sequence[Split]:
        if self.bounded:
            return super().pending(parallelism, positions, over)
        return self._watch.pending(self._cut, positions, over, ALL)

    def _cut(self, file: Dated) -> list[Split]:
        return watched_folders.named(file, file.size, self.format.pieces(file, self.splittable))

    def locations(self) -> tuple[str, ...]:
        return self.paths

    def read(self, split: Split) -> Iterator[Records[T_co]]:
        return self._read(split, self.format.read)

    def read_columns(self, split: Split, functions: ModuleType, wanted: bool) -> Iterator[Records[T_co]]:
        """As :meth:`read`; records become columns where the format has a native form."""
        if self._is_derived:
            return self.read(split)
        return self._read(split, lambda piece: self.format.read_columns(piece, functions))

    def why_objects(self, functions: ModuleType) -> str:
        """The reason of the format."""
        return f"{type(self).__name__} may read otherwise" if self._is_derived else self.format.why_objects(functions)

    @property
    def _is_derived(self) -> bool:
        return type(self) is not FileSource

    def _read(self, split: Split, read: Callable[[Split], Iterator[Records[T_co]]]) -> Iterator[Records[T_co]]:
        if self.bounded:
            yield from read(split)
            return
        if watched_folders.is_read(split):
            return
        least = watched_folders.length_to_check(split)
        yield from read(watched_folders.piece_of(split))
        watched_folders.check_length(split, least)


def _paths(paths: tuple[str, ...], call: str) -> tuple[str, ...]:
    if not paths:
        checks.refuse(f"{call}() was given no path. Give at least one file or folder.")
    return tuple(checks.path(path, call) for path in paths)


class FileSourceBuilder(Generic[T_co]):
    """Settings of a FileSource before it is made. Methods change it and return it."""

    def __init__(self, file_format: FileFormat[T_co], paths: tuple[str, ...]) -> None:
        self._format = file_format
        self._paths = paths
        self._splittable = False
        self._bounded = True
        self._interval = 0

    def process_static_file_set(self) -> FileSourceBuilder[T_co]:
        """Read the files that exist when the job starts, and end. This is the default."""
        self._bounded, self._interval = True, 0
        return self

    def monitor_continuously(self, discovery_interval: Duration) -> FileSourceBuilder[T_co]:
        """Look for new files forever, at this interval or more. Each path is read once; see :class:`FileSource`. A look
        at a folder of 100,000 files takes the driver 0.2 s on a local disk, 1.2 s when the job starts, and on a store a
        request per thousand files."""
        interval = milliseconds_of(discovery_interval, "monitor_continuously", "interval")
        self._interval = checks.positive(interval, "monitor_continuously", "interval in milliseconds")
        self._bounded = False
        return self

    def set_file_enumerator(self, file_enumerator: FileEnumeratorProvider) -> FileSourceBuilder[T_co]:
        """Whether files may be cut, if their format allows it: lines of text, JSON lines, Parquet and Avro. Without
        this call those of a bulk format are, and others are not, as in Flink."""
        hint = "Use FileEnumeratorProvider.default_splittable_file_enumerator() or the other."
        checks.instance(file_enumerator, "set_file_enumerator", FileEnumeratorProvider, hint)
        self._splittable = file_enumerator.splittable
        return self

    def set_split_assigner(self, split_assigner: FileSplitAssignerProvider) -> FileSourceBuilder[T_co]:
        """Choose how files are assigned to subtasks; there is one way."""
        if not isinstance(split_assigner, FileSplitAssignerProvider):
            raise UnsupportedError(
                f"set_split_assigner() was given {checks.shown(split_assigner)}. Files are dealt out by size before "
                "the job starts. Leave the call out, or give FileSplitAssignerProvider.locality_aware_split_assigner()."
            )
        return self

    def build(self) -> FileSource[T_co]:
        """The source."""
        return FileSource(self._paths, self._format, self._splittable, self._bounded, self._interval)
