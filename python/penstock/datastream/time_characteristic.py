"""TimeCharacteristic under PyFlink's path."""

from __future__ import annotations

from penstock.datastream.program.program import TimeCharacteristic

__all__ = ["TimeCharacteristic"]
