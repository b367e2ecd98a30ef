"""The names of PyFlink's ``pyflink.common.watermark_strategy``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.time import Duration
from penstock.common.watermark_strategy import TimestampAssigner, WatermarkStrategy
from penstock.pyflink.deviating import get_gateway
from penstock.pyflink.missing import AssignerWithPeriodicWatermarksWrapper

__all__ = [
    "AssignerWithPeriodicWatermarksWrapper",
    "Duration",
    "TimestampAssigner",
    "WatermarkStrategy",
    "get_gateway",
]
