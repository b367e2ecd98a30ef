"""OutputTag under PyFlink's path."""

from __future__ import annotations

from penstock.common.output_tag import OutputTag

__all__ = ["OutputTag"]
