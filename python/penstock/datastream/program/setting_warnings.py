"""Warnings about settings without effect, and about old names."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from penstock.common import Configuration
from penstock.common.settings.flink_keys import is_flinks_jar
from penstock.common.settings.settings import Settings, instead_of_folder, retired, without_effect
from penstock.datastream.state_backend import RocksDBStateBackend


def warn_of(configuration: Configuration, settings: Settings, stacklevel: int) -> None:
    """Warn about keys without effect, and about old names."""
    for sentence in retired(configuration.key_set(), settings):
        warnings.warn(f"{sentence}. See docs/settings.md.", DeprecationWarning, stacklevel=stacklevel)
    for sentence in without_effect(configuration.key_set(), settings):
        warnings.warn(f"{sentence}. See docs/settings.md.", stacklevel=stacklevel)
    warn_of_jars((*settings.jars, *settings.classpaths), stacklevel=stacklevel + 1)


def warn_of_jars(urls: Iterable[str], stacklevel: int) -> None:
    """Warn about Flink's jars, which have no effect."""
    flinks = [url.rpartition("/")[2] for url in urls if is_flinks_jar(url)]
    if flinks:
        warnings.warn(
            "These jars of Flink and of its connectors have no effect in Penstock, whose connectors are Python: "
            f"{', '.join(flinks)}. See docs/limits.md.",
            stacklevel=stacklevel,
        )


def warn_of_folder(carrier: object, settings: Settings, stacklevel: int) -> None:
    """Warn that the path of a storage or backend has no effect, unless there is a checkpoint directory."""
    backend = carrier.get_checkpoint_backend() if isinstance(carrier, RocksDBStateBackend) else carrier
    path: str | None = getattr(backend, "get_checkpoint_path", lambda: None)()
    if path is not None and settings.checkpoint_directory is None:
        warnings.warn(
            f"The folder for checkpoints {path!r} has no effect in Penstock: {instead_of_folder(settings)}. See "
            "docs/settings.md.",
            stacklevel=stacklevel,
        )
