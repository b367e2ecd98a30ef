"""State backends. Here RocksDB's backends keep state beyond memory (``penstock.state.backend``), the others in memory;
all other settings are only stored. Source of the names: ``pyflink.datastream.state_backend``, of 1.x and of 2.x."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import urlsplit

from penstock.common import checks

if TYPE_CHECKING:
    from typing_extensions import Self


class PredefinedOptions(Enum):
    """Settings of RocksDB for kinds of disks."""

    DEFAULT = 0
    SPINNING_DISK_OPTIMIZED = 1
    SPINNING_DISK_OPTIMIZED_HIGH_MEM = 2
    FLASH_SSD_OPTIMIZED = 3


class StateBackend:
    """Where state is kept: base of the others; ``on_disk`` if in files, as far as memory does not hold it."""

    on_disk: ClassVar[bool] = False

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class HashMapStateBackend(StateBackend):
    """State in memory, as it is here."""


class _WithSavepoints:
    _savepoints: str | None

    def get_savepoint_path(self) -> str | None:
        """As given; None for a storage."""
        return self._savepoints


class InMemory(_WithSavepoints):
    """Checkpoints in the memory of Flink's job manager."""

    DEFAULT_MAX_STATE_SIZE = 5 << 20

    def __init__(self, checkpoints: str | None, savepoints: str | None, max_state_size: int | None) -> None:
        self._checkpoints, self._savepoints = checkpoints, savepoints
        self._max_state_size = self.DEFAULT_MAX_STATE_SIZE if max_state_size is None else max_state_size

    def get_checkpoint_path(self) -> str | None:
        """As given."""
        return self._checkpoints

    def get_max_state_size(self) -> int:
        """As given; 5 MiB at first."""
        return self._max_state_size


class InFiles(_WithSavepoints):
    """Checkpoints in files."""

    def __init__(self, checkpoints: str, savepoints: str | None, threshold: int, buffer_size: int) -> None:
        self._checkpoints, self._savepoints = checkpoints, savepoints
        self._threshold, self._buffer_size = threshold, buffer_size

    def get_checkpoint_path(self) -> str:
        """As given; that of a storage without a slash at its end."""
        return self._checkpoints

    def get_min_file_size_threshold(self) -> int:
        """As given; 20 KiB at first."""
        return self._threshold

    def get_write_buffer_size(self) -> int:
        """As given; at first 4 KiB, of a storage the threshold if that is more."""
        return self._buffer_size


class _Snapshots:
    _asynchronous: bool

    def is_using_asynchronous_snapshots(self) -> bool:
        """As given; True at first."""
        return self._asynchronous


class MemoryStateBackend(InMemory, _Snapshots, StateBackend):
    """State in memory, checkpoints in the memory of Flink's job manager (1.x), with at most so many bytes of one state.
    The paths are of the checkpoints' metadata and of savepoints."""

    def __init__(
        self,
        checkpoint_path: str | None = None,
        savepoint_path: str | None = None,
        max_state_size: int | None = None,
        using_asynchronous_snapshots: bool | None = None,
    ) -> None:
        for path, what in ((checkpoint_path, "checkpoint_path"), (savepoint_path, "savepoint_path")):
            checks.text(path, "MemoryStateBackend", what, optional=True)
        super().__init__(checkpoint_path, savepoint_path, max_state_size)
        self._asynchronous = using_asynchronous_snapshots is not False


class FsStateBackend(InFiles, _Snapshots, StateBackend):
    """State in memory, checkpoints in files (1.x). State of fewer bytes than the threshold goes with the metadata."""

    def __init__(
        self,
        checkpoint_directory_uri: str | None = None,
        default_savepoint_directory_uri: str | None = None,
        file_state_size_threshold: int | None = None,
        write_buffer_size: int | None = None,
        using_asynchronous_snapshots: bool | None = None,
    ) -> None:
        if checkpoint_directory_uri is None:
            checks.refuse(
                "FsStateBackend() was given no checkpoint_directory_uri. Give it a folder, file:///tmp/state."
            )
        checks.text(checkpoint_directory_uri, "FsStateBackend", "checkpoint_directory_uri")
        checks.text(default_savepoint_directory_uri, "FsStateBackend", "savepoint directory", optional=True)
        threshold = 20 << 10 if file_state_size_threshold is None else file_state_size_threshold
        buffer_size = 4 << 10 if write_buffer_size is None else write_buffer_size
        super().__init__(checkpoint_directory_uri, default_savepoint_directory_uri, threshold, buffer_size)
        self._asynchronous = using_asynchronous_snapshots is not False


