"""What user functions of a job in this process share with their test."""

from __future__ import annotations

import threading

GATES: dict[str, threading.Event] = {}


def gate(name: str) -> threading.Event:
    return GATES.setdefault(name, threading.Event())
