"""The base of connectors under PyFlink's path. Those there are can be planned, not run."""

from __future__ import annotations

from penstock.datastream.formats import Source

__all__ = ["Source"]
