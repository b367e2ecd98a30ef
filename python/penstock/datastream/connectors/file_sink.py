"""File sinks; PyFlink has these names in :mod:`penstock.datastream.connectors.file_system`.

Source of names and defaults: Flink 1.20 ``FileSink``. :mod:`penstock.connectors.files.file_sink` writes the files, and
``penstock.job.commit`` makes them visible.
"""
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, NoReturn, TypeVar, cast

from penstock.common import checks
from penstock.common.bulk_writer import BulkWriterFactory
from penstock.common.serialization import Encoder
from penstock.connectors.files.buckets import BucketAssigner
from penstock.connectors.files.file_sink import BulkOutput, FileOutput
from penstock.datastream.connectors.base import StreamTransformer
from penstock.datastream.sinks import AddedSink, Sink
from penstock.errors import UnsupportedError
from penstock.runtime.io.sinks import BuiltinSink

T = TypeVar("T")
T_contra = TypeVar("T_contra", contravariant=True)
B = TypeVar("B", bound="_Builder[Any]")
R = TypeVar("R", bound="RowFormatBuilder[Any]")
K = TypeVar("K", bound="BulkFormatBuilder[Any]")

_LONGEST_NAME = 180
"""Bytes of prefix and suffix together: file names have at most 255, and include ids."""


class OutputFileConfig:
    """Prefix and suffix of file names: ``PREFIX-UID-SUBTASK-COUNTER`` and the suffix.

    Args:
        part_prefix: what they begin with.
        part_suffix: what they end with, such as ``.txt``.

    Raises:
        InvalidProgramError: no text, or none that can be part of a file's name.
    """

    def __init__(self, part_prefix: str = "part", part_suffix: str = "") -> None:
        for text, what in ((part_prefix, "part prefix"), (part_suffix, "part suffix")):
            if set(checks.name(text, "OutputFileConfig", what)) & {"/", "\0"}:
                checks.refuse(
                    f"OutputFileConfig() was given the {what} {text!r}, which cannot be part of a file's name. Use a "
                    "bucket assigner for folders.",
                    checks.ILLEGAL_ARGUMENT,
                )
        if len((part_prefix + part_suffix).encode()) > _LONGEST_NAME:
            checks.refuse(
                f"OutputFileConfig(): part prefix and part suffix have more than {_LONGEST_NAME} bytes, too many for a "
                "file's name. Give shorter ones."
            )
        self._prefix, self._suffix = part_prefix, part_suffix

    def __repr__(self) -> str:
        return f"OutputFileConfig({self._prefix!r}, {self._suffix!r})"

    class OutputFileConfigBuilder:
        """Makes an :class:`OutputFileConfig`. Methods change it and return it."""

        def __init__(self) -> None:
            self._prefix, self._suffix = "part", ""

        def with_part_prefix(self, prefix: str) -> OutputFileConfig.OutputFileConfigBuilder:
            """Set the prefix."""
            self._prefix = OutputFileConfig(prefix).get_part_prefix()
            return self

        def with_part_suffix(self, suffix: str) -> OutputFileConfig.OutputFileConfigBuilder:
            """Set the suffix, such as ``.txt``."""
            self._suffix = OutputFileConfig("", suffix).get_part_suffix()
            return self

        def build(self) -> OutputFileConfig:
            """The configuration."""
            return OutputFileConfig(self._prefix, self._suffix)

    @staticmethod
    def builder() -> OutputFileConfigBuilder:
        """Begin with the prefix ``part`` and no suffix."""
        return OutputFileConfig.OutputFileConfigBuilder()

    def get_part_prefix(self) -> str:
        """The prefix."""
        return self._prefix

    def get_part_suffix(self) -> str:
        """The suffix."""
        return self._suffix


@dataclass(frozen=True)
class RollingPolicy:
    """When a subtask begins a new file in a bucket.

    Attributes:
        part_size: bytes; a file that has more gets no further record. None for no limit.
    """

    part_size: int | None = None

    @staticmethod
    def default_rolling_policy(
        part_size: int = 128 << 20, rollover_interval: int = 60_000, inactivity_interval: int = 60_000
    ) -> DefaultRollingPolicy:
        """By size, and in a program that runs in steps by time, too; besides, each commit ends the files, which become
        visible with it: with each checkpoint, or, where the program says no interval, every ten seconds
        (``penstock.files.commit-interval``). In a job of one step the intervals have no effect.

        Args:
            part_size: bytes; a file that has more gets no further record.
            rollover_interval: milliseconds that a file is open at the most.
            inactivity_interval: milliseconds after which a file without new records is closed.

        Raises:
            InvalidProgramError: a number below 1.
        """
        return DefaultRollingPolicy(part_size, rollover_interval, inactivity_interval)

    @staticmethod
    def on_checkpoint_rolling_policy() -> OnCheckpointRollingPolicy:
        """One file per subtask and bucket for each checkpoint; a job of one step has one, at its end."""
        return OnCheckpointRollingPolicy()


