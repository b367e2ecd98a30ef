"""The names of PyFlink's ``pyflink.common.restart_strategy``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.restart_strategy import RestartStrategies, RestartStrategyConfiguration
from penstock.pyflink.deviating import get_gateway
from penstock.pyflink.missing import (
    from_j_duration,
    from_j_flink_time,
    to_j_duration,
    to_j_flink_time,
)

__all__ = [
    "RestartStrategies",
    "RestartStrategyConfiguration",
    "from_j_duration",
    "from_j_flink_time",
    "get_gateway",
    "to_j_duration",
    "to_j_flink_time",
]
