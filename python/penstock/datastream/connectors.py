"""The base of sources of connectors under PyFlink's path. They can be planned, not run."""

from __future__ import annotations

from penstock.datastream.formats import Source

__all__ = ["Source"]
