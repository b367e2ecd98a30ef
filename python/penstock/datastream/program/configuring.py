"""What a configuration says to an environment."""

from __future__ import annotations

import warnings

from penstock.common import Configuration
from penstock.common.settings import Settings, without_effect


def settings_of(configuration: Configuration) -> Settings:
    """The settings of a program; a warning names the keys that mean nothing."""
    for sentence in without_effect(configuration.key_set()):
        warnings.warn(f"{sentence}. See docs/settings.md.", stacklevel=4)
    return Settings.of(configuration.to_dict())
