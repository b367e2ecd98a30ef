"""RuntimeExecutionMode under PyFlink's path."""

from __future__ import annotations

from penstock.common.execution_mode import RuntimeExecutionMode

__all__ = ["RuntimeExecutionMode"]
