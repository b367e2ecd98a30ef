"""A clock that is ahead, for a process that plans a program once more to see whether its uids depend on the date."""

from __future__ import annotations

import datetime
import time
from typing import Any

AHEAD = 400 * 86_400 + 7 * 3_600 + 13 * 60 + 17
"""Seconds: another year, month, day of the month and of the week, hour, minute and second."""


def set_ahead(seconds: float = AHEAD) -> None:
    """Let ``time`` and ``datetime`` of this process tell a later time to Python code that imports or asks them from now
    on. Other clocks, files and libraries that ask the system keep the true time."""
    now, now_ns = time.time, time.time_ns
    time.time = lambda: now() + seconds
    time.time_ns = lambda: now_ns() + int(seconds * 1_000_000_000)
    for name in ("localtime", "gmtime", "ctime"):
        setattr(time, name, _of_time(getattr(time, name), time.time, 0))
    for name in ("asctime", "strftime"):
        setattr(time, name, _of_time(getattr(time, name), time.localtime, 1 if name == "strftime" else 0))
    datetime.datetime = _later(datetime.datetime, datetime.timedelta(seconds=seconds))  # type: ignore[misc]


def _of_time(true: Any, now: Any, before: int) -> Any:
    """A function of a time, behind some other arguments; now if it is not given, or None."""

    def of_time(*arguments: Any) -> Any:
        missing = len(arguments) <= before or arguments[before] is None
        return true(*arguments[:before], now()) if missing else true(*arguments)

    return of_time


def _later(true: Any, ahead: datetime.timedelta) -> Any:
    """The class of dates with times, whose present is later; objects of either class are of both."""

    class Kind(type):
        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, true)

        def __subclasscheck__(cls, subclass: type) -> bool:
            return issubclass(subclass, true)

    class Later(true, metaclass=Kind):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return true.now(tz) + ahead

        @classmethod
        def utcnow(cls) -> Any:
            return true.fromtimestamp(true.now().timestamp(), datetime.timezone.utc).replace(tzinfo=None) + ahead

        @classmethod
        def today(cls) -> Any:
            return true.now() + ahead

        def __new__(cls, *arguments: Any, **named: Any) -> Any:
            return true(*arguments, **named)

    Later.__name__, Later.__qualname__, Later.__module__ = "datetime", "datetime", "datetime"
    return Later
