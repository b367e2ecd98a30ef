"""A clock that is ahead, for a process that plans a program once more to see whether its uids depend on the date."""

from __future__ import annotations

import datetime
import time
from typing import Any

AHEAD = 400 * 86_400 + 7 * 3_600 + 13 * 60 + 17
"""Seconds: another year, month, day of the month and of the week, hour, minute and second."""


def set_ahead(seconds: float = AHEAD) -> None:
    """Let ``time`` and ``datetime`` of this process tell a later time, for whoever imports or asks them from now on.

    What Python code asks is changed: ``time.time()``, ``time.strftime()``, ``datetime.now()``, ``date.today()`` and the
    like. Other clocks, files and libraries that ask the system keep the true time.

    Args:
        seconds: how much later.
    """
    now, now_ns = time.time, time.time_ns
    time.time = lambda: now() + seconds
    time.time_ns = lambda: now_ns() + int(seconds * 1_000_000_000)
    for name in ("localtime", "gmtime", "ctime"):
        setattr(time, name, _of_seconds(getattr(time, name)))
    for name in ("asctime", "strftime"):
        setattr(time, name, _of_parts(getattr(time, name), time.localtime, 1 if name == "strftime" else 0))
    datetime.datetime = _later(datetime.datetime, datetime.timedelta(seconds=seconds))  # type: ignore[misc]


def _of_seconds(true: Any) -> Any:
    """A function of seconds, which are now's where there are none."""
    return lambda seconds=None: true(time.time() if seconds is None else seconds)


def _of_parts(true: Any, local: Any, before: int) -> Any:
    """A function of the parts of a time, behind some other arguments."""
    return lambda *given: true(*given) if len(given) > before else true(*given, local())


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

        def __new__(cls, *given: Any, **named: Any) -> Any:
            return true(*given, **named)

    Later.__name__, Later.__qualname__, Later.__module__ = "datetime", "datetime", "datetime"
    return Later
