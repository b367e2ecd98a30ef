"""What a configuration says that means nothing, as warnings."""

from __future__ import annotations

import warnings

from penstock.common import Configuration
from penstock.common.settings import without_effect


def warn_of(configuration: Configuration, stacklevel: int) -> None:
    """Name the keys that mean nothing in a warning.

    Args:
        configuration: the keys.
        stacklevel: of the program's call, as :func:`warnings.warn` counts from here.
    """
    for sentence in without_effect(configuration.key_set()):
        warnings.warn(f"{sentence}. See docs/settings.md.", stacklevel=stacklevel)
