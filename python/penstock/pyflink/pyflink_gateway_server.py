"""PyFlink's ``pyflink.pyflink_gateway_server``, which starts Java: here there is none to start."""

from __future__ import annotations

import sys

from penstock.pyflink.placeholders import a_function

__all__ = ["get_log_dir", "launch_gateway_server_process", "on_windows", "prepare_environment_variables"]

_HERE = "pyflink.pyflink_gateway_server"
get_log_dir = a_function(_HERE, "get_log_dir")
launch_gateway_server_process = a_function(_HERE, "launch_gateway_server_process")
prepare_environment_variables = a_function(_HERE, "prepare_environment_variables")


def on_windows() -> bool:
    """Whether this machine runs Windows."""
    return sys.platform == "win32"