@dataclass(frozen=True)
class DefaultRollingPolicy(RollingPolicy):
    """By size (Flink: ``DefaultRollingPolicy``); see :meth:`RollingPolicy.default_rolling_policy`.

    Attributes:
        part_size: bytes.
        rollover_interval: milliseconds.
        inactivity_interval: milliseconds.
    """

    part_size: int | None = 128 << 20
    rollover_interval: int = 60_000
    inactivity_interval: int = 60_000

    def __post_init__(self) -> None:
        """Look at the numbers.

        Raises:
            InvalidProgramError: a number below 1.
        """
        for what, value in vars(self).items():
            checks.positive(value, "default_rolling_policy", what)


@dataclass(frozen=True)
class OnCheckpointRollingPolicy(RollingPolicy):
    """One file per subtask and bucket for each checkpoint (Flink: ``OnCheckpointRollingPolicy``)."""


class _Builder(Generic[T]):
    """Base of the builders of all formats."""

    def __init__(self, base_path: str, policy: RollingPolicy) -> None:
        self._base_path = base_path
        self._assigner: BucketAssigner[T] = BucketAssigner.date_time_bucket_assigner()
        self._policy: RollingPolicy = policy
        self._names = OutputFileConfig()

    def with_bucket_assigner(self: B, bucket_assigner: BucketAssigner[T]) -> B:
        """Choose the folder below the base path for each record. The default is one per hour, ``yyyy-MM-dd--HH``, by
        the clock."""
        hint = (
            "Use BucketAssigner.base_path_bucket_assigner(), or derive a class with get_bucket_id() and pass an object "
            "of it."
        )
        why = ", which is not a BucketAssigner"
        checks.instance(bucket_assigner, "with_bucket_assigner", BucketAssigner, hint, why)
        self._assigner = bucket_assigner
        return self

    def with_output_file_config(self: B, output_file_config: OutputFileConfig) -> B:
        """Set prefix and suffix of file names. The default prefix is ``part``."""
        hint = "Use OutputFileConfig.builder().with_part_suffix(…).build()."
        why = ", which is not an OutputFileConfig"
        checks.instance(output_file_config, "with_output_file_config", OutputFileConfig, hint, why)
        self._names = output_file_config
        return self

    def with_bucket_check_interval(self: B, interval: int) -> B:
        """How often Flink checks for files to roll by time, in milliseconds. It has no effect: a program that runs in
        steps checks a file at each record, and no file is visible before the next checkpoint, which ends all of them;
        in a job of one step time rolls no files."""
        checks.positive(interval, "with_bucket_check_interval", "interval")
        return self

    def enable_compact(self, strategy: Any, compactor: Any) -> NoReturn:
        """Unsupported: files are not compacted."""
        raise UnsupportedError(
            "enable_compact(): files are not compacted after they have been written. Leave the call out; for fewer and "
            "larger files give the sink a smaller parallelism, sink_to(…).set_parallelism(1), and a larger part_size."
        )

    def disable_compact(self: B) -> B:
        """No effect: files are never compacted."""
        return self


class RowFormatBuilder(_Builder[T]):
    """Settings of a FileSink before it is made. Methods change it and return it."""

    def __init__(self, base_path: str, encoder: Encoder[T]) -> None:
        super().__init__(base_path, RollingPolicy.default_rolling_policy())
        self._encoder = encoder

    def with_rolling_policy(self: R, rolling_policy: RollingPolicy) -> R:
        """Choose when a new file begins; :meth:`RollingPolicy.default_rolling_policy` by default."""
        hint = "Use RollingPolicy.default_rolling_policy(part_size) or RollingPolicy.on_checkpoint_rolling_policy()."
        policies, why = (DefaultRollingPolicy, OnCheckpointRollingPolicy), ", which is not one of the policies"
        if isinstance(rolling_policy, RollingPolicy) and not isinstance(rolling_policy, policies):
            raise UnsupportedError(
                f"with_rolling_policy() was given {checks.shown(rolling_policy)}, a custom policy, but "
                f"files are rolled by size and time only. {hint}"
            )
        checks.instance(rolling_policy, "with_rolling_policy", policies, hint, why)
        self._policy = rolling_policy
        return self

    def build(self) -> FileSink[T]:
        """The sink."""
        return FileSink(self._output())

    def _output(self) -> FileOutput:
        names = (self._names.get_part_prefix(), self._names.get_part_suffix())
        policy, ages = self._policy, (None, None)
        if isinstance(policy, DefaultRollingPolicy):
            ages = policy.rollover_interval, policy.inactivity_interval
        return FileOutput(self._base_path, self._encoder, self._assigner, policy.part_size, *names, *ages)


