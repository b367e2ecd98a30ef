"""Moments as numbers, and as clocks on walls in UTC."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from penstock.common.time import Instant

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)


def microseconds_of(moment: datetime) -> int:
    """Microseconds since the epoch.

    Args:
        moment: with a zone.
    """
    return (moment - _EPOCH) // _MICROSECOND


def instant_of(ticks: int, per_second: int = 10**6) -> Instant:
    """A moment as records have it.

    Args:
        ticks: since the epoch.
        per_second: how many there are.
    """
    seconds, rest = divmod(ticks, per_second)
    return Instant(seconds, rest * (10**9 // per_second))


def datetime_of(moment: Instant) -> datetime:
    """A moment in UTC, cut to microseconds."""
    return _EPOCH + timedelta(seconds=moment.seconds, microseconds=moment.nanos // 1000)
