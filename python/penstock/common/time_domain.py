"""TimeDomain: whether a timer goes by timestamps or by the clock."""

from __future__ import annotations

from enum import Enum


class TimeDomain(Enum):
    """The time of a timer (PyFlink: ``TimeDomain``)."""

    EVENT_TIME = 0
    """Watermarks fire it."""
    PROCESSING_TIME = 1
    """The clock fires it."""
