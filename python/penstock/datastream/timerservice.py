"""TimerService under PyFlink's path."""

from __future__ import annotations

from penstock.common.contexts import TimerService

__all__ = ["TimerService"]