class _RocksDB(StateBackend):
    """Common base of both RocksDB backends."""

    on_disk = True

    def __init__(self, enable_incremental_checkpointing: bool | None = None) -> None:
        self._incremental = bool(enable_incremental_checkpointing)
        self._paths: list[str] = []
        self._predefined = PredefinedOptions.DEFAULT
        self._options: str | None = None
        self._threads = 4

    def is_incremental_checkpoints_enabled(self) -> bool:
        """As given; False at first."""
        return self._incremental

    def set_db_storage_paths(self, *paths: str) -> Self:
        """Keep local folders."""
        self._paths = [checks.text(path, "set_db_storage_paths", "path") for path in paths]
        return self

    def get_db_storage_paths(self) -> list[str]:
        """Their paths, without scheme and host, as Flink gives them back; none at first."""
        return [urlsplit(path).path.rstrip("/") or "/" for path in self._paths]

    def set_predefined_options(self, options: PredefinedOptions) -> Self:
        """Keep settings for a kind of disk."""
        hint = "Use PredefinedOptions.DEFAULT, say."
        self._predefined = checks.instance(options, "set_predefined_options", PredefinedOptions, hint)
        return self

    def get_predefined_options(self) -> PredefinedOptions:
        """As given; DEFAULT at first."""
        return self._predefined

    def set_options(self, options_factory_class_name: str) -> Self:
        """Keep the name of a Java class that makes settings."""
        self._options = checks.text(options_factory_class_name, "set_options", "name of a class")
        return self

    def get_options(self) -> str | None:
        """As given; None at first."""
        return self._options

    def set_number_of_transfer_threads(self, number_of_transfering_threads: int) -> Self:
        """Keep a number of threads, 1 or more."""
        call, number = "set_number_of_transfer_threads", number_of_transfering_threads
        self._threads = checks.positive(number, call, "number of threads")
        return self

    def get_number_of_transfer_threads(self) -> int:
        """As given; 4 at first."""
        return self._threads


class EmbeddedRocksDBStateBackend(_RocksDB):
    """State in files of RocksDB."""


class RocksDBStateBackend(_RocksDB):
    """State in files of RocksDB, with a folder of checkpoints, or another backend that says where they go (1.x)."""

    def __init__(
        self,
        checkpoint_data_uri: str | None = None,
        enable_incremental_checkpointing: bool | None = None,
        checkpoint_stream_backend: StateBackend | None = None,
    ) -> None:
        super().__init__(enable_incremental_checkpointing)
        if checkpoint_stream_backend is None:
            if checkpoint_data_uri is None:
                checks.refuse(
                    "RocksDBStateBackend() was given no checkpoint_data_uri. Give it a folder, file:///tmp/x."
                )
            checkpoint_stream_backend = FsStateBackend(checkpoint_data_uri)
        self._backend = checkpoint_stream_backend

    def get_checkpoint_backend(self) -> StateBackend:
        """The backend that says where checkpoints go."""
        return self._backend


class CustomStateBackend(StateBackend):
    """A backend written in Java, which PyFlink wraps."""

    def __init__(self, j_custom_state_backend: object) -> None:
        self.j_custom_state_backend: object = j_custom_state_backend


def named(name: str) -> StateBackend:
    """The backend that a configuration names."""
    kinds = {"hashmap": HashMapStateBackend, "jobmanager": MemoryStateBackend, "rocksdb": EmbeddedRocksDBStateBackend}
    kind = kinds.get(name.strip().lower())
    return CustomStateBackend(name) if kind is None else kind()
