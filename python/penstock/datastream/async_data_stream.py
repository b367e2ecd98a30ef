"""AsyncDataStream under PyFlink's path."""

from __future__ import annotations

from penstock.datastream.streams.async_data_stream import AsyncDataStream

__all__ = ["AsyncDataStream"]
