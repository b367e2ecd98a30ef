"""TimeCharacteristic under PyFlink's path."""

from __future__ import annotations

from penstock.datastream.program.settings import TimeCharacteristic

__all__ = ["TimeCharacteristic"]