class BulkFormatBuilder(_Builder[T]):
    """Settings of a FileSink of a bulk format before it is made. Methods change it and return it."""

    def __init__(self, base_path: str, factory: BulkWriterFactory[T]) -> None:
        super().__init__(base_path, RollingPolicy.on_checkpoint_rolling_policy())
        self._factory = factory

    def with_rolling_policy(self: K, rolling_policy: OnCheckpointRollingPolicy) -> K:
        """When a new file begins: there is one for each subtask and bucket, as in Flink, where it can only end at a
        checkpoint."""
        hint = "Files of bulk formats end with the job: use RollingPolicy.on_checkpoint_rolling_policy()."
        checks.instance(rolling_policy, "with_rolling_policy", OnCheckpointRollingPolicy, hint)
        return self

    def build(self) -> FileSink[T]:
        """The sink."""
        return FileSink(self._output())

    def _output(self) -> FileOutput:
        names = (self._names.get_part_prefix(), self._names.get_part_suffix())
        return BulkOutput(self._base_path, self._factory, self._assigner, None, *names)


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
        """Files to which records are written one after the other.

        Args:
            base_path: of the folder, which is made if it is not there.
            encoder: writes a record, such as ``Encoder.simple_string_encoder()``.

        Raises:
            InvalidProgramError: no path, or no encoder.
        """
        return RowFormatBuilder(*_checked(base_path, encoder))

    @staticmethod
    def for_bulk_format(base_path: str, writer_factory: BulkWriterFactory[T]) -> BulkFormatBuilder[T]:
        """Files to which many records are written at once, such as Parquet.

        Args:
            base_path: of the folder, which is made if it is not there.
            writer_factory: makes a writer for each file, such as ``ParquetBulkWriters.for_row_type(row_type)``.

        Raises:
            InvalidProgramError: no path, or no factory.
        """
        return BulkFormatBuilder(*_checked_bulk(base_path, writer_factory))

    def get_transformer(self) -> StreamTransformer | None:
        return None

    def runtime(self) -> BuiltinSink:
        return self._output


class DefaultRowFormatBuilder(RowFormatBuilder[T]):
    """Settings of a StreamingFileSink before it is made."""

    def build(self) -> StreamingFileSink[T]:
        """The sink."""
        return StreamingFileSink(self._output())


class DefaultBulkFormatBuilder(BulkFormatBuilder[T]):
    """Settings of a StreamingFileSink of a bulk format before it is made."""

    def build(self) -> StreamingFileSink[T]:
        """The sink."""
        return StreamingFileSink(self._output())


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
    _check_path(base_path, "for_row_format")
    hint = (
        "Call for_bulk_format() with it."
        if isinstance(encoder, BulkWriterFactory)
        else "Give an Encoder, such as Encoder.simple_string_encoder(), or an object of a class derived from it."
    )
    return base_path, checks.instance(cast("Any", encoder), "for_row_format", Encoder, hint, " as the encoder")


def _checked_bulk(base_path: Any, factory: Any) -> tuple[str, BulkWriterFactory[Any]]:
    _check_path(base_path, "for_bulk_format")
    hint = (
        "Call for_row_format() with it."
        if isinstance(factory, Encoder)
        else "Give a BulkWriterFactory, such as ParquetBulkWriters.for_row_type(row_type)."
    )
    return base_path, checks.instance(
        cast("Any", factory), "for_bulk_format", BulkWriterFactory, hint, " as the factory of writers"
    )


def _check_path(base_path: Any, call: str) -> None:
    if not checks.text(base_path, call, "base path").strip():
        checks.illegal_argument(f"{call}({base_path!r}): the base path is blank. Give the path of a folder.")
