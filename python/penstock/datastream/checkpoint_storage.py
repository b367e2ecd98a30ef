"""Checkpoint storages: where Flink puts checkpoints. None are taken here, so they give back what they were told, and
nothing acts by them. Source of the names: ``pyflink.datastream.checkpoint_storage``."""

from __future__ import annotations

from penstock.common import checks

_MIB = 1 << 20


class CheckpointStorage:
    """Where checkpoints go: base of the others."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class JobManagerCheckpointStorage(CheckpointStorage):
    """In the memory of Flink's job manager.

    Args:
        checkpoint_path: folder of the metadata.
        max_state_size: bytes of one state.
    """

    DEFAULT_MAX_STATE_SIZE = 5 * _MIB

    def __init__(self, checkpoint_path: str | None = None, max_state_size: int | None = None) -> None:
        self._path: str | None = checks.text(checkpoint_path, type(self).__name__, "checkpoint_path", optional=True)
        self._size = self.DEFAULT_MAX_STATE_SIZE if max_state_size is None else max_state_size

    def get_checkpoint_path(self) -> str | None:
        """As given."""
        return self._path

    def get_max_state_size(self) -> int:
        """As given; 5 MiB at first."""
        return self._size

    def get_savepoint_path(self) -> str | None:
        """None: it cannot be given."""
        return None


class FileSystemCheckpointStorage(CheckpointStorage):
    """In files.

    Args:
        checkpoint_path: a folder.
        file_state_size_threshold: bytes, below which state goes with the metadata; at most 1 MiB.
        write_buffer_size: bytes; -1 for 4 KiB.
    """

    MAX_FILE_STATE_THRESHOLD = _MIB

    def __init__(
        self, checkpoint_path: str, file_state_size_threshold: int | None = None, write_buffer_size: int = -1
    ) -> None:
        self._path: str = checks.text(checkpoint_path, type(self).__name__, "checkpoint_path")
        self._threshold = 20 << 10 if file_state_size_threshold is None else file_state_size_threshold
        if not 0 <= self._threshold <= self.MAX_FILE_STATE_THRESHOLD:
            checks.illegal_argument(
                f"FileSystemCheckpointStorage() was given the threshold {self._threshold}. Give 0 to 1048576 bytes."
            )
        self._buffer_size = max(self._threshold, 4 << 10) if write_buffer_size < 0 else write_buffer_size

    def get_checkpoint_path(self) -> str:
        """As given, without a slash at its end."""
        return self._path.rstrip("/") or self._path

    def get_min_file_size_threshold(self) -> int:
        """As given; 20 KiB at first."""
        return self._threshold

    def get_write_buffer_size(self) -> int:
        """As given; at first the threshold, if it is more than 4 KiB."""
        return self._buffer_size

    def get_savepoint_path(self) -> str | None:
        """None: it cannot be given."""
        return None


class CustomCheckpointStorage(CheckpointStorage):
    """A storage written in Java, which PyFlink wraps.

    Args:
        j_custom_checkpoint_storage: whatever stands for it.
    """

    def __init__(self, j_custom_checkpoint_storage: object) -> None:
        self.j_custom_checkpoint_storage: object = j_custom_checkpoint_storage
