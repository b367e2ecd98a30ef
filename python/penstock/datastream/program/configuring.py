"""What a configuration says that means nothing, as warnings."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from penstock.common import Configuration
from penstock.common.flink_keys import is_flinks_jar
from penstock.common.settings import Settings, without_effect


def warn_of(configuration: Configuration, stacklevel: int) -> None:
    """Name the keys that mean nothing in a warning.

    Args:
        configuration: the keys.
        stacklevel: of the program's call, as :func:`warnings.warn` counts from here.
    """
    for sentence in without_effect(configuration.key_set()):
        warnings.warn(f"{sentence}. See docs/settings.md.", stacklevel=stacklevel)
    settings = Settings.of(configuration.to_dict())
    warn_of_jars((*settings.jars, *settings.classpaths), stacklevel=stacklevel + 1)


def warn_of_jars(urls: Iterable[str], stacklevel: int) -> None:
    """Name the jars that mean nothing in a warning; see :func:`warn_of`."""
    flinks = [url.rpartition("/")[2] for url in urls if is_flinks_jar(url)]
    if flinks:
        warnings.warn(
            f"These jars of Flink have no effect in Penstock, whose connectors are Python: {', '.join(flinks)}. See "
            "docs/limits.md.",
            stacklevel=stacklevel,
        )
