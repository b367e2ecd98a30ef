"""The names of PyFlink's ``pyflink.common.utils``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.pyflink.missing import JavaObjectWrapper

__all__ = [
    "JavaObjectWrapper",
]
