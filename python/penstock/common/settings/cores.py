"""The cores of the machine."""

from __future__ import annotations

import os

_configured: list[int] = []


def say_cores(number: int) -> None:
    """Let :func:`cores` give a number, whatever the machine has."""
    _configured[:] = [number]


def cores() -> int:
    """How many cores of the machine this process may use, or what was said instead."""
    if _configured:
        return _configured[0]
    affinity = getattr(os, "sched_getaffinity", None)  # not on macOS
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1
