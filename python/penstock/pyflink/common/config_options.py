"""The names of PyFlink's ``pyflink.common.config_options``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.pyflink.deviating import get_gateway
from penstock.pyflink.missing import ConfigOption, ConfigOptions

__all__ = [
    "ConfigOption",
    "ConfigOptions",
    "get_gateway",
]
