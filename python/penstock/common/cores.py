"""The cores of the machine."""

from __future__ import annotations

import os


def cores() -> int:
    """How many cores of the machine this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)  # not on macOS
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1
