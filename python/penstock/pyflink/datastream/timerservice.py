"""The names of PyFlink's ``pyflink.datastream.timerservice``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.contexts import TimerService

__all__ = [
    "TimerService",
]
