"""The names of PyFlink's ``pyflink.common.io``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.datastream.formats import InputFormat
from penstock.pyflink.missing import JavaObjectWrapper

__all__ = [
    "InputFormat",
    "JavaObjectWrapper",
]
