"""StreamExecutionEnvironment under PyFlink's path."""

from __future__ import annotations

from penstock.datastream.environment.environment import StreamExecutionEnvironment

__all__ = ["StreamExecutionEnvironment"]
