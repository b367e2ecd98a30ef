"""The names of PyFlink's ``pyflink.common.execution_config``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.execution_config import ExecutionConfig
from penstock.common.restart_strategy import RestartStrategies, RestartStrategyConfiguration
from penstock.pyflink.deviating import get_gateway
from penstock.pyflink.missing import ExecutionMode, InputDependencyConstraint, load_java_class

__all__ = [
    "ExecutionConfig",
    "ExecutionMode",
    "InputDependencyConstraint",
    "RestartStrategies",
    "RestartStrategyConfiguration",
    "get_gateway",
    "load_java_class",
]
