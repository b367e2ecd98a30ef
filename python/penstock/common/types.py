"""Row and RowKind under PyFlink's path."""

from __future__ import annotations

from penstock.common.row import Row, RowKind

__all__ = ["Row", "RowKind"]
