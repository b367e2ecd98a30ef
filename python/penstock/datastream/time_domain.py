"""TimeDomain under PyFlink's path."""

from __future__ import annotations

from penstock.common.time_domain import TimeDomain

__all__ = ["TimeDomain"]
