"""What connectors share, under PyFlink's path."""

from __future__ import annotations

from penstock.runtime.io.splits import Source

__all__ = ["Source"]
