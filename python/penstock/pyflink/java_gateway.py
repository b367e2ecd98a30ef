"""The names of PyFlink's ``pyflink.java_gateway``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.pyflink.deviating import get_gateway, install_exception_handler, install_py4j_hooks
from penstock.pyflink.missing import (
    PythonFunctionFactory,
    Watchdog,
    import_flink_view,
    is_launch_gateway_disabled,
    launch_gateway,
)

__all__ = [
    "PythonFunctionFactory",
    "Watchdog",
    "get_gateway",
    "import_flink_view",
    "install_exception_handler",
    "install_py4j_hooks",
    "is_launch_gateway_disabled",
    "launch_gateway",
]
